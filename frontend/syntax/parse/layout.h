// The second stage of parsing: from raw tokens to logical lines. It joins lines inside brackets, finds indents and dedents, and
// reports everything that can be seen without a grammar: strings and brackets that do not end, characters and numbers that are
// none, wrong indentation, words of the language that TFL leaves out, nesting that is too deep for the parser's recursion.
// This header must not know about ANTLR or trees.
#pragma once

#include <string>
#include <vector>

#include "frontend/syntax/diagnostics/diagnostic.h"
#include "frontend/syntax/diagnostics/source.h"
#include "frontend/syntax/parse/token.h"

namespace tfl::parse {

inline constexpr uint32_t kMaxBrackets = 200;  // nested brackets, as in CPython
inline constexpr uint32_t kMaxIndents = 100;   // nested blocks, as in CPython
inline constexpr uint32_t kMaxNesting = 1000;  // operands to the right of each other: lambda, else, unary operators, **
inline constexpr size_t kMaxDiagnostics = 20;  // after as many errors nothing more is looked for

struct LogicalLine {
  uint32_t first = 0;    // into Layout::tokens; never empty
  uint32_t end = 0;      // behind the last token; the line end itself is not a token
  uint32_t level = 0;    // nesting of blocks
  uint32_t dedents = 0;  // blocks that end before this line
  bool indent = false;   // a block begins with this line
  bool bad = false;      // already reported, not to be parsed
  bool block = false;    // the next line is indented
  bool hollow = false;   // a block should follow and does not: reported, and parsed as if there were one
};

struct Layout {
  std::vector<Token> tokens;  // without line ends, indents and dedents; EndOfFile last
  std::vector<LogicalLine> lines;
  std::vector<Diagnostic> diagnostics;
  bool incomplete = false;  // the text ends inside a bracket, a triple-quoted string, a joined line or before a block
};

/// Lays out a whole file.
Layout lay_out(const Source& source);

/// Lays out the bytes [begin, end) of `source`, an expression inside an f-string, as one logical line.
Layout lay_out_expression(const Source& source, uint32_t begin, uint32_t end, uint32_t line, uint32_t column);

/// Checks one token that no grammar need be known for; the diagnostic goes to `out`. False when the token is bad.
bool check_token(const Source& source, const std::vector<Token>& tokens, size_t index, std::vector<Diagnostic>& out);

/// Checks how the lines follow each other (blocks present where they must be and nowhere else) and the statements that TFL leaves
/// out; decides which parenthesis after `with` encloses the items.
void check_lines(const Source& source, Layout& layout);

}  // namespace tfl::parse
