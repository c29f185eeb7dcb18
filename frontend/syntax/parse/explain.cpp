#include "frontend/syntax/parse/explain.h"

#include <algorithm>

#include "frontend/syntax/parse/foreign_words.h"
#include "frontend/syntax/parse/statement_parser.h"

namespace tfl::parse {
namespace {

bool ends_operand(TokenKind kind) {
  switch (kind) {
    case TokenKind::Name:
    case TokenKind::Number:
    case TokenKind::String:
    case TokenKind::True:
    case TokenKind::False:
    case TokenKind::None:
    case TokenKind::Ellipsis: return true;
    default: return is_close_bracket(kind);
  }
}

bool begins_operand(TokenKind kind) {
  if (is_close_bracket(kind)) return false;
  return ends_operand(kind) || is_open_bracket(kind) || kind == TokenKind::Lambda || kind == TokenKind::Tilde ||
         kind == TokenKind::Yield;
}

/// What stands before the ':' of a rule, for "expected ':' after …"; empty for rules without a header.
std::string_view before_colon(size_t rule, TokenKind first) {
  switch (rule) {
    case TflParser::RuleIf_statement:
    case TflParser::RuleElif_clause: return "the condition";
    case TflParser::RuleWhile_statement: return "the condition";
    case TflParser::RuleFor_statement: return "the iterable";
    case TflParser::RuleElse_clause: return "'else'";
    case TflParser::RuleTry_statement: return "'try'";
    case TflParser::RuleExcept_clause: return "the exception class";
    case TflParser::RuleFinally_clause: return "'finally'";
    case TflParser::RuleWith_statement: return "the context manager";
    case TflParser::RuleFunction_definition: return "the parameters";
    case TflParser::RuleClass_definition: return "the class name";
    case TflParser::RuleMatch_statement: return "the subject";
    case TflParser::RuleCase_block: return "the pattern";
    case TflParser::RuleBad_clause:
      return first == TokenKind::Elif     ? "the condition"
             : first == TokenKind::Except ? "the exception class"
             : first == TokenKind::Else   ? "'else'"
                                          : "'finally'";
    default: return {};
  }
}

class Explainer {
 public:
  Explainer(const Source& source, const Layout& layout, const LogicalLine& line, size_t token, const SyntaxFailure& failure)
      : source_(source), tokens_(layout.tokens), first_(line.first), end_(line.end), at_(token), failure_(failure) {
    for (size_t i = first_; i < at_; ++i) {
      TokenKind kind = tokens_[i].kind;
      if (is_open_bracket(kind)) open_.push_back(i);
      if (is_close_bracket(kind) && !open_.empty()) open_.pop_back();
    }
  }

  Diagnostic run() {
    Diagnostic d{};
    if (line_start(d) || operator_sequence(d) || assignment(d) || name_wanted(d) || header(d) || keyword_wanted(d) ||
        statement_form(d) || operand_wanted(d) || missing_operator(d)) {
      return d;
    }
    return generic();
  }

 private:
  bool at_end() const { return at_ >= end_; }
  TokenKind kind(size_t i) const { return i < end_ ? tokens_[i].kind : TokenKind::Newline; }
  TokenKind here() const { return kind(at_); }
  TokenKind previous() const { return at_ > first_ ? tokens_[at_ - 1].kind : TokenKind::Newline; }
  TokenKind first() const { return kind(first_); }
  std::string_view text(size_t i) const { return text_of(source_, tokens_[i]); }
  std::string found() const { return at_end() ? "the end of the line" : "'" + std::string(text(at_)) + "'"; }
  size_t rule() const { return failure_.rules.empty() ? size_t{TflParser::RuleUnit} : failure_.rules.front(); }
  bool wants(TokenKind kind) const { return failure_.expects(kind); }
  bool wants_operand() const { return wants(TokenKind::Number); }
  bool adjacent() const { return at_ > first_ && !at_end() && tokens_[at_ - 1].end == tokens_[at_].begin; }
  TokenKind bracket() const { return open_.empty() ? TokenKind::Newline : tokens_[open_.back()].kind; }

  Span behind_previous() const {
    Span s = span_of(source_, tokens_[at_ > first_ ? at_ - 1 : first_]);
    return {s.end_line, s.end_column, s.end_line, s.end_column + 1};
  }
  Span place() const { return at_end() ? behind_previous() : span_of(source_, tokens_[at_]); }
  Span from(size_t i) const {
    Span a = span_of(source_, tokens_[i]), b = place();
    return {a.line, a.column, b.end_line, b.end_column};
  }

