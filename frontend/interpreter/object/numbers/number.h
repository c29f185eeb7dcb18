// Arithmetic of ints, bools and floats, as the VM's fast paths and the types' slots share it.
// This header must not know about other types.
#pragma once

#include <cmath>

#include "frontend/core/big_int.h"
#include "frontend/core/object.h"

namespace tfl {

/// An int, bool or float (or an instance derived from one): the kind of number and its value. Big: an int beyond 64 bits.
struct Number {
  enum class Is : uint8_t { Not, Int, Float, Big } is = Is::Not;
  bool boolean = false;
  int64_t i = 0;
  double f = 0;
  BigInt* big = nullptr;
  bool whole() const { return is == Is::Int || is == Is::Big; }
  /// An int as a host value.
  Value value() const { return is == Is::Big ? Value::share(big) : Value::integer(i); }
  /// Infinite where it is too large.
  double real() const { return is == Is::Float ? f : is == Is::Int ? static_cast<double>(i) : int_to_double(value()); }
  /// OverflowError where it is too large.
  Result<double> checked_real() const { return is == Is::Big ? exact_range_double(value()) : Result<double>(real()); }
};
inline Number number_of(const Value& v) {
  switch (v.tag()) {
    case Tag::Int: return {Number::Is::Int, false, v.as_int(), 0};
    case Tag::Bool: return {Number::Is::Int, true, v.as_int(), 0};
    case Tag::Float: return {Number::Is::Float, false, 0, v.as_float()};
    case Tag::Object:
      if (v.is(Kind::Boxed)) return number_of(v.as<Boxed>()->value);
      if (v.is(Kind::BigInt)) return {Number::Is::Big, false, 0, 0, v.as<BigInt>()};
      break;
    default: break;
  }
  return {};
}

Result<Value> int_arithmetic(Interp& interp, BinaryOp op, int64_t a, int64_t b);
Result<Value> float_arithmetic(Interp& interp, BinaryOp op, double a, double b);
/// The slot of int, bool and float: NotImplemented unless both are numbers.
Result<Value> number_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b);
Result<Value> number_compare(Interp& interp, CompareOp op, const Value& a, const Value& b);
/// divmod(a, b); NotImplemented unless both are numbers.
Result<Value> number_divmod(Interp& interp, const Value& a, const Value& b);
/// Sign of a - b, exactly; 2 when b is NaN.
int compare_int_float(int64_t a, double b);

/// Floor division and modulo; b is neither 0 nor, for a = INT64_MIN, -1.
inline int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b != a && ((a < 0) != (b < 0)) ? q - 1 : q;
}
inline int64_t floor_mod(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}

/// a / b of ints, rounded once.
double int_true_div(int64_t a, int64_t b);

}  // namespace tfl
