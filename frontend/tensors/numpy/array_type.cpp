// The type numpy.ndarray: its behaviour, its native methods, and the way to those written in TFL (stdlib/numpy/_methods.tfl).
#include "frontend/core/attributes.h"
#include "frontend/core/native.h"
#include "frontend/tensors/numpy/array.h"
#include "frontend/tensors/numpy/object_arrays.h"
#include "frontend/tensors/numpy/string_arrays.h"
#include "runtime/tensor/copy.h"
#include "runtime/tensor/element.h"
#include "runtime/text/array_text.h"

namespace tfl {

namespace {

NdArrayObject* self_of(const Value& v) { return v.as<NdArrayObject>(); }
Tensor content(Interp& interp, const Value& v) {
  return v.is(Kind::NdArray) ? array_content(interp, self_of(v)) : v.as<NumPyScalarObject>()->value;
}

/// A function of the library's files, by name; Empty: there is none.
Result<Value> library_function(Interp& interp, std::string_view module, std::string_view name) {
  Value home = TFL_TRY(interp.import_module(module));
  Value found = dict_get_str(home.as<Module>()->dict.as<Dict>(), interp.intern(name));
  return found.is(Kind::Function) ? found : Value();
}

/// The text of an array by one of the functions for it. The elements of an array of objects are shown as they show themselves.
Result<Value> shown(Interp& interp, const Value& self, std::string (*text)(const Tensor&, const PrintOptions&)) {
  Tensor t = content(interp, self);
  PrintOptions options = interp.tensors->print_options;
  if (t.rank() > 0) {
    Value methods = TFL_TRY(interp.import_module("numpy._methods"));
    Value formatter = dict_get_str(methods.as<Module>()->dict.as<Dict>(), interp.intern("_formatter"));
    if (formatter.is(Kind::Dict)) {
      Value written = TFL_TRY(library_function(interp, "numpy._formatters", "shown"));
      return interp.call(written, {self, Value::boolean(text == array_repr)});
    }
  }
  if (holds_objects(t)) {
    if (t.rank() == 0 && text == array_str) return interp.str(TFL_TRY(str_text(interp, TFL_TRY(text_element(interp, t)))));
    t = TFL_TRY(shown_objects(interp, t));
    options.quote = [](std::string_view word, bool) { return std::string(word); };
  }
  return interp.str(text(t, options));
}
Result<Value> array_repr_slot(Interp& interp, const Value& self) { return shown(interp, self, array_repr); }
Result<Value> array_str_slot(Interp& interp, const Value& self) { return shown(interp, self, array_str); }

Result<bool> array_truth(Interp& interp, const Value& self) {
  Tensor t = content(interp, self);
  if (t.size() != 1) {
    if (t.size() == 0)
      return fail(ErrorKind::ValueError,
                  "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.");
    return fail(ErrorKind::ValueError,
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()");
  }
  if (holds_objects(t)) return truth(interp, TFL_TRY(text_element(interp, Tensor::view(interp.context, t, {}, {}, 0))));
  if (t.dtype() == DType::String) return !t.data<std::string>()->empty();
  return load_double(t.dtype(), t.raw()) != 0 || (is_complex(t.dtype()) && load_imag(t.dtype(), t.raw()) != 0);
}

Result<int64_t> array_length(Interp& interp, const Value& self) {
  Tensor t = content(interp, self);
  if (t.rank() == 0) return fail(ErrorKind::TypeError, "len() of unsized object");
  return t.dim(0);
}

Result<Value> next_row(Interp& interp, Value& state, int64_t& position) {
  Tensor t = content(interp, state);
  if (position >= t.dim(0)) return Value();
  return array_get_item(interp, state, Value::integer(position++));
}
Result<Value> array_iter(Interp& interp, const Value& self) {
  if (content(interp, self).rank() == 0) return fail(ErrorKind::TypeError, "iteration over a 0-d array");
  return make_iterator(interp, interp.types.sequence_iterator, next_row, self);
}

Result<bool> array_contains(Interp& interp, const Value& self, const Value& item) {
  Value same = TFL_TRY(numpy_compare(interp, CompareOp::Eq, self, item));
  if (same.identical(interp.not_implemented)) return false;
  Tensor t = content(interp, same);
  Tensor any = TFL_TRY(apply1(interp.context, Op::reduce_any, {t}));
  return *any.data<bool>();
}

Result<Value> array_inplace(Interp& interp, BinaryOp op, const Value& self, const Value& other) {
  Value result = TFL_TRY(numpy_binary(interp, op, self, other));
  if (result.identical(interp.not_implemented)) return result;
  Tensor r = content(interp, result);
  NdArrayObject* a = self_of(self);
  Tensor before = array_content(interp, a);
  auto rank_of = [](DType d) { return d == DType::Bool ? 0 : is_integer(d) ? 1 : is_floating(d) ? 2 : is_complex(d) ? 3 : 4; };
  if (rank_of(r.dtype()) > rank_of(before.dtype())) {
    static constexpr std::string_view kNames[] = {"add",         "subtract",   "multiply",   "divide",     "floor_divide",
                                                  "remainder",   "power",      "matmul",     "left_shift", "right_shift",
                                                  "bitwise_and", "bitwise_or", "bitwise_xor"};
    return fail(ErrorKind::TypeError,
                "Cannot cast ufunc '{}' output from dtype('{}') to dtype('{}') with casting rule 'same_kind'",
                kNames[static_cast<int>(op)], dtype_name(r.dtype()), dtype_name(before.dtype()));
  }
  if (r.rank() != before.rank() || !std::equal(r.dims().begin(), r.dims().end(), before.dims().begin())) {
    return fail(ErrorKind::ValueError, "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
                shape_tuple_text(before.dims()), shape_tuple_text(r.dims()));
  }
  r = TFL_TRY(before.dtype() == DType::String ? text_to_store(interp, r, before) : cast_tensor(interp, r, before.dtype()));
  before = Tensor();
  Tensor* target = TFL_TRY(array_for_write(interp, a));
  copy_strided(interp.context, r.dtype(), r.dims(), target->raw(), target->strides(), r.raw(), r.strides());
  return self;
}

Result<Value> array_format(Interp& interp, const Value& self, std::string_view spec) {
  Tensor t = content(interp, self);
  if (t.rank() == 0) {
    Value host = TFL_TRY(to_host(interp, t));
    return format_value(interp, host, spec);
  }
  if (spec.empty()) return array_str_slot(interp, self);
  return fail(ErrorKind::TypeError, "unsupported format string passed to numpy.ndarray.__format__");
}

Result<Value> construct_array(Interp& interp, Type*, CallArgs& args) {
  Value made = TFL_TRY(library_function(interp, "numpy._memory", "_made"));
  return interp.call(made, args);
}

Result<bool> array_set_attr(Interp& interp, const Value& self, Str* name, const Value& value) {
  if (name->text == "shape" && !value.is_empty()) {
    NdArrayObject* a = self_of(self);
    Tensor t = array_content(interp, a);
    Dims dims = TFL_TRY(to_dims(interp, value, true));
    int64_t known = 1, unknown = -1;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] < 0)
        unknown = static_cast<int64_t>(i);
      else
        known *= dims[i];
    }
    if (unknown >= 0 && known > 0) dims[static_cast<size_t>(unknown)] = t.size() / known;
    int64_t n = TFL_TRY(element_count(dims));
    if (n != t.size() || !t.contiguous())
      return fail(ErrorKind::ValueError, "cannot reshape array of size {} into shape {}", t.size(), shape_tuple_text(dims));
    a->array = Tensor::view(interp.context, t, dims, Tensor::row_major_strides(dims), 0);
    return true;
  }
  if (value.is_empty()) return false;
  Value setter = TFL_TRY(library_function(interp, "numpy._memory", "set_" + std::string(name->text)));
  if (setter.is_empty()) return false;
  TFL_TRY(interp.call(setter, {self, value}));
  return true;
}

