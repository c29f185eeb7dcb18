// Drives the stages: text checks, lexer, layout, then for each top-level statement parser and tree builder. A statement that does
// not parse has its offending line reported and taken out, and is parsed again: so one mistake is one message, and the next
// statement is looked at afresh.
#include "frontend/syntax/parse/parse.h"

#include <algorithm>
#include <cstdio>

#include "frontend/syntax/parse/explain.h"
#include "frontend/syntax/parse/tree_builder.h"

namespace tfl {
namespace parse {
namespace {

/// Re-parsing after errors may cost this many tokens altogether, so that no text takes long.
constexpr size_t kRecoveryTokens = 2'000'000;

bool begins_clause(TokenKind kind) {
  return kind == TokenKind::Elif || kind == TokenKind::Else || kind == TokenKind::Except || kind == TokenKind::Finally;
}

class ModuleParser {
 public:
  ModuleParser(const Source& source, Layout& layout, ParseResult& out, bool tolerant)
      : source_(source),
        layout_(layout),
        out_(out),
        tolerant_(tolerant),
        builder_(source, *out.arena, out.diagnostics, tolerant) {}

  void run() {
    std::vector<LogicalLine>& lines = layout_.lines;
    if (lines.empty()) return;  // and pay nothing for ANTLR's tables
    parser_ = std::make_unique<StatementParser>();
    for (size_t begin = 0; begin < lines.size() && !full();) {
      size_t end = begin + 1;
      while (end < lines.size() && (lines[end].level > 0 || begins_clause(first(end)) || first(end - 1) == TokenKind::At)) ++end;
      unit(begin, end);
      begin = end;
    }
    out_.module.body = out_.arena->list(body_);
  }

 private:
  TokenKind first(size_t line) const { return layout_.tokens[layout_.lines[line].first].kind; }
  bool full() const { return out_.diagnostics.size() >= kMaxDiagnostics; }

  void unit(size_t begin, size_t end) {
    while (true) {
      bool damaged = assemble(begin, end);
      if (auto* tree = parser_->parse_unit()) {
        std::vector<ast::Stmt*> ignored;
        builder_.unit(tree, damaged, damaged && !tolerant_ ? ignored : body_);
        return;
      }
      recovery_ += places_.size();
      if (!take_out_line(begin, end) || full() || recovery_ > kRecoveryTokens) return;
    }
  }

  /// Puts the tokens of the lines [begin, end) into the parser's stream. True when one of the lines is bad.
  bool assemble(size_t begin, size_t end) {
    bool damaged = false;
    StatementTokens& stream = parser_->tokens();
    stream.clear();
    places_.clear();
    uint32_t depth = 0;
    auto push = [&](const Token& token, size_t line, size_t index) {
      stream.push(token);
      places_.push_back({line, index});
    };
    for (size_t i = begin; i < end; ++i) {
      const LogicalLine& line = layout_.lines[i];
      const Token& head = layout_.tokens[line.first];
      // Blocks that end or begin here belong, as places, to the end of the line before.
      size_t before = i > begin ? i - 1 : i;
      size_t before_end = i > begin ? layout_.lines[before].end : line.first;
      Token mark{TokenKind::Dedent, head.begin, head.begin, head.line, head.column};
      for (uint32_t k = 0; i > begin && k < line.dedents && depth > 0; ++k, --depth) push(mark, before, before_end);
      if (line.indent) {
        mark.kind = TokenKind::Indent;
        push(mark, before, before_end);
        ++depth;
      }
      if (line.bad) {
        damaged = true;
        Token bad = head;
        bad.kind = TokenKind::BadLine;
        push(bad, i, line.first);
      } else {
        for (size_t t = line.first; t < line.end; ++t) push(layout_.tokens[t], i, t);
      }
      Token newline = layout_.tokens[line.end - 1];
      newline.begin = newline.end;
      newline.kind = TokenKind::Newline;
      push(newline, i, line.end);
      if (line.hollow && !line.bad) {
        damaged = true;
        for (TokenKind kind : {TokenKind::Indent, TokenKind::Pass, TokenKind::Newline, TokenKind::Dedent}) {
          newline.kind = kind;
          push(newline, i, line.end);
        }
      }
    }
    Token last = layout_.tokens[layout_.lines[end - 1].end - 1];
    last.begin = last.end;
    last.kind = TokenKind::Dedent;
    for (; depth > 0; --depth) push(last, end - 1, layout_.lines[end - 1].end);
    last.kind = TokenKind::EndOfFile;
    push(last, end - 1, layout_.lines[end - 1].end);
    return damaged;
  }

