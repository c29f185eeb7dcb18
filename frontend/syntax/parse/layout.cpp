#include "frontend/syntax/parse/layout.h"

#include <algorithm>

namespace tfl::parse {
namespace {

struct Bracket {
  uint32_t token;        // into the raw tokens
  uint32_t outer_chain;  // see LayoutStage::chain_
};

struct Indentation {
  uint32_t columns;      // tabs to multiples of 8
  uint32_t alternative;  // tabs as one column: both orders must agree, or the nesting depends on the width of a tab
};

/// Statement keywords that cannot continue an expression: one at the start of a line means that an open bracket before it was
/// never closed.
bool begins_statement_only(TokenKind kind) {
  switch (kind) {
    case TokenKind::Def:
    case TokenKind::Class:
    case TokenKind::While:
    case TokenKind::Return:
    case TokenKind::Import:
    case TokenKind::With:
    case TokenKind::Try:
    case TokenKind::Raise:
    case TokenKind::Pass:
    case TokenKind::Break:
    case TokenKind::Continue:
    case TokenKind::Global:
    case TokenKind::Nonlocal:
    case TokenKind::Assert:
    case TokenKind::Del:
    case TokenKind::Elif:
    case TokenKind::Except:
    case TokenKind::Finally: return true;
    default: return false;
  }
}

class LayoutStage {
 public:
  LayoutStage(const Source& source, std::vector<Token> raw, Layout& out) : source_(source), raw_(std::move(raw)), out_(out) {}

  void run() {
    out_.tokens.reserve(raw_.size());
    while (raw_[at_].kind != TokenKind::EndOfFile && !given_up_) {
      if (raw_[at_].kind == TokenKind::Newline) {
        ++at_;
        continue;
      }
      logical_line();
    }
    out_.tokens.push_back(raw_.back());
  }

  /// Everything is one line, as if in brackets.
  void run_expression() {
    begin_line();
    while (raw_[at_].kind != TokenKind::EndOfFile && !given_up_) {
      if (raw_[at_].kind == TokenKind::Newline)
        ++at_;
      else if (!token())
        line_.bad = true;
    }
    if (!brackets_.empty() && !given_up_) never_closed();
    end_line();
    out_.tokens.push_back(raw_.back());
  }

 private:
  void report(DiagnosticId id, Span span, std::initializer_list<std::string_view> args = {}) {
    out_.diagnostics.push_back(make_diagnostic(id, span, args));
    if (out_.diagnostics.size() >= kMaxDiagnostics) given_up_ = true;
  }

  void begin_line() {
    line_ = LogicalLine{};
    line_.first = static_cast<uint32_t>(out_.tokens.size());
    brackets_.clear();
    chain_ = 0;
  }

  void end_line() {
    line_.end = static_cast<uint32_t>(out_.tokens.size());
    if (line_.end > line_.first) out_.lines.push_back(line_);
  }

  void logical_line() {
    size_t start = at_;
    begin_line();
    indentation();
    bool resynchronise = false;
    while (true) {
      const Token& t = raw_[at_];
      if (t.kind == TokenKind::EndOfFile) {
        if (!brackets_.empty()) {
          never_closed();
          resume_after(brackets_.back().token, start, at_);
        }
        break;
      }
      if (t.kind == TokenKind::Newline) {
        ++at_;
        if (brackets_.empty()) break;
        if (resynchronise) {
          resume_after(at_ - 1, start, raw_.size() - 1);
          break;
        }
        if (begins_statement_only(raw_[at_].kind)) {
          never_closed();
          resume_after(brackets_.back().token, start, at_);
          break;
        }
        continue;
      }
      if (!token()) {
        line_.bad = true;
        resynchronise = true;
      }
      if (given_up_) break;
    }
    end_line();
  }

