// Python's operators on NumPy arrays and scalars.
#include <algorithm>
#include <cmath>

#include "frontend/tensors/numpy/elements.h"
#include "frontend/tensors/numpy/object_arrays.h"
#include "frontend/tensors/numpy/string_arrays.h"
#include "runtime/shapes/elementwise_rules.h"
#include "runtime/tensor/copy.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

bool is_data(const Value& v) {
  return v.is_int() || v.is_float() || v.is_bool() || v.is(Kind::BigInt) || v.is(Kind::Complex) || v.is(Kind::NdArray) ||
         v.is(Kind::NumPyScalar) || v.is(Kind::List) || v.is(Kind::Tuple) || v.is_str() || v.is(Kind::Bytes);
}

bool is_host_sequence(const Value& v) { return v.is(Kind::List) || v.is(Kind::Tuple) || v.is_str() || v.is(Kind::Bytes); }

/// A NumPy integer repeats Python's sequences as an int does; arrays multiply their elements.
Result<Value> repeat_sequence(Interp& interp, const Value& sequence, const Value& times) {
  Tensor t = TFL_TRY(as_array(interp, times));
  if (!is_integer(t.dtype())) {
    return fail(ErrorKind::TypeError, "can't multiply sequence by non-int of type '{}'", interp.type_name(times));
  }
  int64_t n = TFL_TRY(to_index(interp, times));
  return binary(interp, BinaryOp::Mul, sequence, Value::integer(n));
}

std::string_view ufunc_name(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add: return "add";
    case BinaryOp::Sub: return "subtract";
    case BinaryOp::Mul: return "multiply";
    case BinaryOp::Div: return "divide";
    case BinaryOp::FloorDiv: return "floor_divide";
    case BinaryOp::Mod: return "remainder";
    case BinaryOp::Pow: return "power";
    case BinaryOp::MatMul: return "matmul";
    case BinaryOp::LShift: return "left_shift";
    case BinaryOp::RShift: return "right_shift";
    case BinaryOp::BitAnd: return "bitwise_and";
    case BinaryOp::BitOr: return "bitwise_or";
    case BinaryOp::BitXor: return "bitwise_xor";
  }
  return "";
}

Failure not_broadcast(const Tensor& a, const Tensor& b) {
  std::string left = shape_tuple_text(a.dims()), right = shape_tuple_text(b.dims());
  auto tight = [](std::string s) {
    std::string out;
    for (char c : s) {
      if (c != ' ') out += c;
    }
    return out;
  };
  return fail(ErrorKind::ValueError, "operands could not be broadcast together with shapes {} {} ", tight(left), tight(right));
}

