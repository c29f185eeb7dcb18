// The bridge between host values and tensors: conversion both ways, and `apply_op`, the one way an operation is run. While a
// function is traced, the interpreter's sink receives the operation instead of the eager kernels.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "frontend/core/protocol.h"
#include "frontend/core/random_streams.h"
#include "runtime/ops/op.h"
#include "runtime/text/array_text.h"

namespace tfl {

namespace ir {
struct Node;
struct Function;
}  // namespace ir
struct VariableObject;
struct FunctionCall;
struct Tracer;

/// How a variable is written.
enum class Assignment : uint8_t { Set, Add, Subtract };

/// Receives every tensor operation while one is installed (Interp::sink); null means: run it now. There are two kinds, which
/// may stand one before the other (`next`; null again means eager execution): the sink that appends nodes to the graph being built
/// (frontend/staging/trace), and the sink of a gradient tape, which hands on what it is given and keeps a record (frontend/staging/gradient).
struct Sink {
  Sink* next = nullptr;
  virtual ~Sink() = default;
  /// True when operations become nodes, here or further on.
  virtual bool building() const { return next && next->building(); }
  virtual Result<void> apply(Interp&, Op op, std::span<const Value> operands, const Attrs& attrs,
                             SmallVec<Value, 2>& results) = 0;
  /// A place in what tapes record, under a name; and whether `v`, to which a tape takes gradients, was there before it (frontend/interpreter/vm/renewal.h).
  virtual void mark(const void* owner, uint32_t number) {
    if (next) next->mark(owner, number);
  }
  /// What was noted at such a place; null: there is none.
  virtual std::vector<Value>* marked(const void* owner, uint32_t number) { return next ? next->marked(owner, number) : nullptr; }
  virtual bool older(const Value& v, const void* owner, uint32_t number) const { return next && next->older(v, owner, number); }
  virtual void forget(const void* owner, uint32_t number) {
    if (next) next->forget(owner, number);
  }
  /// The value of a variable as a tensor.
  virtual Result<Value> read_variable(Interp&, VariableObject* v) = 0;
  /// `value` is a tensor of the variable's type.
  virtual Result<void> assign_variable(Interp&, VariableObject* v, Assignment how, const Value& value) = 0;
  /// A control node (cond, while_loop, switch_case, array operations, host_call ...) was appended by the graph sink at the end of the chain.
  virtual void node_made(Interp&, std::span<const Value> operands, ir::Node* node, std::span<const Value> results) = 0;
  /// Calls a traced function: `operands` are tensors (eager or symbolic), variables, captures, in the order of its parameters.
  virtual Result<void> call(Interp&, const FunctionCall& call, std::span<const Value> operands, SmallVec<Value, 2>& results) = 0;
};

/// Tensor operations run now, whatever is being built or recorded around it.
class Eagerly {
 public:
  explicit Eagerly(Interp& interp) : interp_(interp), sink_(std::exchange(interp.sink, nullptr)) {}
  ~Eagerly() { interp_.sink = sink_; }
  Eagerly(const Eagerly&) = delete;
  Eagerly& operator=(const Eagerly&) = delete;

