// The format-spec language of format(), f-strings and str.format for numbers and text: "[[fill]align][sign][z][#][0][width]
// [grouping][.precision][type]". This header must not know about host values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/support/result.h"

namespace tfl {

struct FormatSpec {
  std::string fill = " ";  // one character
  char align = 0;          // < > ^ =
  char sign = 0;           // + - space
  bool coerce_zero = false;
  bool alternate = false;
  char grouping = 0;  // , _
  char type = 0;
  int64_t width = -1;
  int64_t precision = -1;
};

/// `type` and `align` are what holds when the spec does not say; `type_name` is the value's, for messages.
Result<FormatSpec> parse_format_spec(std::string_view spec, char type, char align, std::string_view type_name);

Result<std::string> format_text(const FormatSpec& spec, std::string_view text, std::string_view type_name);
Result<std::string> format_integer(const FormatSpec& spec, int64_t value, std::string_view type_name);
/// The base that a letter writes integers in; 0: it writes none.
int integer_base(char type);
/// The same of an integer whose digits are known, in the base of the spec's letter.
Result<std::string> format_digits(const FormatSpec& spec, bool negative, std::string digits);
Result<std::string> format_real(const FormatSpec& spec, double value, std::string_view type_name);

/// Fills `body` up to the width; `prefix` (sign, 0x) stays in front of the fill for '='.
std::string pad(const FormatSpec& spec, std::string_view prefix, std::string_view body);

}  // namespace tfl
