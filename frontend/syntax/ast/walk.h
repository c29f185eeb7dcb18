// The children of a tree node, as slots that may be filled anew: for passes that look into every node or rewrite some in place.
// This header must not know what any pass does.
#pragma once

#include "frontend/syntax/ast/ast.h"

namespace tfl::ast {

/// Whether a loop on `e` ends by a jump only.
inline bool is_true(const Expr* e) {
  if (e->kind != ExprKind::Constant) return false;
  auto* c = as<Constant>(e);
  return c->constant == ConstantKind::True || (c->constant == ConstantKind::Int && c->integer != 0);
}

/// f(Expr*&) for each expression right below `e`, in the order of evaluation.
template <class F>
void each_child(Expr* e, F&& f) {
  auto optional = [&](Expr*& slot) {
    if (slot) f(slot);
  };
  auto all = [&](List<Expr*> items) {
    for (Expr*& item : items) f(item);
  };
  switch (e->kind) {
    case ExprKind::Constant:
    case ExprKind::Name: break;
    case ExprKind::FormattedString:
      for (FormatPart& p : as<FormattedString>(e)->parts) optional(p.value), optional(p.spec);
      break;
    case ExprKind::Attribute: f(as<Attribute>(e)->value); break;
    case ExprKind::Subscript: f(as<Subscript>(e)->value), f(as<Subscript>(e)->index); break;
    case ExprKind::Slice: {
      auto* s = as<Slice>(e);
      optional(s->lower), optional(s->upper), optional(s->step);
      break;
    }
    case ExprKind::Call:
      f(as<Call>(e)->function);
      all(as<Call>(e)->args);
      for (Keyword& k : as<Call>(e)->keywords) f(k.value);
      break;
    case ExprKind::Unary: f(as<Unary>(e)->operand); break;
    case ExprKind::Binary: f(as<Binary>(e)->left), f(as<Binary>(e)->right); break;
    case ExprKind::BoolOp: all(as<BoolOp>(e)->values); break;
    case ExprKind::Compare: f(as<Compare>(e)->left), all(as<Compare>(e)->comparators); break;
    case ExprKind::Conditional: {
      auto* c = as<Conditional>(e);
      f(c->condition), f(c->then_value), f(c->else_value);
      break;
    }
    case ExprKind::Lambda:
      for (Parameter& p : as<Lambda>(e)->params) optional(p.default_value);
      f(as<Lambda>(e)->body);
      break;
    case ExprKind::NamedExpr: f(as<NamedExpr>(e)->value); break;
    case ExprKind::Starred: f(as<Starred>(e)->value); break;
    case ExprKind::Tuple: all(as<Tuple>(e)->items); break;
    case ExprKind::ListDisplay: all(as<ListDisplay>(e)->items); break;
    case ExprKind::SetDisplay: all(as<SetDisplay>(e)->items); break;
    case ExprKind::DictDisplay:
      for (DictItem& item : as<DictDisplay>(e)->items) optional(item.key), f(item.value);
      break;
    case ExprKind::Comprehension: {
      auto* c = as<Comprehension>(e);
      for (ComprehensionFor& clause : c->clauses) {
        f(clause.iterable), f(clause.target), all(clause.conditions);
      }
      f(c->element), optional(c->value);
      break;
    }
    case ExprKind::Yield: optional(as<Yield>(e)->value); break;
    case ExprKind::YieldFrom: f(as<YieldFrom>(e)->value); break;
  }
}

/// f(Expr*&) for each expression that belongs to `s` itself, not to statements inside it. Targets are among them.
template <class F>
void each_expression(Stmt* s, F&& f) {
  auto optional = [&](Expr*& slot) {
    if (slot) f(slot);
  };
  auto all = [&](List<Expr*> items) {
    for (Expr*& item : items) f(item);
  };
  switch (s->kind) {
    case StmtKind::Expression: f(as<Expression>(s)->value); break;
    case StmtKind::Assign: f(as<Assign>(s)->value), all(as<Assign>(s)->targets); break;
    case StmtKind::AugAssign: f(as<AugAssign>(s)->target), f(as<AugAssign>(s)->value); break;
    case StmtKind::AnnAssign:
      optional(as<AnnAssign>(s)->value), f(as<AnnAssign>(s)->target), f(as<AnnAssign>(s)->annotation);
      break;
    case StmtKind::If: f(as<If>(s)->condition); break;
    case StmtKind::While: f(as<While>(s)->condition); break;
    case StmtKind::For: f(as<For>(s)->iterable), f(as<For>(s)->target); break;
    case StmtKind::Return: optional(as<Return>(s)->value); break;
    case StmtKind::FunctionDef: {
      auto* d = as<FunctionDef>(s);
      all(d->decorators);
      for (Parameter& p : d->params) optional(p.default_value), optional(p.annotation);
      optional(d->returns);
      break;
    }
    case StmtKind::ClassDef: all(as<ClassDef>(s)->decorators), optional(as<ClassDef>(s)->base); break;
    case StmtKind::With:
      for (WithItem& item : as<With>(s)->items) f(item.context), optional(item.target);
      break;
    case StmtKind::Try:
      for (ExceptHandler& h : as<Try>(s)->handlers) optional(h.type);
      break;
    case StmtKind::Raise: optional(as<Raise>(s)->exception), optional(as<Raise>(s)->cause); break;
    case StmtKind::Assert: f(as<Assert>(s)->condition), optional(as<Assert>(s)->message); break;
    case StmtKind::Delete: all(as<Delete>(s)->targets); break;
    case StmtKind::Break:
    case StmtKind::Continue:
    case StmtKind::Pass:
    case StmtKind::Import:
    case StmtKind::ImportFrom:
    case StmtKind::Global:
    case StmtKind::Nonlocal: break;
  }
}

/// f(Block&) for each block of a compound statement; those of functions and classes are not its own.
template <class F>
void each_block(Stmt* s, F&& f) {
  switch (s->kind) {
    case StmtKind::If: f(as<If>(s)->body), f(as<If>(s)->orelse); break;
    case StmtKind::While: f(as<While>(s)->body), f(as<While>(s)->orelse); break;
    case StmtKind::For: f(as<For>(s)->body), f(as<For>(s)->orelse); break;
    case StmtKind::With: f(as<With>(s)->body); break;
    case StmtKind::Try:
      f(as<Try>(s)->body);
      for (ExceptHandler& h : as<Try>(s)->handlers) f(h.body);
      f(as<Try>(s)->orelse), f(as<Try>(s)->finally);
      break;
    default: break;
  }
}

/// f(const Expr*) for `e` and all below it, outer ones first; where f says false, what is below is left out. Needs no recursion.
template <class F>
void each_node(const Expr* e, F&& f) {
  std::vector<Expr*> open{const_cast<Expr*>(e)};
  while (!open.empty()) {
    Expr* node = open.back();
    open.pop_back();
    if (f(static_cast<const Expr*>(node))) each_child(node, [&](Expr*& child) { open.push_back(child); });
  }
}

}  // namespace tfl::ast
