#include "frontend/interpreter/object/numbers/number.h"

#include "frontend/core/complex_value.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/numbers/complex_number.h"

namespace tfl {

double int_true_div(int64_t a, int64_t b) {
  constexpr int64_t kExact = int64_t{1} << 53;
  if (a >= -kExact && a <= kExact && b >= -kExact && b <= kExact) return static_cast<double>(a) / static_cast<double>(b);
  bool negative = (a < 0) != (b < 0);
  using Wide = unsigned __int128;
  Wide n = a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  Wide d = b < 0 ? uint64_t{0} - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  if (n == 0) return negative ? -0.0 : 0.0;
  // A quotient of 56 or 57 bits; what is left over only matters for the direction of the one rounding.
  auto bits = [](Wide v) { return 64 - __builtin_clzll(static_cast<uint64_t>(v)); };
  int shift = 56 - (bits(n) - bits(d));
  if (shift >= 0)
    n <<= shift;
  else
    d <<= -shift;
  auto q = static_cast<uint64_t>(n / d);
  if (n % d != 0) q |= 1;
  double r = std::ldexp(static_cast<double>(q), -shift);
  return negative ? -r : r;
}

namespace {

Result<Value> int_power(Interp& interp, int64_t a, int64_t b) {
  if (b < 0) {
    if (a == 0) return fail(ErrorKind::ZeroDivisionError, "0.0 cannot be raised to a negative power");
    return float_arithmetic(interp, BinaryOp::Pow, static_cast<double>(a), static_cast<double>(b));
  }
  int64_t result = 1, base = a;
  for (int64_t e = b; e > 0;) {
    if ((e & 1) && __builtin_mul_overflow(result, base, &result)) return Value();
    e >>= 1;
    // The square is needed only if the result is not 0 or +-1 whatever comes; then it overflows.
    if (e > 0 && __builtin_mul_overflow(base, base, &base)) return Value();
  }
  return Value::integer(result);
}

/// What 64 bits hold; Empty: the result is longer.
Result<Value> short_arithmetic(Interp& interp, BinaryOp op, int64_t a, int64_t b) {
  int64_t r;
  switch (op) {
    case BinaryOp::Add: return __builtin_add_overflow(a, b, &r) ? Value() : Value::integer(r);
    case BinaryOp::Sub: return __builtin_sub_overflow(a, b, &r) ? Value() : Value::integer(r);
    case BinaryOp::Mul: return __builtin_mul_overflow(a, b, &r) ? Value() : Value::integer(r);
    case BinaryOp::Div:
      if (b == 0) return fail(ErrorKind::ZeroDivisionError, "division by zero");
      return Value::real(int_true_div(a, b));
    case BinaryOp::FloorDiv:
      if (b == 0) return fail(ErrorKind::ZeroDivisionError, "integer division or modulo by zero");
      if (b == -1) return a == INT64_MIN ? Value() : Value::integer(-a);
      return Value::integer(floor_div(a, b));
    case BinaryOp::Mod:
      if (b == 0) return fail(ErrorKind::ZeroDivisionError, "integer modulo by zero");
      return Value::integer(b == -1 ? 0 : floor_mod(a, b));
    case BinaryOp::Pow:
      if (b > 0 && (a == 0 || a == 1)) return Value::integer(a);
      if (b > 0 && a == -1) return Value::integer(b & 1 ? -1 : 1);
      return int_power(interp, a, b);
    case BinaryOp::LShift:
      if (b < 0) return fail(ErrorKind::ValueError, "negative shift count");
      if (a == 0) return Value::integer(0);
      r = b > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
      return b > 63 || (r >> b) != a ? Value() : Value::integer(r);
    case BinaryOp::RShift:
      if (b < 0) return fail(ErrorKind::ValueError, "negative shift count");
      return Value::integer(a >> (b > 63 ? 63 : b));
    case BinaryOp::BitAnd: return Value::integer(a & b);
    case BinaryOp::BitOr: return Value::integer(a | b);
    case BinaryOp::BitXor: return Value::integer(a ^ b);
    case BinaryOp::MatMul: break;
  }
  return interp.not_implemented;
}

/// CPython's float_divmod: the remainder has the divisor's sign, the quotient is the nearest whole number below.
void float_div_mod(double a, double b, double& div, double& mod) {
  mod = std::fmod(a, b);
  div = (a - mod) / b;
  if (mod != 0) {
    if ((b < 0) != (mod < 0)) {
      mod += b;
      div -= 1.0;
    }
  } else {
    mod = std::copysign(0.0, b);
  }
  if (div != 0) {
    double floor_div = std::floor(div);
    if (div - floor_div > 0.5) floor_div += 1.0;
    div = floor_div;
  } else {
    div = std::copysign(0.0, a / b);
  }
}

Result<Value> float_power(Interp& interp, double a, double b) {
  if (a == 0 && b < 0 && !std::isnan(b)) return fail(ErrorKind::ZeroDivisionError, "0.0 cannot be raised to a negative power");
  if (std::isfinite(a) && a < 0 && std::isfinite(b) && b != std::floor(b)) {
    HostComplex r = TFL_TRY(complex_power({a, 0}, {b, 0}));
    return complex_value(interp, r.re, r.im);
  }
  double r = std::pow(a, b);
  if (std::isinf(r) && std::isfinite(a) && std::isfinite(b))
    return fail(ErrorKind::OverflowError, "(34, 'Numerical result out of range')");
  return Value::real(r);
}

}  // namespace

Result<Value> int_arithmetic(Interp& interp, BinaryOp op, int64_t a, int64_t b) {
  Value r = TFL_TRY(short_arithmetic(interp, op, a, b));
  return r.is_empty() ? int_binary(interp, op, Value::integer(a), Value::integer(b)) : r;
}

Result<Value> float_arithmetic(Interp& interp, BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add: return Value::real(a + b);
    case BinaryOp::Sub: return Value::real(a - b);
    case BinaryOp::Mul: return Value::real(a * b);
    case BinaryOp::Div:
      if (b == 0) return fail(ErrorKind::ZeroDivisionError, "float division by zero");
      return Value::real(a / b);
    case BinaryOp::FloorDiv: {
      if (b == 0) return fail(ErrorKind::ZeroDivisionError, "float floor division by zero");
      double div, mod;
      float_div_mod(a, b, div, mod);
      return Value::real(div);
    }
    case BinaryOp::Mod: {
      if (b == 0) return fail(ErrorKind::ZeroDivisionError, "float modulo");
      double div, mod;
      float_div_mod(a, b, div, mod);
      return Value::real(mod);
    }
    case BinaryOp::Pow: return float_power(interp, a, b);
    default: return interp.not_implemented;
  }
}

