// Running operations on host values: the sink while a function is traced, the kernels otherwise.
#include <optional>

#include "frontend/core/scope.h"
#include "frontend/core/tensor_api.h"
#include "frontend/core/tensor_operators.h"
#include "runtime/kernels/elementwise/cast.h"
#include "runtime/kernels/elementwise/elementwise.h"

namespace tfl {

namespace {

Failure not_yet(Op op) { return fail(ErrorKind::TypeError, "{}: an operand is no tensor", op_info(op).name); }

/// The element type that decides for host operands: that of the first operand which has one.
std::optional<DType> deciding_dtype(Interp& interp, std::span<Value> operands) {
  for (const Value& v : operands) {
    if (auto d = dtype_of(interp, v); d && !v.is(Kind::NdArray) && !v.is(Kind::NumPyScalar)) return d;
  }
  return {};
}

/// Few elements in a row: Op::cast without its checks, which are about strings. Empty for others.
Value cast_small(Context& context, const Tensor& x, DType dtype) {
  if (x.size() > kSmallElements || !x.contiguous() || x.dtype() == DType::String || dtype == DType::String) return Value();
  auto made = Tensor::empty(context, dtype, x.dims());
  if (!made) return Value();
  if (x.size()) cast_loop(context.isa(), x.dtype(), dtype)(x.size(), x.raw(), made->raw());
  return Value::of(made.take());
}

}  // namespace

Result<void> apply_op(Interp& interp, Op op, std::span<const Value> operands, const Attrs& attrs, SmallVec<Value, 2>& results) {
  if (interp.sink) return interp.sink->apply(interp, op, operands, attrs, results);
  SmallVec<Tensor, 4> tensors;
  for (const Value& v : operands) {
    if (v.is(Kind::Symbolic)) return out_of_scope(interp, symbolic(v), nullptr);
    if (!v.is_tensor()) return not_yet(op);
    tensors.push_back(v.tensor());
  }
  Tensors out;
  TFL_TRY(apply(interp.context, op, {tensors.data(), tensors.size()}, attrs, out));
  for (Tensor& t : out) results.push_back(Value::of(std::move(t)));
  return {};
}

Result<Value> apply_op(Interp& interp, Op op, std::initializer_list<Value> operands, const Attrs& attrs) {
  SmallVec<Value, 2> results;
  TFL_TRY(apply_op(interp, op, std::span<const Value>(operands.begin(), operands.size()), attrs, results));
  return std::move(results[0]);
}

Result<void> unify_operands(Interp& interp, std::span<Value> operands) {
  std::optional<DType> dtype = deciding_dtype(interp, operands);
  for (Value& v : operands) {
    if (v.is_tensor() || v.is(Kind::Symbolic)) continue;
    ToTensor wanted;
    // A complex number beside real ones stays what it is, and the operation tells.
    const bool mixed = v.is(Kind::Complex) && dtype && !is_complex(*dtype);
    if (!v.is(Kind::Variable) && !mixed) wanted.dtype = dtype;
    v = TFL_TRY(to_tensor(interp, v, wanted));
    if (!dtype) dtype = dtype_of(interp, v);
  }
  return {};
}

Result<Value> apply_binary(Interp& interp, Op op, const Value& a, const Value& b) {
  if (a.is_tensor() && b.is_tensor() && !interp.sink) [[likely]] {
    return Value::of(TFL_TRY(apply1(interp.context, op, {a.tensor(), b.tensor()})));
  }
  Value operands[2] = {a, b};
  TFL_TRY(unify_operands(interp, operands));
  SmallVec<Value, 2> results;
  TFL_TRY(apply_op(interp, op, operands, Attrs(), results));
  return std::move(results[0]);
}

Result<Value> apply_unary(Interp& interp, Op op, const Value& a) {
  Value x = TFL_TRY(to_tensor(interp, a));
  if (op == Op::abs) op = absolute_of(*dtype_of(interp, x));
  if (x.is_tensor() && !interp.sink) return Value::of(TFL_TRY(apply1(interp.context, op, {x.tensor()})));
  return apply_op(interp, op, {std::move(x)});
}

Result<Value> cast_value(Interp& interp, const Value& x, DType dtype) {
  if (x.is_tensor() && !interp.sink) {
    if (x.tensor_rep()->dtype == dtype) return x;
    if (Value made = cast_small(interp.context, x.tensor(), dtype); !made.is_empty()) return made;
  }
  if (dtype_of(interp, x) == dtype) return x;
  return apply_op(interp, Op::cast, {x}, Attrs().set_dtype(Attr::dtype, dtype));
}

Result<Value> true_divide(Interp& interp, const Value& a, const Value& b) {
  Value x = TFL_TRY(to_tensor(interp, a));
  DType dtype = *dtype_of(interp, x);
  ToTensor hint;
  hint.preferred = dtype;
  Value y = TFL_TRY(to_tensor(interp, b, hint));
  DType other = *dtype_of(interp, y);
  if (dtype != other) {
    return fail(ErrorKind::TypeError, "`x` and `y` must have the same dtype, got tf.{} != tf.{}.", dtype_name(dtype),
                dtype_name(other));
  }
  switch (dtype) {
    case DType::I8:
    case DType::U8:
    case DType::I16:
    case DType::U16: dtype = DType::F32; break;
    case DType::I32:
    case DType::U32:
    case DType::I64:
    case DType::U64: dtype = DType::F64; break;
    case DType::String:
      return fail(ErrorKind::TypeError, "Invalid dtype tf.string in __truediv__.")
          .with_hint("strings can be added and compared only");
    case DType::Bool:
      return fail(ErrorKind::TypeError, "Invalid dtype tf.bool in __truediv__. Expected an integer or floating type.");
    default: break;
  }
  if (dtype != other) {
    x = TFL_TRY(cast_value(interp, x, dtype));
    y = TFL_TRY(cast_value(interp, y, dtype));
  }
  return apply_binary(interp, Op::divide, x, y);
}

}  // namespace tfl