bool broadcastable(const Tensor& a, const Tensor& b) {
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    int64_t x = a.dim(a.rank() - i), y = b.dim(b.rank() - i);
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

/// Integer division by zero gives 0 in NumPy: the zeros are divided by 1, the results there cleared.
Result<Tensor> divide_integers(Interp& interp, Op op, const Tensor& a, const Tensor& b) {
  Tensor zero = TFL_TRY(cast_tensor(interp, TFL_TRY(scalar<int32_t>(interp.context, DType::I32, 0)), b.dtype()));
  Tensor one = TFL_TRY(cast_tensor(interp, TFL_TRY(scalar<int32_t>(interp.context, DType::I32, 1)), b.dtype()));
  Tensor bad = TFL_TRY(apply1(interp.context, Op::equal, {b, zero}));
  Tensor any = TFL_TRY(apply1(interp.context, Op::reduce_any, {bad}));
  if (!*any.data<bool>()) return apply1(interp.context, op, {a, b});
  Tensor safe = TFL_TRY(apply1(interp.context, Op::where, {bad, one, b}));
  Tensor quotient = TFL_TRY(apply1(interp.context, op, {a, safe}));
  return apply1(interp.context, Op::where, {bad, zero, quotient});
}

Result<Tensor> product(Interp& interp, Tensor a, Tensor b) {
  if (a.rank() == 0 || b.rank() == 0) {
    return fail(ErrorKind::ValueError,
                "matmul: Input operand {} does not have enough dimensions (has 0, gufunc core with signature "
                "(n?,k),(k,m?)->(n?,m?) requires 1)",
                a.rank() == 0 ? 0 : 1);
  }
  bool left = a.rank() == 1, right = b.rank() == 1;
  auto expand = [&](const Tensor& t, int64_t axis) {
    return apply1(interp.context, Op::expand_dims, {t}, Attrs().set_int(Attr::axis, axis));
  };
  if (left) a = TFL_TRY(expand(a, 0));
  if (right) b = TFL_TRY(expand(b, -1));
  int64_t k = a.dim(a.rank() - 1), k2 = b.dim(b.rank() - 2);
  if (k != k2) {
    return fail(ErrorKind::ValueError,
                "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) "
                "(size {} is different from {})",
                k2, k);
  }
  Tensor out;
  DType dtype = a.dtype();
  bool narrow = !is_floating(dtype) && !is_complex(dtype) && dtype != DType::I32 && dtype != DType::I64;
  if (narrow) {
    a = TFL_TRY(cast_tensor(interp, a, DType::I64));
    b = TFL_TRY(cast_tensor(interp, b, DType::I64));
  }
  out = TFL_TRY(apply1(interp.context, Op::matmul, {a, b}));
  if (narrow) out = TFL_TRY(cast_tensor(interp, out, dtype));
  Dims drop;
  if (left) drop.push_back(-2);
  if (right) drop.push_back(-1);
  if (drop.empty()) return out;
  return apply1(interp.context, Op::squeeze, {out}, Attrs().set_ints(Attr::axes, drop));
}

/// Complex numbers to a small whole power, which NumPy multiplies out. Empty for other exponents.
Result<Tensor> whole_power(Interp& interp, const Tensor& a, const Tensor& b) {
  if (!is_complex(b.dtype()) || b.size() != 1) return Tensor();
  double n = load_double(b.dtype(), b.raw());
  if (load_imag(b.dtype(), b.raw()) != 0 || n != std::floor(n) || std::fabs(n) >= 100) return Tensor();
  auto multiply = [&](const Tensor& p, const Tensor& q) { return apply1(interp.context, Op::multiply, {p, q}); };
  Tensor one = TFL_TRY(cast_tensor(interp, TFL_TRY(scalar<double>(interp.context, DType::F64, 1)), a.dtype()));
  Tensor power = a, result;
  for (auto rest = static_cast<int>(std::fabs(n)); rest > 0; rest >>= 1) {
    if (rest & 1) result = result ? TFL_TRY(multiply(result, power)) : power;
    if (rest > 1) power = TFL_TRY(multiply(power, power));
  }
  if (!result) {
    result = TFL_TRY(Tensor::empty(interp.context, a.dtype(), a.dims()));
    fill_elements(interp.context, a.dtype(), result.raw(), result.size(), one.raw());
  }
  return n < 0 ? apply1(interp.context, Op::divide, {one, result}) : Result<Tensor>(std::move(result));
}

Result<Tensor> compute(Interp& interp, BinaryOp op, const Operand& x, const Operand& y) {
  DType common = TFL_TRY(common_type(interp, x, y));
  if (common == DType::String && x.t.dtype() == y.t.dtype() && text_type(x.t).is_text() != text_type(y.t).is_text()) {
    return fail(ErrorKind::TypeError,
                "ufunc '{}' did not contain a loop with signature matching types (dtype('{}'), dtype('{}')) -> None",
                ufunc_name(op), text_type_name(text_type(x.t)), text_type_name(text_type(y.t)));
  }
  if (common == DType::String && (op != BinaryOp::Add || x.t.dtype() != y.t.dtype())) {
    auto name = [](const Tensor& t) {
      return t.dtype() == DType::String ? text_type_name(text_type(t)) : std::string(dtype_name(t.dtype()));
    };
    return fail(ErrorKind::TypeError,
                "ufunc '{}' did not contain a loop with signature matching types (dtype('{}'), dtype('{}')) -> None",
                ufunc_name(op), name(x.t), name(y.t));
  }
  bool boolean = common == DType::Bool;
  DType compute_as = common;
  if (op == BinaryOp::Div && !is_floating(common) && !is_complex(common)) compute_as = DType::F64;
  if (boolean && (op == BinaryOp::FloorDiv || op == BinaryOp::Mod || op == BinaryOp::Pow || op == BinaryOp::LShift ||
                  op == BinaryOp::RShift))
    compute_as = DType::I8;
  if (boolean && op == BinaryOp::Sub) {
    return fail(ErrorKind::TypeError,
                "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the "
                "logical_xor function instead.");
  }
  bool bits = op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor || op == BinaryOp::LShift ||
              op == BinaryOp::RShift;
  bool ordered = op == BinaryOp::FloorDiv || op == BinaryOp::Mod;
  if ((bits && (is_floating(common) || is_complex(common))) || (ordered && is_complex(common))) {
    return fail(ErrorKind::TypeError,
                "ufunc '{}' not supported for the input types, and the inputs could not be safely coerced to any supported types "
                "according to the casting rule ''safe''",
                ufunc_name(op));
  }
  // A Python int that does not fit the array's type is refused, never wrapped.
  for (const Operand* o : {&x, &y}) {
    if (o->weak == Operand::Weak::Int) TFL_TRY(check_fits(o->t, compute_as));
  }
  Tensor a = TFL_TRY(cast_tensor(interp, x.t, compute_as));
  Tensor b = TFL_TRY(cast_tensor(interp, y.t, compute_as));
  if (op == BinaryOp::MatMul) return product(interp, a, b);
  if (!broadcastable(a, b)) return not_broadcast(a, b);
  switch (op) {
    case BinaryOp::Add: return apply1(interp.context, boolean ? Op::logical_or : Op::add, {a, b});
    case BinaryOp::Sub: return apply1(interp.context, Op::subtract, {a, b});
    case BinaryOp::Mul: return apply1(interp.context, boolean ? Op::logical_and : Op::multiply, {a, b});
    case BinaryOp::Div: return apply1(interp.context, Op::divide, {a, b});
    case BinaryOp::FloorDiv:
      return is_floating(compute_as) ? apply1(interp.context, Op::floordiv, {a, b}) : divide_integers(interp, Op::floordiv, a, b);
    case BinaryOp::Mod:
      return is_floating(compute_as) ? apply1(interp.context, Op::mod, {a, b}) : divide_integers(interp, Op::mod, a, b);
    case BinaryOp::Pow: {
      if (Tensor power = TFL_TRY(whole_power(interp, a, b))) return power;
      if (is_integer(compute_as) && !is_unsigned(compute_as)) {
        Tensor zero = TFL_TRY(cast_tensor(interp, TFL_TRY(scalar<int32_t>(interp.context, DType::I32, 0)), compute_as));
        Tensor low = TFL_TRY(apply1(interp.context, Op::less, {b, zero}));
        Tensor any = TFL_TRY(apply1(interp.context, Op::reduce_any, {low}));
        if (*any.data<bool>()) return fail(ErrorKind::ValueError, "Integers to negative integer powers are not allowed.");
      }
      if (is_unsigned(compute_as)) {
        Tensor wide = TFL_TRY(apply1(interp.context, Op::pow,
                                     {TFL_TRY(cast_tensor(interp, a, DType::I64)), TFL_TRY(cast_tensor(interp, b, DType::I64))}));
        return cast_tensor(interp, wide, compute_as);
      }
      return apply1(interp.context, Op::pow, {a, b});
    }
    case BinaryOp::LShift: return apply1(interp.context, Op::left_shift, {a, b});
    case BinaryOp::RShift: return apply1(interp.context, Op::right_shift, {a, b});
    case BinaryOp::BitAnd: return apply1(interp.context, boolean ? Op::logical_and : Op::bitwise_and, {a, b});
    case BinaryOp::BitOr: return apply1(interp.context, boolean ? Op::logical_or : Op::bitwise_or, {a, b});
    case BinaryOp::BitXor: return apply1(interp.context, boolean ? Op::logical_xor : Op::bitwise_xor, {a, b});
    case BinaryOp::MatMul: break;
  }
  return fail(ErrorKind::SystemError, "no such operator");
}

/// <, <=, > and >= of strings, by their bytes, which for UTF-8 is the order of the characters.
Result<Tensor> compare_order(Interp& interp, CompareOp op, const Tensor& a, const Tensor& b) {
  Dims dims;
  broadcast_dims(dims, a.dims());
  broadcast_dims(dims, b.dims());
  auto spread = [&](const Tensor& x) {
    Dims strides(dims.size(), 0);
    for (int i = 1; i <= x.rank(); ++i) {
      if (x.dim(x.rank() - i) != 1)
        strides[dims.size() - static_cast<size_t>(i)] = x.strides()[static_cast<size_t>(x.rank() - i)];
    }
    return contiguous(interp.context, Tensor::view(interp.context, x, dims, strides, 0));
  };
  Tensor left = TFL_TRY(spread(a)), right = TFL_TRY(spread(b));
  Tensor out = TFL_TRY(Tensor::empty(interp.context, DType::Bool, dims));
  for (int64_t i = 0; i < out.size(); ++i) {
    int order = left.data<std::string>()[i].compare(right.data<std::string>()[i]);
    out.data<bool>()[i] = op == CompareOp::Lt   ? order < 0
                          : op == CompareOp::Le ? order <= 0
                          : op == CompareOp::Gt ? order > 0
                                                : order >= 0;
  }
  return out;
}

}  // namespace

