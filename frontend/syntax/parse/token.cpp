#include "frontend/syntax/parse/token.h"

#include <array>

namespace tfl::parse {
namespace {

struct KindInfo {
  std::string_view name;
  std::string_view text;
  bool keyword;
};

constexpr KindInfo kKinds[] = {
    {"EOF", "", false},
#define TFL_TOKEN(name, antlr, text) {#antlr, text, false},
#define TFL_KEYWORD(name, antlr, text) {#antlr, text, true},
#include "frontend/syntax/parse/tokens.def"
};

const KindInfo& info(TokenKind kind) { return kKinds[static_cast<size_t>(kind)]; }

}  // namespace

std::string_view token_text(TokenKind kind) { return info(kind).text; }
std::string_view token_name(TokenKind kind) { return info(kind).name; }
bool is_keyword(TokenKind kind) { return info(kind).keyword; }

TokenKind keyword_or_name(std::string_view text) {
  if (text.size() < 2 || text.size() > 8) return TokenKind::Name;
  for (auto i = static_cast<size_t>(TokenKind::And); i <= static_cast<size_t>(TokenKind::Yield); ++i) {
    if (kKinds[i].text == text) return static_cast<TokenKind>(i);
  }
  return TokenKind::Name;
}

bool is_open_bracket(TokenKind kind) {
  return kind == TokenKind::Lparen || kind == TokenKind::Lbracket || kind == TokenKind::Lbrace || kind == TokenKind::WithLparen;
}

bool is_close_bracket(TokenKind kind) {
  return kind == TokenKind::Rparen || kind == TokenKind::Rbracket || kind == TokenKind::Rbrace;
}

TokenKind closing(TokenKind open) {
  return open == TokenKind::Lbracket ? TokenKind::Rbracket : open == TokenKind::Lbrace ? TokenKind::Rbrace : TokenKind::Rparen;
}

Span span_of(const Source& source, const Token& token) {
  std::string_view text = text_of(source, token);
  uint32_t width = count_characters(text);
  Span span{token.line, token.column, token.line, token.column + width};
  if (text.find_first_of("\r\n") != std::string_view::npos) {
    span.end_line = source.line_at(token.end);
    span.end_column = source.column_at(token.end, span.end_line);
  }
  return span;
}

}  // namespace tfl::parse
