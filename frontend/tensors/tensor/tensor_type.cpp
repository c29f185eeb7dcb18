// tf.Tensor: its slots, methods and attributes.
#include "frontend/core/tensor_operators.h"
#include "frontend/tensors/tensor/device.h"
#include "frontend/tensors/tensor/tensor_text.h"
#include "frontend/tensors/tensor/variable.h"

namespace tfl {

namespace {

void destroy_tensor(Object* o) { Tensor::destroy(reinterpret_cast<TensorRep*>(o)); }

Result<Value> tensor_repr_slot(Interp& interp, const Value& self) { return interp.str(tensor_repr(interp, self.tensor())); }
Result<Value> tensor_str_slot(Interp& interp, const Value& self) { return interp.str(tensor_str(interp, self.tensor())); }

Result<uint64_t> tensor_hash(Interp&, const Value&) {
  return fail(ErrorKind::TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.");
}

Result<void> tensor_set_item(Interp& interp, const Value& self, const Value&, const Value& value) {
  return fail(ErrorKind::TypeError, "'{}' object does not support item {}", interp.type_name(self),
              value.is_empty() ? "deletion" : "assignment")
      .with_hint("tensors do not change: build a new one with tf.tensor_scatter_nd_update, or use a tf.Variable");
}

/// Names of NumPy's methods that TensorFlow answers with an explanation.
bool is_numpy_name(std::string_view name) {
  for (std::string_view n : {"T", "astype", "ravel", "transpose", "reshape", "clip", "size", "tolist", "data"}) {
    if (n == name) return true;
  }
  return false;
}

/// The mask that a layer of tf.keras gave to the tensor. The library keeps masks beside the tensors; when it is not loaded there are none.
Result<Value> keras_mask(Interp& interp, const Value& self) {
  Value module = interp.find_module("tensorflow.keras._masks");
  if (module.is_empty()) return Value();
  Value of = TFL_TRY(find_attr(interp, module, interp.intern("of")));
  if (of.is_empty()) return Value();
  Value mask = TFL_TRY(interp.call(of, {self}));
  return mask.is_none() ? Value() : mask;
}

/// What NumPy's arrays have and tensors get by experimental_enable_numpy_behavior; empty before it was called.
Result<Value> numpy_behavior(Interp& interp, const Value& self, Str* name) {
  Value module = interp.find_module("tensorflow.experimental.numpy._behavior");
  if (module.is_empty()) return Value();
  Value of = TFL_TRY(find_attr(interp, module, interp.intern("of")));
  if (of.is_empty()) return Value();
  Value found = TFL_TRY(interp.call(of, {self, Value::share(name)}));
  return found.is_none() ? Value() : found;
}

Result<Value> tensor_get_attr(Interp& interp, const Value& self, Str* name) {
  if (name->text == "assign") return slice_assign_method(interp, self);
  if (name->text == "_keras_mask") return keras_mask(interp, self);
  if (is_numpy_name(name->text)) {
    if (Value found = TFL_TRY(numpy_behavior(interp, self, name)); !found.is_empty()) return found;
    return fail(ErrorKind::AttributeError,
                "EagerTensor object has no attribute '{}'. \n        If you are looking for numpy-related methods, please run "
                "the following:\n"
                "        tf.experimental.numpy.experimental_enable_numpy_behavior()\n      ",
                name->text)
        .with_hint(name->text == "reshape" || name->text == "transpose" || name->text == "size"
                       ? "write tf." + name->text + "(x)"
                       : "write x.numpy()." + name->text);
  }
  for (std::string_view n : {"name", "op", "graph", "value_index"}) {
    if (n == name->text)
      return fail(ErrorKind::AttributeError, "Tensor.{} is undefined when eager execution is enabled.", name->text);
  }
  return Value();
}

Result<Value> construct_tensor(Interp&, Type*, CallArgs&) {
  return fail(ErrorKind::TypeError, "tf.Tensor is not called directly").with_hint("write tf.constant(value)");
}

Result<Value> get_shape(Interp& interp, Value* args) { return shape_value(interp, args[0].tensor().dims()); }
Result<Value> get_dtype(Interp& interp, Value* args) { return dtype_value(interp, args[0].tensor_rep()->dtype); }
Result<Value> get_ndim(Interp&, Value* args) { return Value::integer(args[0].tensor_rep()->rank); }
Result<Value> get_device(Interp& interp, Value* args) { return interp.str(device_name(args[0].tensor())); }
Result<Value> get_id(Interp&, Value* args) {
  return Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(args[0].counted()) >> 4));
}
Result<Value> numpy_method(Interp& interp, Value* args) { return numpy_of(interp, args[0].tensor()); }
Result<Value> self_method(Interp&, Value* args) { return args[0]; }

Result<Value> array_method(Interp& interp, Value* args) {
  Tensor t = args[0].tensor();
  if (!args[1].is_none()) {
    DType d = TFL_TRY(to_dtype(interp, args[1]));
    Value v = TFL_TRY(cast_value(interp, args[0], d));
    t = v.tensor();
  }
  return ndarray_value(interp, t);
}

Result<Value> set_shape_method(Interp& interp, Value* args) {
  Tensor t = args[0].tensor();
  if (args[1].is_none() || (args[1].is(Kind::Shape) && !args[1].as<ShapeObject>()->ranked)) return Value::none();
  Dims dims = TFL_TRY(to_dims(interp, args[1], true));
  bool fits = dims.size() == t.dims().size();
  for (size_t i = 0; fits && i < dims.size(); ++i) fits = dims[i] < 0 || dims[i] == t.dims()[i];
  if (!fits) {
    return fail(ErrorKind::ValueError, "Tensor's shape {} is not compatible with supplied shape {}.", shape_tuple_text(t.dims()),
                dims_text(dims));
  }
  return Value::none();
}

Result<Value> eval_method(Interp&, Value*) {
  return fail(ErrorKind::NotImplementedError,
              "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?");
}
Result<Value> consumers_method(Interp&, Value*) {
  return fail(ErrorKind::NotImplementedError, "Tensor.consumers is undefined when eager execution is enabled.");
}
Result<Value> abs_method(Interp& interp, Value* args) { return apply_unary(interp, Op::abs, args[0]); }
Result<Value> int_method(Interp& interp, Value* args) { return tensor_to_int(interp, args[0]); }
Result<Value> index_method(Interp& interp, Value* args) { return Value::integer(TFL_TRY(tensor_to_index(interp, args[0]))); }
Result<Value> float_method(Interp& interp, Value* args) { return Value::real(TFL_TRY(tensor_to_double(interp, args[0]))); }

using How = NativeDef::How;
constexpr NativeDef kTensorMethods[] = {
    {"shape", "self", get_shape, nullptr, How::Getter},
    {"dtype", "self", get_dtype, nullptr, How::Getter},
    {"ndim", "self", get_ndim, nullptr, How::Getter},
    {"device", "self", get_device, nullptr, How::Getter},
    {"backing_device", "self", get_device, nullptr, How::Getter},
    {"_id", "self", get_id, nullptr, How::Getter},
    {"numpy", "self", numpy_method, nullptr, How::Method},
    {"_numpy", "self", numpy_method, nullptr, How::Method},
    {"get_shape", "self", get_shape, nullptr, How::Method},
    {"set_shape", "self, shape", set_shape_method, nullptr, How::Method},
    {"ref", "self", reference_to, nullptr, How::Method},
    {"experimental_ref", "self", reference_to, nullptr, How::Method},
    {"eval", "self, feed_dict=None, session=None", eval_method, nullptr, How::Method},
    {"consumers", "self", consumers_method, nullptr, How::Method},
    {"cpu", "self", tensor_to_cpu, nullptr, How::Method},
    {"gpu", "self, gpu_index=0", tensor_to_gpu, nullptr, How::Method},
    {"__array__", "self, dtype=None, copy=None", array_method, nullptr, How::Method},
    {"__abs__", "self", abs_method, nullptr, How::Method},
    {"__int__", "self", int_method, nullptr, How::Method},
    {"__index__", "self", index_method, nullptr, How::Method},
    {"__float__", "self", float_method, nullptr, How::Method},
    {"__copy__", "self", self_method, nullptr, How::Method},
    {"__deepcopy__", "self, memo=None", self_method, nullptr, How::Method},
};

}  // namespace

extern const Slots tensor_slots;
const Slots tensor_slots = {
    .kind = Kind::Tensor,
    .destroy = destroy_tensor,
    .construct = construct_tensor,
    .repr = tensor_repr_slot,
    .str = tensor_str_slot,
    .format = tensor_format,
    .hash = tensor_hash,
    .truth = tensor_truth,
    .length = tensor_length,
    .get_item = tensor_item_slot,
    .set_item = tensor_set_item,
    .contains = tensor_contains,
    .iter = tensor_iter,
    .unary = tensor_unary,
    .binary = tensor_binary,
    .compare = tensor_compare,
    .get_attr = tensor_get_attr,
};

std::span<const NativeDef> tensor_methods() { return kTensorMethods; }

}  // namespace tfl
