#include "frontend/interpreter/bytecode/spans.h"

namespace tfl {
namespace {

constexpr uint8_t kSame = 0, kPlain = 1, kAnchored = 2;

uint64_t zigzag(int64_t v) { return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63); }
int64_t unzigzag(uint64_t v) { return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1); }

}  // namespace

void append_varint(std::string& out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  out += static_cast<char>(v);
}

bool read_varint(std::string_view data, size_t& at, uint64_t& v) {
  v = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at >= data.size()) return false;
    auto byte = static_cast<unsigned char>(data[at++]);
    v |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (!(byte & 0x80)) return true;
  }
  return false;
}

std::string pack_spans(const std::vector<InstructionSpan>& spans) {
  std::string out;
  InstructionSpan last{};
  for (const InstructionSpan& s : spans) {
    if (s.span == last.span && s.anchor == last.anchor) {
      out += static_cast<char>(kSame);
      continue;
    }
    bool anchored = s.anchor.line != 0;
    out += static_cast<char>(anchored ? kAnchored : kPlain);
    append_varint(out, zigzag(int64_t{s.span.line} - int64_t{last.span.line}));
    append_varint(out, s.span.column);
    append_varint(out, zigzag(int64_t{s.span.end_line} - int64_t{s.span.line}));
    append_varint(out, s.span.end_column);
    if (anchored) {
      append_varint(out, s.anchor.column);
      append_varint(out, s.anchor.end_column);
    }
    last = s;
  }
  return out;
}

std::vector<InstructionSpan> unpack_spans(std::string_view data, size_t count) {
  std::vector<InstructionSpan> spans(count);
  InstructionSpan last{};
  size_t at = 0;
  for (size_t i = 0; i < count && at < data.size(); ++i) {
    auto how = static_cast<uint8_t>(data[at++]);
    if (how != kSame) {
      uint64_t line, column, lines, end_column;
      if (!read_varint(data, at, line) || !read_varint(data, at, column) || !read_varint(data, at, lines) ||
          !read_varint(data, at, end_column)) {
        break;
      }
      InstructionSpan s{};
      s.span.line = static_cast<uint32_t>(int64_t{last.span.line} + unzigzag(line));
      s.span.column = static_cast<uint32_t>(column);
      s.span.end_line = static_cast<uint32_t>(int64_t{s.span.line} + unzigzag(lines));
      s.span.end_column = static_cast<uint32_t>(end_column);
      if (how == kAnchored) {
        if (!read_varint(data, at, column) || !read_varint(data, at, end_column)) break;
        s.anchor = {s.span.line, static_cast<uint32_t>(column), s.span.line, static_cast<uint32_t>(end_column)};
      }
      last = s;
    }
    spans[i] = last;
  }
  return spans;
}

InstructionSpan Code::span_at(uint32_t instruction) const {
  if (spans.empty() && !packed_spans.empty()) {
    spans = unpack_spans(packed_spans, instructions.size());
    packed_spans = {};
  }
  return instruction < spans.size() ? spans[instruction] : InstructionSpan{};
}

}  // namespace tfl