  bool say(Diagnostic& d, DiagnosticId id, Span span, std::initializer_list<std::string_view> args = {}) const {
    d = make_diagnostic(id, span, args);
    return true;
  }

  /// Lines that begin with a word of another language, or a misspelt one.
  bool line_start(Diagnostic& d) const {
    TokenKind word = first();
    if (at_ == first_ &&
        (word == TokenKind::Else || word == TokenKind::Elif || word == TokenKind::Except || word == TokenKind::Finally)) {
      std::string_view owner = word == TokenKind::Else   ? "'if', 'for', 'while' or 'try'"
                               : word == TokenKind::Elif ? "'if'"
                                                         : "'try'";
      return say(d, DiagnosticId::OrphanClause, place(), {text(first_), owner});
    }
    if (word == TokenKind::Else && kind(first_ + 1) == TokenKind::If) return say(d, DiagnosticId::ElseIf, from(first_));
    if (word == TokenKind::Else && at_ == first_ + 1 && !at_end()) return say(d, DiagnosticId::ElseWithCondition, place());
    if (word == TokenKind::At && at_end() && rule() == TflParser::RuleDecorated)
      return say(d, DiagnosticId::DecoratorAlone, from(first_));
    if (word != TokenKind::Name) return false;
    bool second = at_ == first_ + 1;
    bool block = kind(end_ - 1) == TokenKind::Colon;
    if (!second && !block) return false;
    Span place_of_word = span_of(source_, tokens_[first_]);
    std::string_view name = text(first_);
    if (second && !at_end() && begins_operand(here()) && (name == "print" || name == "exec")) {
      return say(d, name == "print" ? DiagnosticId::PrintStatement : DiagnosticId::ExecStatement, place_of_word);
    }
    if (const ForeignWord* f = foreign_statement(name)) {
      if (block || !at_end()) return say(d, DiagnosticId::ForeignStatement, place_of_word, {name, f->instead});
    }
    std::string_view keyword = misspelt_keyword(name);
    if (keyword.empty() || (keyword.size() == 3 && !block)) return false;
    return say(d, DiagnosticId::MisspeltKeyword, place_of_word, {name, keyword});
  }

  /// Operators of other languages, which arrive as two tokens.
  bool operator_sequence(Diagnostic& d) const {
    if (at_ > first_ + 1 && wants(TokenKind::Name)) {
      TokenKind p = previous();
      bool doubled =
          (p == TokenKind::Plus || p == TokenKind::Minus) && kind(at_ - 2) == p && tokens_[at_ - 2].end == tokens_[at_ - 1].begin;
      if (doubled && (at_end() || is_close_bracket(here()) || here() == TokenKind::Semicolon)) {
        Span a = span_of(source_, tokens_[at_ - 2]), b = span_of(source_, tokens_[at_ - 1]);
        std::string_view op = p == TokenKind::Plus ? "++" : "--";
        return say(d, DiagnosticId::Increment, {a.line, a.column, b.end_line, b.end_column},
                   {op, p == TokenKind::Plus ? "+=" : "-="});
      }
    }
    if (!adjacent()) return false;
    struct Pair {
      TokenKind first, second;
      std::string_view instead;
    };
    constexpr Pair kPairs[] = {{TokenKind::Lt, TokenKind::Gt, "!="},
                               {TokenKind::Assign, TokenKind::Gt, ">="},
                               {TokenKind::Assign, TokenKind::Lt, "<="},
                               {TokenKind::Eq, TokenKind::Assign, "=="},
                               {TokenKind::Ne, TokenKind::Assign, "!="}};
    for (const Pair& pair : kPairs) {
      if (previous() == pair.first && here() == pair.second) {
        std::string both = std::string(text(at_ - 1)) + std::string(text(at_));
        return say(d, DiagnosticId::ForeignOperator, from(at_ - 1), {both, pair.instead});
      }
    }
    return false;
  }

