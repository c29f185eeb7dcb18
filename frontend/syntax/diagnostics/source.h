// One source text: its name, its bytes and where its lines begin, and the way from byte offsets to lines and columns. A library
// module runs without its text: that is copied, and lines are found, when somebody asks.
// This header must not know about tokens, ANTLR or diagnostics.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/ast/ast.h"

namespace tfl {

struct ParseResult;

struct Source {
  Source() = default;
  /// `name` is what messages print: the file as the user wrote it, `<string>`, `<stdin>`.
  Source(std::string name, std::string text);
  /// Of the standard library: `text` lives as long as the program.
  struct Library {
    std::string_view text;
  };
  Source(std::string name_, Library text) : name(std::move(name_)), internal(true), library_(text) {}

  std::string name;
  uint32_t first_line = 1;                            // number of the first line: a REPL counts on
  bool internal = false;                              // part of the standard library: its frames do not show in tracebacks
  mutable std::shared_ptr<const ParseResult> parsed;  // the tree, kept once AutoGraph has asked for it

  /// As read, a byte-order mark removed.
  const std::string& text() const;
  /// Byte offset of each line; "\n", "\r\n" and "\r" end a line.
  const std::vector<uint32_t>& line_starts() const;
  /// Line `number` (as spans count them) without its line end; empty when there is no such line.
  std::string_view line(uint32_t number) const;
  /// The number of the line that `offset` is in.
  uint32_t line_at(uint32_t offset) const;
  /// The column, in characters from 0, of `offset` in line `number`.
  uint32_t column_at(uint32_t offset, uint32_t number) const;
  /// The region of the bytes [begin, end), whose first line is known.
  Span span(uint32_t begin, uint32_t end, uint32_t line_of_begin) const;
  Span span(uint32_t begin, uint32_t end) const { return span(begin, end, line_at(begin)); }

 private:
  mutable Library library_;  // what `text_` has not been made of yet
  mutable std::string text_;
  mutable std::vector<uint32_t> line_starts_;  // empty: not looked for yet
};

/// The largest source that is parsed: offsets fit 32 bits with room to spare.
inline constexpr size_t kMaxSourceBytes = size_t{1} << 28;

/// Byte offset of the first byte that is not part of a well-formed UTF-8 character, or npos. Surrogates and overlong forms are
/// malformed, as they are for Python.
size_t find_invalid_utf8(std::string_view text);

/// Decodes the character at `text[at]`, which must be well-formed, and moves `at` behind it.
char32_t decode_utf8(std::string_view text, size_t& at);

/// Appends `c`, a Unicode scalar value, to `out`.
void append_utf8(std::string& out, char32_t c);

/// Characters, not bytes, in well-formed UTF-8.
uint32_t count_characters(std::string_view text);

}  // namespace tfl
