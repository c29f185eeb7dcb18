// What follows a primary: attributes, calls with their arguments, subscripts; and comprehensions, which calls may hold bare.
#include <algorithm>

#include "frontend/syntax/parse/tree_builder.h"

namespace tfl::parse {

using ast::Expr;
using ast::ExprKind;

Expr* TreeBuilder::trailer(Children& children, Expr* object, const Token& start) {
  const Token& open = children.take();
  if (open.kind == TokenKind::Dot) {
    const Token& attribute = children.take();
    return arena_.make<ast::Attribute>(Expr{ExprKind::Attribute, span(start, attribute)}, object, name(attribute),
                                       span(attribute));
  }
  if (open.kind == TokenKind::Lparen) {
    std::vector<Expr*> args;
    std::vector<ast::Keyword> keywords;
    Node* list = children.at_token() ? nullptr : children.node();
    const Token& close = children.take();
    if (list != nullptr) arguments(list, args, keywords, span(open, close));
    Span whole = span(start, close);
    return arena_.make<ast::Call>(Expr{ExprKind::Call, whole}, object, arena_.list(args), arena_.list(keywords));
  }
  Expr* index = subscripts(children.node());
  return arena_.make<ast::Subscript>(Expr{ExprKind::Subscript, span(start, children.take())}, object, index);
}

void TreeBuilder::arguments(Node* node, std::vector<Expr*>& args, std::vector<ast::Keyword>& keywords, Span parentheses) {
  Children children(node);
  bool unpacked = false;  // a `**mapping` came
  while (!children.done()) {
    Node* argument = children.node();
    Children part(argument);
    if (part.accept(TokenKind::DoubleStar)) {
      keywords.push_back({{}, test(part.node()), span(argument)});
      unpacked = true;
    } else if (part.accept(TokenKind::Star)) {
      Expr* inner = test(part.node());
      args.push_back(arena_.make<ast::Starred>(Expr{ExprKind::Starred, span(argument)}, inner));
      if (unpacked) report(DiagnosticId::StarAfterDoubleStar, span(argument));
    } else {
      bool alone = children.size() == 1;
      Span whole = span(argument);
      // Alone, a generator expression borrows the parentheses of the call.
      Expr* e = comprehension(ast::ComprehensionKind::Generator, part, alone ? parentheses : whole);
      if (e != nullptr && !alone) report(DiagnosticId::GeneratorNeedsParentheses, whole);
      if (e == nullptr) {
        const Token* keyword = part.size() == 3 ? bare_name(Children(argument).node()) : nullptr;
        e = named(part);
        if (part.accept(TokenKind::Assign)) {
          Expr* value = test(part.node());
          if (keyword == nullptr)
            report(DiagnosticId::KeywordIsExpression, e->span);
          else
            add_keyword(keywords, {name(*keyword), value, whole});
          commas(children);
          continue;
        }
      }
      args.push_back(e);
      if (unpacked)
        report(DiagnosticId::PositionalAfterDoubleStar, whole);
      else if (!keywords.empty())
        report(DiagnosticId::PositionalAfterKeyword, whole);
    }
    commas(children);
  }
}

void TreeBuilder::add_keyword(std::vector<ast::Keyword>& keywords, ast::Keyword keyword) {
  // Long argument lists are not searched again and again: no one repeats a keyword after hundreds of others by mistake.
  auto end = keywords.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(keywords.size(), 256));
  bool repeated = std::any_of(keywords.begin(), end, [&](const ast::Keyword& k) { return k.name == keyword.name; });
  if (repeated) report(DiagnosticId::RepeatedKeyword, keyword.span, {keyword.name});
  keywords.push_back(keyword);
}

Expr* TreeBuilder::subscripts(Node* node) {
  Children children(node);
  std::vector<Expr*> items;
  bool comma = false;
  while (!children.done()) {
    items.push_back(subscript(children.node()));
    comma = commas(children) || comma;
  }
  if (items.size() == 1 && items[0]->kind == ExprKind::Starred) comma = true;  // a[*x] is a[(*x,)]
  if (!comma) return items.front();
  return arena_.make<ast::Tuple>(Expr{ExprKind::Tuple, span(node)}, arena_.list(items), false);
}

Expr* TreeBuilder::subscript(Node* node) {
  Children children(node);
  if (children.accept(TokenKind::Star)) {
    Expr* inner = operators(children.node());
    return arena_.make<ast::Starred>(Expr{ExprKind::Starred, span(node)}, inner);
  }
  Expr* lower = nullptr;
  if (!children.at_token()) {
    lower = named(children);
    if (children.done()) return lower;
  }
  children.take();  // :
  Expr* upper = nullptr;
  Expr* step = nullptr;
  if (children.rule_index() == TflParser::RuleTest) upper = test(children.node());
  if (!children.done()) {
    Children rest(children.node());
    rest.take();  // :
    if (!rest.done()) step = test(rest.node());
  }
  return arena_.make<ast::Slice>(Expr{ExprKind::Slice, span(node)}, lower, upper, step);
}

Expr* TreeBuilder::comprehension(ast::ComprehensionKind kind, Children& parts, Span whole) {
  // The element comes first in the text, but the names in it belong to the clauses: look behind it.
  Children head = parts;
  Children rest = parts;
  bool unpacked = rest.at_token();  // * or **
  if (unpacked) rest.take();
  rest.node();
  if (rest.accept(TokenKind::Walrus)) rest.node();
  bool pair = rest.accept(TokenKind::Colon);
  if (pair) rest.node();
  if (!rest.at_comprehension()) return nullptr;

  if (pair) kind = ast::ComprehensionKind::Dict;
  constexpr std::string_view kNames[] = {"list comprehension", "set comprehension", "dict comprehension", "generator expression"};
  std::string_view description = kNames[static_cast<size_t>(kind)];
  Surroundings outer = here_;
  std::vector<ast::ComprehensionFor> clauses;
  while (rest.at_comprehension()) {
    Children part(rest.node());
    const Token* async = part.at(TokenKind::Async) ? &part.take() : nullptr;
    if (async) need_async("async for", span(*async));
    part.take();  // for
    ast::ComprehensionFor clause{};
    clause.target = target_list(part.node(), TargetUse::For);
    part.take();  // in
    // The first iterable is evaluated outside of the comprehension.
    here_.comprehension = clauses.empty() ? outer.comprehension : description;
    clause.iterable = operators(part.node());
    here_.comprehension = description;
    std::vector<Expr*> conditions;
    while (!part.done()) {
      part.take();  // if
      conditions.push_back(operators(part.node()));
    }
    clause.conditions = arena_.list(conditions);
    clause.asynchronous = async != nullptr;
    clauses.push_back(clause);
  }
  Expr* element;
  if (unpacked) {
    const Token& star = head.take();
    Node* inner = head.node();
    report(DiagnosticId::UnpackInComprehension, span(star, last_token(inner)),
           {star.kind == TokenKind::Star ? "iterable" : "dict"});
    element = operators(inner);
  } else {
    element = named(head);
  }
  Expr* value = nullptr;
  if (pair) {
    head.take();  // :
    value = test(head.node());
  }
  here_ = outer;
  return arena_.make<ast::Comprehension>(Expr{ExprKind::Comprehension, whole}, kind, element, value, arena_.list(clauses));
}

}  // namespace tfl::parse
