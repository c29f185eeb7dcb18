// What stands in the parentheses of a class statement. With keywords (`class A(B, tag=1)`), ClassDef::base is a call whose function
// is the starred base (`*None` without one): no other call has such a function, and whoever only visits names and values need not
// know. Must not know what a keyword means.
#pragma once

#include "frontend/syntax/ast/ast.h"

namespace tfl::ast {

/// The call that holds the keywords, or nullptr.
inline const Call* class_keywords(const ClassDef* def) {
  if (!def->base || def->base->kind != ExprKind::Call) return nullptr;
  const auto* call = as<Call>(static_cast<const Expr*>(def->base));
  return call->function->kind == ExprKind::Starred ? call : nullptr;
}

/// The base itself, or nullptr.
inline const Expr* class_base(const ClassDef* def) {
  const Call* call = class_keywords(def);
  if (!call) return def->base;
  const Expr* base = as<Starred>(static_cast<const Expr*>(call->function))->value;
  bool none = base->kind == ExprKind::Constant && as<Constant>(base)->constant == ConstantKind::None;
  return none ? nullptr : base;
}

}  // namespace tfl::ast