 private:
  Interp& interp_;
  Sink* sink_;
};

struct DTypeObject : Object {  // tf.float32, and np.dtype('float32') with `numpy` set
  DType dtype;
  bool numpy;
  TextType text;  // of np.dtype('<U5')
};

struct ShapeObject : Object {  // tf.TensorShape
  bool ranked;
  Dims dims;  // -1: unknown
};

struct VariableObject : Object {
  Tensor value;  // empty while uninitialised
  DType dtype;
  bool trainable;
  bool shape_ranked;     // false: any shape may be assigned
  Dims shape;            // -1: unknown size
  std::string name;      // without ":0"
  Value constraint;      // callable or None
  Value source;          // the variable this one reads and writes (the result of an assignment), or Empty
  int64_t id;            // creation order
  uint64_t kept_by = 0;  // the step that knows what it held before (transaction.h)
  std::string shown_name() const { return name + ":0"; }
};

/// A value of a graph that is being built, seen as tf.Tensor by the script (an array or a resource: by the library alone). Made by
/// frontend/core/scope.h, which knows the rest of it.
struct SymbolicObject : Object {
  ir::Node* node;
  uint32_t index;
};
/// Bit of Counted::flags of a tensor that was made of a host value while a graph is built: a constant of the graph, not a tensor from outside.
inline constexpr uint8_t kLiteral = 4;
/// Marks it where one is built.
inline Tensor literal(Interp& interp, Tensor t) {
  if (interp.sink && interp.sink->building()) t.rep()->flags |= kLiteral;
  return t;
}
/// Type of a symbolic tensor: dtype and static sizes (negative: unknown). Defined by frontend/staging/trace.
const TensorType& symbolic_type(const Value& symbolic);

/// Where a variable's value is kept.
inline VariableObject* variable_storage(VariableObject* v) { return v->source.is_empty() ? v : v->source.as<VariableObject>(); }

struct NdArrayObject : Object {  // mutable; views share the root's buffer (frontend/tensors/numpy/array.h)
  Tensor array;                  // read it through array_content(): a view may have to follow its root
  Value base;                    // the root array this one is a view of, or Empty
  bool writable;
  bool owned;           // of a root: no tensor sees these elements
  uint32_t generation;  // of a root: how often its elements moved; of a view: the generation `array` belongs to
  int64_t offset;       // of a view: elements from the root's first to its own
};

struct NumPyScalarObject : Object {  // np.float32(1.5): rank 0, immutable
  Tensor value;
};

/// Per-interpreter singletons of this folder; Interp owns it (Interp::tensors).
/// What variables held before the steps in progress wrote to them (transaction.h).
struct UndoLog {
  struct Entry {
    Value variable;
    Tensor before;
  };
  std::vector<Entry> entries;  // in the order of the writes
  uint64_t step = 0;           // the innermost step in progress, 0 for none
  uint64_t steps = 0;          // that there have been
};

struct TensorState {
  std::array<Value, kDTypeCount> dtypes;           // tf.float32 ...
  std::array<Value, kDTypeCount> numpy_dtypes;     // np.dtype('float32') ...
  std::array<Type*, kDTypeCount> numpy_scalars{};  // np.float32 ...; null for those NumPy has not
  int64_t next_variable = 0;
  PrintOptions print_options;  // np.set_printoptions
  std::string name_scope;      // "outer/inner/": what names made now begin with
  // The sign of the first zero that tf.constant made of a host float: TensorFlow keeps such scalars, and 0.0 == -0.0 (see constant).
  std::optional<bool> zero_sign;
  RandomStreams random;  // tf.random's
  UndoLog undo;
  std::string_view node_name;  // what the next node of a graph is called; empty: by its operation
  Result<void> (*prepare_graph)(Context&, ir::Function&) = nullptr;  // the optimiser, injected by the program
  bool strict = false;                                               // graphs keep every operation that may fail
  std::shared_ptr<Tracer> tracer;  // makes graphs (frontend/staging/trace); made with the first of them
};
void init_tensors(Interp&);

// ---------------------------------------------------------------------------------------------------- operations

Result<void> apply_op(Interp&, Op op, std::span<const Value> operands, const Attrs& attrs, SmallVec<Value, 2>& results);
/// For operations with one result. Operands are tensors (use to_tensor first).
Result<Value> apply_op(Interp&, Op op, std::initializer_list<Value> operands, const Attrs& attrs = {});
/// Two operands converted as TensorFlow's operators do (the host side takes the tensor side's dtype), then `op`.
Result<Value> apply_binary(Interp&, Op op, const Value& a, const Value& b);
Result<Value> apply_unary(Interp&, Op op, const Value& a);
/// Makes tensors of all operands, host values among them taking the element type of the first that has one.
Result<void> unify_operands(Interp&, std::span<Value> operands);
/// `/`: integers become floats first. Operands must be of one type.
Result<Value> true_divide(Interp&, const Value& a, const Value& b);
/// x itself when it has that type already.
Result<Value> cast_value(Interp&, const Value& x, DType dtype);

// ---------------------------------------------------------------------------------------------------- conversion

struct ToTensor {
  std::optional<DType> dtype;      // required element type; an error when v is a tensor of another
  std::optional<DType> preferred;  // used where v leaves a choice and fits (dtype_hint)
  bool cast_items = true;  // tensors in a list are cast to `dtype`, as where TensorFlow packs; false where it makes a constant
};
/// Anything TensorFlow's convert_to_tensor takes: numbers, strings, nested sequences, ranges, shapes, arrays, NumPy scalars,
/// variables, tensors (symbolic ones too). Errors and texts are TensorFlow's.
Result<Value> to_tensor(Interp&, const Value& v, const ToTensor& wanted = {});
/// The same for callers that need the elements now; an error for a symbolic tensor.
Result<Tensor> to_concrete(Interp&, const Value& v, const ToTensor& wanted = {});
/// True for tensors, variables, arrays and NumPy scalars: values whose dtype is decided.
bool is_tensor_like(const Value& v);
std::optional<DType> dtype_of(Interp&, const Value& v);

Result<DType> to_dtype(Interp&, const Value& v);  // tf.int32, "int32", np.int32, np.dtype, int, float, bool, str
/// The same as NumPy reads it: int and float, "int" and "float" are 64 bits wide.
Result<DType> to_numpy_dtype(Interp&, const Value& v);
/// Which strings np.dtype(v) means: str, "U", "<U5", bytes, "S2", object and their np.dtype; none for what is no strings. Width 0: as
/// wide as the elements.
std::optional<TextType> wanted_text_type(Interp&, const Value& v);
Value dtype_value(Interp&, DType dtype);        // tf.float32
Value numpy_dtype_value(Interp&, DType dtype);  // np.dtype('float32')
Value shape_value(Interp&, std::span<const int64_t> dims);
Value unknown_shape_value(Interp&);
/// A full shape from TensorShape, sequence of ints/None (-1 when `partial`), int, or a 1-D integer tensor.
Result<Dims> to_dims(Interp&, const Value& v, bool partial = false);
/// Axes from int, sequence or tensor.
Result<Dims> to_axes(Interp&, const Value& v);

/// A new array around `t`; it may share t's elements, which are copied before anyone writes (is_unique).
Value ndarray_value(Interp&, Tensor t, Value base = {});
/// NumPy's answer for a 0-d result: np.float32(...), np.int64(...), np.bool_, bytes for strings.
Value numpy_scalar_value(Interp&, Tensor t);
/// Element 0 of a rank-0 tensor as a host number, bool or bytes; nested lists for higher ranks (tolist()).
Result<Value> to_host(Interp&, const Tensor& t);

// ---------------------------------------------------------------------------------------------------------- text

std::string tensor_str(Interp&, const Tensor& t);   // tf.Tensor([1 2], shape=(2,), dtype=int32)
std::string tensor_repr(Interp&, const Tensor& t);  // <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>

/// t[key] with every Python form, as TensorFlow does it.
Result<Value> tensor_get_item(Interp&, const Value& tensor, const Value& key);

// ----------------------------------------------------------------------------------------------- single elements

/// int(t), t.__index__() and float(t) of tensors, variables, arrays and NumPy scalars of rank 0.
Result<Value> tensor_to_int(Interp&, const Value& v);
Result<int64_t> tensor_to_index(Interp&, const Value& v);
Result<double> tensor_to_double(Interp&, const Value& v);

}  // namespace tfl
