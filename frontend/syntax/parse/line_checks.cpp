// What can be wrong with the order of logical lines: a block where none may be, or none where one must be; and which lines
// begin a statement by a word that is a name elsewhere.
#include <algorithm>

#include "frontend/syntax/parse/layout.h"

namespace tfl::parse {
namespace {

/// What a line with this first word is called when it lacks its block; empty when it needs none.
std::string_view block_owner(TokenKind kind) {
  switch (kind) {
    case TokenKind::If: return "the 'if' statement";
    case TokenKind::Elif: return "the 'elif' clause";
    case TokenKind::Else: return "the 'else' clause";
    case TokenKind::While: return "the 'while' statement";
    case TokenKind::For: return "the 'for' statement";
    case TokenKind::Try: return "the 'try' statement";
    case TokenKind::Except: return "the 'except' clause";
    case TokenKind::Finally: return "the 'finally' clause";
    case TokenKind::With: return "the 'with' statement";
    case TokenKind::Def: return "the function definition";
    case TokenKind::Async: return "the 'async' statement";
    case TokenKind::Class: return "the class definition";
    case TokenKind::Match: return "the 'match' statement";
    case TokenKind::Case: return "the 'case' statement";
    default: return {};
  }
}

class LineChecks {
 public:
  LineChecks(const Source& source, Layout& layout) : source_(source), layout_(layout), lines_(layout.lines) {}

  void run() {
    for (size_t i = 0; i < lines_.size(); ++i) {
      indents(i);
      if (i + 1 < lines_.size()) lines_[i].block = lines_[i + 1].indent;
    }
    for (size_t i = 0; i < lines_.size(); ++i) {
      match_statement(i);
      missing_block(i);
      with_parenthesis(lines_[i]);
    }
  }

 private:
  const Token& first(const LogicalLine& line) const { return layout_.tokens[line.first]; }
  const Token& last(const LogicalLine& line) const { return layout_.tokens[line.end - 1]; }
  bool full() const { return layout_.diagnostics.size() >= kMaxDiagnostics; }

  void report(DiagnosticId id, const Token& at, std::initializer_list<std::string_view> args) {
    if (!full()) layout_.diagnostics.push_back(make_diagnostic(id, span_of(source_, at), args));
  }

  /// Drops an indent that no line before it asks for, and the dedent that ends it.
  void indents(size_t i) {
    LogicalLine& line = lines_[i];
    uint32_t ended = line.dedents;
    for (uint32_t k = 0; k < ended && !phantom_.empty(); ++k) {
      if (phantom_.back()) {
        --line.dedents;
        --phantoms_;
      }
      phantom_.pop_back();
    }
    if (line.indent) {
      bool unexpected = i == 0 || !may_have_block(lines_[i - 1]);
      if (unexpected) {
        report(DiagnosticId::UnexpectedIndent, first(line), {});
        line.indent = false;
        ++phantoms_;
      }
      phantom_.push_back(unexpected);
    }
    line.level -= phantoms_;
  }

  /// A line ending in ':', or one that lacks it after a word that needs it, which the parser will say.
  bool may_have_block(const LogicalLine& line) const {
    if (line.bad || last(line).kind == TokenKind::Colon) return true;
    if (block_owner(first(line).kind).empty()) return false;
    uint32_t depth = 0;
    for (uint32_t i = line.first; i < line.end; ++i) {
      TokenKind kind = layout_.tokens[i].kind;
      if (is_open_bracket(kind)) ++depth;
      if (is_close_bracket(kind) && depth > 0) --depth;
      if (kind == TokenKind::Colon && depth == 0) return false;  // `if x: y` is complete
    }
    return true;
  }

  void missing_block(size_t i) {
    LogicalLine& line = lines_[i];
    std::string_view owner = block_owner(first(line).kind);
    if (line.bad || line.block || owner.empty() || last(line).kind != TokenKind::Colon) return;
    bool at_end = i + 1 == lines_.size();
    std::string number = std::to_string(first(line).line);
    Span place;
    if (at_end) {
      place = span_of(source_, last(line));
      place.column = place.end_column;
      place.end_column = place.column + 1;
    } else {
      const Token& next = first(lines_[i + 1]);
      place = {next.line, next.column, next.line, next.column + 1};
    }
    if (!full()) layout_.diagnostics.push_back(make_diagnostic(DiagnosticId::ExpectedBlock, place, {owner, number}));
    if (at_end) layout_.incomplete = true;
    line.hollow = true;
  }

  bool begins_with(const LogicalLine& line, std::string_view word) const {
    return first(line).kind == TokenKind::Name && text_of(source_, first(line)) == word;
  }

  /// `match` and `case` are ordinary names, so the statement is known by its shape: a line that begins with the name and an
  /// expression, ends with ':' and has a block that begins with `case`.
  void match_statement(size_t i) {
    const LogicalLine& line = lines_[i];
    if (line.bad || !line.block || line.end - line.first < 3 || last(line).kind != TokenKind::Colon) return;
    if (!begins_with(line, "match") || !begins_with(lines_[i + 1], "case")) return;
    layout_.tokens[line.first].kind = TokenKind::Match;
    for (size_t k = i + 1; k < lines_.size() && lines_[k].level > line.level; ++k) {
      if (lines_[k].level == line.level + 1 && begins_with(lines_[k], "case"))
        layout_.tokens[lines_[k].first].kind = TokenKind::Case;
    }
  }

  /// `with (a as b, c as d):` encloses the items, `with (a).b:` and `with (yield):` an expression.
  void with_parenthesis(const LogicalLine& line) {
    const uint32_t word = line.first + (first(line).kind == TokenKind::Async ? 1 : 0);
    if (line.bad || layout_.tokens[word].kind != TokenKind::With || line.end - word < 4) return;
    Token& open = layout_.tokens[word + 1];
    if (open.kind != TokenKind::Lparen) return;
    uint32_t depth = 0;
    bool as = false, comma = false, other = false;
    for (uint32_t i = word + 1; i < line.end; ++i) {
      TokenKind kind = layout_.tokens[i].kind;
      if (is_open_bracket(kind)) ++depth;
      if (depth == 1) {
        as = as || kind == TokenKind::As;
        comma = comma || kind == TokenKind::Comma;
        other =
            other || kind == TokenKind::For || kind == TokenKind::Yield || kind == TokenKind::Lambda || kind == TokenKind::Walrus;
      }
      if (is_close_bracket(kind) && --depth == 0) {
        bool whole = i + 1 < line.end && layout_.tokens[i + 1].kind == TokenKind::Colon;
        if (whole && (as || (comma && !other))) open.kind = TokenKind::WithLparen;
        return;
      }
    }
  }

  const Source& source_;
  Layout& layout_;
  std::vector<LogicalLine>& lines_;
  std::vector<bool> phantom_;  // of each open block: whether its indent was dropped
  uint32_t phantoms_ = 0;
};

}  // namespace

void check_lines(const Source& source, Layout& layout) { LineChecks(source, layout).run(); }

}  // namespace tfl::parse