Result<Value> numpy_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (Value simple = scalar_binary(interp, op, a, b); !simple.is_empty()) return simple;
  if (holds_objects(interp, a) || holds_objects(interp, b)) return objects_binary(interp, op, a, b);
  if (!is_data(a) || !is_data(b)) return interp.not_implemented;
  if (op == BinaryOp::Mul && (a.is(Kind::NumPyScalar) ? is_host_sequence(b) : b.is(Kind::NumPyScalar) && is_host_sequence(a))) {
    return a.is(Kind::NumPyScalar) ? repeat_sequence(interp, b, a) : repeat_sequence(interp, a, b);
  }
  Operand x = TFL_TRY(operand_of(interp, a));
  Operand y = TFL_TRY(operand_of(interp, b));
  Tensor r = TFL_TRY(compute(interp, op, x, y));
  return array_result(interp, r);
}

Result<Value> numpy_unary(Interp& interp, UnaryOp op, const Value& a) {
  if (holds_objects(interp, a)) return objects_unary(interp, op, a);
  Tensor t = TFL_TRY(as_array(interp, a));
  switch (op) {
    case UnaryOp::Minus:
      if (t.dtype() == DType::Bool) {
        return fail(ErrorKind::TypeError,
                    "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not "
                    "function instead.");
      }
      if (is_unsigned(t.dtype())) {
        Tensor zero = TFL_TRY(cast_tensor(interp, TFL_TRY(scalar<int32_t>(interp.context, DType::I32, 0)), t.dtype()));
        return array_result(interp, TFL_TRY(apply1(interp.context, Op::subtract, {zero, t})));
      }
      return array_result(interp, TFL_TRY(apply1(interp.context, Op::negative, {t})));
    case UnaryOp::Plus: return array_result(interp, t);
    case UnaryOp::Invert:
      if (t.dtype() == DType::Bool) return array_result(interp, TFL_TRY(apply1(interp.context, Op::logical_not, {t})));
      if (!is_integer(t.dtype())) {
        return fail(ErrorKind::TypeError,
                    "ufunc 'invert' not supported for the input types, and the inputs could not be safely coerced to any "
                    "supported types according to the casting rule ''safe''");
      }
      return array_result(interp, TFL_TRY(apply1(interp.context, Op::invert, {t})));
    case UnaryOp::Not: break;
  }
  return interp.not_implemented;
}

