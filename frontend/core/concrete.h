// A traced function: its graph, what it captured, and how it is run. This header must not know about scripts' signatures.
#pragma once

#include <memory>
#include <vector>

#include "frontend/core/tensor_api.h"
#include "ir/evaluate.h"
#include "ir/graph.h"
#include "runtime/gpu/devices.h"

namespace tfl {

namespace gradient {
enum class Reach : uint8_t;
}

/// An array of tensors as a value outside of graphs: what a gradient keeps of a loop. (What a script sees is a list.)
struct ArrayObject : Object {
  std::shared_ptr<ir::ArrayContent> content;
};
Value array_value(Interp&, std::shared_ptr<ir::ArrayContent> content);
bool is_array_value(const Value& v);

struct FunctionCall {
  std::shared_ptr<ir::Function> function;  // as traced: what gradients are derived from and what the script sees as its graph
  size_t arguments = 0;                    // parameters that are arguments; the rest stand for captures
  std::vector<Value> captures;             // tensors (eager or of an outer function), variables, resources
  mutable std::shared_ptr<ir::Function> prepared;  // pruned and optimised
  mutable std::shared_ptr<const ir::Program> program;
  int device = gpu::kCpu;                          // the GPU that the function asks for, or a refused_device
  bool compiled = false;                           // the first call waits for machine code (jit_compile=True)
  bool gives_arrays = false;                       // arrays among the results stay arrays instead of becoming lists
  std::vector<gradient::Reach> may_have_gradient;  // for each result, where a gradient made the function; empty: all may
  mutable std::shared_ptr<void> derived;           // what gradients were made of it: frontend/staging/gradient knows
};

/// The program of a traced function, made on first use.
Result<std::shared_ptr<const ir::Program>> program_of(Interp&, const FunctionCall& call);
/// Runs it now: `operands` are eager values, one for each parameter. Arrays come back as lists of tensors.
Result<void> run_call(Interp&, const FunctionCall& call, std::span<const Value> operands, SmallVec<Value, 2>& results);
/// Runs any graph in the same way; errors get the lines of the script.
Result<void> run_graph(Interp&, const ir::Program& program, std::span<const Value> operands, SmallVec<Value, 2>& results,
                       bool gives_arrays = false);
/// Through the sink where one is installed, else run_call.
Result<void> call_function(Interp&, const FunctionCall& call, std::span<const Value> operands, SmallVec<Value, 2>& results);

/// The short way for a function of a few operations on tensors that gives one: false where it is no such function, where somebody
/// wants to know of the call, or where something failed, which call_function() tells.
bool run_small(Interp&, const FunctionCall& call, std::span<TensorRep* const> operands, Value& result);

/// A host value as a graph's input.
Result<ir::Datum> datum_of(Interp&, const Value& v);
Value value_of(Interp&, ir::Datum& d, bool gives_arrays = false);

/// Object behind `_graph.Graph`: a finished traced function.
struct TracedGraph : Object {
  FunctionCall call;
  std::vector<Value> outputs;   // symbolic results, for display
  std::vector<Value> inputs;    // symbolic parameters
  std::shared_ptr<void> scope;  // keeps their nodes alive
};
/// TypeError when the value is not such an object.
Result<TracedGraph*> graph_argument(Interp&, const Value& v);
/// The object of a finished graph, for functions made by other means than tracing (gradients).
Value traced_graph(Interp&, std::shared_ptr<ir::Function> function, size_t arguments, std::vector<Value> captures);

}  // namespace tfl
