// What stands in the parentheses of a class statement. One base alone is ClassDef::base itself; with more (`class A(B, C)`,
// `class A(*bases, tag=1)`) it is a call that holds bases and keywords, whose function is a starred None: no other call has such a
// function, and whoever only visits names and values need not know. Must not know what a keyword means.
#pragma once

#include "frontend/syntax/ast/ast.h"

namespace tfl::ast {

/// The call that holds bases and keywords, or nullptr.
inline const Call* class_arguments(const ClassDef* def) {
  if (!def->base || def->base->kind != ExprKind::Call) return nullptr;
  const auto* call = as<Call>(static_cast<const Expr*>(def->base));
  return call->function->kind == ExprKind::Starred ? call : nullptr;
}

/// The one base that stands there alone, or nullptr.
inline const Expr* only_base(const ClassDef* def) { return class_arguments(def) ? nullptr : def->base; }

}  // namespace tfl::ast
