// Literals as nodes: numbers, strings joined from several tokens, and f-strings, whose replacement fields are laid out, parsed and
// built by the same stages as everything else, at their place in the source.
#include <algorithm>
#include <limits>

#include "frontend/syntax/parse/explain.h"
#include "frontend/syntax/parse/literals.h"
#include "frontend/syntax/parse/tree_builder.h"

namespace tfl::parse {

using ast::Expr;
using ast::ExprKind;

Expr* TreeBuilder::number(const Token& token) {
  auto* c = static_cast<ast::Constant*>(none(span(token)));
  NumberLiteral literal = read_number(text(token));
  c->constant = literal.kind == NumberLiteral::Kind::Float       ? ast::ConstantKind::Float
                : literal.kind == NumberLiteral::Kind::Imaginary ? ast::ConstantKind::Imaginary
                                                                 : ast::ConstantKind::Int;
  c->integer = literal.integer;
  c->real = literal.real;
  switch (literal.kind) {
    case NumberLiteral::Kind::Int:
    case NumberLiteral::Kind::Float:
    case NumberLiteral::Kind::Imaginary: break;
    case NumberLiteral::Kind::Large:
      c->text = arena_.intern(text(token));
      c->integer = std::numeric_limits<int64_t>::max();
      break;
    case NumberLiteral::Kind::TooLong: {
      const std::string_view digits = text(token);
      report(DiagnosticId::IntegerTooLong, c->span,
             {std::to_string(digits.size() - static_cast<size_t>(std::count(digits.begin(), digits.end(), '_')))});
      break;
    }
    case NumberLiteral::Kind::LeadingZeros: {
      std::string_view digits = text(token);
      bool octal = digits.find_first_of("89") == std::string_view::npos;
      digits.remove_prefix(digits.find_first_not_of("0_"));
      std::string meant = octal ? "0o" + std::string(digits) : std::string(digits);
      report(DiagnosticId::LeadingZeros, c->span, {meant});
      break;
    }
  }
  return c;
}

/// What an f-string is made of so far.
struct TreeBuilder::FormatText {
  std::string literal;
  std::vector<ast::FormatPart> parts;
  void flush(ast::Arena& arena) {
    if (literal.empty()) return;
    ast::FormatPart part;
    part.literal = arena.intern(literal);
    parts.push_back(part);
    literal.clear();
  }
};

/// Where an f-string has been read to; lines and columns are counted on from here.
struct TreeBuilder::FormatCursor {
  const Source& source;
  StringLiteral literal;
  uint32_t line;
  uint32_t column;
  uint32_t counted;  // the offset that line and column belong to

  void count_to(uint32_t offset) {
    for (; counted < offset; ++counted) {
      char c = source.text()[counted];
      if (c == '\n' || (c == '\r' && source.text()[counted + 1] != '\n')) {
        ++line;
        column = 0;
      } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
        ++column;
      }
    }
  }
  char at(uint32_t offset) const { return offset < literal.end ? source.text()[offset] : '\0'; }
};

Expr* TreeBuilder::strings(const std::vector<Token>& tokens) {
  Span whole = span(tokens.front(), tokens.back());
  StringLiteral first = split_string(source_, tokens.front());
  bool formatted = false;
  FormatText out;
  for (const Token& token : tokens) {
    StringLiteral literal = split_string(source_, token);
    if (literal.bytes != first.bytes) {
      report(DiagnosticId::MixedBytes, whole);
      return none(whole);
    }
    formatted = formatted || literal.formatted;
    if (literal.formatted) {
      FormatCursor cursor{source_, literal, token.line, token.column, token.begin};
      if (!format_text(cursor, literal.begin, 0, out)) break;
    } else {
      for (uint32_t at = literal.begin; at < literal.end;) decode_character(source_, literal, at, out.literal, diagnostics_);
    }
  }
  if (formatted) {
    out.flush(arena_);
    return arena_.make<ast::FormattedString>(Expr{ExprKind::FormattedString, whole}, arena_.list(out.parts));
  }
  auto* c = static_cast<ast::Constant*>(none(whole));
  c->constant = first.bytes ? ast::ConstantKind::Bytes : ast::ConstantKind::String;
  c->text = arena_.intern(out.literal);
  return c;
}

/// Literal text and replacement fields from `at` to the end, or in a format spec (level > 0) to its '}'. 0 after an error.
uint32_t TreeBuilder::format_text(FormatCursor& cursor, uint32_t at, uint32_t level, FormatText& out) {
  while (at < cursor.literal.end) {
    char c = cursor.at(at);
    if (c == '{') {
      if (level == 0 && cursor.at(at + 1) == '{') {
        out.literal += '{';
        at += 2;
        continue;
      }
      at = format_field(cursor, at, level, out);
      if (at == 0) return 0;
    } else if (c == '}') {
      if (level > 0) return at;
      if (cursor.at(at + 1) != '}') {
        report(DiagnosticId::FormatSingleBrace, source_.span(at, at + 1));
        return 0;
      }
      out.literal += '}';
      at += 2;
    } else if (c == '\\' && !cursor.literal.raw && (cursor.at(at + 1) == '{' || cursor.at(at + 1) == '}')) {
      out.literal += '\\';
      ++at;
    } else {
      decode_character(source_, cursor.literal, at, out.literal, diagnostics_);
    }
  }
  return at;
}

