// What follows a primary: attributes, calls with their arguments, subscripts; and comprehensions, which calls may hold bare.
#include <algorithm>

#include "frontend/parse/tree_builder.h"

namespace tfl::parse {

using ast::Expr;
using ast::ExprKind;

Expr* TreeBuilder::trailer(Node* node, Expr* object, const Token& start) {
  Children children(node);
  const Token& open = children.take();
  if (open.kind == TokenKind::Dot) {
    const Token& attribute = children.take();
    return arena_.make<ast::Attribute>(Expr{ExprKind::Attribute, span(start, attribute)}, object, name(attribute), span(attribute));
  }
  if (open.kind == TokenKind::Lparen) {
    std::vector<Expr*> args;
    std::vector<ast::Keyword> keywords;
    if (!children.at_token()) arguments(children.node(), args, keywords, open);
    Span whole = span(start, children.take());
    return arena_.make<ast::Call>(Expr{ExprKind::Call, whole}, object, arena_.list(args), arena_.list(keywords));
  }
  Expr* index = subscripts(children.node());
  return arena_.make<ast::Subscript>(Expr{ExprKind::Subscript, span(start, children.take())}, object, index);
}

void TreeBuilder::arguments(Node* node, std::vector<Expr*>& args, std::vector<ast::Keyword>& keywords, const Token& open) {
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
      Node* first = part.node();
      if (part.accept(TokenKind::Assign)) {
        const Token* keyword = bare_name(first);
        Expr* value = test(part.node());
        if (keyword == nullptr) {
          report(DiagnosticId::KeywordIsExpression, span(first));
          continue;
        }
        ast::Identifier id = name(*keyword);
        auto same = [&](const ast::Keyword& k) { return k.name == id; };
        // Long argument lists are not searched again and again: no one repeats a keyword after a hundred others by mistake.
        auto end = keywords.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(keywords.size(), 256));
        if (std::any_of(keywords.begin(), end, same)) report(DiagnosticId::RepeatedKeyword, span(argument), {id});
        keywords.push_back({id, value, span(argument)});
      } else {
        if (part.done()) {
          args.push_back(named_test(first));
        } else {
          bool alone = children.done() && args.empty() && keywords.empty();
          if (!alone) report(DiagnosticId::GeneratorNeedsParentheses, span(argument));
          // Alone, it borrows the parentheses of the call.
          Span whole = span(argument);
          if (alone) whole = {open.line, open.column, whole.end_line, whole.end_column + 1};
          args.push_back(comprehension(ast::ComprehensionKind::Generator, first, nullptr, part, whole));
        }
        if (unpacked) report(DiagnosticId::PositionalAfterDoubleStar, span(argument));
        else if (!keywords.empty()) report(DiagnosticId::PositionalAfterKeyword, span(argument));
      }
    }
    commas(children);
  }
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
    Node* first = children.node();
    lower = named_test(first);
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

Expr* TreeBuilder::comprehension(ast::ComprehensionKind kind, Node* element, Node* value, Children& children, Span whole) {
  constexpr std::string_view kNames[] = {"list comprehension", "set comprehension", "dict comprehension", "generator expression"};
  Surroundings outer = here_;
  std::vector<ast::ComprehensionFor> clauses;
  while (children.rule_index() == TflParser::RuleComprehension_for) {
    Children part(children.node());
    part.take();  // for
    ast::ComprehensionFor clause{};
    clause.target = target_list(part.node(), TargetUse::For);
    part.take();  // in
    // The first iterable is evaluated outside of the comprehension.
    here_.comprehension = clauses.empty() ? outer.comprehension : kNames[static_cast<size_t>(kind)];
    clause.iterable = operators(part.node());
    here_.comprehension = kNames[static_cast<size_t>(kind)];
    std::vector<Expr*> conditions;
    while (!part.done()) {
      part.take();  // if
      conditions.push_back(operators(part.node()));
    }
    clause.conditions = arena_.list(conditions);
    clauses.push_back(clause);
  }
  Expr* head = element->getRuleIndex() == TflParser::RuleItem ? item(element) : named_test(element);
  if (head->kind == ExprKind::Starred) report(DiagnosticId::UnpackInComprehension, head->span, {"iterable"});
  Expr* tail = value != nullptr ? test(value) : nullptr;
  here_ = outer;
  return arena_.make<ast::Comprehension>(Expr{ExprKind::Comprehension, whole}, kind, head, tail, arena_.list(clauses));
}

}  // namespace tfl::parse
