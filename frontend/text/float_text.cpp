#include "frontend/text/float_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "frontend/text/unicode.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

// No double has more significant digits behind or before the point than this; zeros follow.
constexpr int kMaxPrecision = 1100;

void append_exponent(std::string& out, int e) {
  out += 'e';
  out += e < 0 ? '-' : '+';
  int a = std::abs(e);
  if (a < 10) out += '0';
  out += std::to_string(a);
}

/// `digits` significant digits of v >= 0, rounded half to even on the exact value.
Decimal rounded_decimal(double v, int digits) {
  char buffer[kMaxPrecision + 32];
  int kept = digits < kMaxPrecision ? digits : kMaxPrecision;
  char* end = std::to_chars(buffer, buffer + sizeof buffer - 1, v, std::chars_format::scientific, kept - 1).ptr;
  *end = 0;
  Decimal d;
  char* p = buffer;
  for (; p < end && *p != 'e'; ++p) {
    if (*p != '.') d.digits += *p;
  }
  d.point = std::atoi(p + 1) + 1;
  d.digits.append(static_cast<size_t>(digits - kept), '0');
  return d;
}

void strip_zeros(std::string& s) {
  if (s.find('.') == std::string::npos) return;
  size_t n = s.size();
  while (s[n - 1] == '0') --n;
  if (s[n - 1] == '.') --n;
  s.resize(n);
}

/// digits with the point at `point`, zeros filled in.
std::string place_point(const std::string& digits, int point) {
  std::string out;
  int n = static_cast<int>(digits.size());
  if (point <= 0) {
    out = "0.";
    out.append(static_cast<size_t>(-point), '0');
    out += digits;
  } else if (point >= n) {
    out = digits;
    out.append(static_cast<size_t>(point - n), '0');
  } else {
    out = digits.substr(0, static_cast<size_t>(point)) + "." + digits.substr(static_cast<size_t>(point));
  }
  return out;
}

std::string fixed(double v, int precision) {
  char buffer[320 + kMaxPrecision + 32];
  int kept = precision < kMaxPrecision ? precision : kMaxPrecision;
  auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::fixed, kept).ptr;
  std::string out(buffer, end);
  out.append(static_cast<size_t>(precision - kept), '0');
  return out;
}

}  // namespace

Decimal shortest_decimal(double v) {
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific).ptr;
  Decimal d;
  char* p = buffer;
  for (; p < end && *p != 'e'; ++p) {
    if (*p != '.') d.digits += *p;
  }
  *end = 0;
  d.point = std::atoi(p + 1) + 1;
  if (v == 0) d.point = 1;
  return d;
}

std::string float_repr(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  std::string out = std::signbit(v) ? "-" : "";
  Decimal d = shortest_decimal(std::fabs(v));
  if (d.point > -4 && d.point <= 16) {
    std::string s = place_point(d.digits, d.point);
    out += s;
    if (s.find('.') == std::string::npos) out += ".0";
    return out;
  }
  out += d.digits[0];
  if (d.digits.size() > 1) {
    out += '.';
    out += d.digits.substr(1);
  }
  append_exponent(out, d.point - 1);
  return out;
}

std::string format_double(double v, char type, int precision, bool alternate, bool add_dot_zero) {
  if (type == 'f') {
    std::string s = fixed(v, precision);
    if (alternate && precision == 0) s += '.';
    return s;
  }
  if (type == 'e') {
    Decimal d = rounded_decimal(v, precision + 1);
    std::string out(1, d.digits[0]);
    if (precision > 0 || alternate) out += '.';
    out += d.digits.substr(1);
    append_exponent(out, d.point - 1);
    return out;
  }
  int significant = precision == 0 ? 1 : precision;
  Decimal d = rounded_decimal(v, significant);
  if (v == 0) d.point = 1;
  if (d.point <= -4 || d.point > significant - (add_dot_zero ? 1 : 0)) {
    std::string out(1, d.digits[0]);
    if (d.digits.size() > 1)
      out += "." + d.digits.substr(1);
    else if (alternate)
      out += '.';
    if (!alternate) strip_zeros(out);
    append_exponent(out, d.point - 1);
    return out;
  }
  std::string out = place_point(d.digits, d.point);
  if (alternate) {
    if (out.find('.') == std::string::npos) out += '.';
  } else {
    strip_zeros(out);
    if (add_dot_zero && out.find('.') == std::string::npos) out += ".0";
  }
  return out;
}

std::optional<double> parse_float(std::string_view text) {
  // Blanks of any script around, digits of any script within.
  std::string s;
  bool ascii = true;
  for (char c : text) ascii &= static_cast<unsigned char>(c) < 0x80;
  if (ascii) {
    s = text;
  } else {
    for (size_t at = 0; at < text.size();) {
      char32_t c = utf8::next(text, at);
      int d = unicode::decimal_value(c);
      if (d >= 0)
        s += static_cast<char>('0' + d);
      else if (unicode::is_space(c))
        s += ' ';
      else if (c < 0x80)
        s += static_cast<char>(c);
      else
        return std::nullopt;
    }
  }
  size_t b = 0, e = s.size();
  while (b < e && unicode::is_space(static_cast<unsigned char>(s[b]))) ++b;
  while (e > b && unicode::is_space(static_cast<unsigned char>(s[e - 1]))) --e;
  std::string n;
  auto digit = [&](size_t i) { return i >= b && i < e && s[i] >= '0' && s[i] <= '9'; };
  for (size_t i = b; i < e; ++i) {
    if (s[i] == '_') {
      if (i == b || !digit(i - 1) || !digit(i + 1)) return std::nullopt;
    } else {
      n += s[i];
    }
  }
  size_t at = 0;
  bool negative = false;
  if (at < n.size() && (n[at] == '+' || n[at] == '-')) negative = n[at++] == '-';
  std::string word = unicode::lower(std::string_view(n).substr(at));
  double v;
  if (word == "inf" || word == "infinity") {
    v = HUGE_VAL;
  } else if (word == "nan") {
    v = std::nan("");
  } else {
    if (word.empty() || !(word[0] == '.' || (word[0] >= '0' && word[0] <= '9'))) return std::nullopt;
    auto r = std::from_chars(word.data(), word.data() + word.size(), v, std::chars_format::general);
    if (r.ptr != word.data() + word.size()) return std::nullopt;
    if (r.ec == std::errc::result_out_of_range)
      v = std::strtod(word.c_str(), nullptr);  // 0 or infinity: tell which
    else if (r.ec != std::errc())
      return std::nullopt;
  }
  return negative ? -v : v;
}

double round_decimal(double v, int64_t digits) {
  if (!std::isfinite(v) || v == 0) return v;
  // Beyond these, rounding changes nothing, or leaves nothing.
  if (digits > 330) return v;
  if (digits < -310) return std::copysign(0.0, v);
  std::string s;
  double a = std::fabs(v);
  if (digits >= 0) {
    s = fixed(a, static_cast<int>(digits));
  } else {
    // The exact integer part, rounded in text: half to even on the exact value.
    Decimal d = shortest_decimal(a);
    int keep = d.point + static_cast<int>(digits);
    if (keep < 0) return std::copysign(0.0, v);
    if (keep == 0) {
      double unit = std::strtod(("1e" + std::to_string(-digits)).c_str(), nullptr);
      return std::copysign(a > unit / 2 ? unit : 0.0, v);
    }
    Decimal r = rounded_decimal(a, keep);
    s = place_point(r.digits, r.point);
  }
  return std::copysign(std::strtod(s.c_str(), nullptr), v);
}

}  // namespace tfl
