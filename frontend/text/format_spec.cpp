#include "frontend/text/format_spec.h"

#include <algorithm>
#include <cmath>

#include "frontend/text/float_text.h"
#include "frontend/text/int_text.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

Failure unknown_code(char type, std::string_view type_name) {
  if (type > 32 && type < 127) {
    return fail(ErrorKind::ValueError, "Unknown format code '{}' for object of type '{}'", type, type_name);
  }
  return fail(ErrorKind::ValueError, "Unknown format code '\\x{:x}' for object of type '{}'", static_cast<unsigned char>(type),
              type_name);
}

/// A run of digits; -1 when there is none, -2 when it is too large.
int64_t parse_digits(std::string_view s, size_t& at) {
  if (at >= s.size() || s[at] < '0' || s[at] > '9') return -1;
  int64_t v = 0;
  for (; at < s.size() && s[at] >= '0' && s[at] <= '9'; ++at) {
    if (__builtin_mul_overflow(v, int64_t{10}, &v) || __builtin_add_overflow(v, int64_t{s[at] - '0'}, &v)) return -2;
  }
  return v;
}

/// `digits` with separators between groups, zeros in front until it is `min_width` wide.
std::string group(std::string_view digits, char separator, int size, int64_t min_width) {
  std::string reversed;
  auto remaining = static_cast<int64_t>(digits.size());
  bool separate = false;
  for (;;) {
    int64_t l = std::min<int64_t>(size, std::max(std::max(remaining, min_width), int64_t{1}));
    if (separate) reversed += separator;
    for (int64_t i = 0; i < l; ++i) {
      reversed += i < remaining ? digits[static_cast<size_t>(remaining - 1 - i)] : '0';
    }
    separate = true;
    remaining -= std::min(remaining, l);
    min_width -= l;
    if (remaining <= 0 && min_width <= 0) break;
    min_width -= 1;
  }
  return {reversed.rbegin(), reversed.rend()};
}

/// Sign or prefix, whole digits (grouped), and what follows them, padded.
std::string assemble(const FormatSpec& spec, const std::string& prefix, std::string_view digits, std::string_view rest,
                     int group_size) {
  std::string body;
  if (spec.grouping && !digits.empty()) {  // not inf and nan
    int64_t zeros = 0;
    if (spec.fill == "0" && spec.align == '=') zeros = spec.width - static_cast<int64_t>(prefix.size() + rest.size());
    body = group(digits, spec.grouping, group_size, zeros);
  } else {
    body = digits;
  }
  body += rest;
  return pad(spec, prefix, body);
}

std::string sign_of(const FormatSpec& spec, bool negative) {
  if (negative) return "-";
  if (spec.sign == '+') return "+";
  if (spec.sign == ' ') return " ";
  return "";
}

Result<void> check_whole_spec(const FormatSpec& spec) {
  if (spec.precision >= 0) return fail(ErrorKind::ValueError, "Precision not allowed in integer format specifier");
  if (!spec.coerce_zero) return {};
  return fail(ErrorKind::ValueError, "Negative zero coercion (z) not allowed in integer format specifier");
}

}  // namespace

std::string pad(const FormatSpec& spec, std::string_view prefix, std::string_view body) {
  int64_t width = utf8::count(body) + static_cast<int64_t>(prefix.size());
  int64_t missing = spec.width > width ? spec.width - width : 0;
  int64_t left = spec.align == '>' ? missing : spec.align == '^' ? missing / 2 : 0;
  std::string out;
  out.reserve(prefix.size() + body.size() + static_cast<size_t>(missing) * spec.fill.size());
  auto fill = [&](int64_t n) {
    if (spec.fill.size() == 1)
      out.append(static_cast<size_t>(n), spec.fill[0]);
    else {
      for (; n > 0; --n) out += spec.fill;
    }
  };
  fill(left);
  out += prefix;
  if (spec.align == '=') fill(missing);
  out += body;
  if (spec.align != '=') fill(missing - left);
  return out;
}

