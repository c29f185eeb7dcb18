// From ANTLR's parse tree to the syntax tree: operator precedence, targets, parameters, literals, spans, and the checks that Python
// makes at compile time and that need no scopes. Included by build_*.cpp and the parser's driver only, because it includes ANTLR.
// This header must not know about logical lines or how errors are recovered from.
#pragma once

#include <vector>

#include "frontend/syntax/ast/ast.h"
#include "frontend/syntax/diagnostics/diagnostic.h"
#include "frontend/syntax/parse/layout.h"
#include "frontend/syntax/parse/statement_parser.h"
#include "frontend/text/normal_form.h"

namespace tfl::parse {

/// Walks the children of a parse-tree node from left to right.
class Children {
 public:
  explicit Children(antlr4::ParserRuleContext* node) : children_(node->children) {}
  bool done() const { return at_ == children_.size(); }
  size_t size() const { return children_.size(); }
  bool at_token() const { return !done() && is_token_node(children_[at_]); }
  /// The kind of the token here; EndOfFile when it is no token.
  TokenKind kind() const { return at_token() ? symbol().token.kind : TokenKind::EndOfFile; }
  bool at(TokenKind kind) const { return at_token() && symbol().token.kind == kind; }
  bool at_comprehension() const { return rule_index() == TflParser::RuleComprehension_for; }
  /// The rule of the node here; npos when it is a token or there is none.
  size_t rule_index() const {
    return done() || at_token() ? size_t(-1) : static_cast<antlr4::ParserRuleContext*>(children_[at_])->getRuleIndex();
  }
  const Token& take() { return static_cast<const TokenNode*>(children_[at_++])->token->token; }
  void skip() { ++at_; }
  bool accept(TokenKind wanted) {
    if (!at(wanted)) return false;
    ++at_;
    return true;
  }
  /// The node here, whose rule is known from the grammar.
  template <class Context = antlr4::ParserRuleContext>
  Context* node() {
    return static_cast<Context*>(children_[at_++]);
  }

 private:
  const StreamToken& symbol() const { return *static_cast<const TokenNode*>(children_[at_])->token; }
  const std::vector<antlr4::tree::ParseTree*>& children_;
  size_t at_ = 0;
};

inline const Token& first_token(const antlr4::ParserRuleContext* node) {
  return static_cast<const StreamToken*>(node->start)->token;
}
inline const Token& last_token(const antlr4::ParserRuleContext* node) {
  return static_cast<const StreamToken*>(node->stop)->token;
}

/// The span of a statement that begins with `span` and ends with its body.
inline Span to_end_of(Span span, ast::Block body) {
  if (body.empty()) return span;
  span.end_line = body.back()->span.end_line;
  span.end_column = body.back()->span.end_column;
  return span;
}

/// What a target is for; it decides what may be one and how an error is put.
enum class TargetUse : uint8_t { Assign, Augmented, Annotated, For, With, Delete };

class TreeBuilder {
  friend class PatternBuilder;

 public:
  /// `tolerant`: what stands below a line that was not understood is kept, too.
  TreeBuilder(const Source& source, ast::Arena& arena, std::vector<Diagnostic>& diagnostics, bool tolerant = false)
      : source_(source), arena_(arena), diagnostics_(diagnostics), tolerant_(tolerant) {}

  /// Appends the statements of one unit. `damaged`: a line of it was taken out, so nothing is said about what is missing.
  void unit(TflParser::UnitContext* node, bool damaged, std::vector<ast::Stmt*>& out);
  /// The expression of an f-string's replacement field.
  ast::Expr* single_expression(TflParser::Single_expressionContext* node);

 private:
  using Node = antlr4::ParserRuleContext;

  /// Where a statement stands, for `return`, `yield`, `break` and the like. Unknown: below a line that was not understood.
  enum class Body : uint8_t { Module, Class, Function, Unknown };
  struct Surroundings {
    Body body = Body::Module;
    bool loop = false;
    std::string_view comprehension;  // "list comprehension" …, while inside its element or conditions
    bool top_level = true;           // not inside any block
    bool asynchronous = false;       // inside `async def`
    bool groups = false;             // inside `except*`, which no jump leaves; loops in it have their own jumps
  };

  // build_statements.cpp
  void statement(Node* node, std::vector<ast::Stmt*>& out);
  void simple_line(Node* node, std::vector<ast::Stmt*>& out);
  ast::Stmt* small_statement(Node* node);
  ast::Stmt* assignment(Node* node, Children& children, Node* first_node);
  ast::Block block(Node* node);
  ast::Stmt* if_statement(Node* node);
  ast::Stmt* while_statement(Node* node);
  ast::Stmt* for_statement(Node* node);
  ast::Stmt* try_statement(Node* node);
  ast::Stmt* with_statement(Node* node);
  ast::Stmt* async_statement(Node* node);
  ast::Block clause_block(Node* node);
  void bad_statement(Node* node, std::vector<ast::Stmt*>& out);

  // build_match.cpp
  void match_statement(Node* node, std::vector<ast::Stmt*>& out);