void destroy_array(Object* o) { destroy_object<NdArrayObject>(o); }

// ------------------------------------------------------------------------------------------------------ attributes

Result<Value> get_shape(Interp& interp, Value* args) {
  Tensor t = content(interp, args[0]);
  std::vector<Value> dims;
  for (int64_t d : t.dims()) dims.push_back(Value::integer(d));
  return interp.tuple(dims);
}
Result<Value> get_dtype(Interp& interp, Value* args) {
  Tensor t = content(interp, args[0]);
  return t.dtype() == DType::String ? text_dtype_value(interp, text_type(t)) : numpy_dtype_value(interp, t.dtype());
}
/// Bytes of one element as NumPy stores it.
int64_t item_size(const Tensor& t) {
  if (t.dtype() != DType::String) return static_cast<int64_t>(dtype_size(t.dtype()));
  TextType type = text_type(t);
  return !type.fixed() ? 8 : (type.kind == TextKind::text ? 4 : 1) * std::max<int>(type.width, 1);
}
Result<Value> get_ndim(Interp& interp, Value* args) { return Value::integer(content(interp, args[0]).rank()); }
Result<Value> get_size(Interp& interp, Value* args) { return Value::integer(content(interp, args[0]).size()); }
Result<Value> get_itemsize(Interp& interp, Value* args) { return Value::integer(item_size(content(interp, args[0]))); }
Result<Value> get_nbytes(Interp& interp, Value* args) {
  return Value::integer(item_size(content(interp, args[0])) * content(interp, args[0]).size());
}
Result<Value> get_base(Interp&, Value* args) {
  if (!args[0].is(Kind::NdArray) || self_of(args[0])->base.is_empty()) return Value::none();
  return self_of(args[0])->base;
}
Result<Value> get_transposed(Interp& interp, Value* args) {
  if (!args[0].is(Kind::NdArray)) return args[0];
  Tensor t = content(interp, args[0]);
  Dims dims, strides;
  for (int i = t.rank(); i-- > 0;) {
    dims.push_back(t.dim(i));
    strides.push_back(t.strides()[static_cast<size_t>(i)]);
  }
  return array_view(interp, args[0], dims, strides, 0);
}

