// Python's operators on tensors and variables, with TensorFlow's rules for the side that is a host value.
#include "frontend/core/tensor_operators.h"

#include "runtime/kernels/elementwise/elementwise.h"

namespace tfl {

namespace {

Str* reflected_name(Interp& interp, BinaryOp op) {
  const Symbols& s = interp.sym;
  switch (op) {
    case BinaryOp::Add: return s.__radd__;
    case BinaryOp::Sub: return s.__rsub__;
    case BinaryOp::Mul: return s.__rmul__;
    case BinaryOp::Div: return s.__rtruediv__;
    case BinaryOp::FloorDiv: return s.__rfloordiv__;
    case BinaryOp::Mod: return s.__rmod__;
    case BinaryOp::Pow: return s.__rpow__;
    case BinaryOp::MatMul: return s.__rmatmul__;
    case BinaryOp::LShift: return s.__rlshift__;
    case BinaryOp::RShift: return s.__rrshift__;
    case BinaryOp::BitAnd: return s.__rand__;
    case BinaryOp::BitOr: return s.__ror__;
    case BinaryOp::BitXor: return s.__rxor__;
  }
  return s.__radd__;
}

/// What TensorFlow calls the node of an operator.
std::string_view operator_name(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add: return "add";
    case BinaryOp::Sub: return "sub";
    case BinaryOp::Mul: return "mul";
    case BinaryOp::Div: return "truediv";
    case BinaryOp::FloorDiv: return "floordiv";
    case BinaryOp::Mod: return "mod";
    case BinaryOp::Pow: return "pow";
    case BinaryOp::MatMul: return "matmul";
    case BinaryOp::BitAnd: return "and";
    case BinaryOp::BitOr: return "or";
    case BinaryOp::BitXor: return "xor";
    default: return {};
  }
}

bool decided(const Value& v) { return v.is_tensor() || v.is(Kind::Symbolic) || v.is(Kind::Variable); }

Op logical_or_bitwise(BinaryOp op, bool boolean) {
  switch (op) {
    case BinaryOp::BitAnd: return boolean ? Op::logical_and : Op::bitwise_and;
    case BinaryOp::BitOr: return boolean ? Op::logical_or : Op::bitwise_or;
    default: return boolean ? Op::logical_xor : Op::bitwise_xor;
  }
}

Op comparison(CompareOp op) {
  switch (op) {
    case CompareOp::Eq: return Op::equal;
    case CompareOp::Ne: return Op::not_equal;
    case CompareOp::Lt: return Op::less;
    case CompareOp::Le: return Op::less_equal;
    case CompareOp::Gt: return Op::greater;
    default: return Op::greater_equal;
  }
}

/// A number of the script as an operand of rank 0 that lies on the stack: for apply_small_pair, which keeps none of its operands.
class Number {
 public:
  /// `v` in the element type of the other operand, as to_tensor stores it. Null when it is no number of that kind: the long way knows what
  /// comes of it.
  TensorRep* of(const Value& v, DType dtype) {
    if (v.is_int() && is_integer(dtype)) {
      store_int(dtype, v.as_int(), element_);
    } else if (is_floating(dtype) && (v.is_int() || v.is_float())) {
      store_double(dtype, v.is_int() ? static_cast<double>(v.as_int()) : v.as_float(), element_);
    } else {
      return nullptr;
    }
    rep_.refs = 1;
    rep_.kind = kTensorKind;
    rep_.dtype = dtype;
    rep_.contiguous = true;
    rep_.size = 1;
    rep_.data = element_;
    return &rep_;
  }

 private:
  TensorRep rep_{};
  alignas(8) std::byte element_[8];
};

/// An operation on small tensors of one element type, or on one and a number; at least one of the two is a tensor.
Value binary_small(Interp& interp, Op row, const Value& a, const Value& b) {
  Number number;
  TensorRep* x = a.is_tensor() ? a.tensor_rep() : number.of(a, b.tensor_rep()->dtype);
  TensorRep* y = b.is_tensor() ? b.tensor_rep() : number.of(b, a.tensor_rep()->dtype);
  if (!x || !y) return Value();
  Tensor small = apply_small_pair(interp.context, row, x, y);
  return small ? Value::of(std::move(small)) : Value();
}

/// `*` takes bools as numbers and gives a bool.
Result<Value> multiply_bools(Interp& interp, Value x, Value y) {
  x = TFL_TRY(to_tensor(interp, x));
  y = TFL_TRY(to_tensor(interp, y));
  x = TFL_TRY(cast_value(interp, x, DType::I32));
  y = TFL_TRY(cast_value(interp, y, DType::I32));
  Value product = TFL_TRY(apply_binary(interp, Op::multiply, x, y));
  return cast_value(interp, product, DType::Bool);
}

}  // namespace

