// Bytes as pairs of hexadecimal digits and back. This header must not know about host values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tfl {

inline constexpr uint8_t kNoHexDigit = 0xFF;

/// What a byte stands for as a digit; kNoHexDigit: for nothing.
inline constexpr std::array<uint8_t, 256> kHexValues = [] {
  std::array<uint8_t, 256> values{};
  for (uint8_t& v : values) v = kNoHexDigit;
  for (size_t i = 0; i < 10; ++i) values['0' + i] = static_cast<uint8_t>(i);
  for (size_t i = 0; i < 6; ++i) values['a' + i] = values['A' + i] = static_cast<uint8_t>(10 + i);
  return values;
}();

/// The byte of the pair that begins at `digits`; negative when one of them is no digit.
inline int hex_pair(const char* digits) {
  uint8_t high = kHexValues[static_cast<unsigned char>(digits[0])], low = kHexValues[static_cast<unsigned char>(digits[1])];
  return (high | low) > 15 ? -1 : high << 4 | low;
}

inline std::string hex_text(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out(bytes.size() * 2, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto byte = static_cast<unsigned char>(bytes[i]);
    out[2 * i] = kDigits[byte >> 4];
    out[2 * i + 1] = kDigits[byte & 15];
  }
  return out;
}

}  // namespace tfl
