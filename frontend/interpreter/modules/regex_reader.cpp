#include "frontend/interpreter/modules/regex_reader.h"

namespace tfl {

namespace {

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

bool PatternReader::take(char c) {
  if (done() || in_[at_] != c) return false;
  ++at_;
  return true;
}

std::string_view PatternReader::character() {
  size_t n = 1;
  if (!bytes_) {
    while (at_ + n < in_.size() && (static_cast<uint8_t>(in_[at_ + n]) & 0xC0) == 0x80) ++n;
  }
  at_ += n;
  return in_.substr(at_ - n, n);
}

bool PatternReader::wrong(std::string text, std::optional<size_t> where) {
  problem_ = {std::move(text), where};
  return false;
}

void PatternReader::emit_code(uint32_t code) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  do digits.insert(digits.begin(), kDigits[code & 15]);
  while (code >>= 4);
  emit("\\x{" + digits + "}");
}

void PatternReader::emit_literal(uint32_t code) {
  if (code < 0x80 && (is_letter(static_cast<char>(code)) || is_digit(static_cast<char>(code)) || code == '_')) {
    out_.pattern += static_cast<char>(code);
  } else {
    emit_code(code);
  }
}

uint32_t PatternReader::decode(std::string_view c) const {
  auto lead = static_cast<uint8_t>(c[0]);
  if (bytes_ || lead < 0x80) return lead;
  uint32_t code = lead & (c.size() == 2 ? 0x1F : c.size() == 3 ? 0x0F : 0x07);
  for (size_t i = 1; i < c.size(); ++i) code = code << 6 | (static_cast<uint8_t>(c[i]) & 0x3F);
  return code;
}

bool PatternReader::hex_escape(size_t start, size_t digits, uint32_t& code) {
  size_t first = at_;
  while (at_ - first < digits && is_hex(peek())) ++at_;
  std::string_view text = in_.substr(first, at_ - first);
  if (text.size() != digits) return wrong("incomplete escape " + std::string(in_.substr(start, at_ - start)), start);
  code = 0;
  for (char c : text) code = code * 16 + static_cast<uint32_t>(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
  if (code > 0x10FFFF) return wrong("bad escape " + std::string(in_.substr(start, at_ - start)), start);
  return true;
}

bool PatternReader::character_escape(size_t start, char c, uint32_t& code, bool& found) {
  found = true;
  switch (c) {
    case 'a': code = 7; return true;
    case 'f': code = 12; return true;
    case 'n': code = 10; return true;
    case 'r': code = 13; return true;
    case 't': code = 9; return true;
    case 'v': code = 11; return true;
    case '\\': code = '\\'; return true;
    case 'x': return hex_escape(start, 2, code);
    case 'u':
      if (!bytes_) return hex_escape(start, 4, code);
      break;
    case 'U':
      if (!bytes_) return hex_escape(start, 8, code);
      break;
    default: break;
  }
  if (is_letter(c)) return wrong("bad escape " + std::string(in_.substr(start, at_ - start)), start);
  found = false;
  return true;
}

bool PatternReader::octal_too_large(size_t start) {
  return wrong("octal escape value " + std::string(in_.substr(start, at_ - start)) + " outside of range 0-0o377", start);
}

bool PatternReader::member(size_t set_start, std::optional<uint32_t>& code, std::string& text) {
  if (done()) return wrong("unterminated character set", set_start);
  size_t start = at_;
  if (peek() != '\\') {
    std::string_view c = character();
    code = decode(c);
    text = c;
    return true;
  }
  ++at_;
  if (done()) return wrong("bad escape (end of pattern)", start);
  char c = peek();
  uint32_t value = 0;
  if (static_cast<uint8_t>(c) >= 0x80) {
    code = decode(character());
  } else if (std::string_view("dDsSwW").find(c) != std::string_view::npos) {
    ++at_;
    code.reset();
  } else if (c == 'b') {
    ++at_;
    code = 8;
  } else if (is_octal(c)) {
    size_t first = at_;
    while (at_ - first < 3 && is_octal(peek())) value = value * 8 + static_cast<uint32_t>(in_[at_++] - '0');
    if (value > 0377) return octal_too_large(start);
    code = value;
  } else {
    ++at_;
    if (is_digit(c)) return wrong("bad escape " + std::string(in_.substr(start, 2)), start);
    bool found = false;
    if (!character_escape(start, c, value, found)) return false;
    code = found ? value : static_cast<uint8_t>(c);
  }
  text = in_.substr(start, at_ - start);
  return true;
}

bool PatternReader::set() {
  size_t start = at_++;
  emit("[");
  if (take('^')) emit("^");
  bool first = true;
  for (;; first = false) {
    if (done()) return wrong("unterminated character set", start);
    if (peek() == ']' && !first) break;
    size_t begin = at_;
    std::optional<uint32_t> low, high;
    std::string low_text, high_text;
    if (!member(start, low, low_text)) return false;
    if (take('-')) {
      if (done()) return wrong("unterminated character set", start);
      if (peek() == ']') {
        low ? emit_literal(*low) : emit(low_text);
        emit_literal('-');
        break;
      }
      if (!member(start, high, high_text)) return false;
      if (!low || !high || *high < *low) return wrong("bad character range " + low_text + "-" + high_text, begin);
      emit_literal(*low);
      emit("-");
      emit_literal(*high);
      continue;
    }
    low ? emit_literal(*low) : emit(low_text);
  }
  ++at_;
  emit("]");
  return true;
}

}  // namespace tfl
