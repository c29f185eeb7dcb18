// Graphs under construction: scopes (a function being traced, or a region inside one), the symbolic values that live in them, and
// the sink that turns tensor operations into nodes. This header must not know how a traced function is called or cached.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/core/tensor_api.h"
#include "ir/graph.h"
#include "ir/infer.h"
#include "runtime/gpu/devices.h"

namespace tfl {

struct Frame;

/// One block under construction. Symbolic values keep their scope, and with it the nodes, alive.
struct Scope : std::enable_shared_from_this<Scope> {
  std::shared_ptr<Scope> outer;            // where it was begun; null for a function traced from eager code
  std::shared_ptr<ir::Function> function;  // the function it belongs to; of a function scope, the one being made
  std::unique_ptr<ir::Block> region;       // of a region until its node takes it over
  ir::Block* block = nullptr;
  std::string name;
  std::string prefix;  // of the names of its nodes, as they are shown for a region: "while/"
  bool open = true;    // operations may still be appended
  bool is_function = false;
  bool creates_variables = false;  // of a function: the first trace, which may make variables
  int device = gpu::kCpu;          // of a function: the GPU that a tf.device scope inside asks for, or a refused_device
  bool compiled = false;           // of a function: it calls one that waits for its machine code, and waits for its own
  uint64_t id = 0;
  Frame* root_frame = nullptr;  // of a function: the frame that ran when its trace began

  /// What came in from outside, in the order of the parameters that stand for it (behind those of add_input).
  std::vector<Value> captures;
  std::vector<ir::Ref> capture_params;
  std::unordered_map<const void*, ir::Ref> captured;      // by tensor, variable or resource object
  std::unordered_map<uint64_t, ir::Ref> captured_values;  // by id of a symbolic value's node (and index) of an outer scope
  std::unordered_map<const void*, ir::Ref> constants;     // constants made of eager tensors, which the nodes keep alive
  std::unordered_map<std::string, uint32_t> names;        // how often a name was used
  std::unordered_map<uint64_t, uint32_t> locations;       // of a function: location by the frames that were running
  uint32_t draws = 0;                                     // of numbers by operations without a seed of their own
  std::vector<Value> created;                             // variables made while this function was traced
  std::vector<Value> inputs;                              // symbolic values of the parameters that are arguments
  std::vector<Value> input_values;  // what the call that caused the trace passes for them; Empty where it is not known
  std::vector<Value> kept;          // placeholder variables and other objects that must live as long as the scope

  Scope* root() {
    Scope* s = this;
    while (!s->is_function) s = s->outer.get();
    return s;
  }
  /// Is `inner` this scope or inside it?
  static bool reaches(const Scope* inner, const Scope* outer) {
    for (const Scope* s = inner; s; s = s->outer.get()) {
      if (s == outer) return true;
    }
    return false;
  }
};

/// A symbolic value. Its node is alive as long as the scope is.
struct SymbolicValue : SymbolicObject {
  std::shared_ptr<Scope> scope;
  std::shared_ptr<const std::string> device;  // what the tf.device scopes said where it was made; null: nothing
  Value slice_of, slice_key;                  // of variable[key]: what assign() writes to
  const ir::Type& ir_type() const { return node->types[index]; }
};

/// The sink at the end of the chain while a graph is built. One for an interpreter.
struct Tracer final : Sink {
  std::shared_ptr<Scope> scope;               // where operations go; null outside of any trace
  std::shared_ptr<const std::string> device;  // what the tf.device scopes around the running code say; null: nothing
  uint64_t next_id = 0;
  uint64_t next_object = 0;     // ids of objects that are keys of traces
  uint64_t next_function = 0;   // numbers in the names of functions
  bool run_eagerly = false;     // tf.config.run_functions_eagerly
  int replica = -1;             // that the script runs in, of several (tf.distribute); -1: none
  bool recording = false;       // results of calls from outside of graphs are kept: tests that run in two modes
  int recorded_depth = 0;       // calls in progress that are recorded as a whole
  std::vector<Value> recorded;  // (name, list of tensors) of each
  std::unordered_map<uint64_t, std::shared_ptr<const void>> places;  // source positions of locations, by code and instruction

