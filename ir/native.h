// Another way to run a function of a graph: machine code. The evaluator asks for it at a call; this header must not know how it
// is made.
#pragma once

#include <memory>
#include <span>

#include "ir/state.h"
#include "runtime/context.h"
#include "runtime/tensor/tensor.h"

namespace tfl::ir {

struct Function;

/// Belongs to a Function whose values are tensors and variables, and whose only effects are those on the variables. Thread-compatible.
struct Native {
  virtual ~Native() = default;
  /// Fills `results` and gives true; or gives false and has changed nothing: there is no machine code (yet), its guards do not
  /// hold for these inputs, an operation would raise, or the context was interrupted. The caller then runs the graph, which
  /// raises what there is to raise. Inputs that the caller gives away (the last reference) may lose their memory to a result.
  virtual bool run(Context& context, std::span<Tensor> inputs, std::span<Tensor> results) = 0;

  /// Inputs that are variables: run() takes what they hold, and what they hold afterwards is among its results. The caller sees
  /// to it that each has a value and that no two of them are one.
  std::vector<VariableUse> variables;
};

/// A copy in which what native functions do stands in the places of their calls: how people think of the graph.
std::shared_ptr<Function> without_native(const Function& f);

}  // namespace tfl::ir
