// Arguments that are no operands: shapes, axes, element types of any value.
#include "frontend/core/scope.h"
#include "frontend/core/tensor_operators.h"
#include "frontend/tensors/tensor/natives.h"
#include "frontend/tensors/tensor/tensor_text.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

Failure bad_dimension(Interp& interp, const Value& v) {
  auto text = repr_text(interp, v);
  if (!text) return text.failure();
  return fail(ErrorKind::TypeError,
              "Dimension value must be integer or None or have an __index__ method, got value '{}' with type '<class '{}'>'",
              *text, interp.type_name(v));
}

Failure bad_shape(Interp& interp, const Value& v) {
  auto text = repr_text(interp, v);
  if (!text) return text.failure();
  return fail(ErrorKind::TypeError,
              "Failed to convert '{0}' to a shape: '{0}'could not be converted to a dimension. A shape should either be single "
              "dimension (e.g. 10), or "
              "an iterable of dimensions (e.g. [1, 10, None]).",
              *text);
}

Result<int64_t> dimension(Interp& interp, const Value& v, bool partial) {
  if (v.is_none() && partial) return -1;
  int64_t d;
  if (v.is_int()) {
    d = v.as_int();
  } else if (v.is_bool() || is_tensor_like(v) || v.is(Kind::Instance) || v.is(Kind::Boxed)) {
    d = TFL_TRY(to_index(interp, v));
  } else {
    return bad_dimension(interp, v);
  }
  if (d < 0 && partial) return fail(ErrorKind::ValueError, "Dimension {} must be >= 0", d);
  return d;
}

Result<Dims> integers_of(Interp& interp, const Value& v) {
  Tensor t = TFL_TRY(to_concrete(interp, v));
  if (!is_integer(t.dtype()))
    return fail(ErrorKind::TypeError, "an integer or a vector of integers is needed, not {}", describe(t));
  if (t.rank() > 1) return fail(ErrorKind::InvalidArgumentError, "a scalar or vector is needed, not {}", describe(t));
  Dims out;
  ptrdiff_t step = t.rank() == 1 ? t.strides()[0] * static_cast<ptrdiff_t>(dtype_size(t.dtype())) : 0;
  for (int64_t i = 0; i < t.size(); ++i) out.push_back(load_int(t.dtype(), t.raw() + i * step));
  return out;
}

}  // namespace

std::optional<DType> dtype_of(Interp&, const Value& v) {
  switch (v.kind()) {
    case Kind::Tensor: return v.tensor_rep()->dtype;
    case Kind::Variable: return v.as<VariableObject>()->dtype;
    case Kind::NdArray: return v.as<NdArrayObject>()->array.dtype();
    case Kind::NumPyScalar: return v.as<NumPyScalarObject>()->value.dtype();
    case Kind::Symbolic: return symbolic_type(v).dtype;
    default: return {};
  }
}

Result<Dims> to_dims(Interp& interp, const Value& v, bool partial) {
  if (v.is(Kind::Shape)) {
    const ShapeObject* s = v.as<ShapeObject>();
    bool known = s->ranked;
    for (int64_t d : s->dims) known &= d >= 0;
    if (!s->ranked || (!known && !partial)) {
      return fail(ErrorKind::ValueError, "Cannot convert a partially known TensorShape {} to a Tensor.",
                  s->ranked ? dims_text(s->dims) : "<unknown>");
    }
    return s->dims;
  }
  if (is_tensor_like(v)) {
    Dims dims = TFL_TRY(integers_of(interp, v));
    for (int64_t d : dims) {
      if (d < 0 && partial) return fail(ErrorKind::ValueError, "Dimension {} must be >= 0", d);
    }
    return dims;
  }
  Dims dims;
  if (v.is_int() || v.is_bool()) {
    dims.push_back(TFL_TRY(dimension(interp, v, partial)));
    return dims;
  }
  if (v.is_str() || v.is(Kind::Bytes) || v.is_float() || v.is_none()) return bad_shape(interp, v);
  std::vector<Value> items = TFL_TRY(to_vector(interp, v));
  for (const Value& item : items) dims.push_back(TFL_TRY(dimension(interp, item, partial)));
  return dims;
}

Result<Dims> to_axes(Interp& interp, const Value& v) {
  if (v.is_int()) return Dims{v.as_int()};
  ToTensor wanted;
  wanted.preferred = DType::I32;
  Value t = TFL_TRY(to_tensor(interp, v, wanted));
  DType d = *dtype_of(interp, t);
  if (d != DType::I32 && d != DType::I64 && !(t.is_tensor() && t.tensor_rep()->size == 0)) {
    return fail(ErrorKind::InvalidArgumentError, "Value for attr 'Tidx' of {} is not in the list of allowed values: int32, int64",
                dtype_tf_name(d));
  }
  if (t.is_tensor() && t.tensor_rep()->size == 0) return Dims{};
  if (t.is(Kind::Symbolic) && !known_value(interp, t)) return not_static(t, "axis");
  return integers_of(interp, t);
}

}  // namespace tfl
