#include "frontend/text/utf8.h"

#include <cstring>

namespace tfl::utf8 {

void append(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

int64_t count(std::string_view s) {
  // A character is a byte that does not continue another: eight bytes at a time.
  constexpr uint64_t kOnes = 0x0101010101010101u;
  size_t i = 0;
  int64_t continuation = 0;
  for (; i + 8 <= s.size(); i += 8) {
    uint64_t w;
    std::memcpy(&w, s.data() + i, 8);
    continuation += __builtin_popcountll((w >> 7) & ~(w >> 6) & kOnes);
  }
  for (; i < s.size(); ++i) continuation += is_continuation(s[i]);
  return static_cast<int64_t>(s.size()) - continuation;
}

size_t offset(std::string_view s, int64_t index) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  size_t at = 0;
  for (; at + 8 <= s.size(); at += 8) {  // words in which it does not begin
    uint64_t w;
    std::memcpy(&w, s.data() + at, 8);
    int64_t begin = 8 - __builtin_popcountll((w >> 7) & ~(w >> 6) & kOnes);
    if (begin > index) break;
    index -= begin;
  }
  for (; at < s.size(); ++at) {
    if (!is_continuation(s[at]) && index-- == 0) break;
  }
  return at;
}

std::string reversed(std::string_view s) {
  std::string out(s.size(), '\0');
  size_t to = s.size();
  for (size_t at = 0; at < s.size();) {
    size_t n = size_of(static_cast<unsigned char>(s[at]));
    to -= n;
    for (size_t i = 0; i < n; ++i) out[to + i] = s[at + i];
    at += n;
  }
  return out;
}

std::u32string decode(std::string_view s) {
  std::u32string out;
  out.reserve(static_cast<size_t>(count(s)));
  for (size_t at = 0; at < s.size();) out += next(s, at);
  return out;
}

std::string encode(std::u32string_view s) {
  std::string out;
  out.reserve(s.size());
  for (char32_t c : s) append(out, c);
  return out;
}

Invalid validate(std::string_view s) {
  const auto* p = reinterpret_cast<const unsigned char*>(s.data());
  size_t n = s.size(), i = 0;
  while (i < n) {
    unsigned char c = p[i];
    if (c < 0x80) {
      i += ascii_run(s.substr(i));
      continue;
    }
    if (c >= 0xC2 && c < 0xE0 && i + 1 < n && (p[i + 1] & 0xC0) == 0x80) {
      i += 2;
      continue;
    }
    if (c < 0xC2 || c > 0xF4) return {i, 1, "invalid start byte"};
    size_t length = size_of(c);
    unsigned char low = 0x80, high = 0xBF;
    if (c == 0xE0) low = 0xA0;
    if (c == 0xED) high = 0x9F;
    if (c == 0xF0) low = 0x90;
    if (c == 0xF4) high = 0x8F;
    for (size_t k = 1; k < length; ++k) {
      if (i + k >= n) return {i, k, "unexpected end of data"};
      if (p[i + k] < low || p[i + k] > high) return {i, k, "invalid continuation byte"};
      low = 0x80;
      high = 0xBF;
    }
    i += length;
  }
  return {std::string_view::npos, 0, ""};
}

}  // namespace tfl::utf8
