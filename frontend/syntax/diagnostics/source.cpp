#include "frontend/syntax/diagnostics/source.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tfl {

Source::Source(std::string name_, std::string text) : name(std::move(name_)), text_(std::move(text)) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);
}

const std::string& Source::text() const {
  if (library_.text.data()) text_ = std::exchange(library_.text, {});
  return text_;
}

const std::vector<uint32_t>& Source::line_starts() const {
  if (!line_starts_.empty()) return line_starts_;
  const std::string& all = text();
  line_starts_.push_back(0);
  size_t size = std::min(all.size(), kMaxSourceBytes);
  for (size_t i = 0; i < size; ++i) {
    // Eight characters at a time where none ends a line: all are above 0x1F and below 0x80.
    for (uint64_t word; i + sizeof word <= size; i += sizeof word) {
      std::memcpy(&word, all.data() + i, sizeof word);
      constexpr uint64_t kHigh = 0x8080808080808080u, kSpace = 0x2020202020202020u;
      if (((word | (word - kSpace)) & kHigh) != 0) break;
    }
    if (i == size) break;
    if (all[i] == '\n' || (all[i] == '\r' && (i + 1 == size || all[i + 1] != '\n'))) {
      line_starts_.push_back(static_cast<uint32_t>(i + 1));
    }
  }
  return line_starts_;
}

std::string_view Source::line(uint32_t number) const {
  const std::vector<uint32_t>& starts = line_starts();
  if (number < first_line || number - first_line >= starts.size()) return {};
  size_t index = number - first_line;
  size_t begin = starts[index];
  size_t end = index + 1 < starts.size() ? starts[index + 1] : text_.size();
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return std::string_view(text_).substr(begin, end - begin);
}

uint32_t Source::line_at(uint32_t offset) const {
  const std::vector<uint32_t>& starts = line_starts();
  auto it = std::upper_bound(starts.begin(), starts.end(), offset);
  return first_line + static_cast<uint32_t>(it - starts.begin()) - 1;
}

uint32_t Source::column_at(uint32_t offset, uint32_t number) const {
  uint32_t begin = line_starts()[number - first_line];
  return count_characters(std::string_view(text_).substr(begin, offset - begin));
}

Span Source::span(uint32_t begin, uint32_t end, uint32_t line_of_begin) const {
  Span span;
  span.line = line_of_begin;
  span.column = column_at(begin, line_of_begin);
  // Few tokens cross a line: look at the next line's start before searching.
  const std::vector<uint32_t>& starts = line_starts();
  size_t next = line_of_begin - first_line + 1;
  span.end_line = next < starts.size() && end > starts[next] ? line_at(end) : line_of_begin;
  span.end_column = span.end_line == line_of_begin
                        ? span.column + count_characters(std::string_view(text_).substr(begin, end - begin))
                        : column_at(end, span.end_line);
  return span;
}

size_t find_invalid_utf8(std::string_view text) {
  auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  auto continues = [&](size_t i) { return i < text.size() && (at(i) & 0xC0) == 0x80; };
  for (size_t i = 0; i < text.size();) {
    for (uint64_t word; i + sizeof word <= text.size(); i += sizeof word) {
      std::memcpy(&word, text.data() + i, sizeof word);
      if ((word & 0x8080808080808080u) != 0) break;
    }
    if (i == text.size()) break;
    unsigned char c = at(i);
    if (c < 0x80) {
      ++i;
    } else if (c >= 0xC2 && c <= 0xDF) {
      if (!continues(i + 1)) return i;
      i += 2;
    } else if (c >= 0xE0 && c <= 0xEF) {
      if (!continues(i + 1) || !continues(i + 2)) return i;
      if ((c == 0xE0 && at(i + 1) < 0xA0) || (c == 0xED && at(i + 1) > 0x9F)) return i;
      i += 3;
    } else if (c >= 0xF0 && c <= 0xF4) {
      if (!continues(i + 1) || !continues(i + 2) || !continues(i + 3)) return i;
      if ((c == 0xF0 && at(i + 1) < 0x90) || (c == 0xF4 && at(i + 1) > 0x8F)) return i;
      i += 4;
    } else {
      return i;
    }
  }
  return std::string_view::npos;
}

char32_t decode_utf8(std::string_view text, size_t& at) {
  auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  char32_t c = byte(at);
  int more = c < 0x80 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
  if (more > 0) c &= 0x3Fu >> more;
  for (int i = 1; i <= more; ++i) c = (c << 6) | (byte(at + i) & 0x3F);
  at += static_cast<size_t>(more) + 1;
  return c;
}

void append_utf8(std::string& out, char32_t c) {
  auto put = [&](char32_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

uint32_t count_characters(std::string_view text) {
  uint32_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

}  // namespace tfl