Result<FormatSpec> parse_format_spec(std::string_view s, char type, char align, std::string_view type_name) {
  FormatSpec f;
  f.type = type;
  f.align = align;
  size_t at = 0;
  bool fill_given = false, align_given = false;
  auto peek = [&] { return at < s.size() ? s[at] : '\0'; };
  if (!s.empty()) {
    size_t n = utf8::size_of(static_cast<unsigned char>(s[0]));
    if (n < s.size() && is_align(s[n])) {
      f.fill = s.substr(0, n);
      f.align = s[n];
      fill_given = align_given = true;
      at = n + 1;
    } else if (is_align(s[0])) {
      f.align = s[0];
      align_given = true;
      at = 1;
    }
  }
  if (peek() == '+' || peek() == '-' || peek() == ' ') f.sign = s[at++];
  if (peek() == 'z') {
    f.coerce_zero = true;
    ++at;
  }
  if (peek() == '#') {
    f.alternate = true;
    ++at;
  }
  if (!fill_given && peek() == '0') {
    f.fill = "0";
    if (!align_given && align == '>') f.align = '=';
    ++at;
  }
  f.width = parse_digits(s, at);
  if (f.width == -2) return fail(ErrorKind::ValueError, "Too many decimal digits in format string");
  if (peek() == ',') {
    f.grouping = ',';
    ++at;
  }
  if (peek() == '_') {
    if (f.grouping) return fail(ErrorKind::ValueError, "Cannot specify both ',' and '_'.");
    f.grouping = '_';
    ++at;
  }
  if (peek() == ',') {
    return fail(ErrorKind::ValueError, f.grouping == ',' ? "Cannot specify ',' with ','." : "Cannot specify both ',' and '_'.");
  }
  if (peek() == '.') {
    ++at;
    f.precision = parse_digits(s, at);
    if (f.precision == -2) return fail(ErrorKind::ValueError, "Too many decimal digits in format string");
    if (f.precision == -1) return fail(ErrorKind::ValueError, "Format specifier missing precision");
  }
  if (at < s.size()) {
    size_t n = utf8::size_of(static_cast<unsigned char>(s[at]));
    if (at + n < s.size()) {
      return fail(ErrorKind::ValueError, "Invalid format specifier '{}' for object of type '{}'", s, type_name);
    }
    if (n > 1) {
      return fail(ErrorKind::ValueError, "Unknown format code '\\x{:x}' for object of type '{}'",
                  static_cast<uint32_t>(utf8::first(s.substr(at))), type_name);
    }
    f.type = s[at];
  }
  if (f.grouping) {
    switch (f.type) {
      case 'd':
      case 'e':
      case 'f':
      case 'g':
      case 'E':
      case 'G':
      case '%':
      case 'F':
      case '\0': break;
      case 'b':
      case 'o':
      case 'x':
      case 'X':
        if (f.grouping == '_') break;
        [[fallthrough]];
      default:
        if (f.type > 32 && f.type < 127) return fail(ErrorKind::ValueError, "Cannot specify '{}' with '{}'.", f.grouping, f.type);
        return fail(ErrorKind::ValueError, "Cannot specify '{}' with '\\x{:x}'.", f.grouping, static_cast<unsigned char>(f.type));
    }
  }
  return f;
}

Result<std::string> format_text(const FormatSpec& spec, std::string_view text, std::string_view type_name) {
  if (spec.type != 's') return unknown_code(spec.type, type_name);
  if (spec.sign)
    return fail(ErrorKind::ValueError, spec.sign == ' ' ? "Space not allowed in string format specifier"
                                                        : "Sign not allowed in string format specifier");
  if (spec.coerce_zero) return fail(ErrorKind::ValueError, "Negative zero coercion (z) not allowed in string format specifier");
  if (spec.alternate) return fail(ErrorKind::ValueError, "Alternate form (#) not allowed in string format specifier");
  if (spec.align == '=') return fail(ErrorKind::ValueError, "'=' alignment not allowed in string format specifier");
  if (spec.precision >= 0 && spec.precision < utf8::count(text)) text = text.substr(0, utf8::offset(text, spec.precision));
  return pad(spec, "", text);
}

