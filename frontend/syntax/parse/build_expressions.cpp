// Expressions, operators apart: names, displays, parentheses, conditionals, lambda, yield.
#include "frontend/syntax/parse/tree_builder.h"

namespace tfl::parse {

using ast::Expr;
using ast::ExprKind;

Expr* TreeBuilder::none(Span span) {
  return arena_.make<ast::Constant>(Expr{ExprKind::Constant, span}, ast::ConstantKind::None, int64_t{0}, 0.0, std::string_view());
}

bool TreeBuilder::commas(Children& children) {
  if (!children.at(TokenKind::Comma)) return false;
  children.take();
  while (children.at(TokenKind::Comma)) report(DiagnosticId::RepeatedComma, span(children.take()));
  return true;
}

const Token* TreeBuilder::bare_name(Node* node) {
  while (node->children.size() == 1) {
    Children children(node);
    if (children.at_token()) return children.at(TokenKind::Name) ? &first_token(node) : nullptr;
    node = children.node();
  }
  return nullptr;
}

Expr* TreeBuilder::forbid_starred(Expr* e) {
  if (e->kind == ExprKind::Starred) report(DiagnosticId::StarredHere, e->span);
  return e;
}

/// A tuple when there was a comma; else the one item, which may not be starred.
Expr* TreeBuilder::sequence_or_only(const std::vector<Expr*>& items, bool comma, Span span) {
  if (!comma) return forbid_starred(items.front());
  return arena_.make<ast::Tuple>(Expr{ExprKind::Tuple, span}, arena_.list(items), false);
}

Expr* TreeBuilder::value(Node* node, bool target) {
  return node->getRuleIndex() == TflParser::RuleYield_expression ? yield_expression(node) : expression_list(node, target);
}

Expr* TreeBuilder::item(Children& children) {
  if (!children.at(TokenKind::Star)) return named(children);
  const Token& star = children.take();
  Node* inner = children.node();
  Expr* e = operators(inner);
  return arena_.make<ast::Starred>(Expr{ExprKind::Starred, span(star, last_token(inner))}, e);
}

std::vector<Expr*> TreeBuilder::items(Children& children, bool& comma) {
  std::vector<Expr*> list;
  comma = false;
  while (!children.done()) {
    list.push_back(item(children));
    comma = commas(children) || comma;
  }
  return list;
}

Expr* TreeBuilder::expression_list(Node* node, bool target) {
  Children children(node);
  if (children.size() == 1) return test(children.node());
  bool comma;
  std::vector<Expr*> list = items(children, comma);
  if (!comma && target) return list.front();
  return sequence_or_only(list, comma, span(node));
}

Expr* TreeBuilder::named_test(Node* node) {
  Children children(node);
  return named(children);
}

Expr* TreeBuilder::named(Children& children) {
  Node* left = children.node();
  if (!children.accept(TokenKind::Walrus)) return test(left);
  const Token* target = bare_name(left);
  Expr* bad_target = target == nullptr ? test(left) : nullptr;
  Node* right = children.node();
  Expr* value = test(right);
  if (target == nullptr) {
    report(DiagnosticId::WalrusTarget, bad_target->span, {describe(bad_target)});
    return value;
  }
  auto* id = arena_.make<ast::Name>(Expr{ExprKind::Name, span(*target)}, name(*target));
  return arena_.make<ast::NamedExpr>(Expr{ExprKind::NamedExpr, span(*target, last_token(right))}, id, value);
}

Expr* TreeBuilder::test(Node* node) {
  Children children(node);
  if (children.at(TokenKind::Lambda)) return lambda(node, children);
  Expr* e = operators(node, children);
  if (children.done()) return e;
  children.take();  // if
  Expr* condition = operators(children.node());
  children.take();  // else
  ++nesting_;
  Expr* otherwise = test(children.node());
  --nesting_;
  return arena_.make<ast::Conditional>(Expr{ExprKind::Conditional, span(node)}, condition, e, otherwise);
}

Expr* TreeBuilder::lambda(Node* node, Children& children) {
  children.take();  // lambda
  ast::List<ast::Parameter> params;
  if (!children.at_token()) params = parameters(children.node());
  children.take();  // :
  Surroundings outer = here_;
  here_ = {Body::Function, false, {}, false};
  ++nesting_;
  Expr* body = test(children.node());
  --nesting_;
  here_ = outer;
  return arena_.make<ast::Lambda>(Expr{ExprKind::Lambda, span(node)}, params, body);
}

Expr* TreeBuilder::yield_expression(Node* node) {
  if (here_.body == Body::Module || here_.body == Body::Class) {
    report(DiagnosticId::YieldOutsideFunction, span(node));
  } else if (!here_.comprehension.empty()) {
    report(DiagnosticId::YieldInComprehension, span(node), {here_.comprehension});
  }
  Children children(node);
  children.take();  // yield
  if (children.accept(TokenKind::From)) {
    if (here_.asynchronous) report(DiagnosticId::YieldFromInAsync, span(node));
    Expr* from = test(children.node());
    return arena_.make<ast::YieldFrom>(Expr{ExprKind::YieldFrom, span(node)}, from);
  }
  Expr* value = children.done() ? nullptr : expression_list(children.node());
  return arena_.make<ast::Yield>(Expr{ExprKind::Yield, span(node)}, value);
}

void TreeBuilder::need_async(std::string_view what, Span at) {
  if (here_.asynchronous || here_.body == Body::Unknown) return;
  report(here_.body == Body::Function ? DiagnosticId::OutsideAsync : DiagnosticId::AwaitOutsideFunction, at, {what});
}

Expr* TreeBuilder::primary(Node* node) {
  Children children(node);
  const Token* await = children.at(TokenKind::Await) ? &children.take() : nullptr;
  const Token& start = children.take();
  Expr* e = nullptr;
  auto constant = [&](ast::ConstantKind kind) {
    auto* c = static_cast<ast::Constant*>(none(span(start)));
    c->constant = kind;
    return c;
  };
  switch (start.kind) {
    case TokenKind::Name: e = arena_.make<ast::Name>(Expr{ExprKind::Name, span(start)}, name(start)); break;
    case TokenKind::Number: e = number(start); break;
    case TokenKind::String: {
      std::vector<Token> tokens{start};
      while (children.at(TokenKind::String)) tokens.push_back(children.take());
      e = strings(tokens);
      break;
    }
    case TokenKind::True: e = constant(ast::ConstantKind::True); break;
    case TokenKind::False: e = constant(ast::ConstantKind::False); break;
    case TokenKind::None: e = constant(ast::ConstantKind::None); break;
    case TokenKind::Ellipsis: e = constant(ast::ConstantKind::Ellipsis); break;
    case TokenKind::Lparen: e = parenthesised(children, start); break;
    case TokenKind::Lbracket: e = list_display(children, start); break;
    default: e = brace_display(children, start); break;
  }
  while (!children.done()) e = trailer(children, e, start);
  if (!await) return e;
  need_async("await", span(*await));
  return arena_.make<ast::YieldFrom>(Expr{ExprKind::YieldFrom, span(node)}, e, true);
}

Expr* TreeBuilder::parenthesised(Children& children, const Token& open) {
  if (children.at(TokenKind::Rparen)) {
    return arena_.make<ast::Tuple>(Expr{ExprKind::Tuple, span(open, children.take())}, ast::List<Expr*>(), true);
  }
  Node* inner = children.node();
  const Token& close = children.take();
  return grouped(inner, span(open, close));
}

Expr* TreeBuilder::single_expression(TflParser::Single_expressionContext* node) {
  Children children(node);
  Node* inner = children.node();
  return grouped(inner, span(inner));
}

Expr* TreeBuilder::grouped(Node* inner, Span whole) {
  if (inner->getRuleIndex() == TflParser::RuleYield_expression) return yield_expression(inner);
  Children parts(inner);
  if (Expr* e = comprehension(ast::ComprehensionKind::Generator, parts, whole)) return e;
  bool comma;
  std::vector<Expr*> list = items(parts, comma);
  Expr* e = sequence_or_only(list, comma, whole);
  if (comma) static_cast<ast::Tuple*>(e)->parenthesised = true;
  return e;
}

Expr* TreeBuilder::list_display(Children& children, const Token& open) {
  if (children.at(TokenKind::Rbracket)) {
    return arena_.make<ast::ListDisplay>(Expr{ExprKind::ListDisplay, span(open, children.take())}, ast::List<Expr*>());
  }
  Children parts(children.node());
  Span whole = span(open, children.take());
  if (Expr* e = comprehension(ast::ComprehensionKind::List, parts, whole)) return e;
  bool comma;
  std::vector<Expr*> list = items(parts, comma);
  return arena_.make<ast::ListDisplay>(Expr{ExprKind::ListDisplay, whole}, arena_.list(list));
}

Expr* TreeBuilder::brace_display(Children& children, const Token& open) {
  if (children.at(TokenKind::Rbrace)) {
    return arena_.make<ast::DictDisplay>(Expr{ExprKind::DictDisplay, span(open, children.take())}, ast::List<ast::DictItem>());
  }
  Children parts(children.node());
  Span whole = span(open, children.take());
  if (Expr* e = comprehension(ast::ComprehensionKind::Set, parts, whole)) return e;
  std::vector<ast::DictItem> pairs;
  std::vector<Expr*> elements;
  bool first = true, dict = false;
  while (!parts.done()) {
    bool pair = true;
    ast::DictItem entry{nullptr, nullptr};
    if (parts.accept(TokenKind::DoubleStar)) {
      entry.value = operators(parts.node());
    } else {
      Expr* element = item(parts);
      pair = parts.accept(TokenKind::Colon);
      if (pair)
        entry = {element, test(parts.node())};
      else
        elements.push_back(element);
    }
    if (pair) pairs.push_back(entry);
    if (first) dict = pair;
    if (dict && !pair) {
      Span at = elements.back()->span;
      report(DiagnosticId::DictValueMissing, {at.end_line, at.end_column, at.end_line, at.end_column + 1});
    } else if (!dict && pair) {
      report(DiagnosticId::PairInSet, entry.key != nullptr ? join(entry.key->span, entry.value->span) : entry.value->span);
    }
    first = false;
    commas(parts);
  }
  if (dict) return arena_.make<ast::DictDisplay>(Expr{ExprKind::DictDisplay, whole}, arena_.list(pairs));
  return arena_.make<ast::SetDisplay>(Expr{ExprKind::SetDisplay, whole}, arena_.list(elements));
}

}  // namespace tfl::parse
