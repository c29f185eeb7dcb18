// tf.Tensor inside a graph: what it shows, and what it refuses.
#include "frontend/core/attributes.h"
#include "frontend/core/native.h"
#include "frontend/core/scope.h"
#include "frontend/core/tensor_operators.h"
#include "frontend/tensors/tensor/shape.h"
#include "frontend/tensors/tensor/tensor_text.h"

namespace tfl {

namespace {

std::string shape_of(const TensorType& t) { return t.ranked ? dims_text(t.dims) : std::string("<unknown>"); }

Result<Value> symbolic_repr_slot(Interp& interp, const Value& self) { return interp.str(symbolic_repr(symbolic(self))); }
Result<Value> symbolic_str_slot(Interp& interp, const Value& self) { return interp.str(symbolic_str(symbolic(self))); }

Failure not_in_graph(std::string_view what) {
  return fail(ErrorKind::OperatorNotAllowedInGraphError,
              "{} is not allowed. You can attempt the following resolutions to the problem: If you are running in Graph mode, "
              "use Eager execution mode or "
              "decorate this function with @tf.function. If you are using AutoGraph, you can try decorating this function with "
              "@tf.function. If that does "
              "not work, then you may be using an unsupported feature or your source code may not be visible to AutoGraph. See "
              "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/"
              "limitations.md#access-to-source-code for "
              "more information.",
              what);
}

Result<bool> symbolic_truth(Interp&, const Value&) { return not_in_graph("Using a symbolic `tf.Tensor` as a Python `bool`"); }
Result<Value> symbolic_iter(Interp& interp, const Value& self) {
  (void)interp;
  (void)self;
  return not_in_graph("Iterating over a symbolic `tf.Tensor`");
}
Result<int64_t> symbolic_length(Interp&, const Value& self) {
  return fail(
      ErrorKind::TypeError,
      "len is not well defined for a symbolic Tensor ({}). Please call `x.shape` rather than `len(x)` for shape information.",
      shown_name(symbolic(self)) + ":" + std::to_string(symbolic(self)->index));
}
Result<bool> symbolic_contains(Interp& interp, const Value& self, const Value&) {
  return fail(ErrorKind::TypeError, "argument of type '{}' is not iterable", interp.type_name(self));
}
Result<uint64_t> symbolic_hash(Interp&, const Value&) {
  return fail(ErrorKind::TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.");
}
Result<Value> symbolic_format(Interp& interp, const Value& self, std::string_view spec) {
  if (!spec.empty()) return fail(ErrorKind::TypeError, "unsupported format string passed to SymbolicTensor.__format__");
  return symbolic_str_slot(interp, self);
}
Result<void> symbolic_set_item(Interp& interp, const Value& self, const Value&, const Value& value) {
  return fail(ErrorKind::TypeError, "'{}' object does not support item {}", interp.type_name(self),
              value.is_empty() ? "deletion" : "assignment")
      .with_hint("tensors do not change: build a new one with tf.tensor_scatter_nd_update, or use a tf.Variable");
}

bool is_numpy_name(std::string_view name) {
  for (std::string_view n : {"T", "astype", "ravel", "transpose", "reshape", "clip", "size", "tolist", "data"}) {
    if (n == name) return true;
  }
  return false;
}

/// variable[key].assign(value) as nodes: the library computes the new value of the variable.
Result<Value> assign_slice(Interp& interp, Value* args) {
  TFL_TRY(interp.import_module("tensorflow._framework.variable_slices"));
  Value module = interp.find_module("tensorflow._framework.variable_slices");
  Value assign = TFL_TRY(get_attr(interp, module, interp.intern("assign_slice")));
  Value variable = symbolic(args[0])->slice_of, key = symbolic(args[0])->slice_key;
  return interp.call(assign, {variable, key, args[1]});
}
constexpr NativeDef kSliceAssign = method("assign", "self, value, use_locking=False, name=None, read_value=True", assign_slice);

Result<Value> symbolic_get_attr(Interp& interp, const Value& self, Str* name) {
  if (is_numpy_name(name->text)) {
    return fail(ErrorKind::AttributeError,
                "SymbolicTensor object has no attribute '{}'. \n        If you are looking for numpy-related methods, please run "
                "the following:\n"
                "        tf.experimental.numpy.experimental_enable_numpy_behavior()\n      ",
                name->text)
        .with_hint(name->text == "reshape" || name->text == "transpose" || name->text == "size"
                       ? "write tf." + name->text + "(x)"
                       : "a traced tensor has no elements yet");
  }
  if (name->text == "assign" && !symbolic(self)->slice_of.is_empty())
    return interp.bound_method(interp.native(kSliceAssign, {}, interp.types.symbolic), self);
  if (name->text == "op" || name->text == "graph") {
    TFL_TRY(interp.import_module("tensorflow._graphs.definition"));
    Value module = interp.find_module("tensorflow._graphs.definition");
    Value maker = TFL_TRY(get_attr(interp, module, interp.intern(name->text + "_of")));
    return interp.call(maker, {self});
  }
  return Value();
}

Result<Value> construct_symbolic(Interp&, Type*, CallArgs&) {
  return fail(ErrorKind::TypeError, "tf.Tensor is not called directly").with_hint("write tf.constant(value)");
}

Result<Value> get_shape(Interp& interp, Value* args) {
  const TensorType& t = symbolic_type(args[0]);
  if (!t.ranked) return unknown_shape_value(interp);
  Dims dims = t.dims;
  for (int64_t& d : dims) d = d < 0 ? -1 : d;
  return shape_value(interp, dims);
}
Result<Value> get_dtype(Interp& interp, Value* args) { return dtype_value(interp, symbolic_type(args[0]).dtype); }
Result<Value> get_name(Interp& interp, Value* args) {
  return interp.str(shown_name(symbolic(args[0])) + ":" + std::to_string(symbolic(args[0])->index));
}
Result<Value> get_ndim(Interp&, Value* args) {
  const TensorType& t = symbolic_type(args[0]);
  return t.ranked ? Value::integer(static_cast<int64_t>(t.dims.size())) : Value::none();
}
Result<Value> get_device(Interp& interp, Value* args) {
  const auto& device = symbolic(args[0])->device;
  return interp.str(device ? *device : std::string());
}
Result<Value> get_value_index(Interp&, Value* args) { return Value::integer(symbolic(args[0])->index); }
Result<Value> get_id(Interp&, Value* args) {
  return Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(args[0].counted()) >> 4));
}
Result<Value> self_method(Interp&, Value* args) { return args[0]; }

Result<Value> array_method(Interp&, Value* args) {
  return fail(ErrorKind::NotImplementedError,
              "Cannot convert a symbolic tf.Tensor ({}:{}) to a numpy array. This error may indicate that you're trying to pass "
              "a Tensor to a NumPy call, "
              "which is not supported.",
              shown_name(symbolic(args[0])), std::to_string(symbolic(args[0])->index));
}
Result<Value> eval_method(Interp&, Value*) {
  return fail(ErrorKind::ValueError,
              "Cannot evaluate tensor using `eval()`: No default session is registered. Use `with sess.as_default()` or pass an "
              "explicit session to `eval(session=sess)`");
}
Result<Value> abs_method(Interp& interp, Value* args) { return apply_unary(interp, Op::abs, args[0]); }

/// The tensor is taken for one of the more precise shape: checked when the graph runs.
Result<Value> set_shape(Interp& interp, Value* args) {
  Value wanted = TFL_TRY(as_shape(interp, args[1]));
  const auto* shape = wanted.as<ShapeObject>();
  if (!shape->ranked) return Value::none();
  const TensorType& now = symbolic_type(args[0]);
  Dims merged = shape->dims;
  bool news = !now.ranked;
  if (now.ranked) {
    bool fits = now.dims.size() == merged.size();
    for (size_t i = 0; fits && i < merged.size(); ++i) {
      fits = merged[i] < 0 || now.dims[i] < 0 || merged[i] == now.dims[i];
      if (merged[i] < 0) merged[i] = now.dims[i];
      news |= merged[i] != now.dims[i];
    }
    if (!fits) {
      return fail(ErrorKind::ValueError, "Tensor's shape {} is not compatible with supplied shape {}.", dims_text(now.dims),
                  dims_text(shape->dims));
    }
  }
  if (!news) return Value::none();
  for (int64_t& d : merged) d = d < 0 ? -1 : d;
  Value checked = TFL_TRY(apply_op(interp, Op::ensure_shape, {args[0]}, Attrs().set_ints(Attr::shape, merged)));
  SymbolicValue* self = symbolic(args[0]);
  self->node = symbolic(checked)->node;
  self->index = symbolic(checked)->index;
  self->scope = symbolic(checked)->scope;
  return Value::none();
}

constexpr NativeDef kSymbolicMethods[] = {
    getter("shape", get_shape),
    getter("dtype", get_dtype),
    getter("name", get_name),
    getter("ndim", get_ndim),
    getter("device", get_device),
    getter("value_index", get_value_index),
    getter("_id", get_id),
    method("get_shape", "self", get_shape),
    method("set_shape", "self, shape", set_shape),
    method("ref", "self", reference_to),
    method("experimental_ref", "self", reference_to),
    method("eval", "self, feed_dict=None, session=None", eval_method),
    method("__array__", "self, dtype=None, copy=None", array_method),
    method("__abs__", "self", abs_method),
    method("__copy__", "self", self_method),
    method("__deepcopy__", "self, memo=None", self_method),
};

void destroy_symbolic(Object* o) {
  static_cast<SymbolicValue*>(o)->~SymbolicValue();
  Heap::release(o, sizeof(SymbolicValue));
}

}  // namespace

