#include "frontend/syntax/parse/literals.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace tfl::parse {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

NumberLiteral read_integer(std::string_view digits, unsigned base) {
  constexpr size_t kMostDigits = 4300;
  uint64_t value = 0;
  bool large = false;
  for (char c : digits) {
    if (c == '_') continue;
    large |= __builtin_mul_overflow(value, uint64_t{base}, &value);
    large |= __builtin_add_overflow(value, static_cast<uint64_t>(digit_value(c)), &value);
  }
  if (!large && value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return {NumberLiteral::Kind::Int, static_cast<int64_t>(value)};
  const size_t count = digits.size() - static_cast<size_t>(std::count(digits.begin(), digits.end(), '_'));
  return {base == 10 && count > kMostDigits ? NumberLiteral::Kind::TooLong : NumberLiteral::Kind::Large};
}

double read_float(std::string_view text) {
  std::string plain;
  for (char c : text) {
    if (c != '_') plain += c;
  }
  if (plain.front() == '.') plain.insert(plain.begin(), '0');
  double value = 0;
  auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc::result_out_of_range) return value;
  // Either infinite or zero; which of the two the locale cannot change.
  return std::strtod(plain.c_str(), nullptr);
}

}  // namespace

NumberLiteral read_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '0') {
    char base = static_cast<char>(text[1] | 0x20);
    if (base == 'x') return read_integer(text.substr(2), 16);
    if (base == 'o') return read_integer(text.substr(2), 8);
    if (base == 'b') return read_integer(text.substr(2), 2);
  }
  if (text.back() == 'j' || text.back() == 'J')
    return {NumberLiteral::Kind::Imaginary, 0, read_float(text.substr(0, text.size() - 1))};
  if (text.find_first_of(".eE") != std::string_view::npos) return {NumberLiteral::Kind::Float, 0, read_float(text)};
  if (text[0] == '0' && text.find_first_not_of("0_") != std::string_view::npos) return {NumberLiteral::Kind::LeadingZeros};
  return read_integer(text, 10);
}

StringLiteral split_string(const Source& source, const Token& token) {
  StringLiteral literal;
  uint32_t at = token.begin;
  for (; source.text()[at] != '\'' && source.text()[at] != '"'; ++at) {
    switch (source.text()[at] | 0x20) {
      case 'r': literal.raw = true; break;
      case 'b': literal.bytes = true; break;
      case 'f': literal.formatted = true; break;
      default: break;
    }
  }
  std::string_view rest = std::string_view(source.text()).substr(at, token.end - at);
  uint32_t quotes = rest.size() >= 6 && rest[1] == rest[0] && rest[2] == rest[0] ? 3 : 1;
  literal.begin = at + quotes;
  literal.end = token.end - quotes;
  return literal;
}

void decode_character(const Source& source, const StringLiteral& literal, uint32_t& at, std::string& out,
                      std::vector<Diagnostic>& diagnostics) {
  const std::string& text = source.text();
  uint32_t start = at;
  auto report = [&](DiagnosticId id, std::initializer_list<std::string_view> args = {}) {
    diagnostics.push_back(make_diagnostic(id, source.span(start, at), args));
  };
  char c = text[at];
  if (c == '\r') {  // a line end, whichever it is
    at += at + 1 < literal.end && text[at + 1] == '\n' ? 2 : 1;
    out += '\n';
    return;
  }
  if (c != '\\' || literal.raw || at + 1 >= literal.end) {
    if (static_cast<unsigned char>(c) < 0x80) {
      ++at;
      out += c;
      return;
    }
    size_t next = at;
    decode_utf8(text, next);
    at = static_cast<uint32_t>(next);
    if (literal.bytes) report(DiagnosticId::BytesNotAscii);
    out.append(text, start, next - start);
    return;
  }
  char e = text[at + 1];
  at += 2;
  auto put = [&](char32_t value) {
    if (literal.bytes)
      out += static_cast<char>(static_cast<unsigned char>(value));
    else
      append_utf8(out, value);
  };
  switch (e) {
    case '\r':
      if (at < literal.end && text[at] == '\n') ++at;
      return;
    case '\n': return;
    case '\\':
    case '\'':
    case '"': out += e; return;
    case 'a': return put('\a');
    case 'b': return put('\b');
    case 'f': return put('\f');
    case 'n': return put('\n');
    case 'r': return put('\r');
    case 't': return put('\t');
    case 'v': return put('\v');
    default: break;
  }
  if (e >= '0' && e <= '7') {
    char32_t value = static_cast<char32_t>(e - '0');
    for (int i = 0; i < 2 && at < literal.end && text[at] >= '0' && text[at] <= '7'; ++i)
      value = value * 8 + static_cast<char32_t>(text[at++] - '0');
    return put(value);
  }
  if (e == 'N' && !literal.bytes && at < literal.end && text[at] == '{') {
    while (at < literal.end && text[at] != '}') ++at;
    if (at < literal.end) ++at;
    report(DiagnosticId::RefusedNamedCharacter);
    return;
  }
  uint32_t wanted = e == 'x' ? 2 : e == 'u' && !literal.bytes ? 4 : e == 'U' && !literal.bytes ? 8 : 0;
  if (wanted != 0) {
    char32_t value = 0;
    uint32_t count = 0;
    for (; count < wanted && at < literal.end && digit_value(text[at]) < 16; ++count) {
      value = value * 16 + static_cast<char32_t>(digit_value(text[at++]));
    }
    if (count < wanted)
      report(DiagnosticId::TruncatedEscape, {std::string_view(text).substr(start, 2), std::to_string(wanted)});
    else if (value > 0x10FFFF)
      report(DiagnosticId::EscapeTooLarge);
    else if (value >= 0xD800 && value <= 0xDFFF)
      report(DiagnosticId::RefusedSurrogate);
    else
      put(value);
    return;
  }
  // Unknown escapes stay as they are, like Python's.
  at = start + 1;
  out += '\\';
}

}  // namespace tfl::parse