Result<Value> method_item(Interp& interp, Value* args) {
  Tensor t = content(interp, args[0]);
  const Value& index = args[1].as<Tuple>()->size == 1 ? args[1].as<Tuple>()->items[0] : args[1];
  if (args[1].as<Tuple>()->size == 0) {
    if (t.size() != 1) return fail(ErrorKind::ValueError, "can only convert an array of size 1 to a Python scalar");
    return to_host(interp, Tensor::view(interp.context, t, {}, {}, 0));
  }
  if (index.is_int()) {
    t = TFL_TRY(contiguous(interp.context, t));
    int64_t i = index.as_int();
    if (i < -t.size() || i >= t.size())
      return fail(ErrorKind::IndexError, "index {} is out of bounds for {} {}", i, t.rank() == 1 ? "axis 0 with size" : "size",
                  t.size());
    return to_host(interp, Tensor::view(interp.context, t, {}, {}, i < 0 ? i + t.size() : i));
  }
  Value one = TFL_TRY(array_get_item(interp, args[0], index));
  return to_host(interp, content(interp, one));
}
Result<Value> method_tolist(Interp& interp, Value* args) { return to_host(interp, content(interp, args[0])); }

Result<Value> method_astype(Interp& interp, Value* args) {
  Tensor t = content(interp, args[0]);
  // An array of rank 0 stays an array.
  auto same = [&](Tensor r) {
    return args[0].is(Kind::NdArray) ? ndarray_value(interp, std::move(r)) : array_result(interp, std::move(r));
  };
  if (auto text = wanted_text_type(interp, args[1])) return same(TFL_TRY(copy_of(interp, TFL_TRY(to_text(interp, t, *text)))));
  DType d = TFL_TRY(to_numpy_dtype(interp, args[1]));
  if (t.dtype() != d) return same(TFL_TRY(cast_tensor(interp, t, d)));
  return same(TFL_TRY(contiguous(interp.context, t)));
}
Result<Value> method_copy(Interp& interp, Value* args) {
  Tensor copy = TFL_TRY(copy_of(interp, content(interp, args[0])));
  return args[0].is(Kind::NdArray) ? ndarray_value(interp, copy) : array_result(interp, copy);
}
Result<Value> method_fill(Interp& interp, Value* args) {
  TFL_TRY(array_set_item(interp, args[0], interp.ellipsis, args[1]));
  return Value::none();
}
Result<Value> method_tobytes(Interp& interp, Value* args) {
  Tensor t = TFL_TRY(contiguous(interp.context, content(interp, args[0])));
  if (t.dtype() == DType::String && !text_type(t).fixed())
    return fail(ErrorKind::TypeError, "arrays of objects have no bytes of their own");
  if (t.dtype() == DType::String) return interp.bytes(fixed_bytes(t));
  return interp.bytes(std::string(reinterpret_cast<const char*>(t.raw()), t.bytes()));
}
Result<Value> method_int(Interp& interp, Value* args) {
  Tensor t = content(interp, args[0]);
  if (t.rank() > 0) return fail(ErrorKind::TypeError, "only 0-dimensional arrays can be converted to Python scalars");
  return to_int_value(interp, TFL_TRY(to_host(interp, t)));
}
Result<Value> method_float(Interp& interp, Value* args) {
  Tensor t = content(interp, args[0]);
  if (t.rank() > 0) return fail(ErrorKind::TypeError, "only 0-dimensional arrays can be converted to Python scalars");
  Value host = TFL_TRY(to_host(interp, t));
  return Value::real(TFL_TRY(to_double(interp, host)));
}
Result<Value> method_index(Interp& interp, Value* args) {
  Tensor t = content(interp, args[0]);
  if (t.rank() > 0 || !is_integer(t.dtype()))
    return fail(ErrorKind::TypeError, "only integer scalar arrays can be converted to a scalar index");
  return to_host(interp, t);
}
Result<Value> method_array(Interp& interp, Value* args) { return ndarray_value(interp, content(interp, args[0])); }

