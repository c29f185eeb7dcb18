#include "runtime/text/decimal.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "runtime/math/half.h"

namespace tfl {

namespace {

// Room for every digit of the largest double and as many after the point as anyone may ask for.
constexpr int kMostDigits = 1200;

std::string to_text(double value, std::chars_format format, int precision) {
  char buffer[400 + kMostDigits];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format, std::min(precision, kMostDigits));
  return std::string(buffer, end.ptr);
}

// "d.ddde+xx" taken apart.
Digits split_scientific(std::string_view text) {
  Digits out{{}, 0};
  size_t e = text.find('e');
  for (char c : text.substr(0, e)) {
    if (c != '.') out.digits += c;
  }
  std::string_view exponent = text.substr(e + 1);
  if (exponent[0] == '+') exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), out.exponent);
  return out;
}

double parse(std::string_view digits, int exponent) {  // d.ddd times ten to the exponent
  std::string text(digits.substr(0, 1));
  text += '.';
  text += digits.substr(1);
  text += 'e';
  text += std::to_string(exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// One more in the last place; a carry out of the first digit raises the exponent.
void increment(Digits& d) {
  for (size_t i = d.digits.size(); i-- > 0;) {
    if (d.digits[i] != '9') {
      ++d.digits[i];
      return;
    }
    d.digits[i] = '0';
  }
  d.digits.insert(0, "1");
  d.digits.pop_back();
  ++d.exponent;
}

// Five digits always do for a half. Of each length try the two neighbours of the exact value; the nearer one wins, and on a tie
// the even one.
Digits shortest_half(double value) {
  uint16_t bits = to_f16(value).bits;
  Digits exact = split_scientific(to_text(value, std::chars_format::scientific, 40));
  for (size_t n = 1; n <= 5; ++n) {
    Digits low{exact.digits.substr(0, n), exact.exponent};
    Digits high = low;
    increment(high);
    double down = parse(low.digits, low.exponent), up = parse(high.digits, high.exponent);
    bool low_fits = to_f16(down).bits == bits, high_fits = to_f16(up).bits == bits;
    if (!low_fits && !high_fits) continue;
    if (low_fits && high_fits) {
      Digits nearest = split_scientific(to_text(value, std::chars_format::scientific, static_cast<int>(n) - 1));
      return nearest;
    }
    return low_fits ? low : high;
  }
  return split_scientific(to_text(value, std::chars_format::scientific, 4));
}

}  // namespace

Digits shortest_digits(DType dtype, double value) {
  value = std::fabs(value);
  if (value == 0) return {"0", 0};
  Digits out;
  if (dtype == DType::F16) {
    out = shortest_half(value);
  } else {
    char buffer[64];
    auto end = dtype == DType::F32
                   ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value), std::chars_format::scientific)
                   : std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
    out = split_scientific({buffer, static_cast<size_t>(end.ptr - buffer)});
  }
  while (out.digits.size() > 1 && out.digits.back() == '0') out.digits.pop_back();
  return out;
}

namespace {

// The number of digits after the point to print, given how many the shortest text has.
int wanted_digits(int shortest, const DigitLimits& limits) {
  if (!limits.unique) return std::max(limits.most, 0);
  int n = std::max(shortest, limits.least);
  return limits.most >= 0 ? std::min(n, limits.most) : n;
}

}  // namespace

PlainText positional(DType dtype, double value, const DigitLimits& limits) {
  value = std::fabs(value);
  Digits d = shortest_digits(dtype, value);
  int count = static_cast<int>(d.digits.size());
  int shortest = value == 0 ? 0 : std::max(0, count - 1 - d.exponent);
  int wanted = wanted_digits(shortest, limits);
  PlainText out;
  if (limits.unique && wanted == shortest) {
    if (d.exponent < 0) {
      out.whole = "0";
      out.fraction.assign(static_cast<size_t>(-d.exponent - 1), '0');
      out.fraction += d.digits;
    } else {
      size_t whole = static_cast<size_t>(d.exponent) + 1;
      out.whole = d.digits.substr(0, whole);
      out.whole.resize(whole, '0');
      if (d.digits.size() > whole) out.fraction = d.digits.substr(whole);
    }
    if (value == 0) out.fraction.clear();
    return out;
  }
  std::string text = to_text(value, std::chars_format::fixed, wanted);
  size_t point = text.find('.');
  out.whole = text.substr(0, point);
  if (point != std::string::npos) out.fraction = text.substr(point + 1);
  return out;
}

ScientificText scientific(DType dtype, double value, const DigitLimits& limits) {
  value = std::fabs(value);
  Digits d = shortest_digits(dtype, value);
  int shortest = static_cast<int>(d.digits.size()) - 1;
  int wanted = wanted_digits(shortest, limits);
  if (!limits.unique || wanted != shortest) d = split_scientific(to_text(value, std::chars_format::scientific, wanted));
  return {d.digits.substr(0, 1), d.digits.substr(1), d.exponent};
}

std::string general_text(double value, int precision) {
  if (std::isnan(value)) return "nan";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, precision);
  return std::string(buffer, end.ptr);
}

namespace {

std::string exponent_text(int exponent) {
  std::string out = exponent < 0 ? "e-" : "e+";
  exponent = std::abs(exponent);
  if (exponent < 10) out += '0';
  return out + std::to_string(exponent);
}

// Positional from 0.0001 up to `limit`, scientific elsewhere.
std::string number_text(DType dtype, double value, double limit) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string out = std::signbit(value) ? "-" : "";
  double magnitude = std::fabs(value);
  if (value == 0 || (magnitude >= 1e-4 && magnitude < limit)) {
    PlainText p = positional(dtype, value, {});
    return out + p.whole + "." + (p.fraction.empty() ? "0" : p.fraction);
  }
  ScientificText s = scientific(dtype, value, {});
  out += s.whole;
  if (!s.fraction.empty()) out += "." + s.fraction;
  return out + exponent_text(s.exponent);
}

}  // namespace

std::string scalar_text(DType dtype, double value) {
  if (dtype == DType::BF16) return general_text(value, 6);
  return number_text(dtype, value, dtype == DType::F16 ? 1e3 : dtype == DType::F32 ? 1e6 : 1e16);
}

std::string double_repr(double value) { return number_text(DType::F64, value, 1e16); }

std::string bytes_repr(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  bool single = bytes.find('\'') != std::string_view::npos, both = bytes.find('"') != std::string_view::npos;
  char quote = single && !both ? '"' : '\'';
  std::string out = "b";
  out += quote;
  for (char c : bytes) {
    unsigned char u = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (u < 0x20 || u >= 0x7f) {
      out += "\\x";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    } else {
      out += c;
    }
  }
  return out + quote;
}

}  // namespace tfl