  bool assignment(Diagnostic& d) const {
    TokenKind word = first();
    if (here() == TokenKind::Walrus) return say(d, DiagnosticId::WalrusNeedsParentheses, place());
    if (here() == TokenKind::AugAssign) return say(d, DiagnosticId::AssignmentInExpression, place(), {text(at_)});
    if (here() != TokenKind::Assign) return false;
    if (word == TokenKind::For && open_.empty() && !wants(TokenKind::Colon))
      return say(d, DiagnosticId::ExpectedIn, place(), {found()});
    if (at_ == first_ + 1 && is_keyword(word)) {
      return say(d, DiagnosticId::KeywordAsName, span_of(source_, tokens_[first_]), {text(first_)});
    }
    if (word == TokenKind::If || word == TokenKind::Elif || word == TokenKind::While)
      return say(d, DiagnosticId::AssignInCondition, place());
    if (bracket() == TokenKind::Lbrace && wants(TokenKind::Rbrace)) return say(d, DiagnosticId::AssignInDisplay, place());
    if (wants_operand()) return false;
    return say(d, DiagnosticId::AssignInExpression, place());
  }

  /// A name, and nothing else, would have been right.
  bool name_wanted(Diagnostic& d) const {
    bool after_opening = previous() == TokenKind::Comma || is_open_bracket(previous());
    if (!at_end() && is_keyword(here())) {
      bool named = kind(at_ + 1) == TokenKind::Assign && !open_.empty();
      bool loop_target = previous() == TokenKind::For && !wants(TokenKind::In);
      if (named || loop_target) return say(d, DiagnosticId::KeywordAsName, place(), {text(at_)});
    }
    if (rule() == TflParser::RuleFunction_definition && wants(TokenKind::Rparen) && after_opening && !at_end()) {
      if (is_keyword(here())) return say(d, DiagnosticId::KeywordAsName, place(), {text(at_)});
      return say(d, DiagnosticId::ExpectedName, place(), {"a parameter name", text(at_ - 1), found()});
    }
    if (!wants(TokenKind::Name) || wants_operand()) return false;
    std::string_view what = "a name";
    TokenKind p = previous();
    if (p == TokenKind::Def)
      what = "a function name";
    else if (p == TokenKind::Class)
      what = "a class name";
    else if (p == TokenKind::Import)
      what = first() == TokenKind::From ? "the names to import" : "a module name";
    else if (p == TokenKind::Dot)
      what = "an attribute name";
    else if (rule() == TflParser::RuleParameters || rule() == TflParser::RuleParameter ||
             rule() == TflParser::RuleLambda_parameters ||
             (rule() == TflParser::RuleFunction_definition && p == TokenKind::Lparen)) {
      what = "a parameter name";
    }
    if (!at_end() && is_keyword(here())) return say(d, DiagnosticId::KeywordAsName, place(), {text(at_)});
    if (here() == TokenKind::String && (first() == TokenKind::Import || first() == TokenKind::From)) {
      return say(d, DiagnosticId::QuotedModule, place());
    }
    if (p == TokenKind::Newline) return false;
    return say(d, DiagnosticId::ExpectedName, place(), {what, text(at_ - 1), found()});
  }

  bool header(Diagnostic& d) const {
    if (rule() == TflParser::RuleFunction_definition && wants(TokenKind::Lparen)) {
      return say(d, DiagnosticId::MissingParameterList, behind_previous(), {text(at_ - 1)});
    }
    if (rule() == TflParser::RuleTest && wants(TokenKind::Colon)) {
      return say(d, DiagnosticId::ExpectedColon, behind_previous(), {"the parameters of 'lambda'"});
    }
    if (!wants(TokenKind::Colon)) return false;
    std::string_view what = before_colon(rule(), first());
    if (what.empty()) return false;
    if (here() == TokenKind::Comma && first() == TokenKind::Except) return say(d, DiagnosticId::ExceptComma, place());
    if (here() == TokenKind::Lbrace) return say(d, DiagnosticId::BraceBlock, place(), {what});
    if (previous() == TokenKind::Except) what = "'except'";
    bool colon_later = kind(end_ - 1) == TokenKind::Colon;
    if (at_end() || !colon_later) return say(d, DiagnosticId::ExpectedColon, behind_previous(), {what});
    return say(d, DiagnosticId::UnexpectedInHeader, place(), {text(at_), what});
  }

  bool keyword_wanted(Diagnostic& d) const {
    if (wants(TokenKind::In) && previous() == TokenKind::Not) {
      return say(d, DiagnosticId::NotBetween, span_of(source_, tokens_[at_ - 1]));
    }
    bool loop = rule() == TflParser::RuleFor_statement || rule() == TflParser::RuleComprehension_for ||
                rule() == TflParser::RuleTarget_list;
    if (loop && wants(TokenKind::In)) {
      return say(d, DiagnosticId::ExpectedIn, place(), {found()});
    }
    if (rule() == TflParser::RuleTest && wants(TokenKind::Else)) {
      return say(d, DiagnosticId::ExpectedElse, behind_previous());
    }
    if (rule() == TflParser::RuleFrom_statement && wants(TokenKind::Import) && here() != TokenKind::String) {
      return say(d, DiagnosticId::ExpectedImport, place());
    }
    return false;
  }