Result<Value> tensor_binary_last(Interp& interp, BinaryOp op, Value& a, bool a_ends, Value& b, bool b_ends) {
  if (interp.sink) return Value();
  DType kind = (a.is_tensor() ? a : b).tensor_rep()->dtype;
  Op row;
  switch (op) {
    case BinaryOp::Add: row = Op::add; break;
    case BinaryOp::Sub: row = Op::subtract; break;
    case BinaryOp::Mul: row = Op::multiply; break;
    case BinaryOp::Div: row = Op::divide; break;
    case BinaryOp::FloorDiv: row = Op::floordiv; break;
    case BinaryOp::Mod: row = Op::mod; break;
    case BinaryOp::Pow: row = Op::pow; break;
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor: row = logical_or_bitwise(op, kind == DType::Bool); break;
    default: return Value();
  }
  if (op != BinaryOp::Div || is_floating(kind)) {
    if (Value small = binary_small(interp, row, a, b); !small.is_empty()) return small;
  }
  if (op != BinaryOp::Add && op != BinaryOp::Sub && op != BinaryOp::Mul && op != BinaryOp::Div) return Value();
  auto donor = [](const Value& v) {
    return v.is_tensor() && is_floating(v.tensor_rep()->dtype) && v.tensor_rep()->size > kSmallElements &&
           v.tensor_rep()->refs == 1;
  };
  a_ends = a_ends && donor(a);
  b_ends = b_ends && donor(b);
  if (!a_ends && !b_ends) return Value();
  DType dtype = (a_ends ? a : b).tensor_rep()->dtype;
  Tensor operands[2];
  for (int i = 0; i < 2; ++i) {
    const Value& v = i == 0 ? a : b;
    if (v.is_tensor() ? v.tensor_rep()->dtype != dtype : !v.is_int() && !v.is_float()) return Value();
    if (v.is_tensor()) continue;
    ToTensor wanted;
    wanted.dtype = dtype;
    operands[i] = TFL_TRY(to_tensor(interp, v, wanted)).tensor();
  }
  if (a.is_tensor()) operands[0] = a.tensor();
  if (b.is_tensor()) operands[1] = b.tensor();
  if (a_ends) a = Value();
  if (b_ends) b = Value();
  Tensors out;
  auto done = apply_consuming(interp.context, row, operands, Attrs(), out);
  if (!done) {
    if (a_ends) a = Value::of(std::move(operands[0]));
    if (b_ends) b = Value::of(std::move(operands[1]));
    return done.failure();
  }
  return Value::of(std::move(out[0]));
}