  /// Reports the line where the parser stopped and marks it bad. False when no line is left to take out.
  bool take_out_line(size_t begin, size_t end) {
    const SyntaxFailure& failure = parser_->failure();
    auto [line, token] = places_[std::min(failure.token, places_.size() - 1)];
    bool decorator = !failure.rules.empty() && failure.rules.front() == TflParser::RuleDecorated;
    if (decorator && line > begin && token == layout_.lines[line].first && !layout_.lines[line].bad) {
      --line;
      token = layout_.lines[line].end;
    }
    if (!layout_.lines[line].bad) {
      out_.diagnostics.push_back(explain(source_, layout_, line, token, failure));
      layout_.lines[line].bad = true;
      return true;
    }
    // The line was reported before: something around it does not fit what stands in for it. Say nothing more.
    while (line > begin && layout_.lines[line].bad) --line;
    if (layout_.lines[line].bad) {
      for (line = begin; line < end && layout_.lines[line].bad; ++line) {
      }
      if (line == end) return false;
    }
    layout_.lines[line].bad = true;
    return true;
  }

  struct Place {
    size_t line;
    size_t token;  // into Layout::tokens; a line's end for line ends and the marks behind it
  };

  const Source& source_;
  Layout& layout_;
  ParseResult& out_;
  const bool tolerant_;
  std::unique_ptr<StatementParser> parser_;
  TreeBuilder builder_;
  std::vector<ast::Stmt*> body_;
  std::vector<Place> places_;  // of each token of the stream
  size_t recovery_ = 0;
};

/// What must hold before the text is looked at as text.
bool check_bytes(const Source& source, std::vector<Diagnostic>& out) {
  if (source.text().size() > kMaxSourceBytes) {
    out.push_back(make_diagnostic(DiagnosticId::SourceTooLarge, {}, {std::to_string(kMaxSourceBytes >> 20)}));
    return false;
  }
  size_t invalid = find_invalid_utf8(source.text());
  if (invalid != std::string_view::npos) {
    char byte[8];
    std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned char>(source.text()[invalid]));
    auto at = static_cast<uint32_t>(invalid);
    Span place = source.span(at, at);
    place.end_column = place.column + 1;
    out.push_back(make_diagnostic(DiagnosticId::InvalidUtf8, place, {byte}));
    return false;
  }
  size_t nul = source.text().find('\0');
  if (nul != std::string::npos) {
    out.push_back(
        make_diagnostic(DiagnosticId::NulByte, source.span(static_cast<uint32_t>(nul), static_cast<uint32_t>(nul) + 1)));
    return false;
  }
  return true;
}

struct Parsed {
  ParseResult result;
  Layout layout;
};

Parsed parse_source(const Source& source, bool tolerant = false) {
  Parsed p;
  p.result.arena = std::make_unique<ast::Arena>();
  if (!check_bytes(source, p.result.diagnostics)) return p;
  p.layout = lay_out(source);
  p.result.diagnostics = std::move(p.layout.diagnostics);
  ModuleParser(source, p.layout, p.result, tolerant).run();
  sort_diagnostics(p.result.diagnostics);
  return p;
}

bool begins_compound(TokenKind kind) {
  switch (kind) {
    case TokenKind::If:
    case TokenKind::While:
    case TokenKind::For:
    case TokenKind::Try:
    case TokenKind::With:
    case TokenKind::Def:
    case TokenKind::Async:
    case TokenKind::Class:
    case TokenKind::At: return true;
    default: return false;
  }
}

/// The last line of the text is there and holds nothing.
bool ends_with_empty_line(std::string_view text) {
  size_t end = text.size();
  if (end > 0 && text[end - 1] == '\n') --end;
  size_t begin = text.substr(0, end).find_last_of('\n');
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  return text.substr(begin, end - begin).find_first_not_of(" \t\r\f") == std::string_view::npos;
}

}  // namespace
}  // namespace parse