  bool building() const override { return scope != nullptr; }
  Result<void> apply(Interp&, Op op, std::span<const Value> operands, const Attrs& attrs, SmallVec<Value, 2>& results) override;
  Result<Value> read_variable(Interp&, VariableObject* v) override;
  Result<void> assign_variable(Interp&, VariableObject* v, Assignment how, const Value& value) override;
  void node_made(Interp&, std::span<const Value> operands, ir::Node* node, std::span<const Value> results) override;
  Result<void> call(Interp&, const FunctionCall& call, std::span<const Value> operands, SmallVec<Value, 2>& results) override;
};

Tracer& tracer_of(Interp&);
/// The scope operations go to, null when they run eagerly (a sink that is not building, or none).
Scope* current_scope(Interp&);

/// The value as an operand in the current scope: its own values, captured ones, constants made of host values, variables and
/// resources as what they are.
Result<ir::Ref> import_value(Interp&, const Value& v);
Result<ir::Ref> import_into(Interp&, Scope& scope, const Value& v);
Value symbolic_value(Interp&, const std::shared_ptr<Scope>& scope, ir::Ref ref);
inline SymbolicValue* symbolic(const Value& v) { return v.as<SymbolicValue>(); }
ir::Ref ref_of(const Value& symbolic);

/// Appends a node to the current scope and names it; `operands` are values of any scope that reaches it.
Result<ir::Node*> append_node(Interp&, Op op, std::span<const Value> operands, const Attrs& attrs,
                              std::vector<std::unique_ptr<ir::Block>> regions = {},
                              std::shared_ptr<ir::Function> callee = nullptr, std::string_view name = {});
/// The results of a node of the current scope.
void results_of(Interp&, ir::Node* node, SmallVec<Value, 2>& results);
/// A symbolic constant in the current scope.
Value symbolic_constant(Interp&, Tensor t, std::string_view name = "Const");
/// What a graph shows for a host value or an eager tensor that a native gives back to the script while a graph is built.
Value shown_value(Interp&, Value v, std::string_view name = "Const");

/// A name that no node of the scope has yet: "add", "add_1".
std::string unique_name(Interp&, Scope& scope, std::string_view base);
std::string_view default_name(Op op);
/// The position of the running code as a location of the function under construction.
uint32_t current_location(Interp&, Scope& scope);
/// Adds the lines of a location, innermost first, to the traceback of an error.
void add_location_trace(Interp&, Error& error, const ir::Locations& locations, uint32_t location);

/// Opens a scope for a function traced now / for a region of the current scope.
std::shared_ptr<Scope> begin_function(Interp&, std::string name);
std::shared_ptr<Scope> begin_region(Interp&, std::string name);
/// A parameter of the scope.
Value add_input(Interp&, const std::shared_ptr<Scope>& scope, ir::Type type, std::string_view name);
/// Sizes of `type` that are not known get these names (a list with a name or None for each, or None), and lose those they had.
Result<void> name_sizes(Interp&, ir::Function& function, const Value& names, ir::Type& type);
/// The native size_names(symbolic): a list with the name of each size, None for one without; None when no size has one.
Result<Value> size_names(Interp&, Value* args);
/// A call of `callee` with these operands is about to be made in the current scope: sizes of one name that are not known to be equal
/// are checked when the graph runs.
Result<void> check_named_sizes(Interp&, const ir::Function& callee, std::span<const Value> operands);

/// "Tensor("add:0", shape=(2,), dtype=float32)" and "<tf.Tensor 'add:0' shape=(2,) dtype=float32>".
std::string symbolic_str(const SymbolicValue* v);
std::string symbolic_repr(const SymbolicValue* v);
std::string shown_name(const SymbolicValue* v);  // "while/add:0"
/// The error of using a value where its scope is gone.
Failure out_of_scope(Interp&, const SymbolicValue* v, const Scope* here);

/// The value that `v` will have, where constants and static sizes alone decide it: symbolic constants, tf.shape of known sizes.
Tensor known_value(Interp&, const Value& v);

/// The eager value of a symbolic one, by running what it depends on: initial values of variables. An error when arguments of the
/// function decide it whose values are not known.
Result<Tensor> lift_value(Interp&, const Value& v);
/// Called for each variable made while a graph is built: allowed on the first trace only.
Result<void> note_variable(Interp&, const Value& variable);
Result<void> check_variable_creation(Interp&);

}  // namespace tfl
