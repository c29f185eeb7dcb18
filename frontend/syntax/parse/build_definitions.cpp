// Functions, classes, parameters, decorators and imports.
#include <algorithm>
#include <unordered_set>

#include "frontend/syntax/parse/tree_builder.h"

namespace tfl::parse {

using ast::Expr;
using ast::ParamKind;
using ast::Stmt;
using ast::StmtKind;

namespace {

/// @export("tf.norm") tells the build under which names the library shows a function (frontend/stdlib/exports.h); nothing happens to it.
bool is_export(const Expr* decorator) {
  if (decorator->kind != ast::ExprKind::Call) return false;
  const Expr* function = ast::as<ast::Call>(decorator)->function;
  return function->kind == ast::ExprKind::Name && ast::as<ast::Name>(function)->id == "export";
}

}  // namespace

Stmt* TreeBuilder::decorated(Node* node) {
  Children children(node);
  std::vector<Expr*> decorators;
  while (children.rule_index() == TflParser::RuleDecorator) {
    Children part(children.node());
    part.take();  // @
    Expr* decorator = named_test(part.node());
    if (!source_.internal || !is_export(decorator)) decorators.push_back(decorator);
  }
  const Token* async = children.at(TokenKind::Async) ? &children.take() : nullptr;
  Node* definition = children.node();
  auto list = arena_.list(decorators);
  return definition->getRuleIndex() == TflParser::RuleClass_definition ? class_definition(definition, list)
                                                                       : function_definition(definition, list, async);
}

Stmt* TreeBuilder::function_definition(Node* node, ast::List<Expr*> decorators, const Token* async) {
  Children children(node);
  const Token& word = children.take();
  const Token& id = children.take();
  children.take();  // (
  ast::List<ast::Parameter> params;
  if (!children.at_token()) params = parameters(children.node());
  children.take();  // )
  Expr* returns = children.accept(TokenKind::Arrow) ? test(children.node()) : nullptr;
  children.take();  // :
  Surroundings outer = here_;
  here_ = {Body::Function, false, {}, false, async != nullptr};
  ast::Block body = block(children.node());
  here_ = outer;
  Span whole = span(async ? *async : word);
  if (!body.empty()) whole = join(whole, body.back()->span);
  return arena_.make<ast::FunctionDef>(Stmt{StmtKind::FunctionDef, whole}, name(id), span(id), decorators, params, returns, body,
                                       async != nullptr);
}

Stmt* TreeBuilder::class_definition(Node* node, ast::List<Expr*> decorators) {
  Children children(node);
  const Token& word = children.take();
  const Token& id = children.take();
  Expr* base = nullptr;
  if (children.at(TokenKind::Lparen)) {
    const Token& open = children.take();
    std::vector<Expr*> args;
    std::vector<ast::Keyword> keywords;
    Node* list = children.at_token() ? nullptr : children.node();
    const Token& close = children.take();
    if (list != nullptr) arguments(list, args, keywords, span(open, close));
    if (args.size() == 1 && keywords.empty() && args.front()->kind != ast::ExprKind::Starred) {
      base = args.front();
    } else if (!args.empty() || !keywords.empty()) {
      Span whole = span(open, close);
      Expr* starred = arena_.make<ast::Starred>(Expr{ast::ExprKind::Starred, whole}, none(whole));
      base = arena_.make<ast::Call>(Expr{ast::ExprKind::Call, whole}, starred, arena_.list(args), arena_.list(keywords));
    }
  }
  children.take();  // :
  Surroundings outer = here_;
  here_ = {Body::Class, false, {}, false};
  ast::Block body = block(children.node());
  here_ = outer;
  Span whole = span(word);
  if (!body.empty()) whole = join(whole, body.back()->span);
  return arena_.make<ast::ClassDef>(Stmt{StmtKind::ClassDef, whole}, name(id), span(id), decorators, base, body);
}

/// Those of a function or of a lambda: `name: annotation = default`, `*name`, `**name`, `*`, `/`.
ast::List<ast::Parameter> TreeBuilder::parameters(Node* node) {
  std::vector<ast::Parameter> params;
  Children children(node);
  bool star = false, slash = false, bare_star = false, named_after_star = false, rest = false;
  Span star_span;
  while (!children.done()) {
    Node* parameter = children.node();
    Children part(parameter);
    Span whole = span(parameter);
    if (rest) report(DiagnosticId::ParameterAfterKeywords, whole);
    if (part.at(TokenKind::Slash)) {
      if (slash)
        report(DiagnosticId::SlashTwice, whole);
      else if (star)
        report(DiagnosticId::SlashAfterStar, whole);
      else if (params.empty())
        report(DiagnosticId::SlashFirst, whole);
      slash = true;
      for (ast::Parameter& p : params) {
        if (p.kind == ParamKind::PositionalOrKeyword) p.kind = ParamKind::PositionalOnly;
      }
      commas(children);
      continue;
    }
    ast::Parameter p{star ? ParamKind::KeywordOnly : ParamKind::PositionalOrKeyword, {}, nullptr, nullptr, whole};
    if (part.accept(TokenKind::DoubleStar)) {
      p.kind = ParamKind::VarKeyword;
      rest = true;
    } else if (part.accept(TokenKind::Star)) {
      if (star) report(DiagnosticId::StarTwice, whole);
      star = true;
      star_span = whole;
      p.kind = ParamKind::VarPositional;
      bare_star = part.done();
      if (bare_star) {
        commas(children);
        continue;
      }
    } else if (star) {
      named_after_star = true;
    }
    const Token& id = part.take();
    p.name = name(id);
    if (part.accept(TokenKind::Colon)) {
      Node* annotation = part.node();
      Children starred(annotation);
      if (annotation->getRuleIndex() != TflParser::RuleStarred_test) {
        p.annotation = test(annotation);
      } else if (starred.accept(TokenKind::Star)) {
        p.annotation = arena_.make<ast::Starred>(Expr{ast::ExprKind::Starred, span(annotation)}, test(starred.node()));
      } else {
        p.annotation = test(starred.node());
      }
    }
    if (part.accept(TokenKind::Assign)) p.default_value = test(part.node());
    params.push_back(p);
    commas(children);
  }
  if (bare_star && !named_after_star) report(DiagnosticId::NothingAfterStar, star_span);
  check_parameter_order(params);
  return arena_.list(params);
}

void TreeBuilder::check_parameter_order(const std::vector<ast::Parameter>& params) {
  std::unordered_set<std::string_view> seen;
  const ast::Parameter* with_default = nullptr;
  for (const ast::Parameter& p : params) {
    if (!seen.insert(p.name).second) report(DiagnosticId::RepeatedParameter, p.span, {p.name});
    if (p.kind != ParamKind::PositionalOnly && p.kind != ParamKind::PositionalOrKeyword) continue;
    if (p.default_value != nullptr) {
      with_default = &p;
    } else if (with_default != nullptr) {
      report(DiagnosticId::DefaultMissing, p.span, {p.name, with_default->name});
      with_default = nullptr;  // once is enough
    }
  }
}

ast::Identifier TreeBuilder::dotted_name(Node* node) {
  Children children(node);
  std::string whole;
  while (!children.done()) whole += text(children.take());
  return identifier(whole);
}

Stmt* TreeBuilder::import_statement(Node* node) {
  Children children(node);
  children.take();  // import
  std::vector<ast::Alias> names;
  while (!children.done()) {
    Node* alias_node = children.node();
    Children part(alias_node);
    ast::Alias alias{dotted_name(part.node()), {}, span(alias_node)};
    if (part.accept(TokenKind::As)) alias.asname = name(part.take());
    names.push_back(alias);
    children.accept(TokenKind::Comma);
  }
  return arena_.make<ast::Import>(Stmt{StmtKind::Import, span(node)}, arena_.list(names));
}

Stmt* TreeBuilder::from_statement(Node* node) {
  Children children(node);
  const Token& word = children.take();
  std::string dots;  // of a relative import: they stand in front of the module's name
  if (children.at(TokenKind::Dot) || children.at(TokenKind::Ellipsis)) {
    while (children.at(TokenKind::Dot) || children.at(TokenKind::Ellipsis)) dots += text(children.take());
  } else if (children.at_token()) {
    Span at = span(word);
    report(DiagnosticId::FromWithoutModule, {at.end_line, at.end_column, at.end_line, at.end_column + 1});
  }
  std::string module = std::move(dots);
  if (!children.at_token()) module += dotted_name(children.node());
  children.take();  // import
  std::vector<ast::Alias> names;
  if (children.at(TokenKind::Star)) {
    const Token& star = children.take();
    if (here_.body == Body::Function || here_.body == Body::Class) report(DiagnosticId::StarImportInFunction, span(star));
    names.push_back({arena_.intern("*"), {}, span(star)});
  } else {
    bool enclosed = children.accept(TokenKind::Lparen);
    Node* list = children.node();
    Children items(list);
    bool trailing = false;
    while (!items.done()) {
      Node* alias_node = items.node();
      Children part(alias_node);
      ast::Alias alias{name(part.take()), {}, span(alias_node)};
      if (part.accept(TokenKind::As)) alias.asname = name(part.take());
      names.push_back(alias);
      trailing = commas(items);
    }
    if (trailing && !enclosed) report(DiagnosticId::TrailingCommaInImport, span(last_token(list)));
  }
  return arena_.make<ast::ImportFrom>(Stmt{StmtKind::ImportFrom, span(node)}, arena_.intern(module), arena_.list(names));
}

}  // namespace tfl::parse
