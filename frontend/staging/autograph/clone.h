// A copy of a part of a tree that a pass may change. Names and text stay those of the original's arena.
#pragma once

#include "frontend/syntax/ast/ast.h"

namespace tfl::autograph {

ast::Expr* clone(ast::Arena& arena, const ast::Expr* e);
ast::Stmt* clone(ast::Arena& arena, const ast::Stmt* s);

}  // namespace tfl::autograph
