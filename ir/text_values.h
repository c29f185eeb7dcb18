// Names and numbers of the graph's text form as values. This header must not know tokens.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <type_traits>

#include "runtime/ops/op.h"

namespace tfl::ir {

inline std::optional<Op> op_named(std::string_view name) {
  for (int i = 0; i < op_count(); ++i) {
    if (op_info(static_cast<Op>(i)).name == name) return static_cast<Op>(i);
  }
  return std::nullopt;
}

inline std::optional<Attr> attr_named(std::string_view name) {
  constexpr int kCount = 0
#define TFL_ATTR(name) +1
#include "runtime/ops/attrs.def"
#undef TFL_ATTR
      ;
  for (int i = 0; i < kCount; ++i) {
    if (attr_name(static_cast<Attr>(i)) == name) return static_cast<Attr>(i);
  }
  return std::nullopt;
}

template <class T>
bool number(std::string_view s, T& out, int base = 10) {
  auto [end, error] = [&] {
    if constexpr (std::is_integral_v<T>)
      return std::from_chars(s.data(), s.data() + s.size(), out, base);
    else
      return std::from_chars(s.data(), s.data() + s.size(), out);
  }();
  return error == std::errc() && end == s.data() + s.size();
}

inline bool float_number(std::string_view s, double& out) {
  if (s == "inf" || s == "-inf") {
    out = s[0] == '-' ? -__builtin_inf() : __builtin_inf();
    return true;
  }
  if (s == "nan") {
    out = __builtin_nan("");
    return true;
  }
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
  if (end != s.data() + s.size()) return false;
  return error == std::errc();
}

/// Writes the element of a number's or truth value's dtype that `s` shows to `to`; false when it shows none. Bits of floats stand as 0x….
bool element_of_text(std::string_view s, DType dtype, std::byte* to);

}  // namespace tfl::ir