Result<Value> method_abs(Interp& interp, Value* args) {
  Value function = TFL_TRY(library_function(interp, "numpy._methods", "_absolute"));
  return interp.call(function, {args[0]});
}
Result<Value> method_round(Interp& interp, Value* args) {
  if (args[0].is(Kind::NdArray)) return fail(ErrorKind::TypeError, "type numpy.ndarray doesn't define __round__ method");
  Value function = TFL_TRY(library_function(interp, "numpy._methods", "round"));
  Value rounded = TFL_TRY(interp.call(function, {args[0], args[1].is_none() ? Value::integer(0) : args[1]}));
  if (!args[1].is_none()) return rounded;
  return interp.call(Value::share(interp.types.int_), {rounded});
}

constexpr NativeDef kMethods[] = {
    getter("shape", get_shape),
    getter("dtype", get_dtype),
    getter("ndim", get_ndim),
    getter("size", get_size),
    getter("itemsize", get_itemsize),
    getter("nbytes", get_nbytes),
    getter("base", get_base),
    getter("T", get_transposed),
    method("item", "self, *args", method_item),
    method("tolist", "self", method_tolist),
    method("astype", "self, dtype, order=None, casting=None, subok=None, copy=True", method_astype),
    method("copy", "self, order=None", method_copy),
    method("__copy__", "self", method_copy),
    method("__deepcopy__", "self, memo=None", method_copy),
    method("fill", "self, value", method_fill),
    method("tobytes", "self, order=None", method_tobytes),
    method("__int__", "self", method_int),
    method("__float__", "self", method_float),
    method("__index__", "self", method_index),
    method("__array__", "self, dtype=None, copy=None", method_array),
    method("__abs__", "self", method_abs),
    method("__round__", "self, ndigits=None", method_round),
};

}  // namespace

Result<Value> numpy_get_attr(Interp& interp, const Value& self, Str* name) {
  if (name->text.starts_with("__")) return Value();
  Value methods = TFL_TRY(interp.import_module("numpy._methods"));
  Value found = dict_get_str(methods.as<Module>()->dict.as<Dict>(), name);
  if (name->text.starts_with("_")) return Value();
  if (found.is(Kind::Function)) return interp.bound_method(found, self);
  for (const char* home : {"numpy._methods", "numpy._memory"}) {
    Value property = TFL_TRY(library_function(interp, home, "property_" + std::string(name->text)));
    if (!property.is_empty()) return interp.call(property, {self});
  }
  if (name->text.starts_with("set_") || name->text.starts_with("property_")) return Value();
  found = TFL_TRY(library_function(interp, "numpy._memory", name->text));
  return found.is_empty() ? Value() : interp.bound_method(found, self);
}

extern const Slots ndarray_slots;
const Slots ndarray_slots = {
    .kind = Kind::NdArray,
    .destroy = destroy_array,
    .construct = construct_array,
    .repr = array_repr_slot,
    .str = array_str_slot,
    .format = array_format,
    .truth = array_truth,
    .length = array_length,
    .get_item = array_get_item,
    .set_item = array_set_item,
    .contains = array_contains,
    .iter = array_iter,
    .unary = numpy_unary,
    .binary = numpy_binary,
    .inplace = array_inplace,
    .compare = numpy_compare,
    .get_attr = numpy_get_attr,
    .set_attr = array_set_attr,
};
std::span<const NativeDef> ndarray_methods() { return kMethods; }

