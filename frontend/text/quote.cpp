#include "frontend/text/quote.h"

#include "frontend/text/unicode.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

constexpr char kHex[] = "0123456789abcdef";

void append_hex(std::string& out, uint32_t c, int digits) {
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kHex[c >> shift & 15];
}

void append_escape(std::string& out, uint32_t c) {
  if (c < 0x100) {
    out += "\\x";
    append_hex(out, c, 2);
  } else if (c < 0x10000) {
    out += "\\u";
    append_hex(out, c, 4);
  } else {
    out += "\\U";
    append_hex(out, c, 8);
  }
}

char choose_quote(std::string_view s) {
  return s.find('\'') != std::string_view::npos && s.find('"') == std::string_view::npos ? '"' : '\'';
}

/// Escapes what repr of text and of bytes have in common; false: not one of those.
bool append_common(std::string& out, unsigned char c, char quote) {
  switch (c) {
    case '\\': out += "\\\\"; return true;
    case '\n': out += "\\n"; return true;
    case '\r': out += "\\r"; return true;
    case '\t': out += "\\t"; return true;
    default: break;
  }
  if (c == static_cast<unsigned char>(quote)) {
    out += '\\';
    out += quote;
    return true;
  }
  if (c >= 32 && c < 127) {
    out += static_cast<char>(c);
    return true;
  }
  return false;
}

}  // namespace

std::string quote_text(std::string_view s, bool ascii_only, Stop stop) {
  char quote = choose_quote(s);
  std::string out;
  out.reserve(s.size() + 2);
  out += quote;
  for (size_t at = 0; at < s.size() && !stops(stop);) {
    size_t start = at;
    char32_t c = utf8::next(s, at);
    if (c < 0x80 && append_common(out, static_cast<unsigned char>(c), quote)) continue;
    if (c < 0x80 || ascii_only || !unicode::is_printable(c))
      append_escape(out, c);
    else
      out.append(s.substr(start, at - start));
  }
  out += quote;
  return out;
}

std::string quote_bytes(std::string_view s) {
  char quote = choose_quote(s);
  std::string out = "b";
  out.reserve(s.size() + 3);
  out += quote;
  for (char ch : s) {
    auto c = static_cast<unsigned char>(ch);
    if (!append_common(out, c, quote)) append_escape(out, c);
  }
  out += quote;
  return out;
}

std::string escape_non_ascii(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (size_t at = 0; at < s.size();) {
    char32_t c = utf8::next(s, at);
    if (c < 0x80)
      out += static_cast<char>(c);
    else
      append_escape(out, c);
  }
  return out;
}

}  // namespace tfl
