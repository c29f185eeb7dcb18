#include "frontend/text/codec_wide.h"

#include <algorithm>
#include <cstring>

#include "frontend/text/utf8.h"

namespace tfl {

namespace {

constexpr char32_t kMark = 0xFEFF;

void put(std::string& out, char32_t value, const WideEncoding& e) {
  for (size_t i = 0; i < e.unit; ++i) out += static_cast<char>(value >> (8 * (e.big ? e.unit - 1 - i : i)));
}
char32_t get(std::string_view data, size_t at, const WideEncoding& e) {
  char32_t value = 0;
  for (size_t i = 0; i < e.unit; ++i) value = value << 8 | static_cast<unsigned char>(data[at + (e.big ? i : e.unit - 1 - i)]);
  return value;
}
bool high_half(char32_t c) { return c >= 0xD800 && c < 0xDC00; }
bool low_half(char32_t c) { return c >= 0xDC00 && c < 0xE000; }

/// Characters of one unit of 16 bits below the halves of pairs, which most text is made of: as UTF-8 behind `out`. How many bytes they were.
size_t plain_run(std::string_view data, const WideEncoding& e, std::string& out, Stop stop) {
  if (e.unit != 2) return 0;
  constexpr size_t kBlock = 256;  // units
  const size_t low = e.big ? 1 : 0;
  const uint64_t others = e.big ? 0x80FF80FF80FF80FFu : 0xFF80FF80FF80FF80u;  // bits that no letter of ASCII has
  size_t at = 0;
  for (;;) {
    char block[kBlock * 3];
    char* to = block;
    size_t end = std::min(data.size() / 2 * 2, at + kBlock * 2);
    bool plain = end > at;
    for (uint64_t four; at + 8 <= end; at += 8, to += 4) {  // letters of ASCII, four at a time
      std::memcpy(&four, data.data() + at, 8);
      if (four & others) break;
      four >>= 8 * low;
      four = (four | four >> 8) & 0x0000FFFF0000FFFFu;
      const auto packed = static_cast<uint32_t>(four | four >> 16);
      std::memcpy(to, &packed, 4);
    }
    for (; at < end; at += 2) {
      uint32_t c =
          static_cast<uint32_t>(static_cast<unsigned char>(data[at + 1 - low])) << 8 | static_cast<unsigned char>(data[at + low]);
      if (c < 0x80) {
        *to++ = static_cast<char>(c);
      } else if (c < 0x800) {
        *to++ = static_cast<char>(0xC0 | c >> 6);
        *to++ = static_cast<char>(0x80 | (c & 0x3F));
      } else if (c < 0xD800 || c >= 0xE000) {
        *to++ = static_cast<char>(0xE0 | c >> 12);
        *to++ = static_cast<char>(0x80 | (c >> 6 & 0x3F));
        *to++ = static_cast<char>(0x80 | (c & 0x3F));
      } else {
        plain = false;
        break;
      }
    }
    out.append(block, static_cast<size_t>(to - block));
    if (!plain || stops(stop)) return at;
  }
}

}  // namespace

std::optional<WideEncoding> wide_encoding(std::string_view name) {
  constexpr struct {
    std::string_view name;
    WideEncoding encoding;
  } kAll[] = {{"utf-16", {2, false, true, "utf-16"}},        {"utf16", {2, false, true, "utf-16"}},
              {"utf-16-le", {2, false, false, "utf-16-le"}}, {"utf-16le", {2, false, false, "utf-16-le"}},
              {"utf-16-be", {2, true, false, "utf-16-be"}},  {"utf-16be", {2, true, false, "utf-16-be"}},
              {"utf-32", {4, false, true, "utf-32"}},        {"utf32", {4, false, true, "utf-32"}},
              {"utf-32-le", {4, false, false, "utf-32-le"}}, {"utf-32le", {4, false, false, "utf-32-le"}},
              {"utf-32-be", {4, true, false, "utf-32-be"}},  {"utf-32be", {4, true, false, "utf-32-be"}}};
  for (const auto& row : kAll) {
    if (row.name == name) return row.encoding;
  }
  return {};
}

std::string encode_wide(std::string_view text, const WideEncoding& e, Stop stop) {
  std::string out;
  if (e.mark) put(out, kMark, e);
  out.reserve(out.size() + text.size() * e.unit);
  for (size_t at = 0; at < text.size() && !stops(stop);) {
    char32_t c = utf8::next(text, at);
    if (e.unit == 4 || c < 0x10000) {
      put(out, c, e);
      continue;
    }
    put(out, 0xD800 + ((c - 0x10000) >> 10), e);
    put(out, 0xDC00 + ((c - 0x10000) & 0x3FF), e);
  }
  return out;
}

Result<std::string> decode_wide(std::string_view data, WideEncoding e, bool lenient, CodecFault* fault, Stop stop) {
  size_t at = 0;
  if (e.mark && data.size() >= e.unit) {
    if (get(data, 0, e) == kMark) {
      at = e.unit;
    } else if (char32_t turned = e.unit == 2 ? 0xFFFE : 0xFFFE0000; get(data, 0, e) == turned) {
      e.big = !e.big;
      at = e.unit;
    }
  }
  std::string out;
  auto bad = [&](size_t from, size_t to, const char* reason) -> Result<void> {
    if (lenient) {
      utf8::append(out, 0xFFFD);
      return {};
    }
    std::string name(e.name);
    if (e.mark) name += e.big ? "-be" : "-le";  // what the mark has said
    if (fault) *fault = {name, reason, from, to};
    if (to - from > 1)
      return fail(ErrorKind::UnicodeDecodeError, "'{}' codec can't decode bytes in position {}-{}: {}", name, from, to - 1,
                  reason);
    return fail(ErrorKind::UnicodeDecodeError, "'{}' codec can't decode byte 0x{:02x} in position {}: {}", name,
                static_cast<unsigned char>(data[from]), from, reason);
  };
  out.reserve(data.size() / e.unit * 2);
  while (at < data.size() && !stops(stop)) {
    at += plain_run(data.substr(at), e, out, stop);
    if (at == data.size()) break;
    if (data.size() - at < e.unit) {
      TFL_TRY(bad(at, data.size(), "truncated data"));
      break;
    }
    char32_t c = get(data, at, e);
    size_t start = at;
    at += e.unit;
    if (e.unit == 4) {
      if (c > 0x10FFFF || high_half(c) || low_half(c)) {
        TFL_TRY(
            bad(start, at,
                c > 0x10FFFF ? "code point not in range(0x110000)" : "code point in surrogate code point range(0xd800, 0xe000)"));
        continue;
      }
    } else if (high_half(c)) {
      if (data.size() - at < e.unit) {
        TFL_TRY(bad(start, data.size(), "unexpected end of data"));
        break;
      }
      char32_t second = get(data, at, e);
      if (!low_half(second)) {
        TFL_TRY(bad(start, at, "illegal UTF-16 surrogate"));
        continue;
      }
      at += e.unit;
      c = 0x10000 + ((c - 0xD800) << 10) + (second - 0xDC00);
    } else if (low_half(c)) {
      TFL_TRY(bad(start, at, "illegal encoding"));
      continue;
    }
    utf8::append(out, c);
  }
  return out;
}

}  // namespace tfl