Result<Value> numpy_compare(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (Value simple = scalar_compare(interp, op, a, b); !simple.is_empty()) return simple;
  if (holds_objects(interp, a) || holds_objects(interp, b)) return objects_compare(interp, op, a, b);
  bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  if (!is_data(a) || !is_data(b)) {
    if (!equality || (!a.is_none() && !b.is_none())) return interp.not_implemented;
    // array == None compares every element.
    Tensor t = TFL_TRY(as_array(interp, a.is_none() ? b : a));
    Tensor out = TFL_TRY(Tensor::empty(interp.context, DType::Bool, t.dims()));
    std::fill_n(out.data<bool>(), out.size(), op == CompareOp::Ne);
    return array_result(interp, out);
  }
  Operand x = TFL_TRY(operand_of(interp, a));
  Operand y = TFL_TRY(operand_of(interp, b));
  DType common = TFL_TRY(common_type(interp, x, y));
  bool strings = x.t.dtype() == DType::String && y.t.dtype() == DType::String;
  if ((x.t.dtype() == DType::String) != (y.t.dtype() == DType::String) ||
      (strings && text_type(x.t).is_text() != text_type(y.t).is_text())) {
    if (!equality) return interp.not_implemented;
    Tensor out = TFL_TRY(Tensor::empty(interp.context, DType::Bool, (x.t.rank() >= y.t.rank() ? x.t : y.t).dims()));
    std::fill_n(out.data<bool>(), out.size(), op == CompareOp::Ne);
    return array_result(interp, out);
  }
  // A weak int beyond the array's type still compares as the number it is.
  if ((x.weak == Operand::Weak::Int || y.weak == Operand::Weak::Int) && is_integer(common))
    common = common == DType::U64 ? DType::F64 : DType::I64;
  Tensor s = TFL_TRY(cast_tensor(interp, x.t, common));
  Tensor t = TFL_TRY(cast_tensor(interp, y.t, common));
  if (!broadcastable(s, t)) return not_broadcast(s, t);
  if (common == DType::Bool && !equality) {
    s = TFL_TRY(cast_tensor(interp, s, DType::I8));
    t = TFL_TRY(cast_tensor(interp, t, DType::I8));
  }
  Op which = Op::equal;
  switch (op) {
    case CompareOp::Eq: which = Op::equal; break;
    case CompareOp::Ne: which = Op::not_equal; break;
    case CompareOp::Lt: which = Op::less; break;
    case CompareOp::Le: which = Op::less_equal; break;
    case CompareOp::Gt: which = Op::greater; break;
    case CompareOp::Ge: which = Op::greater_equal; break;
    default: return interp.not_implemented;
  }
  if (strings && !equality) return array_result(interp, TFL_TRY(compare_order(interp, op, s, t)));
  if (is_complex(common) && !equality) {
    // By the real parts, then by the imaginary ones.
    auto part = [&](Op of, const Tensor& x) { return apply1(interp.context, of, {x}); };
    Tensor x_re = TFL_TRY(part(Op::real, s)), y_re = TFL_TRY(part(Op::real, t));
    Tensor x_im = TFL_TRY(part(Op::imag, s)), y_im = TFL_TRY(part(Op::imag, t));
    bool below = op == CompareOp::Lt || op == CompareOp::Le;
    Tensor first = TFL_TRY(apply1(interp.context, below ? Op::less : Op::greater, {x_re, y_re}));
    Tensor same = TFL_TRY(apply1(interp.context, Op::equal, {x_re, y_re}));
    Tensor second = TFL_TRY(apply1(interp.context, which, {x_im, y_im}));
    second = TFL_TRY(apply1(interp.context, Op::logical_and, {same, second}));
    return array_result(interp, TFL_TRY(apply1(interp.context, Op::logical_or, {first, second})));
  }
  return array_result(interp, TFL_TRY(apply1(interp.context, which, {s, t})));
}

}  // namespace tfl
