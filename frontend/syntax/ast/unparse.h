// Source text of a tree: valid TFL that means the same, one statement a line, four spaces a level, parentheses only where needed.
// Comments and the author's layout are gone. This header must not know where the tree comes from.
#pragma once

#include <string>

#include "frontend/syntax/ast/ast.h"

namespace tfl::ast {

std::string unparse(const Expr* e);
std::string unparse(const Stmt* s, int level = 0);
std::string unparse(Block block, int level = 0);

}  // namespace tfl::ast
