// The math module: CPython's functions on host numbers. Accuracy is the C library's, as CPython's is.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "frontend/core/native_module.h"
#include "frontend/interpreter/modules/math_whole.h"
#include "frontend/interpreter/object/numbers/number.h"

namespace tfl {

namespace {

Failure domain_error() { return fail(ErrorKind::ValueError, "math domain error"); }
Failure range_error() { return fail(ErrorKind::OverflowError, "math range error"); }

/// CPython's rule: NaN out of a number that was none is a domain error, infinity out of a finite one a range error or, where the
/// function has a pole, a domain error.
Result<Value> checked(double x, double result, bool pole) {
  if (std::isnan(result) && !std::isnan(x)) return domain_error();
  if (std::isinf(result) && std::isfinite(x)) return pole ? domain_error() : range_error();
  return Value::real(result);
}

template <double (*f)(double), bool pole = false>
Result<Value> unary_function(Interp& interp, Value* args) {
  double x = TFL_TRY(to_double(interp, args[0]));
  return checked(x, f(x), pole);
}

template <double (*f)(double, double)>
Result<Value> binary_function(Interp& interp, Value* args) {
  double x = TFL_TRY(to_double(interp, args[0]));
  double y = TFL_TRY(to_double(interp, args[1]));
  double r = f(x, y);
  if (std::isnan(r) && !std::isnan(x) && !std::isnan(y)) return domain_error();
  if (std::isinf(r) && std::isfinite(x) && std::isfinite(y)) return range_error();
  return Value::real(r);
}

Result<Value> math_pow(Interp& interp, Value* args) {
  double x = TFL_TRY(to_double(interp, args[0]));
  double y = TFL_TRY(to_double(interp, args[1]));
  double r = std::pow(x, y);
  if (std::isnan(r) && !std::isnan(x) && !std::isnan(y)) return domain_error();
  if (std::isinf(r) && std::isfinite(x) && std::isfinite(y)) return x == 0 ? domain_error() : range_error();
  return Value::real(r);
}

/// Integer results of floor, ceil, trunc: ints pass, a class may define the method.
template <double (*f)(double)>
Result<Value> to_integer(Interp& interp, const Value& v, Str* method) {
  if (v.is_int() || v.is(Kind::BigInt)) return v;
  if (v.is_bool()) return Value::integer(v.as_int());
  if (!v.is_float()) {
    Value m = TFL_TRY(special(interp, v, method));
    if (!m.is_empty()) return interp.call(m, {});
    // trunc asks for the method alone, the others take what has a float.
    bool number = number_of(v).is != Number::Is::Not;
    if (method == interp.sym.__trunc__ && !number)
      return fail(ErrorKind::TypeError, "type {} doesn't define __trunc__ method", interp.type_name(v));
  }
  if (number_of(v).whole()) return number_of(v).value();
  double x = TFL_TRY(to_double(interp, v));
  return int_of_double(interp, f(x));
}
Result<Value> math_floor(Interp& interp, Value* args) { return to_integer<std::floor>(interp, args[0], interp.sym.__floor__); }
Result<Value> math_ceil(Interp& interp, Value* args) { return to_integer<std::ceil>(interp, args[0], interp.sym.__ceil__); }
Result<Value> math_trunc(Interp& interp, Value* args) { return to_integer<std::trunc>(interp, args[0], interp.sym.__trunc__); }

/// The logarithm of any number, of an int that no double holds too.
template <double (*f)(double)>
Result<double> log_of(Interp& interp, const Value& v) {
  auto number = to_double(interp, v);
  const Value& whole = unboxed(v);
  if (!number && whole.is(Kind::BigInt) && !int_negative(whole)) {
    constexpr int64_t kKept = 1000;  // bits that a double holds the magnitude of
    const int64_t left_out = int_bit_length(whole) - kKept;
    Value top = TFL_TRY(int_binary(interp, BinaryOp::RShift, whole, Value::integer(left_out)));
    int exponent;
    const double mantissa = std::frexp(int_to_double(top), &exponent);
    return f(mantissa) + f(2.0) * static_cast<double>(exponent + left_out);
  }
  if (!number && whole.is(Kind::BigInt)) return domain_error();
  double x = TFL_TRY(std::move(number));
  if (x <= 0) return domain_error();
  return f(x);
}

Result<Value> math_log(Interp& interp, Value* args) {
  double r = TFL_TRY(log_of<std::log>(interp, args[0]));
  if (args[1].is_empty()) return Value::real(r);
  double d = TFL_TRY(log_of<std::log>(interp, args[1]));
  if (d == 0) return fail(ErrorKind::ZeroDivisionError, "float division by zero");
  return Value::real(r / d);
}
template <double (*f)(double)>
Result<Value> log_function(Interp& interp, Value* args) {
  return Value::real(TFL_TRY(log_of<f>(interp, args[0])));
}

Result<Value> math_fmod(Interp& interp, Value* args) {
  double x = TFL_TRY(to_double(interp, args[0]));
  double y = TFL_TRY(to_double(interp, args[1]));
  double r = std::fmod(x, y);
  if (std::isnan(r) && !std::isnan(x) && !std::isnan(y)) return domain_error();
  return Value::real(r);
}
Result<Value> math_isfinite(Interp& interp, Value* args) {
  return Value::boolean(std::isfinite(TFL_TRY(to_double(interp, args[0]))));
}
Result<Value> math_isinf(Interp& interp, Value* args) { return Value::boolean(std::isinf(TFL_TRY(to_double(interp, args[0])))); }
Result<Value> math_isnan(Interp& interp, Value* args) { return Value::boolean(std::isnan(TFL_TRY(to_double(interp, args[0])))); }

Result<Value> math_isclose(Interp& interp, Value* args) {
  double a = TFL_TRY(to_double(interp, args[0]));
  double b = TFL_TRY(to_double(interp, args[1]));
  double relative = TFL_TRY(to_double(interp, args[2]));
  double absolute = TFL_TRY(to_double(interp, args[3]));
  if (relative < 0 || absolute < 0) return fail(ErrorKind::ValueError, "tolerances must be non-negative");
  if (a == b) return Value::boolean(true);
  if (std::isinf(a) || std::isinf(b)) return Value::boolean(false);
  double diff = std::fabs(b - a);
  return Value::boolean(diff <= std::fabs(relative * b) || diff <= std::fabs(relative * a) || diff <= absolute);
}

Result<Value> math_modf(Interp& interp, Value* args) {
  double x = TFL_TRY(to_double(interp, args[0]));
  if (std::isinf(x)) return interp.tuple({Value::real(std::copysign(0.0, x)), Value::real(x)});
  double whole;
  double fraction = std::modf(x, &whole);
  return interp.tuple({Value::real(fraction), Value::real(whole)});
}
Result<Value> math_frexp(Interp& interp, Value* args) {
  double x = TFL_TRY(to_double(interp, args[0]));
  int exponent = 0;
  double mantissa = std::isfinite(x) ? std::frexp(x, &exponent) : x;
  return interp.tuple({Value::real(mantissa), Value::integer(exponent)});
}
Result<Value> math_ldexp(Interp& interp, Value* args) {
  double x = TFL_TRY(to_double(interp, args[0]));
  if (!is_whole(unboxed(args[1]))) return fail(ErrorKind::TypeError, "Expected an int as second argument to ldexp.");
  int64_t e = std::clamp<int64_t>(TFL_TRY(to_clamped_index(interp, args[1])), -100000, 100000);
  double r = std::ldexp(x, static_cast<int>(e));
  if (std::isinf(r) && std::isfinite(x)) return range_error();
  return Value::real(r);
}
Result<Value> math_degrees(Interp& interp, Value* args) {
  return Value::real(TFL_TRY(to_double(interp, args[0])) * (180.0 / std::numbers::pi));
}
Result<Value> math_radians(Interp& interp, Value* args) {
  return Value::real(TFL_TRY(to_double(interp, args[0])) * (std::numbers::pi / 180.0));
}
Result<Value> math_nextafter(Interp& interp, Value* args) {
  double x = TFL_TRY(to_double(interp, args[0]));
  double y = TFL_TRY(to_double(interp, args[1]));
  return Value::real(std::nextafter(x, y));
}
Result<Value> math_ulp(Interp& interp, Value* args) {
  double x = std::fabs(TFL_TRY(to_double(interp, args[0])));
  if (!std::isfinite(x)) return Value::real(x);
  double up = std::nextafter(x, std::numeric_limits<double>::infinity());
  return Value::real(std::isinf(up) ? x - std::nextafter(x, 0.0) : up - x);
}
Result<Value> math_cbrt(Interp& interp, Value* args) { return Value::real(std::cbrt(TFL_TRY(to_double(interp, args[0])))); }

// ---------------------------------------------------------------------------------------------------- sequences

/// Exact summation by partial sums that do not overlap (Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997).
Result<Value> math_fsum(Interp& interp, Value* args) {
  std::vector<double> partials;
  double special_sum = 0, infinities = 0;
  TFL_TRY(for_each(interp, args[0], [&](Value item) -> Result<bool> {
    double x = TFL_TRY(to_double(interp, item));
    double original = x;
    size_t kept = 0;
    for (double y : partials) {
      if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
      double high = x + y;
      double low = y - (high - x);
      if (low != 0) partials[kept++] = low;
      x = high;
    }
    partials.resize(kept);
    if (x != 0) {
      if (!std::isfinite(x)) {
        if (std::isfinite(original)) return fail(ErrorKind::OverflowError, "intermediate overflow in fsum");
        if (std::isinf(original)) infinities += original;
        special_sum += original;
        partials.clear();
      } else {
        partials.push_back(x);
      }
    }
    return true;
  }));
  if (special_sum != 0) {
    if (std::isnan(infinities)) return fail(ErrorKind::ValueError, "-inf + inf in fsum");
    return Value::real(special_sum);
  }
  double high = 0;
  size_t n = partials.size();
  if (n > 0) {
    high = partials[--n];
    double low = 0;
    while (n > 0) {
      double x = high;
      double y = partials[--n];
      high = x + y;
      low = y - (high - x);
      if (low != 0) break;
    }
    // Half-way cases round by the sign of what is left.
    if (n > 0 && ((low < 0 && partials[n - 1] < 0) || (low > 0 && partials[n - 1] > 0))) {
      double y = low * 2;
      double x = high + y;
      if (y == x - high) high = x;
    }
  }
  return Value::real(high);
}

Result<Value> math_prod(Interp& interp, Value* args) {
  Value acc = args[1];
  TFL_TRY(for_each(interp, args[0], [&](Value item) -> Result<bool> {
    acc = TFL_TRY(binary(interp, BinaryOp::Mul, acc, item));
    return true;
  }));
  return acc;
}

double scaled_norm(const std::vector<double>& v) {
  double largest = 0;
  for (double x : v) {
    if (std::isinf(x)) return std::numeric_limits<double>::infinity();
    largest = std::fmax(largest, std::fabs(x));
  }
  for (double x : v) {
    if (std::isnan(x)) return x;
  }
  if (largest == 0) return 0;
  // Compensated sum of squares of the scaled values, as accurate as the square root that follows.
  double sum = 0, lost = 0;
  int exponent;
  std::frexp(largest, &exponent);
  for (double x : v) {
    double s = std::ldexp(x, -exponent);
    double p = s * s;
    double e = std::fma(s, s, -p);
    double t = sum + p;
    lost += (sum - t) + p + e;
    sum = t;
  }
  // One step of Newton's method with the exact remainder rounds the root as if it were computed without error.
  double r = std::sqrt(sum + lost);
  r += (std::fma(-r, r, sum) + lost) / (2 * r);
  return std::ldexp(r, exponent);
}

Result<Value> math_hypot(Interp& interp, Value* args) {
  std::vector<double> v;
  for (const Value& item : args[0].as<Tuple>()->span()) v.push_back(TFL_TRY(to_double(interp, item)));
  return Value::real(scaled_norm(v));
}

Result<Value> math_dist(Interp& interp, Value* args) {
  std::vector<Value> p = TFL_TRY(to_vector(interp, args[0]));
  std::vector<Value> q = TFL_TRY(to_vector(interp, args[1]));
  if (p.size() != q.size()) return fail(ErrorKind::ValueError, "both points must have the same number of dimensions");
  std::vector<double> v;
  for (size_t i = 0; i < p.size(); ++i) {
    double a = TFL_TRY(to_double(interp, p[i]));
    double b = TFL_TRY(to_double(interp, q[i]));
    v.push_back(a - b);
  }
  return Value::real(scaled_norm(v));
}

double tgamma_checked(double x) {
  if (x == std::floor(x) && x <= 0) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x) && x < 0) return std::numeric_limits<double>::quiet_NaN();
  return std::tgamma(x);
}
double lgamma_checked(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

constexpr NativeDef kMath[] = {
    function("acos", "x, /", unary_function<std::acos>),
    function("acosh", "x, /", unary_function<std::acosh>),
    function("asin", "x, /", unary_function<std::asin>),
    function("asinh", "x, /", unary_function<std::asinh>),
    function("atan", "x, /", unary_function<std::atan>),
    function("atan2", "y, x, /", binary_function<std::atan2>),
    function("atanh", "x, /", unary_function<std::atanh, true>),
    function("cbrt", "x, /", math_cbrt),
    function("ceil", "x, /", math_ceil),
    function("copysign", "x, y, /", binary_function<std::copysign>),
    function("cos", "x, /", unary_function<std::cos>),
    function("cosh", "x, /", unary_function<std::cosh>),
    function("degrees", "x, /", math_degrees),
    function("dist", "p, q, /", math_dist),
    function("erf", "x, /", unary_function<std::erf>),
    function("erfc", "x, /", unary_function<std::erfc>),
    function("exp", "x, /", unary_function<std::exp>),
    function("exp2", "x, /", unary_function<std::exp2>),
    function("expm1", "x, /", unary_function<std::expm1>),
    function("fabs", "x, /", unary_function<std::fabs>),
    function("floor", "x, /", math_floor),
    function("fmod", "x, y, /", math_fmod),
    function("frexp", "x, /", math_frexp),
    function("fsum", "seq, /", math_fsum),
    function("gamma", "x, /", unary_function<tgamma_checked>),
    function("hypot", "*coordinates", math_hypot),
    function("isclose", "a, b, *, rel_tol=1e-09, abs_tol=0.0", math_isclose),
    function("isfinite", "x, /", math_isfinite),
    function("isinf", "x, /", math_isinf),
    function("isnan", "x, /", math_isnan),
    function("ldexp", "x, i, /", math_ldexp),
    function("lgamma", "x, /", unary_function<lgamma_checked, true>),
    function("log", "x, base=..., /", math_log),
    function("log10", "x, /", log_function<std::log10>),
    function("log1p", "x, /", unary_function<std::log1p, true>),
    function("log2", "x, /", log_function<std::log2>),
    function("modf", "x, /", math_modf),
    function("nextafter", "x, y, /", math_nextafter),
    function("pow", "x, y, /", math_pow),
    function("prod", "iterable, /, *, start=1", math_prod),
    function("radians", "x, /", math_radians),
    function("remainder", "x, y, /", binary_function<std::remainder>),
    function("sin", "x, /", unary_function<std::sin>),
    function("sinh", "x, /", unary_function<std::sinh>),
    function("sqrt", "x, /", unary_function<std::sqrt>),
    function("tan", "x, /", unary_function<std::tan>),
    function("tanh", "x, /", unary_function<std::tanh>),
    function("trunc", "x, /", math_trunc),
    function("ulp", "x, /", math_ulp),
};

}  // namespace

Result<void> init_math(Interp& interp, Module& module) {
  define_all(interp, module, kMath);
  define_all(interp, module, math_whole_functions());
  define(interp, module, "pi", Value::real(std::numbers::pi));
  define(interp, module, "e", Value::real(std::numbers::e));
  define(interp, module, "tau", Value::real(2 * std::numbers::pi));
  define(interp, module, "inf", Value::real(std::numeric_limits<double>::infinity()));
  define(interp, module, "nan", Value::real(std::numeric_limits<double>::quiet_NaN()));
  return {};
}

}  // namespace tfl
