// Tokens as the parser's stages pass them on, and the words of the language.
// This header must not know about ANTLR: only lexer.cpp and the parser's driver do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/diagnostics/diagnostic.h"
#include "frontend/syntax/diagnostics/source.h"

namespace tfl::parse {

enum class TokenKind : uint8_t {
  EndOfFile = 0,
#define TFL_TOKEN(name, antlr, text) name,
#include "frontend/syntax/parse/tokens.def"
};

struct Token {
  TokenKind kind;
  uint32_t begin;  // byte offsets into Source::text
  uint32_t end;
  uint32_t line;    // of the first character
  uint32_t column;  // in characters
};

/// The fixed text of a kind ("while", "("), empty for kinds such as names.
std::string_view token_text(TokenKind kind);
/// The kind's name in the grammar.
std::string_view token_name(TokenKind kind);
/// The keyword that `text` is, or Name.
TokenKind keyword_or_name(std::string_view text);
bool is_keyword(TokenKind kind);
bool is_open_bracket(TokenKind kind);
bool is_close_bracket(TokenKind kind);
/// The partner of an opening bracket.
TokenKind closing(TokenKind open);

inline std::string_view text_of(const Source& source, const Token& token) {
  return std::string_view(source.text()).substr(token.begin, token.end - token.begin);
}
/// Where the token stands. Costs as much as the token is long.
Span span_of(const Source& source, const Token& token);

/// What ANTLR's lexer makes of the bytes [begin, end), ending with EndOfFile; `line` and `column` are those of `begin`.
/// Nothing is an error here.
std::vector<Token> lex(const Source& source, uint32_t begin, uint32_t end, uint32_t line, uint32_t column);

}  // namespace tfl::parse