  bool statement_form(Diagnostic& d) const {
    if (here() == TokenKind::String && first() == TokenKind::From && at_ == first_ + 1)
      return say(d, DiagnosticId::QuotedModule, place());
    if (first() == TokenKind::Raise && here() == TokenKind::Comma && open_.empty())
      return say(d, DiagnosticId::RaiseComma, place());
    if (first() == TokenKind::Import && here() == TokenKind::From) return say(d, DiagnosticId::ImportOrder, from(first_));
    if (previous() == TokenKind::Colon && at_end() && open_.empty())
      return say(d, DiagnosticId::UnexpectedColon, span_of(source_, tokens_[at_ - 1]));
    if (here() == TokenKind::Colon && at_ + 1 == end_ && open_.empty()) return say(d, DiagnosticId::UnexpectedColon, place());
    if (here() == TokenKind::For && !open_.empty() && !is_open_bracket(previous()) &&
        (bracket() == TokenKind::Lbracket || bracket() == TokenKind::Lbrace)) {
      return say(
          d, DiagnosticId::ComprehensionTuple,
          {tokens_[open_.back()].line, tokens_[open_.back()].column + 1, behind_previous().line, behind_previous().column});
    }
    return false;
  }

  bool operand_wanted(Diagnostic& d) const {
    bool bracketed = !open_.empty() && at_ > first_ && (previous() == TokenKind::Comma || is_open_bracket(previous()));
    if (!wants_operand() && !bracketed) return false;
    if (!at_end() && is_keyword(here()) && !is_open_bracket(here())) {
      if (at_ == first_) return say(d, DiagnosticId::UnexpectedToken, place(), {found()});
      return say(d, DiagnosticId::KeywordAsExpression, place(), {text(at_)});
    }
    if (at_ == first_) return say(d, DiagnosticId::UnexpectedToken, place(), {found()});
    if (at_end()) return say(d, DiagnosticId::ExpectedExpressionAtEnd, behind_previous(), {text(at_ - 1)});
    return say(d, DiagnosticId::ExpectedExpression, place(), {text(at_ - 1), text(at_)});
  }

  /// Two operands in a row.
  bool missing_operator(Diagnostic& d) const {
    if (at_ == first_ || at_end() || !ends_operand(previous()) || !begins_operand(here())) return false;
    if (!open_.empty()) {
      return say(d, DiagnosticId::ForgottenComma, behind_previous(), {text(at_)});
    }
    bool argument = here() == TokenKind::Name || here() == TokenKind::String || (here() == TokenKind::Number && !adjacent());
    if (at_ == first_ + 1 && first() == TokenKind::Name && argument)
      return say(d, DiagnosticId::CallWithoutParentheses, place(), {text(at_), text(first_)});
    return say(d, DiagnosticId::MissingOperator, place(), {text(at_)});
  }

  Diagnostic generic() const {
    if (!open_.empty() && !at_end()) {
      return make_diagnostic(DiagnosticId::ExpectedToken, place(), {token_text(closing(bracket())), found()});
    }
    if (failure_.expected.count() == 1) {
      for (size_t i = 0; i < failure_.expected.size(); ++i) {
        std::string_view fixed = failure_.expected.test(i) ? token_text(static_cast<TokenKind>(i)) : std::string_view();
        if (!fixed.empty()) return make_diagnostic(DiagnosticId::ExpectedToken, place(), {fixed, found()});
      }
    }
    return make_diagnostic(DiagnosticId::UnexpectedToken, place(), {found()});
  }

  const Source& source_;
  const std::vector<Token>& tokens_;
  size_t first_;
  size_t end_;
  size_t at_;
  const SyntaxFailure& failure_;
  std::vector<size_t> open_;  // brackets open where the parser stopped
};

}  // namespace

Diagnostic explain(const Source& source, const Layout& layout, size_t line, size_t token, const SyntaxFailure& failure) {
  return Explainer(source, layout, layout.lines[line], token, failure).run();
}

Diagnostic explain_expression(const Source& source, const Layout& layout, const SyntaxFailure& failure) {
  return Explainer(source, layout, layout.lines.front(), std::min<size_t>(failure.token, layout.lines.front().end), failure)
      .run();
}

}  // namespace tfl::parse
