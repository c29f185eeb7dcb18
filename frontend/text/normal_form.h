// NFKC, the normal form in which Python compares names. The tables are made by unicode_tables.py and hold the characters of names.
#pragma once

#include <string>
#include <string_view>

namespace tfl::unicode {

inline bool is_ascii(std::string_view s) {
  for (char c : s) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

/// A name, which is valid UTF-8, in NFKC.
std::string normal_name(std::string_view name);

}  // namespace tfl::unicode
