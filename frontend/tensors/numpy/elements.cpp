#include "frontend/tensors/numpy/elements.h"

#include <cstring>

namespace tfl {

namespace {

template <class T>
T read(const std::byte* place) {
  T v;
  std::memcpy(&v, place, sizeof v);
  return v;
}
template <class T>
bool write(std::byte* place, T v) {
  std::memcpy(place, &v, sizeof v);
  return true;
}

/// The scalar of a NumPy scalar's object, or null.
const TensorRep* rep_of(const Value& v) { return v.is(Kind::NumPyScalar) ? v.as<NumPyScalarObject>()->value.rep() : nullptr; }

template <class T>
Value scalar_of(Interp& interp, DType dtype, T v) {
  auto made = scalar<T>(interp.context, dtype, v);
  return made ? numpy_scalar_value(interp, made.take()) : Value();
}

/// Whole numbers that every floating type here holds: no rounding to think of.
bool is_exact(int64_t i) { return i > -(int64_t{1} << 24) && i < int64_t{1} << 24; }

/// An operand as a number of type T: a scalar of `dtype`, or a Python number that takes its type.
template <class T>
bool operand(const Value& v, DType dtype, T& out) {
  if (const TensorRep* rep = rep_of(v)) {
    if (rep->dtype != dtype || rep->flags) return false;
    out = read<T>(rep->data);
    return true;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (v.is_float()) {
      out = static_cast<T>(v.as_float());
      return true;
    }
    if (v.is_int() && is_exact(v.as_int())) {
      out = static_cast<T>(v.as_int());
      return true;
    }
    return false;
  } else {
    if (!v.is_int()) return false;
    out = v.as_int();
    return true;
  }
}

template <class T>
Value arithmetic(Interp& interp, BinaryOp op, const Value& a, const Value& b, DType dtype) {
  T x, y;
  if (!operand(a, dtype, x) || !operand(b, dtype, y)) return {};
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case BinaryOp::Add: return scalar_of<T>(interp, dtype, x + y);
      case BinaryOp::Sub: return scalar_of<T>(interp, dtype, x - y);
      case BinaryOp::Mul: return scalar_of<T>(interp, dtype, x * y);
      case BinaryOp::Div: return y == 0 ? Value() : scalar_of<T>(interp, dtype, x / y);
      default: return {};
    }
  } else {
    T r;
    switch (op) {
      case BinaryOp::Add: return __builtin_add_overflow(x, y, &r) ? Value() : scalar_of<T>(interp, dtype, r);
      case BinaryOp::Sub: return __builtin_sub_overflow(x, y, &r) ? Value() : scalar_of<T>(interp, dtype, r);
      case BinaryOp::Mul: return __builtin_mul_overflow(x, y, &r) ? Value() : scalar_of<T>(interp, dtype, r);
      default: return {};
    }
  }
}

template <class T>
Value comparison(Interp& interp, CompareOp op, const Value& a, const Value& b, DType dtype) {
  T x, y;
  if (!operand(a, dtype, x) || !operand(b, dtype, y)) return {};
  switch (op) {
    case CompareOp::Eq: return scalar_of<bool>(interp, DType::Bool, x == y);
    case CompareOp::Ne: return scalar_of<bool>(interp, DType::Bool, x != y);
    case CompareOp::Lt: return scalar_of<bool>(interp, DType::Bool, x < y);
    case CompareOp::Le: return scalar_of<bool>(interp, DType::Bool, x <= y);
    case CompareOp::Gt: return scalar_of<bool>(interp, DType::Bool, x > y);
    case CompareOp::Ge: return scalar_of<bool>(interp, DType::Bool, x >= y);
    default: return {};
  }
}

/// Calls f<T>(dtype) with the type of the scalar among two operands, where it is one of those known here.
template <class F>
Value by_type(const Value& a, const Value& b, F&& f) {
  const TensorRep* rep = rep_of(a);
  if (!rep) rep = rep_of(b);
  if (!rep) return {};
  switch (rep->dtype) {
    case DType::F64: return f(double{}, rep->dtype);
    case DType::F32: return f(float{}, rep->dtype);
    case DType::I64: return f(int64_t{}, rep->dtype);
    default: return {};
  }
}

}  // namespace

const std::byte* element_place(const Tensor& t, const Value& key) {
  auto rank = static_cast<size_t>(t.rank());
  const Value* items = &key;
  size_t count = 1;
  if (key.is(Kind::Tuple)) {
    items = key.as<Tuple>()->items;
    count = static_cast<size_t>(key.as<Tuple>()->size);
  }
  if (count != rank) return nullptr;
  const int64_t *sizes = t.rep()->dims(), *strides = t.rep()->strides();
  int64_t offset = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (!items[d].is_int()) return nullptr;
    int64_t i = items[d].as_int();
    if (i < 0) i += sizes[d];
    if (i < 0 || i >= sizes[d]) return nullptr;
    offset += i * strides[d];
  }
  return t.raw() + offset * static_cast<int64_t>(dtype_size(t.dtype()));
}

Value element_at(Interp& interp, DType dtype, const std::byte* place) {
  if (dtype == DType::String) return {};
  auto made = Tensor::empty(interp.context, dtype, {});
  if (!made) return {};
  std::memcpy(made->raw(), place, dtype_size(dtype));
  return numpy_scalar_value(interp, made.take());
}

bool store_element(DType dtype, std::byte* place, const Value& v) {
  if (const TensorRep* rep = rep_of(v)) {
    if (rep->dtype != dtype || rep->flags || dtype == DType::String) return false;
    std::memcpy(place, rep->data, dtype_size(dtype));
    return true;
  }
  switch (dtype) {
    case DType::F64:
      return v.is_float() ? write(place, v.as_float())
                          : v.is_int() && is_exact(v.as_int()) && write(place, static_cast<double>(v.as_int()));
    case DType::F32:
      return v.is_float() ? write(place, static_cast<float>(v.as_float()))
                          : v.is_int() && is_exact(v.as_int()) && write(place, static_cast<float>(v.as_int()));
    case DType::I64: return v.is_int() && write(place, v.as_int());
    case DType::I32:
      return v.is_int() && v.as_int() == static_cast<int32_t>(v.as_int()) && write(place, static_cast<int32_t>(v.as_int()));
    case DType::U8:
      return v.is_int() && v.as_int() == static_cast<uint8_t>(v.as_int()) && write(place, static_cast<uint8_t>(v.as_int()));
    case DType::Bool: return v.is_bool() && write(place, v.as_bool());
    default: return false;
  }
}

Value scalar_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  return by_type(a, b, [&]<class T>(T, DType dtype) { return arithmetic<T>(interp, op, a, b, dtype); });
}

Value scalar_compare(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  return by_type(a, b, [&]<class T>(T, DType dtype) { return comparison<T>(interp, op, a, b, dtype); });
}

}  // namespace tfl
