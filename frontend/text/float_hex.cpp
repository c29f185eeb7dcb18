// float.hex and float.fromhex.
#include <cmath>
#include <cstdlib>

#include "frontend/text/float_text.h"
#include "frontend/text/unicode.h"

namespace tfl {

std::string float_hex(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  std::string out = std::signbit(v) ? "-" : "";
  if (v == 0) return out + "0x0.0p+0";
  int e;
  double m = std::frexp(std::fabs(v), &e);  // 0.5 <= m < 1
  int shift = 1 - (e - 1 < -1022 ? -1022 - (e - 1) : 0);
  m = std::ldexp(m, shift);
  e -= shift;
  out += "0x";
  constexpr char kHex[] = "0123456789abcdef";
  for (int i = 0; i < 14; ++i) {
    int d = static_cast<int>(m);
    out += kHex[d];
    m = (m - d) * 16;
    if (i == 0) out += '.';
  }
  out += 'p';
  out += e < 0 ? '-' : '+';
  return out + std::to_string(std::abs(e));
}

std::optional<double> parse_float_hex(std::string_view text, bool& overflow) {
  overflow = false;
  while (!text.empty() && unicode::is_space(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && unicode::is_space(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  std::string s = unicode::lower(text);
  size_t at = 0;
  bool negative = false;
  if (at < s.size() && (s[at] == '+' || s[at] == '-')) negative = s[at++] == '-';
  std::string body = s.substr(at);
  double v;
  if (body == "inf" || body == "infinity") {
    v = HUGE_VAL;
  } else if (body == "nan") {
    v = std::nan("");
  } else {
    if (body.starts_with("0x")) body = body.substr(2);
    bool digits = false, point = false;
    size_t i = 0;
    for (; i < body.size(); ++i) {
      char c = body[i];
      if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))
        digits = true;
      else if (c == '.' && !point)
        point = true;
      else
        break;
    }
    if (!digits) return std::nullopt;
    if (i < body.size()) {
      if (body[i] != 'p') return std::nullopt;
      size_t k = i + 1;
      if (k < body.size() && (body[k] == '+' || body[k] == '-')) ++k;
      if (k >= body.size()) return std::nullopt;
      for (; k < body.size(); ++k) {
        if (body[k] < '0' || body[k] > '9') return std::nullopt;
      }
    }
    v = std::strtod(("0x" + body).c_str(), nullptr);
    overflow = std::isinf(v);
  }
  return negative ? -v : v;
}

}  // namespace tfl
