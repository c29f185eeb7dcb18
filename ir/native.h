// Another way to run a function of a graph: machine code. The evaluator asks for it at a call; this header must not know how it
// is made.
#pragma once

#include <memory>
#include <span>

#include "ir/state.h"
#include "runtime/core/context.h"
#include "runtime/kernels/workers.h"
#include "runtime/tensor/tensor.h"

namespace tfl::ir {

struct Function;

/// A run that has begun: the thread of the context has taken all memory for it, any one thread executes it, and that of the context
/// ends it, or drops it when nobody executes it.
struct BegunRun {
  virtual ~BegunRun() = default;
  /// Once; gives up soon when `workers` are interrupted. `owner`: this is the thread of the context.
  virtual void execute(const Workers& workers, bool owner) = 0;
  /// As Native::run.
  virtual bool finish(std::span<Tensor> results) = 0;

  size_t bytes = 0;  // that it has taken
};

/// Belongs to a Function whose values are tensors and variables (and results arrays), and whose only effects are those on the variables. Thread-compatible.
struct Native {
  virtual ~Native() = default;
  /// Fills `results` and gives true; or gives false and has changed nothing: there is no machine code (yet), its guards do not
  /// hold for these inputs, an operation would raise, or the context was interrupted. The caller then runs the graph, which
  /// raises what there is to raise. Inputs that the caller gives away (the last reference) may lose their memory to a result.
  virtual bool run(Context& context, std::span<Tensor> inputs, std::span<Tensor> results) = 0;
  /// The first part of a run whose work another thread may do; null where run() would be false, or cannot be cut. The caller keeps
  /// the inputs, and this, until it has ended.
  virtual std::unique_ptr<BegunRun> begin(Context&, std::span<const Tensor>) { return nullptr; }

  /// Worth waiting for: the evaluator shall not answer the first call.
  bool wanted = false;

  /// Inputs that are variables: run() takes what they hold, and what they hold afterwards is among its results. The caller sees
  /// to it that each has a value and that no two of them are one.
  std::vector<VariableUse> variables;

  /// Results of the call that are arrays. run() gives a tensor of rows for each, of which the first are its elements; behind all other
  /// results stands how many those are, an i32 for each of these in order.
  std::vector<uint32_t> arrays;
};

/// A copy in which what native functions do stands in the places of their calls: how people think of the graph.
std::shared_ptr<Function> without_native(const Function& f);

}  // namespace tfl::ir
