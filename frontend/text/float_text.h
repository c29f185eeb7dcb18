// Doubles as text and back: the shortest repr, the e, f, g and % forms for any precision, hexadecimal, and parsing as float()
// does it. Digits are exact everywhere. This header must not know about host values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tfl {

/// repr(v): "0.1", "1e+16", "inf".
std::string float_repr(double v);

/// The digits of a finite v >= 0 and where the decimal point stands: 0.d1d2d3... * 10^point.
struct Decimal {
  std::string digits;
  int point = 0;
};
Decimal shortest_decimal(double v);

/// A finite v >= 0 without sign. `type` is one of e, f, g (lower case); `alternate` keeps the point and zeros of g;
/// `add_dot_zero`: g as repr-like formatting has it (a digit behind the point, exponent one earlier).
std::string format_double(double v, char type, int precision, bool alternate = false, bool add_dot_zero = false);

/// float(text): blanks around it, underscores between digits, inf and nan. Nothing when it is not a number.
std::optional<double> parse_float(std::string_view text);

std::string float_hex(double v);
/// float.fromhex: nothing when malformed; `overflow` set when it is too large.
std::optional<double> parse_float_hex(std::string_view text, bool& overflow);

/// v rounded half to even to `digits` decimal places, exactly. Infinite when the result is out of range.
double round_decimal(double v, int64_t digits);

}  // namespace tfl
