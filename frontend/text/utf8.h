// UTF-8 as strings of the language hold it: every code point, lone surrogates included (as three bytes). Input is always
// well-formed in that sense; what comes from outside is checked by `validate` first.
// This header must not know about host values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tfl::utf8 {

/// Bytes of the character that begins with `lead`.
inline size_t size_of(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }
inline bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The character at `at`, which moves behind it.
inline char32_t next(std::string_view s, size_t& at) {
  auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(s[at + i])); };
  char32_t c = byte(0);
  if (c < 0x80) {
    ++at;
  } else if (c < 0xE0) {
    c = (c & 0x1F) << 6 | (byte(1) & 0x3F);
    at += 2;
  } else if (c < 0xF0) {
    c = (c & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    at += 3;
  } else {
    c = (c & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    at += 4;
  }
  return c;
}
inline char32_t first(std::string_view s) {
  size_t at = 0;
  return next(s, at);
}
/// The start of the character that ends before `at` (at > 0).
inline size_t previous(std::string_view s, size_t at) {
  do --at;
  while (at > 0 && is_continuation(s[at]));
  return at;
}
void append(std::string& out, char32_t c);
/// Characters in `s`.
int64_t count(std::string_view s);
/// Byte offset of character number `index` (at most the number of characters).
size_t offset(std::string_view s, int64_t index);
/// The same characters from the last to the first.
std::string reversed(std::string_view s);
std::u32string decode(std::string_view s);
std::string encode(std::u32string_view s);

/// How many characters of ASCII `s` begins with.
inline size_t ascii_run(std::string_view s) {
  size_t i = 0;
  for (uint64_t w; i + 8 <= s.size(); i += 8) {
    std::memcpy(&w, s.data() + i, 8);
    if (uint64_t high = w & 0x8080808080808080u) return i + static_cast<size_t>(__builtin_ctzll(high) / 8);
  }
  while (i < s.size() && static_cast<unsigned char>(s[i]) < 0x80) ++i;
  return i;
}

struct Invalid {
  size_t at;           // the first bad byte, npos when there is none
  size_t length;       // bad bytes that make one error
  const char* reason;  // CPython's: "invalid start byte"
};
/// Strict UTF-8: no surrogates, no overlong forms.
Invalid validate(std::string_view s);

}  // namespace tfl::utf8