// ------------------------------------------------------------------------------------------------ NumPy scalars

namespace {

Result<Value> scalar_repr(Interp& interp, const Value& self) {
  Tensor t = content(interp, self);
  if (t.dtype() == DType::Bool) return interp.str(*t.data<bool>() ? "np.True_" : "np.False_");
  if (t.dtype() == DType::BF16) return interp.str(element_str(t));
  std::string text = element_str(t);
  if (text.starts_with('(')) return interp.strf("np.{}{}", dtype_name(t.dtype()), text);
  return interp.strf("np.{}({})", dtype_name(t.dtype()), text);
}
Result<Value> scalar_str(Interp& interp, const Value& self) { return interp.str(element_str(content(interp, self))); }
Result<uint64_t> scalar_hash(Interp& interp, const Value& self) {
  Value host = TFL_TRY(to_host(interp, content(interp, self)));
  return hash_value(interp, host);
}
Result<int64_t> scalar_length(Interp& interp, const Value& self) {
  return fail(ErrorKind::TypeError, "object of type '{}' has no len()", interp.type_name(self));
}
Result<Value> scalar_get_item(Interp& interp, const Value& self, const Value& key) {
  if (key.is(Kind::Tuple) && key.as<Tuple>()->size == 0) return self;
  if (key.is_none() || key.identical(interp.ellipsis)) {
    Value array = ndarray_value(interp, content(interp, self));
    return array_get_item(interp, array, key);
  }
  return fail(ErrorKind::IndexError, "invalid index to scalar variable.");
}
void destroy_scalar(Object* o) { destroy_object<NumPyScalarObject>(o); }

Result<Value> construct_scalar(Interp& interp, Type* type, CallArgs& args) {
  TFL_TRY(no_keywords(type->name->text, args));
  std::optional<DType> dtype;
  for (int i = 0; i < kDTypeCount; ++i) {
    if (interp.tensors->numpy_scalars[static_cast<size_t>(i)] == type) dtype = static_cast<DType>(i);
  }
  if (!dtype) return fail(ErrorKind::TypeError, "cannot create 'numpy.{}' instances", type->name->text);
  Value v = args.count > 0 ? args.values[0] : Value::integer(0);
  if (v.is_str()) {
    Type* host = is_complex(*dtype) ? interp.types.complex : is_floating(*dtype) ? interp.types.float_ : interp.types.int_;
    v = TFL_TRY(interp.call(Value::share(host), {v}));
  }
  if (v.is_int() && is_integer(*dtype) && *dtype != DType::I64) {
    Operand a;
    a.t = TFL_TRY(cast_tensor(interp, TFL_TRY(scalar<int32_t>(interp.context, DType::I32, 0)), *dtype));
    Value zero = numpy_scalar_value(interp, a.t);
    return numpy_binary(interp, BinaryOp::Add, zero, v);
  }
  Tensor t = TFL_TRY(as_array(interp, v, *dtype));
  return array_result(interp, t);
}

}  // namespace

Value numpy_scalar_value(Interp& interp, Tensor t) {
  Type* type = numpy_scalar_type(interp, t.dtype());
  if (t.dtype() == DType::String) {
    auto element = text_element(interp, t);
    return element ? element.take() : interp.bytes(*t.data<std::string>());
  }
  NumPyScalarObject* s = interp.allocate<NumPyScalarObject>(type);
  s->value = std::move(t);
  return Value::adopt(s);
}

extern const Slots numpy_scalar_slots;
const Slots numpy_scalar_slots = {
    .kind = Kind::NumPyScalar,
    .destroy = destroy_scalar,
    .construct = construct_scalar,
    .repr = scalar_repr,
    .str = scalar_str,
    .format = array_format,
    .hash = scalar_hash,
    .truth = array_truth,
    .length = scalar_length,
    .get_item = scalar_get_item,
    .unary = numpy_unary,
    .binary = numpy_binary,
    .compare = numpy_compare,
    .get_attr = numpy_get_attr,
};
std::span<const NativeDef> numpy_scalar_methods() { return kMethods; }

}  // namespace tfl