  /// Takes one token that is not a line end. False when it is wrong in itself or by its bracket.
  bool token() {
    const Token& t = raw_[at_];
    bool good = line_.bad || check_token(source_, raw_, at_, out_.diagnostics);
    if (out_.diagnostics.size() >= kMaxDiagnostics) given_up_ = true;
    if (!good && t.kind == TokenKind::UnterminatedLongString) out_.incomplete = true;
    if (!good && t.kind == TokenKind::BadChar && raw_[at_ + 1].kind == TokenKind::EndOfFile && text_of(source_, t) == "\\") {
      out_.incomplete = true;
    }
    if (is_open_bracket(t.kind)) {
      if (brackets_.size() == kMaxBrackets) return too_deep(DiagnosticId::TooManyBrackets);
      brackets_.push_back({static_cast<uint32_t>(at_), chain_});
    } else if (is_close_bracket(t.kind)) {
      good = close(t) && good;
    } else if (t.kind == TokenKind::Comma || t.kind == TokenKind::Semicolon) {
      chain_ = brackets_.empty() ? 0 : brackets_.back().outer_chain;
    } else if (t.kind == TokenKind::Lambda || t.kind == TokenKind::Else) {
      if (++chain_ > kMaxNesting) return too_deep(DiagnosticId::TooDeepExpression);
    }
    out_.tokens.push_back(t);
    ++at_;
    return good;
  }

  bool close(const Token& t) {
    if (brackets_.empty()) {
      bool ends_block = brace_blocks_ > 0 && t.kind == TokenKind::Rbrace && out_.tokens.size() == line_.first;
      if (ends_block)
        --brace_blocks_;
      else if (!line_.bad)
        report(DiagnosticId::UnmatchedBracket, span_of(source_, t), {text_of(source_, t)});
      return false;
    }
    const Token& open = raw_[brackets_.back().token];
    if (closing(open.kind) == t.kind) {
      chain_ = brackets_.back().outer_chain;
      brackets_.pop_back();
      return true;
    }
    if (!line_.bad) {
      report(DiagnosticId::MismatchedBracket, span_of(source_, t),
             {text_of(source_, t), text_of(source_, open), token_text(closing(open.kind))});
      if (!out_.diagnostics.empty()) {
        out_.diagnostics.back().notes.push_back(
            {span_of(source_, open), "'" + std::string(text_of(source_, open)) + "' is opened here"});
      }
    }
    // Close the nearest bracket that fits, if any does.
    auto fits = [&](const Bracket& b) { return closing(raw_[b.token].kind) == t.kind; };
    auto it = std::find_if(brackets_.rbegin(), brackets_.rend(), fits);
    if (it != brackets_.rend()) brackets_.erase(it.base() - 1, brackets_.end());
    return false;
  }

  bool too_deep(DiagnosticId id) {
    if (!line_.bad)
      report(id, span_of(source_, raw_[at_]), {std::to_string(id == DiagnosticId::TooManyBrackets ? kMaxBrackets : kMaxNesting)});
    line_.bad = true;
    given_up_ = true;  // whoever wrote this wrote no program
    return false;
  }

  void never_closed() {
    const Token& open = raw_[brackets_.back().token];
    if (!line_.bad && begins_brace_block(brackets_.back().token)) {
      report(DiagnosticId::BraceStatement, span_of(source_, open));
      ++brace_blocks_;
    } else if (!line_.bad) {
      report(DiagnosticId::NeverClosed, span_of(source_, open), {text_of(source_, open), token_text(closing(open.kind))});
      if (raw_[at_].kind == TokenKind::EndOfFile) out_.incomplete = true;
    }
    line_.bad = true;
  }

  /// `while (x) {` with nothing behind it: a block of another language.
  bool begins_brace_block(uint32_t open) const {
    if (raw_[open].kind != TokenKind::Lbrace || raw_[open + 1].kind != TokenKind::Newline || open == 0) return false;
    TokenKind before = raw_[open - 1].kind;
    return before == TokenKind::Rparen || before == TokenKind::Name || before == TokenKind::Else || before == TokenKind::Try ||
           before == TokenKind::Finally;
  }

