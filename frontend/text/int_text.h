// Integers as text and back, in any base. This header must not know about host values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tfl {

/// Digits of |v| in `base` (2 .. 36), lower case, without sign or prefix.
std::string int_digits(int64_t v, int base);
/// hex(), oct(), bin(): sign, prefix, digits.
std::string int_prefixed(int64_t v, int base);

enum class IntParse : uint8_t { Ok, Malformed, Large };
/// What a number beyond 64 bits is made of.
struct IntText {
  bool negative = false;
  int base = 10;
  std::string digits;
};
/// int(text, base): blanks, sign, prefix (base 0, 2, 8, 16), underscores, digits of any script.
IntParse parse_int(std::string_view text, int base, int64_t& value, IntText* large = nullptr);

}  // namespace tfl