ParseResult parse_module(const Source& source) { return parse::parse_source(source).result; }

ParseResult parse_tolerant(const Source& source) { return parse::parse_source(source, true).result; }

InteractiveResult parse_interactive(const Source& source) {
  parse::Parsed p = parse::parse_source(source);
  const std::vector<Diagnostic>& found = p.result.diagnostics;
  if (p.layout.incomplete) {
    // What is wrong where the text ends may be right once it goes on: a bracket that is open, an operator without its right side.
    const auto& tokens = p.layout.tokens;
    const Span end = tokens.size() > 1 ? parse::span_of(source, tokens[tokens.size() - 2]) : Span{};
    bool before = std::any_of(found.begin(), found.end(), [&](const Diagnostic& d) {
      return d.id != DiagnosticId::NeverClosed &&
             (d.span.line < end.line || (d.span.line == end.line && d.span.column < end.column));
    });
    if (found.size() <= 1 || !before) return {InteractiveState::Incomplete, std::move(p.result)};
  }
  auto awaits_more = [](const Diagnostic& d) { return d.id == DiagnosticId::TryAlone || d.id == DiagnosticId::DecoratorAlone; };
  bool wrong = std::any_of(found.begin(), found.end(),
                           [&](const Diagnostic& d) { return d.severity == Severity::Error && !awaits_more(d); });
  if (wrong) return {InteractiveState::Error, std::move(p.result)};
  bool compound = false;
  for (const parse::LogicalLine& line : p.layout.lines) {
    if (line.level == 0)
      compound =
          parse::begins_compound(p.layout.tokens[line.first].kind) || parse::begins_clause(p.layout.tokens[line.first].kind);
  }
  if (compound && !parse::ends_with_empty_line(source.text())) return {InteractiveState::Incomplete, std::move(p.result)};
  auto state = p.result.ok() ? InteractiveState::Complete : InteractiveState::Error;
  return {state, std::move(p.result)};
}

std::string dump_tokens(const Source& source) {
  std::vector<Diagnostic> diagnostics;
  if (!parse::check_bytes(source, diagnostics)) return {};
  parse::Layout layout = parse::lay_out(source);
  std::string out;
  auto put = [&](uint32_t line, uint32_t column, parse::TokenKind kind, std::string_view text) {
    char place[32];
    std::snprintf(place, sizeof place, "%u:%u ", line, column + 1);
    out += place;
    out += parse::token_name(kind);
    if (!text.empty()) out += " " + std::string(text);
    out += '\n';
  };
  uint32_t depth = 0;
  for (const parse::LogicalLine& line : layout.lines) {
    const parse::Token& head = layout.tokens[line.first];
    for (uint32_t k = 0; k < line.dedents && depth > 0; ++k, --depth) put(head.line, head.column, parse::TokenKind::Dedent, {});
    if (line.indent) {
      ++depth;
      put(head.line, head.column, parse::TokenKind::Indent, {});
    }
    for (uint32_t i = line.first; i < line.end; ++i) {
      const parse::Token& t = layout.tokens[i];
      put(t.line, t.column, t.kind, parse::text_of(source, t));
    }
    Span last = parse::span_of(source, layout.tokens[line.end - 1]);
    put(last.end_line, last.end_column, parse::TokenKind::Newline, {});
  }
  const parse::Token& end = layout.tokens.back();
  for (; depth > 0; --depth) put(end.line, end.column, parse::TokenKind::Dedent, {});
  put(end.line, end.column, parse::TokenKind::EndOfFile, {});
  return out;
}

}  // namespace tfl