int integer_base(char type) {
  switch (type) {
    case 'b': return 2;
    case 'o': return 8;
    case 'x':
    case 'X': return 16;
    case 'c':
    case 'd':
    case 'n': return 10;
    default: return 0;
  }
}

Result<std::string> format_integer(const FormatSpec& spec, int64_t v, std::string_view type_name) {
  const int base = integer_base(spec.type);
  if (base == 0) return format_real(spec, static_cast<double>(v), type_name);
  if (spec.type != 'c') return format_digits(spec, v < 0, int_digits(v, base));
  TFL_TRY(check_whole_spec(spec));
  if (spec.sign) return fail(ErrorKind::ValueError, "Sign not allowed with integer format specifier 'c'");
  if (spec.alternate) return fail(ErrorKind::ValueError, "Alternate form (#) not allowed with integer format specifier 'c'");
  if (v < 0 || v > 0x10FFFF) return fail(ErrorKind::OverflowError, "%c arg not in range(0x110000)");
  std::string text;
  utf8::append(text, static_cast<char32_t>(v));
  return pad(spec, "", text);
}

Result<std::string> format_digits(const FormatSpec& spec, bool negative, std::string digits) {
  TFL_TRY(check_whole_spec(spec));
  const int base = integer_base(spec.type);
  std::string prefix = sign_of(spec, negative);
  if (spec.alternate && base != 10) {
    prefix += '0';
    prefix += spec.type;
  }
  if (spec.type == 'X') {
    for (char& c : digits) {
      if (c >= 'a') c = static_cast<char>(c - 32);
    }
  }
  return assemble(spec, prefix, digits, "", base == 10 ? 3 : 4);
}

Result<std::string> format_real(const FormatSpec& spec, double v, std::string_view type_name) {
  char type = spec.type;
  char lower = static_cast<char>(type | 32);
  bool percent = type == '%';
  if (type != 0 && type != 'n' && !percent && !((lower == 'e' || lower == 'f' || lower == 'g')))
    return unknown_code(type, type_name);
  if (spec.precision > INT32_MAX) return fail(ErrorKind::ValueError, "precision too big");
  int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
  if (percent) v *= 100;
  bool negative = std::signbit(v);
  double a = std::fabs(v);
  std::string text;
  if (std::isnan(v)) {
    text = "nan";
    negative = false;
  } else if (std::isinf(v)) {
    text = "inf";
  } else if (type == 0 && spec.precision < 0) {
    text = float_repr(a);
    if (spec.alternate && text.find('.') == std::string::npos) {
      size_t e = text.find('e');
      text.insert(e == std::string::npos ? text.size() : e, ".");
    }
  } else if (type == 0) {
    text = format_double(a, 'g', precision, spec.alternate, true);
  } else if (percent) {
    text = format_double(a, 'f', precision, spec.alternate);
  } else {
    text = format_double(a, type == 'n' ? 'g' : lower, precision, spec.alternate);
  }
  if (negative && spec.coerce_zero) {
    bool zero = true;
    for (char c : text) {
      if (c == 'e') break;
      zero &= c == '0' || c == '.';
    }
    if (zero) negative = false;
  }
  if (type == 'E' || type == 'F' || type == 'G') {
    for (char& c : text) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    }
  }
  if (percent) text += '%';
  size_t whole = 0;
  while (whole < text.size() && text[whole] >= '0' && text[whole] <= '9') ++whole;
  return assemble(spec, sign_of(spec, negative), std::string_view(text).substr(0, whole), std::string_view(text).substr(whole),
                  3);
}

}  // namespace tfl