std::string shown_name(const SymbolicValue* v) { return v->node->name; }

std::string symbolic_str(const SymbolicValue* v) {
  const TensorType& t = v->ir_type().tensor;
  std::string shape = t.ranked ? ", shape=" + shape_of(t) : std::string();
  return fmt::format("Tensor(\"{}:{}\"{}, dtype={})", shown_name(v), v->index, shape, dtype_name(t.dtype));
}

std::string symbolic_repr(const SymbolicValue* v) {
  const TensorType& t = v->ir_type().tensor;
  return fmt::format("<tf.Tensor '{}:{}' shape={} dtype={}>", shown_name(v), v->index, shape_of(t), dtype_name(t.dtype));
}

Failure out_of_scope(Interp& interp, const SymbolicValue* v, const Scope* here) {
  std::string text = symbolic_repr(v) +
                     " is out of scope and cannot be used here. Use return values, explicit Python locals or TensorFlow "
                     "collections to access it.\n"
                     "Please see https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values for "
                     "more information.\n\n" +
                     symbolic_repr(v) + " was defined here:\n";
  const ir::Locations& locations = *v->scope->function->locations;
  std::vector<std::string> lines;
  for (uint32_t at = v->node->location; at != 0 && at < locations.size() && lines.size() < 20; at = locations[at].caller) {
    const ir::Location& l = locations[at];
    lines.push_back(fmt::format("    File \"{}\", line {}, in {}\n", l.file, l.line, l.function));
  }
  for (size_t i = lines.size(); i-- > 0;) text += lines[i];
  (void)interp;
  if (!here)
    return fail(ErrorKind::TypeError, std::move(text)).with_hint("return the tensor from its function instead of keeping it");
  text += fmt::format(
      "\nThe tensor {} cannot be accessed from FuncGraph(name={}), because it was defined in FuncGraph(name={}), which is out of "
      "scope.",
      symbolic_repr(v), here->name, v->scope->name);
  // A value of a branch or loop body of this very function; another function's is a TypeError as it is outside of graphs.
  return fail(v->scope->is_function ? ErrorKind::TypeError : ErrorKind::InaccessibleTensorError, std::move(text))
      .with_hint("return the tensor from its function, branch or loop instead of keeping it");
}

extern const Slots symbolic_slots;
const Slots symbolic_slots = {
    .kind = Kind::Symbolic,
    .destroy = destroy_symbolic,
    .construct = construct_symbolic,
    .repr = symbolic_repr_slot,
    .str = symbolic_str_slot,
    .format = symbolic_format,
    .hash = symbolic_hash,
    .truth = symbolic_truth,
    .length = symbolic_length,
    .get_item = tensor_item_slot,
    .set_item = symbolic_set_item,
    .contains = symbolic_contains,
    .iter = symbolic_iter,
    .unary = tensor_unary,
    .binary = tensor_binary,
    .compare = tensor_compare,
    .get_attr = symbolic_get_attr,
};

std::span<const NativeDef> symbolic_methods() { return kSymbolicMethods; }

}  // namespace tfl
