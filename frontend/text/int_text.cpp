#include "frontend/text/int_text.h"

#include "frontend/text/unicode.h"
#include "frontend/text/utf8.h"

namespace tfl {

std::string int_digits(int64_t v, int base) {
  uint64_t u = v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  char buffer[64];
  char* p = buffer + sizeof buffer;
  do {
    *--p = "0123456789abcdefghijklmnopqrstuvwxyz"[u % static_cast<uint64_t>(base)];
    u /= static_cast<uint64_t>(base);
  } while (u);
  return {p, buffer + sizeof buffer};
}

std::string int_prefixed(int64_t v, int base) {
  std::string out = v < 0 ? "-" : "";
  out += base == 16 ? "0x" : base == 8 ? "0o" : "0b";
  return out + int_digits(v, base);
}

IntParse parse_int(std::string_view text, int base, int64_t& value, IntText* large) {
  // One byte a character: digits of other scripts as ASCII digits, other letters as something that is no digit.
  std::string s;
  for (size_t at = 0; at < text.size();) {
    char32_t c = utf8::next(text, at);
    int d = unicode::decimal_value(c);
    if (d >= 0)
      s += static_cast<char>('0' + d);
    else if (unicode::is_space(c))
      s += ' ';
    else
      s += c < 0x80 ? static_cast<char>(c) : '?';
  }
  size_t at = 0, end = s.size();
  while (at < end && s[at] == ' ') ++at;
  while (end > at && s[end - 1] == ' ') --end;
  bool negative = false;
  if (at < end && (s[at] == '+' || s[at] == '-')) negative = s[at++] == '-';
  auto prefix_base = [&]() -> int {
    if (end - at < 2 || s[at] != '0') return 0;
    switch (s[at + 1] | 32) {
      case 'x': return 16;
      case 'o': return 8;
      case 'b': return 2;
      default: return 0;
    }
  };
  bool no_leading_zeros = false, after_digit = false;
  int p = prefix_base();
  if (p && (base == 0 || base == p)) {
    base = p;
    at += 2;
    after_digit = true;  // "0x_1" is allowed
  } else if (base == 0) {
    base = 10;
    no_leading_zeros = true;
  }
  if (at >= end) return IntParse::Malformed;
  uint64_t v = 0;
  bool overflow = false, any = false, leading_zero = s[at] == '0';
  const size_t first = at;
  for (; at < end; ++at) {
    char c = s[at];
    if (c == '_') {
      if (!after_digit) return IntParse::Malformed;
      after_digit = false;
      continue;
    }
    int d = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'z' ? (c | 32) - 'a' + 10 : 99;
    if (d >= base) return IntParse::Malformed;
    after_digit = any = true;
    overflow |= __builtin_mul_overflow(v, static_cast<uint64_t>(base), &v);
    overflow |= __builtin_add_overflow(v, static_cast<uint64_t>(d), &v);
  }
  if (!any || !after_digit) return IntParse::Malformed;
  if (no_leading_zeros && leading_zero && (v != 0 || overflow)) return IntParse::Malformed;
  if (overflow || v > (uint64_t{1} << 63) - (negative ? 0 : 1)) {
    if (large) {
      *large = {negative, base, s.substr(first, end - first)};
      std::erase(large->digits, '_');
    }
    return IntParse::Large;
  }
  value = static_cast<int64_t>(negative ? uint64_t{0} - v : v);
  return IntParse::Ok;
}

}  // namespace tfl
