// Single elements and whole tensors as host values: truth, length, iteration, int(), float(), tolist().
#include "frontend/core/big_int.h"
#include "frontend/core/complex_value.h"
#include "frontend/core/object_elements.h"
#include "frontend/core/tensor_operators.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

/// The tensor whose element is asked for; only rank 0 has one.
Result<Tensor> scalar_of(Interp& interp, const Value& v) {
  Tensor t = TFL_TRY(to_concrete(interp, v));
  if (t.rank() != 0) return fail(ErrorKind::TypeError, "only 0-dimensional arrays can be converted to Python scalars");
  return t;
}

Result<Value> element_value(Interp& interp, const Tensor& t, const std::byte* at) {
  DType dtype = t.dtype();
  if (dtype == DType::String) {
    const auto& s = *reinterpret_cast<const std::string*>(at);
    if (text_type(t).kind == TextKind::text_objects) return object_of(interp, s);
    return text_type(t).is_text() ? interp.str(s) : interp.bytes(s);
  }
  if (dtype == DType::Bool) return Value::boolean(load_int(dtype, at) != 0);
  if (is_complex(dtype)) return complex_value(interp, load_double(dtype, at), load_imag(dtype, at));
  if (is_floating(dtype)) return Value::real(load_double(dtype, at));
  if (dtype == DType::U64) return int_value(interp, *reinterpret_cast<const uint64_t*>(at));
  return Value::integer(load_int(dtype, at));
}

Result<Value> nested(Interp& interp, const Tensor& t, int axis, const std::byte* at) {
  if (axis == t.rank()) return element_value(interp, t, at);
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(t.dim(axis)));
  ptrdiff_t step = t.strides()[static_cast<size_t>(axis)] * static_cast<ptrdiff_t>(dtype_size(t.dtype()));
  for (int64_t i = 0; i < t.dim(axis); ++i) items.push_back(TFL_TRY(nested(interp, t, axis + 1, at + i * step)));
  return interp.list(std::move(items));
}

Failure bad_float(Interp& interp, const Value& bytes) {
  auto text = repr_text(interp, bytes);
  if (!text) return text.failure();
  return fail(ErrorKind::ValueError, "could not convert string to float: {}", *text);
}

Result<Value> next_item(Interp& interp, Value& state, int64_t& position) {
  if (state.tensor_rep()->dims()[0] <= position) return Value();
  return tensor_get_item(interp, state, Value::integer(position++));
}

}  // namespace

Result<Value> to_host(Interp& interp, const Tensor& t) {
  if (t.rank() > 32) return fail(ErrorKind::ValueError, "a tensor of rank {} has too many levels for nested lists", t.rank());
  return nested(interp, t, 0, t.raw());
}

Result<Value> tensor_to_int(Interp& interp, const Value& v) {
  Tensor t = TFL_TRY(scalar_of(interp, v));
  if (is_complex(t.dtype())) return to_int_value(interp, Value::real(load_double(t.dtype(), t.raw())));
  return to_int_value(interp, TFL_TRY(element_value(interp, t, t.raw())));
}

Result<int64_t> tensor_to_index(Interp& interp, const Value& v) {
  DType d = *dtype_of(interp, v);
  if (!is_integer(d) && !(d == DType::Bool && v.is(Kind::NdArray))) {
    return fail(ErrorKind::TypeError, "only integer scalar arrays can be converted to a scalar index");
  }
  Tensor t = TFL_TRY(to_concrete(interp, v));
  if (t.rank() != 0) return fail(ErrorKind::TypeError, "only integer scalar arrays can be converted to a scalar index");
  return load_int(t.dtype(), t.raw());
}

Result<double> tensor_to_double(Interp& interp, const Value& v) {
  Tensor t = TFL_TRY(scalar_of(interp, v));
  if (t.dtype() == DType::String) {
    Value bytes = TFL_TRY(element_value(interp, t, t.raw()));
    if (bytes.is_int() || bytes.is_float()) return to_double(interp, bytes);
    return bad_float(interp, bytes);
  }
  return load_double(t.dtype(), t.raw());
}

Result<bool> tensor_truth(Interp& interp, const Value& self) {
  if (self.is(Kind::Variable) && interp.sink && interp.sink->building()) {
    Value now = TFL_TRY(to_tensor(interp, self));
    return truth(interp, now);
  }
  if (self.is_tensor() && self.tensor_rep()->dtype == DType::Bool && self.tensor_rep()->size == 1)
    return *self.tensor().data<bool>();
  Tensor t = TFL_TRY(to_concrete(interp, self));
  if (t.size() > 1)
    return fail(ErrorKind::ValueError,
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()");
  if (t.size() == 0) return false;
  if (t.dtype() == DType::String) return !t.data<std::string>()->empty();
  return load_double(t.dtype(), t.raw()) != 0 || (is_complex(t.dtype()) && load_imag(t.dtype(), t.raw()) != 0);
}

Result<int64_t> tensor_length(Interp& interp, const Value& self) {
  Tensor t = TFL_TRY(to_concrete(interp, self));
  if (t.rank() == 0) return fail(ErrorKind::TypeError, "Scalar tensor has no `len()`");
  return t.dim(0);
}

Result<Value> tensor_item_slot(Interp& interp, const Value& self, const Value& key) { return tensor_get_item(interp, self, key); }

Result<bool> tensor_contains(Interp& interp, const Value& self, const Value& item) { return for_each_equal(interp, self, item); }

Result<Value> tensor_iter(Interp& interp, const Value& self) {
  Value x = TFL_TRY(to_tensor(interp, self));
  if (!x.is_tensor()) return iter(interp, x);
  if (x.tensor_rep()->rank == 0) return fail(ErrorKind::TypeError, "Cannot iterate over a scalar tensor.");
  return make_iterator(interp, interp.types.sequence_iterator, next_item, std::move(x));
}

Result<bool> for_each_equal(Interp& interp, const Value& self, const Value& item) {
  bool found = false;
  TFL_TRY(for_each(interp, self, [&](Value v) -> Result<bool> {
    found = TFL_TRY(equals(interp, v, item));
    return !found;
  }));
  return found;
}

Result<Value> tensor_format(Interp& interp, const Value& self, std::string_view spec) {
  Tensor t = TFL_TRY(to_concrete(interp, self));
  Value v = TFL_TRY(numpy_of(interp, t));
  return format_value(interp, v, spec);
}

Result<Value> numpy_of(Interp& interp, const Tensor& t) {
  if (t.rank() == 0) {
    if (t.dtype() == DType::String) return interp.bytes(*t.data<std::string>());
    return numpy_scalar_value(interp, t);
  }
  return ndarray_value(interp, t);
}

}  // namespace tfl