Result<Value> number_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  Number x = number_of(a), y = number_of(b);
  if (x.is == Number::Is::Not || y.is == Number::Is::Not) return interp.not_implemented;
  if (x.is == Number::Is::Float || y.is == Number::Is::Float) {
    double left = TFL_TRY(x.checked_real());
    double right = TFL_TRY(y.checked_real());
    return float_arithmetic(interp, op, left, right);
  }
  if (x.is == Number::Is::Big || y.is == Number::Is::Big) return int_binary(interp, op, x.value(), y.value());
  if (x.boolean && y.boolean) {
    if (op == BinaryOp::BitAnd) return Value::boolean(x.i & y.i);
    if (op == BinaryOp::BitOr) return Value::boolean(x.i | y.i);
    if (op == BinaryOp::BitXor) return Value::boolean(x.i ^ y.i);
  }
  return int_arithmetic(interp, op, x.i, y.i);
}

Result<Value> number_divmod(Interp& interp, const Value& a, const Value& b) {
  Number x = number_of(a), y = number_of(b);
  if (x.is == Number::Is::Not || y.is == Number::Is::Not) return interp.not_implemented;
  if (x.is == Number::Is::Float || y.is == Number::Is::Float) {
    double left = TFL_TRY(x.checked_real());
    double right = TFL_TRY(y.checked_real());
    if (right == 0) return fail(ErrorKind::ZeroDivisionError, "float divmod()");
    double div, mod;
    float_div_mod(left, right, div, mod);
    return interp.tuple({Value::real(div), Value::real(mod)});
  }
  if (x.is == Number::Is::Big || y.is == Number::Is::Big || y.i == -1) return int_divmod(interp, x.value(), y.value());
  Value q = TFL_TRY(int_arithmetic(interp, BinaryOp::FloorDiv, x.i, y.i));
  Value r = TFL_TRY(int_arithmetic(interp, BinaryOp::Mod, x.i, y.i));
  return interp.tuple({q, r});
}

int compare_int_float(int64_t a, double b) {
  if (std::isnan(b)) return 2;
  if (b >= 9223372036854775808.0) return -1;
  if (b < -9223372036854775808.0) return 1;
  double whole = std::floor(b);
  auto i = static_cast<int64_t>(whole);
  if (a != i) return a < i ? -1 : 1;
  return b > whole ? -1 : 0;
}

Result<Value> number_compare(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  Number x = number_of(a), y = number_of(b);
  if (x.is == Number::Is::Not || y.is == Number::Is::Not) return interp.not_implemented;
  int order;  // sign of x - y, 2 when they are not ordered
  bool xf = x.is == Number::Is::Float, yf = y.is == Number::Is::Float;
  if (x.is == Number::Is::Big || y.is == Number::Is::Big) {
    order = xf ? int_compare_double(y.value(), x.f) : yf ? int_compare_double(x.value(), y.f) : int_compare(x.value(), y.value());
    if (xf && order != 2) order = -order;
  } else if (!xf && !yf)
    order = x.i < y.i ? -1 : x.i > y.i;
  else if (xf && yf)
    order = x.f < y.f ? -1 : x.f > y.f ? 1 : x.f == y.f ? 0 : 2;
  else if (yf)
    order = compare_int_float(x.i, y.f);
  else if (order = compare_int_float(y.i, x.f); order != 2)
    order = -order;
  switch (op) {
    case CompareOp::Eq: return Value::boolean(order == 0);
    case CompareOp::Ne: return Value::boolean(order != 0);
    case CompareOp::Lt: return Value::boolean(order == -1);
    case CompareOp::Le: return Value::boolean(order == -1 || order == 0);
    case CompareOp::Gt: return Value::boolean(order == 1);
    case CompareOp::Ge: return Value::boolean(order == 1 || order == 0);
    default: return interp.not_implemented;
  }
}

}  // namespace tfl