/// Finds where the expression that begins at `at` ends: at '}', '!', ':' or '=' outside of brackets and quotes. 0 after an error.
uint32_t TreeBuilder::format_expression_end(const FormatCursor& cursor, uint32_t at) {
  uint32_t start = at;
  std::string open;
  char quote = '\0';
  uint32_t quotes = 0;
  for (; at < cursor.literal.end; ++at) {
    char c = cursor.at(at);
    char next = cursor.at(at + 1);
    if (c == '\\') {
      report(DiagnosticId::FormatBackslash, source_.span(at, at + 1));
      return 0;
    }
    if (quote != '\0') {
      if (c != quote) continue;
      if (quotes == 1) {
        quote = '\0';
      } else if (next == quote && cursor.at(at + 2) == quote) {
        quote = '\0';
        at += 2;
      }
      continue;
    }
    if (c == '\'' || c == '"') {
      quote = c;
      quotes = next == c && cursor.at(at + 2) == c ? 3 : 1;
      at += quotes - 1;
      continue;
    }
    if (c == '#') {
      report(DiagnosticId::FormatComment, source_.span(at, at + 1));
      return 0;
    }
    if (c == '(' || c == '[' || c == '{') {
      open += c;
      continue;
    }
    if (open.empty()) {
      if ((c == '!' || c == '=' || c == '<' || c == '>') && next == '=') {
        ++at;
        continue;
      }
      if (c == '!' || c == ':' || c == '}' || c == '=') return at;
    } else if (c == ')' || c == ']' || c == '}') {
      if (c == '}' && open.back() != '{') break;  // the brackets inside do not close
      open.pop_back();
    }
  }
  report(DiagnosticId::FormatNotClosed, source_.span(start - 1, start));
  return 0;
}

/// The replacement field at `open`, which is a '{'. Returns the offset behind its '}', 0 after an error.
uint32_t TreeBuilder::format_field(FormatCursor& cursor, uint32_t open, uint32_t level, FormatText& out) {
  if (level > 1) {
    report(DiagnosticId::FormatTooDeep, source_.span(open, open + 1));
    return 0;
  }
  uint32_t begin = open + 1;
  uint32_t at = format_expression_end(cursor, begin);
  if (at == 0) return 0;
  std::string_view inside = std::string_view(source_.text()).substr(begin, at - begin);
  if (inside.find_first_not_of(" \t\f\r\n") == std::string_view::npos) {
    report(DiagnosticId::FormatEmpty, source_.span(open, at + 1));
    return 0;
  }
  cursor.count_to(begin);
  ast::FormatPart part;
  part.value = format_expression(begin, at, cursor.line, cursor.column);
  bool shows_itself = false;
  if (cursor.at(at) == '=') {
    shows_itself = true;
    ++at;
    while (cursor.at(at) == ' ' || cursor.at(at) == '\t' || cursor.at(at) == '\n' || cursor.at(at) == '\r') ++at;
    out.literal.append(source_.text(), begin, at - begin);
  }
  if (cursor.at(at) == '!') {
    part.conversion = cursor.at(at + 1);
    if (part.conversion != 'r' && part.conversion != 's' && part.conversion != 'a') {
      report(DiagnosticId::FormatConversion, source_.span(at, at + 1));
      return 0;
    }
    at += 2;
  }
  if (cursor.at(at) == ':') {
    FormatText spec;
    at = format_text(cursor, at + 1, level + 1, spec);
    if (at == 0) return 0;
    Span place = part.value->span;
    if (spec.parts.empty()) {
      auto* c = static_cast<ast::Constant*>(none(place));
      c->constant = ast::ConstantKind::String;
      c->text = arena_.intern(spec.literal);
      part.spec = c;
    } else {
      spec.flush(arena_);
      part.spec = arena_.make<ast::FormattedString>(Expr{ExprKind::FormattedString, place}, arena_.list(spec.parts));
    }
  }
  if (cursor.at(at) != '}') {
    report(DiagnosticId::FormatNotClosed, source_.span(open, open + 1));
    return 0;
  }
  if (shows_itself && part.conversion == 0 && part.spec == nullptr) part.conversion = 'r';
  out.flush(arena_);
  out.parts.push_back(part);
  return at + 1;
}

Expr* TreeBuilder::format_expression(uint32_t begin, uint32_t end, uint32_t line, uint32_t column) {
  Layout layout = lay_out_expression(source_, begin, end, line, column);
  Span whole{line, column, line, column + 1};
  if (diagnostics_.size() >= kMaxDiagnostics) return none(whole);
  if (!layout.diagnostics.empty()) {
    for (Diagnostic& d : layout.diagnostics) diagnostics_.push_back(std::move(d));
    return none(whole);
  }
  StatementParser parser;
  for (const Token& t : layout.tokens) parser.tokens().push(t);
  auto* node = parser.parse_expression();
  if (node == nullptr) {
    diagnostics_.push_back(explain_expression(source_, layout, parser.failure()));
    return none(whole);
  }
  TreeBuilder inner(source_, arena_, diagnostics_);
  inner.here_ = here_;
  inner.nesting_ = nesting_;
  return inner.single_expression(static_cast<TflParser::Single_expressionContext*>(node));
}

}  // namespace tfl::parse
