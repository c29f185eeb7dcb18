// A syntax tree as text, one node a line with its span, for `tfl dump --ast` and for tests. Stable: what it prints is compared.
// This header must not know about parsing.
#pragma once

#include <string>

#include "frontend/syntax/ast/ast.h"

namespace tfl::ast {

std::string dump_ast(const Module& module);
std::string dump_ast(const Expr& expr);

}  // namespace tfl::ast
