#include "frontend/text/codec.h"

#include <algorithm>
#include <cstring>

#include "frontend/text/codec_wide.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

enum class Encoding : uint8_t { Unknown, Utf8, Ascii, Latin1, Utf8Sig };
enum class OnError : uint8_t { Unknown, Strict, Ignore, Replace, BackslashReplace, XmlReference, SurrogateEscape };

std::string normal_name(std::string_view name) {
  std::string n;
  for (char c : name) {
    if (c == '_' || c == ' ') c = '-';
    n += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return n;
}

Encoding encoding_of(std::string_view name) {
  if (name == "utf-8") return Encoding::Utf8;
  std::string n = normal_name(name);
  if (n == "utf-8" || n == "utf8" || n == "u8" || n == "utf") return Encoding::Utf8;
  if (n == "utf-8-sig") return Encoding::Utf8Sig;
  if (n == "ascii" || n == "us-ascii" || n == "646") return Encoding::Ascii;
  if (n == "latin-1" || n == "latin1" || n == "iso-8859-1" || n == "iso8859-1" || n == "l1") return Encoding::Latin1;
  return Encoding::Unknown;
}

OnError handler_of(std::string_view name) {
  if (name == "strict") return OnError::Strict;
  if (name == "ignore") return OnError::Ignore;
  if (name == "replace") return OnError::Replace;
  if (name == "backslashreplace") return OnError::BackslashReplace;
  if (name == "xmlcharrefreplace") return OnError::XmlReference;
  if (name == "surrogateescape") return OnError::SurrogateEscape;
  return OnError::Unknown;
}

std::string escape(char32_t c) {
  if (c < 0x100) return fmt::format("\\x{:02x}", static_cast<uint32_t>(c));
  if (c < 0x10000) return fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
  return fmt::format("\\U{:08x}", static_cast<uint32_t>(c));
}

Failure unknown_encoding(std::string_view name) { return fail(ErrorKind::LookupError, "unknown encoding: {}", name); }
Failure unknown_handler(std::string_view name) { return fail(ErrorKind::LookupError, "unknown error handler name '{}'", name); }

struct Limits {
  char32_t end;  // the first character that cannot be written
  const char* codec;
  const char* reason;
};

Limits limits_of(Encoding e) {
  switch (e) {
    case Encoding::Ascii: return {0x80, "ascii", "ordinal not in range(128)"};
    case Encoding::Latin1: return {0x100, "latin-1", "ordinal not in range(256)"};
    default: return {0x110000, "utf-8", "surrogates not allowed"};
  }
}

/// No half of a pair stands in the text: as bytes ED A0 and above.
bool no_surrogates(std::string_view text) {
  for (size_t at = 0; (at = text.find('\xED', at)) != std::string_view::npos; ++at) {
    if (static_cast<unsigned char>(text[at + 1]) >= 0xA0) return false;
  }
  return true;
}

/// The bytes of a text below `end`, up to the first character that is not: how many bytes of the text they were.
size_t narrow_run(std::string_view text, char32_t last, std::string& out, Stop stop) {
  out.resize(text.size());
  char* to = out.data();
  size_t at = 0;
  constexpr size_t kBlock = 512;
  for (bool narrow = true; narrow && at < text.size() && !stops(stop);) {
    const size_t end = std::min(text.size(), at + kBlock), plain = utf8::ascii_run(text.substr(at, end - at));
    std::memcpy(to, text.data() + at, plain);
    to += plain;
    at += plain;
    while (at < end) {
      auto c = static_cast<unsigned char>(text[at]);
      if (c < 0x80) {
        *to++ = static_cast<char>(c);
        ++at;
      } else if (c < 0xC4 && last == 0x100) {
        *to++ = static_cast<char>(c << 6 | (text[at + 1] & 0x3F));
        at += 2;
      } else {
        narrow = false;
        break;
      }
    }
  }
  out.resize(static_cast<size_t>(to - out.data()));
  return at;
}

}  // namespace

