// Decimal digits of floating-point numbers: the shortest that read back as the same number of its type, or exactly rounded ones.
// This header must not know arrays or their layout.
#pragma once

#include <string>
#include <string_view>

#include "runtime/tensor/dtype.h"

namespace tfl {

/// The shortest digits of a finite number: 1.25e3 is digits "125", exponent 3. Zero is "0", exponent 0. No sign.
struct Digits {
  std::string digits;
  int exponent;
};
/// `value` is a number of type `dtype` (float16, float32 or float64).
Digits shortest_digits(DType dtype, double value);

/// How many digits after the point: all of the shortest ones, but no fewer than `least` and no more than `most` (-1: no limit);
/// digits beyond the shortest, or fewer, are those of the exact value, rounded to nearest even. `unique` false: exactly `most`.
struct DigitLimits {
  int least = 0;
  int most = -1;
  bool unique = true;
};

struct PlainText {
  std::string whole, fraction;  // without sign
};
PlainText positional(DType dtype, double value, const DigitLimits& limits);

struct ScientificText {
  std::string whole, fraction;
  int exponent;
};
ScientificText scientific(DType dtype, double value, const DigitLimits& limits);

/// str() of a NumPy scalar of this type: 0.1, 1e+20, -0.0, nan.
std::string scalar_text(DType dtype, double value);
/// Python's repr(float).
std::string double_repr(double value);
/// C's "%g" with `precision` digits, as bfloat16 prints.
std::string general_text(double value, int precision);

/// Python's repr of bytes: b'a\n'.
std::string bytes_repr(std::string_view bytes);

}  // namespace tfl