  /// After an error inside brackets that began on `token`'s line: goes on at the next physical line that is not indented deeper
  /// than the statement that began at `start`, at `limit` at the latest. What lies between belongs to the bad line.
  void resume_after(size_t token, size_t start, size_t limit) {
    uint32_t column = raw_[start].column;
    size_t i = token + 1;
    for (; i < limit; ++i) {
      if (raw_[i - 1].kind != TokenKind::Newline || raw_[i].kind == TokenKind::Newline) continue;
      if (raw_[i].column <= column && !is_close_bracket(raw_[i].kind)) break;
    }
    at_ = i;
    brackets_.clear();
  }

  Indentation measure(size_t index) const {
    uint32_t begin = index == 0 ? 0 : raw_[index - 1].end;
    Indentation in{0, 0};
    for (char c : std::string_view(source_.text()).substr(begin, raw_[index].begin - begin)) {
      if (c == ' ') {
        ++in.columns;
        ++in.alternative;
      } else if (c == '\t') {
        in.columns = (in.columns / 8 + 1) * 8;
        ++in.alternative;
      } else if (c == '\f' || c == '\n' || c == '\r') {
        in = {0, 0};
      }
    }
    return in;
  }

  void indentation() {
    Indentation in = measure(at_);
    Span place = span_of(source_, raw_[at_]);
    place.end_line = place.line;
    place.end_column = place.column + 1;
    bool consistent = true;
    if (in.columns == indents_.back().columns) {
      consistent = in.alternative == indents_.back().alternative;
    } else if (in.columns > indents_.back().columns) {
      consistent = in.alternative > indents_.back().alternative;
      if (indents_.size() > kMaxIndents) {
        report(DiagnosticId::TooManyIndents, place, {std::to_string(kMaxIndents)});
        given_up_ = true;
        line_.bad = true;
      }
      indents_.push_back(in);
      line_.indent = true;
    } else {
      while (indents_.size() > 1 && indents_.back().columns > in.columns) {
        indents_.pop_back();
        ++line_.dedents;
      }
      if (indents_.back().columns != in.columns) {
        report(DiagnosticId::UnindentMismatch, place);
        line_.bad = true;
      } else {
        consistent = in.alternative == indents_.back().alternative;
      }
    }
    if (!consistent && !tabs_reported_) {
      report(DiagnosticId::MixedTabs, place);
      tabs_reported_ = true;
    }
    line_.level = static_cast<uint32_t>(indents_.size() - 1);
  }

  const Source& source_;
  std::vector<Token> raw_;
  Layout& out_;
  size_t at_ = 0;
  LogicalLine line_;
  std::vector<Bracket> brackets_;
  std::vector<Indentation> indents_{{0, 0}};
  // How many parts of the current expression are nested to the right of each other; a comma or a closing bracket ends them.
  uint32_t chain_ = 0;
  uint32_t brace_blocks_ = 0;  // reported, and not yet ended by a '}'
  bool tabs_reported_ = false;
  bool given_up_ = false;
};

}  // namespace

Layout lay_out(const Source& source) {
  Layout layout;
  std::vector<Token> raw = lex(source, 0, static_cast<uint32_t>(source.text().size()), source.first_line, 0);
  std::string_view rest = std::string_view(source.text()).substr(raw.size() > 1 ? raw[raw.size() - 2].end : 0);
  bool joined_to_nothing = rest.ends_with("\\\n") && rest.find('#') == std::string_view::npos;
  LayoutStage(source, std::move(raw), layout).run();
  check_lines(source, layout);
  layout.incomplete = layout.incomplete || joined_to_nothing;
  return layout;
}

Layout lay_out_expression(const Source& source, uint32_t begin, uint32_t end, uint32_t line, uint32_t column) {
  Layout layout;
  LayoutStage(source, lex(source, begin, end, line, column), layout).run_expression();
  return layout;
}

}  // namespace tfl::parse