Result<std::string> encode_text(std::string_view text, std::string_view encoding, std::string_view errors, CodecFault* fault,
                                Stop stop) {
  Encoding e = encoding_of(encoding);
  if (e == Encoding::Unknown) {
    if (auto wide = wide_encoding(normal_name(encoding))) return encode_wide(text, *wide, stop);
    return unknown_encoding(encoding);
  }
  Limits limits = limits_of(e);
  bool utf8 = e == Encoding::Utf8 || e == Encoding::Utf8Sig;
  std::string out = e == Encoding::Utf8Sig ? "\xEF\xBB\xBF" : "";
  int64_t position = 0;
  size_t begin = 0;
  if (utf8 && no_surrogates(text)) {
    out += text;
    return out;
  }
  if (!utf8) {
    begin = narrow_run(text, limits.end, out, stop);
    position = static_cast<int64_t>(out.size());
  }
  auto bad = [&](char32_t c) { return c >= limits.end || (utf8 && c >= 0xD800 && c < 0xE000); };
  for (size_t at = begin; at < text.size() && !stops(stop); ++position) {
    size_t start = at;
    char32_t c = utf8::next(text, at);
    if (!bad(c)) {
      if (utf8)
        out += text.substr(start, at - start);
      else
        out += static_cast<char>(c);
      continue;
    }
    switch (handler_of(errors)) {
      case OnError::Unknown: return unknown_handler(errors);
      case OnError::Ignore: break;
      case OnError::Replace: out += '?'; break;
      case OnError::BackslashReplace: out += escape(c); break;
      case OnError::XmlReference: out += fmt::format("&#{};", static_cast<uint32_t>(c)); break;
      case OnError::SurrogateEscape:
        if (c >= 0xDC80 && c <= 0xDCFF) {
          out += static_cast<char>(c - 0xDC00);
          break;
        }
        [[fallthrough]];
      case OnError::Strict: {
        int64_t last = position;
        for (size_t more = at; more < text.size(); ++last) {
          if (!bad(utf8::next(text, more))) break;
        }
        if (fault) *fault = {limits.codec, limits.reason, static_cast<size_t>(position), static_cast<size_t>(last) + 1};
        if (last > position) {
          return fail(ErrorKind::UnicodeEncodeError, "'{}' codec can't encode characters in position {}-{}: {}", limits.codec,
                      position, last, limits.reason);
        }
        return fail(ErrorKind::UnicodeEncodeError, "'{}' codec can't encode character '{}' in position {}: {}", limits.codec,
                    escape(c), position, limits.reason);
      }
    }
  }
  return out;
}

Result<std::string> decode_text(std::string_view data, std::string_view encoding, std::string_view errors, CodecFault* fault,
                                Stop stop) {
  if (data.empty()) return std::string();  // whatever the encoding: CPython asks for none
  Encoding e = encoding_of(encoding);
  if (e == Encoding::Unknown) {
    if (auto wide = wide_encoding(normal_name(encoding)))
      return decode_wide(data, *wide, handler_of(errors) != OnError::Strict, fault, stop);
    return unknown_encoding(encoding);
  }
  if (e == Encoding::Utf8Sig && data.starts_with("\xEF\xBB\xBF")) data.remove_prefix(3);
  std::string out;
  out.reserve(data.size());
  if (e == Encoding::Latin1) {
    // A letter beyond ASCII takes two bytes.
    for (size_t at = 0; at < data.size() && !stops(stop);) {
      constexpr size_t kBlock = 512;
      char block[2 * kBlock];
      char* to = block;
      for (const size_t end = std::min(data.size(), at + kBlock); at < end; ++at) {
        auto c = static_cast<unsigned char>(data[at]);
        const bool two = c >= 0x80;
        to[0] = static_cast<char>(two ? 0xC0 | c >> 6 : c);
        to[two] = static_cast<char>(two ? 0x80 | (c & 0x3F) : c);
        to += 1 + two;
      }
      out.append(block, static_cast<size_t>(to - block));
    }
    return out;
  }
  size_t done = 0;
  while (done < data.size() && !stops(stop)) {
    utf8::Invalid bad{std::string_view::npos, 0, ""};
    if (e == Encoding::Ascii) {
      for (size_t i = done; i < data.size(); ++i) {
        if (static_cast<unsigned char>(data[i]) >= 0x80) {
          bad = {i - done, 1, "ordinal not in range(128)"};
          break;
        }
      }
    } else {
      bad = utf8::validate(data.substr(done));
    }
    if (bad.at == std::string_view::npos) {
      out += data.substr(done);
      break;
    }
    out += data.substr(done, bad.at);
    size_t at = done + bad.at;
    auto byte = static_cast<unsigned char>(data[at]);
    switch (handler_of(errors)) {
      case OnError::XmlReference:
        return fail(ErrorKind::TypeError, "don't know how to handle UnicodeDecodeError in error callback");
      case OnError::Unknown: return unknown_handler(errors);
      case OnError::Ignore: break;
      case OnError::Replace: utf8::append(out, 0xFFFD); break;
      case OnError::BackslashReplace:
        for (size_t i = 0; i < bad.length; ++i) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(data[at + i]));
        break;
      case OnError::SurrogateEscape:
        for (size_t i = 0; i < bad.length; ++i) utf8::append(out, 0xDC00 + static_cast<unsigned char>(data[at + i]));
        break;
      case OnError::Strict: {
        const char* codec = e == Encoding::Ascii ? "ascii" : "utf-8";
        if (fault) *fault = {codec, std::string(bad.reason), at, at + bad.length};
        if (bad.length > 1) {
          return fail(ErrorKind::UnicodeDecodeError, "'{}' codec can't decode bytes in position {}-{}: {}", codec, at,
                      at + bad.length - 1, bad.reason);
        }
        return fail(ErrorKind::UnicodeDecodeError, "'{}' codec can't decode byte 0x{:02x} in position {}: {}", codec, byte, at,
                    bad.reason);
      }
    }
    done = at + bad.length;
  }
  return out;
}

}  // namespace tfl