Result<Value> tensor_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (interp.sink && a.is_tensor() && b.is_tensor() && op != BinaryOp::Div) interp.tensors->node_name = operator_name(op);
  // The usual case first: two tensors and an operation that needs no look at their types.
  if (a.is_tensor() && b.is_tensor()) [[likely]] {
    switch (op) {
      case BinaryOp::Add: return apply_binary(interp, Op::add, a, b);
      case BinaryOp::Sub: return apply_binary(interp, Op::subtract, a, b);
      case BinaryOp::MatMul: return apply_binary(interp, Op::matmul, a, b);
      case BinaryOp::Mul:
        if (a.tensor_rep()->dtype == DType::Bool || b.tensor_rep()->dtype == DType::Bool) [[unlikely]]
          break;
        return apply_binary(interp, Op::multiply, a, b);
      case BinaryOp::Div:
        if (!is_floating(a.tensor_rep()->dtype) || a.tensor_rep()->dtype != b.tensor_rep()->dtype) break;
        return apply_binary(interp, Op::divide, a, b);
      default: break;
    }
  }
  if (op == BinaryOp::LShift || op == BinaryOp::RShift) return interp.not_implemented;
  Value x = a, y = b;
  if (decided(a)) {
    // An object of the script that knows the reflected operator is asked before it is taken for data.
    if (!decided(b) && (b.is(Kind::Instance) || interp.type_of(b)->script)) {
      Value method = TFL_TRY(special(interp, b, reflected_name(interp, op)));
      if (!method.is_empty()) return interp.not_implemented;
    }
    if (op == BinaryOp::Div) return true_divide(interp, a, b);
    DType dtype = *dtype_of(interp, a);
    if (op == BinaryOp::Mul && (dtype == DType::Bool || (decided(b) && dtype_of(interp, b) == DType::Bool)))
      return multiply_bools(interp, x, y);
    ToTensor wanted;
    if (op == BinaryOp::Add || op == BinaryOp::MatMul)
      wanted.preferred = dtype;
    else if (!decided(b))
      wanted.dtype = dtype;
    x = TFL_TRY(to_tensor(interp, a));
    y = TFL_TRY(to_tensor(interp, b, wanted));
  } else {
    DType dtype = *dtype_of(interp, b);
    if (op == BinaryOp::Mul && dtype == DType::Bool) return multiply_bools(interp, x, y);
    ToTensor wanted;
    wanted.dtype = dtype;
    y = TFL_TRY(to_tensor(interp, b));
    x = TFL_TRY(to_tensor(interp, a, wanted));
    if (op == BinaryOp::Div) return true_divide(interp, x, y);
  }
  if (interp.sink) interp.tensors->node_name = operator_name(op);
  switch (op) {
    case BinaryOp::Add: return apply_binary(interp, Op::add, x, y);
    case BinaryOp::Sub: return apply_binary(interp, Op::subtract, x, y);
    case BinaryOp::Mul: return apply_binary(interp, Op::multiply, x, y);
    case BinaryOp::FloorDiv: return apply_binary(interp, Op::floordiv, x, y);
    case BinaryOp::Mod: return apply_binary(interp, Op::mod, x, y);
    case BinaryOp::Pow: return apply_binary(interp, Op::pow, x, y);
    case BinaryOp::MatMul: return apply_binary(interp, Op::matmul, x, y);
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor: return apply_binary(interp, logical_or_bitwise(op, dtype_of(interp, x) == DType::Bool), x, y);
    default: return interp.not_implemented;
  }
}

Result<Value> tensor_unary(Interp& interp, UnaryOp op, const Value& self) {
  switch (op) {
    case UnaryOp::Minus: return apply_unary(interp, Op::negative, self);
    case UnaryOp::Invert: return apply_unary(interp, dtype_of(interp, self) == DType::Bool ? Op::logical_not : Op::invert, self);
    default: return fail(ErrorKind::TypeError, "bad operand type for unary +: '{}'", interp.type_name(self));
  }
}

Value tensor_compare_small(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  return interp.sink ? Value() : binary_small(interp, comparison(op), a, b);
}

Result<Value> tensor_compare(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  if (equality && (a.is_none() || b.is_none())) return Value::boolean(op == CompareOp::Ne);
  const Value& host = decided(a) ? b : a;
  if (!decided(host) && (host.is(Kind::Instance) || interp.type_of(host)->script)) {
    Str* name = op == CompareOp::Eq   ? interp.sym.__eq__
                : op == CompareOp::Ne ? interp.sym.__ne__
                : op == CompareOp::Lt ? interp.sym.__gt__
                : op == CompareOp::Le ? interp.sym.__ge__
                : op == CompareOp::Gt ? interp.sym.__lt__
                                      : interp.sym.__le__;
    Value method = TFL_TRY(special(interp, host, name));
    if (!method.is_empty()) return interp.not_implemented;
  }
  Value operands[2] = {a, b};
  TFL_TRY(unify_operands(interp, operands));
  Op operation = comparison(op);
  if (equality && operands[0].is_tensor() && operands[1].is_tensor() &&
      !can_broadcast(operands[0].tensor(), operands[1].tensor()) &&
      dtype_of(interp, operands[0]) == dtype_of(interp, operands[1])) {
    return Value::of(TFL_TRY(scalar<bool>(interp.context, DType::Bool, op == CompareOp::Ne)));
  }
  return apply_binary(interp, operation, operands[0], operands[1]);
}

bool can_broadcast(const Tensor& a, const Tensor& b) {
  for (int i = 1; i <= a.rank() && i <= b.rank(); ++i) {
    int64_t x = a.dim(a.rank() - i), y = b.dim(b.rank() - i);
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

}  // namespace tfl
