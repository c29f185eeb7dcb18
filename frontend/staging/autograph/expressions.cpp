#include "frontend/staging/autograph/clone.h"
#include "frontend/staging/autograph/converter.h"
#include "frontend/syntax/ast/unparse.h"

namespace tfl::autograph {

namespace {

/// ag__.NAME, which an earlier pass has put there.
bool is_operator(const Expr* e) {
  if (e->kind != ExprKind::Attribute || as<Attribute>(e)->value->kind != ExprKind::Name) return false;
  return as<Name>(static_cast<const Expr*>(as<Attribute>(e)->value))->id == kOperators;
}

}  // namespace

/// lambda: value
Expr* Converter::later(Expr* value) {
  Lambda* made = build_.lambda(value);
  helpers_.insert(made);
  return made;
}

// The left side of a chain may be of any length: down in a loop, up in another.
Expr* Converter::expr(Expr* e) {
  std::vector<Expr*> chain;
  for (bool down = true; down;) {
    switch (e->kind) {
      case ExprKind::Binary: chain.push_back(e), e = as<Binary>(e)->left; break;
      case ExprKind::Attribute: chain.push_back(e), e = as<Attribute>(e)->value; break;
      case ExprKind::Subscript: chain.push_back(e), e = as<Subscript>(e)->value; break;
      case ExprKind::Call: chain.push_back(e), e = as<Call>(e)->function; break;
      default: down = false;
    }
  }
  Expr* made = node(e);
  while (!chain.empty()) {
    Expr* up = chain.back();
    chain.pop_back();
    switch (up->kind) {
      case ExprKind::Binary:
        as<Binary>(up)->left = made;
        as<Binary>(up)->right = expr(as<Binary>(up)->right);
        made = up;
        break;
      case ExprKind::Attribute:
        as<Attribute>(up)->value = made;
        made = up;
        break;
      case ExprKind::Subscript:
        as<Subscript>(up)->value = made;
        as<Subscript>(up)->index = expr(as<Subscript>(up)->index);
        made = up;
        break;
      default: as<Call>(up)->function = made; made = call(as<Call>(up));
    }
  }
  return made;
}

Expr* Converter::node(Expr* e) {
  switch (e->kind) {
    case ExprKind::BoolOp: return bool_op(as<BoolOp>(e));
    case ExprKind::Compare: return compare(as<Compare>(e));
    case ExprKind::Conditional: return conditional(as<Conditional>(e));
    case ExprKind::Comprehension: return comprehension(as<Comprehension>(e));
    case ExprKind::Unary:
      as<Unary>(e)->operand = expr(as<Unary>(e)->operand);
      if (as<Unary>(e)->op == UnaryOp::Not) return build_.op_call("not_", {as<Unary>(e)->operand}, e->span);
      return e;
    default: each_child(e, [&](Expr*& child) { child = expr(child); }); return e;
  }
}

/// ag__.converted(f)(...)
Expr* Converter::call(Call* e) {
  for (Expr*& a : e->args) a = expr(a);
  for (Keyword& k : e->keywords) k.value = expr(k.value);
  Span span = e->function->span;
  if (is_operator(e->function)) return e;
  if (e->function->kind == ExprKind::Name && as<Name>(e->function)->id == "super" && !current_->locals.contains("super")) {
    // The helper it may come to stand in is no method.
    if (e->args.empty() && e->keywords.empty() && !current_->first_parameter.empty()) {
      e->args =
          build_.arena.list(std::vector<Expr*>{build_.name("__class__", span), build_.name(current_->first_parameter, span)});
    }
    return e;
  }
  e->function = build_.op_call("converted", {e->function}, span);
  return e;
}

Expr* Converter::bool_op(BoolOp* e) {
  bool bound = false;
  for (size_t i = 1; i < e->values.size(); ++i) bound = bound || contains_walrus(e->values[i]);
  for (Expr*& v : e->values) v = expr(v);
  // What := binds would be bound in the lambda.
  if (bound) return e;
  Expr* made = e->values.back();
  for (size_t i = e->values.size() - 1; i > 0; --i) {
    made = build_.op_call(e->op == BoolOpKind::And ? "and_" : "or_", {e->values[i - 1], later(made)}, e->span);
  }
  return made;
}

/// One link of a comparison.
Expr* Converter::comparison(Compare* e, Expr* left, size_t at) {
  Expr* right = e->comparators[at];
  if (e->ops[at] == CompareOp::In) return build_.op_call("in_", {left, right}, e->span);
  if (e->ops[at] == CompareOp::NotIn) return build_.op_call("not_in", {left, right}, e->span);
  return build_.arena.make<Compare>(Expr{ExprKind::Compare, e->span}, left, build_.arena.list(std::vector<CompareOp>{e->ops[at]}),
                                    build_.arena.list(std::vector<Expr*>{right}));
}

/// a < b < c: ag__.and_(a < b, lambda: b < c), b evaluated once.
Expr* Converter::compare_chain(Compare* e, Expr* left, size_t at) {
  if (at + 1 == e->ops.size()) return comparison(e, left, at);
  Expr* middle = e->comparators[at];
  if (middle->kind == ExprKind::Name || middle->kind == ExprKind::Constant) {
    Expr* first = comparison(e, left, at);
    return build_.op_call("and_", {first, later(compare_chain(e, clone(build_.arena, middle), at + 1))}, e->span);
  }
  Identifier a = current_->names.next("left"), b = current_->names.next("middle");
  e->comparators[at] = build_.name(b, middle->span);
  Expr* first = comparison(e, build_.name(a, left->span), at);
  Expr* rest = later(compare_chain(e, build_.name(b, middle->span), at + 1));
  Lambda* both = build_.lambda(build_.op_call("and_", {first, rest}, e->span), {a, b});
  helpers_.insert(both);
  return build_.call(both, {left, middle}, e->span);
}

Expr* Converter::compare(Compare* e) {
  bool bound = e->ops.size() > 1 && contains_walrus(e);
  e->left = expr(e->left);
  for (Expr*& c : e->comparators) c = expr(c);
  return bound ? e : compare_chain(e, e->left, 0);
}

Expr* Converter::conditional(Conditional* e) {
  bool bound = contains_walrus(e->then_value) || contains_walrus(e->else_value);
  std::string text = unparse(e);
  e->condition = expr(e->condition);
  e->then_value = expr(e->then_value);
  e->else_value = expr(e->else_value);
  if (bound) return e;
  return build_.op_call("if_exp", {e->condition, later(e->then_value), later(e->else_value), build_.text(text, e->span)},
                        e->span);
}

/// [x for a in b if c]: ag__.list_comp(b, lambda items: [(c, lambda: x) for a in items], 'if'), as b or c may need a loop of the graph.
/// Without conditions the elements themselves; with more clauses what stands for x extends the list that it is given.
Expr* Converter::list_comprehension(Comprehension* e, size_t at, Expr* into) {
  ComprehensionFor& clause = e->clauses[at];
  Span span = e->span;
  bool last = at + 1 == e->clauses.size();
  Identifier items = current_->names.next("items");
  std::vector<Expr*> args = {expr(clause.iterable)};
  Expr* element;
  std::string_view form = "";
  if (last && clause.conditions.empty()) {
    element = expr(e->element);
  } else {
    form = last ? "if" : "for";
    Expr* kept = nullptr;
    for (size_t i = clause.conditions.size(); i-- > 0;) {
      Expr* condition = expr(clause.conditions[i]);
      kept = kept ? build_.op_call("and_", {condition, later(kept)}, condition->span) : condition;
    }
    Expr* made;
    if (last) {
      made = later(expr(e->element));
    } else {
      Identifier list = current_->names.next("into");
      Lambda* inner = build_.lambda(list_comprehension(e, at + 1, build_.name(list, span)), {list});
      helpers_.insert(inner);
      made = inner;
    }
    element = build_.tuple({kept ? kept : build_.boolean(true, span), made}, span);
  }
  std::vector<ComprehensionFor> clauses = {{clause.target, build_.name(items, span), List<Expr*>{}}};
  Lambda* each = build_.lambda(build_.arena.make<Comprehension>(Expr{ExprKind::Comprehension, span}, ComprehensionKind::List,
                                                                element, nullptr, build_.arena.list(clauses)),
                               {items});
  helpers_.insert(each);
  args.push_back(each);
  if (!form.empty() || into) args.push_back(build_.text(form, span));
  if (into) args.push_back(into);
  return build_.op_call("list_comp", args, span);
}

Expr* Converter::comprehension(Comprehension* e) {
  // What := binds would be bound in the lambda.
  if (e->comprehension == ComprehensionKind::List && !contains_walrus(e)) return list_comprehension(e, 0, nullptr);
  for (ComprehensionFor& clause : e->clauses) {
    clause.iterable = build_.op_call("unrolled", {expr(clause.iterable)}, clause.iterable->span);
    for (Expr*& condition : clause.conditions) condition = expr(condition);
  }
  e->element = expr(e->element);
  optional(e->value);
  return e;
}

}  // namespace tfl::autograph