  // build_definitions.cpp
  ast::Stmt* decorated(Node* node);
  ast::Stmt* function_definition(Node* node, ast::List<ast::Expr*> decorators, const Token* async = nullptr);
  ast::Stmt* class_definition(Node* node, ast::List<ast::Expr*> decorators);
  ast::List<ast::Parameter> parameters(Node* node);
  void check_parameter_order(const std::vector<ast::Parameter>& params);
  ast::Stmt* import_statement(Node* node);
  ast::Stmt* from_statement(Node* node);
  ast::Identifier dotted_name(Node* node);

  // build_expressions.cpp
  /// `target`: an '=' follows, which decides whether a lone `*x` is wrong as a value or as a target.
  ast::Expr* value(Node* node, bool target = false);
  ast::Expr* expression_list(Node* node, bool target = false);
  ast::Expr* named_test(Node* node);
  ast::Expr* test(Node* node);
  ast::Expr* lambda(Node* node, Children& children);
  ast::Expr* yield_expression(Node* node);
  /// What may stand in a function of its own kind only: reports where it stands elsewhere.
  void need_async(std::string_view what, Span span);
  ast::Expr* primary(Node* node);
  ast::Expr* parenthesised(Children& children, const Token& open);
  /// What stands between parentheses, as one expression.
  ast::Expr* grouped(Node* inner, Span whole);
  ast::Expr* list_display(Children& children, const Token& open);
  ast::Expr* brace_display(Children& children, const Token& open);
  /// `*sum`, or `test` with or without `:= test`: what comes next in a list.
  ast::Expr* item(Children& children);
  ast::Expr* named(Children& children);
  std::vector<ast::Expr*> items(Children& children, bool& comma);
  ast::Expr* sequence_or_only(const std::vector<ast::Expr*>& items, bool comma, Span span);
  ast::Expr* forbid_starred(ast::Expr* e);

  // build_calls.cpp
  ast::Expr* trailer(Children& children, ast::Expr* object, const Token& start);
  void arguments(Node* node, std::vector<ast::Expr*>& args, std::vector<ast::Keyword>& keywords, Span parentheses);
  void add_keyword(std::vector<ast::Keyword>& keywords, ast::Keyword keyword);
  ast::Expr* subscripts(Node* node);
  ast::Expr* subscript(Node* node);
  /// A comprehension if clauses follow the element that `parts` begins with, else nullptr.
  ast::Expr* comprehension(ast::ComprehensionKind kind, Children& parts, Span span);

  // build_operators.cpp
  ast::Expr* operators(Node* node);
  /// The row of operands and operators that `children` begins with.
  ast::Expr* operators(Node* node, Children& children);

  // build_targets.cpp
  ast::Expr* target_list(Node* node, TargetUse use);
  ast::Expr* target(Node* node, TargetUse use);
  /// Reports what in `e` cannot be assigned to or deleted.
  bool check_target(ast::Expr* e, TargetUse use, bool nested = false);
  std::string_view describe(const ast::Expr* e) const;

  // build_literals.cpp
  ast::Expr* number(const Token& token);
  ast::Expr* strings(const std::vector<Token>& tokens);
  struct FormatText;
  struct FormatCursor;
  uint32_t format_text(FormatCursor& cursor, uint32_t at, uint32_t level, FormatText& out);
  uint32_t format_field(FormatCursor& cursor, uint32_t open, uint32_t level, FormatText& out);
  uint32_t format_expression_end(const FormatCursor& cursor, uint32_t at);
  ast::Expr* format_expression(uint32_t begin, uint32_t end, uint32_t line, uint32_t column);

  // Shared.
  void report(DiagnosticId id, Span span, std::initializer_list<std::string_view> args = {}) {
    if (diagnostics_.size() < kMaxDiagnostics) diagnostics_.push_back(make_diagnostic(id, span, args));
  }
  Span span(const Token& first, const Token& last) const {
    Span end = span_of(source_, last);
    return {first.line, first.column, end.end_line, end.end_column};
  }
  Span span(const Token& token) const { return span_of(source_, token); }
  Span span(const Node* node) const { return span(first_token(node), last_token(node)); }
  static Span join(Span a, Span b) { return {a.line, a.column, b.end_line, b.end_column}; }
  std::string_view text(const Token& token) const { return text_of(source_, token); }
  /// Names that Unicode holds for the same are one, as in Python.
  ast::Identifier identifier(std::string_view written) {
    return unicode::is_ascii(written) ? arena_.intern(written) : arena_.intern(unicode::normal_name(written));
  }
  ast::Identifier name(const Token& token) { return identifier(text(token)); }
  /// Skips the commas of `x (COMMA x?)*`, refusing two in a row. True when it skipped one.
  bool commas(Children& children);
  /// The token of an expression that is a bare name, or nullptr.
  const Token* bare_name(Node* node);
  ast::Expr* none(Span span);

  const Source& source_;
  ast::Arena& arena_;
  std::vector<Diagnostic>& diagnostics_;
  const bool tolerant_;
  Surroundings here_;
  uint32_t nesting_ = 0;  // operands to the right of each other, see kMaxNesting
  bool nesting_reported_ = false;
  bool damaged_ = false;
};

}  // namespace tfl::parse
