// Finds the definition of compiled code in the tree of its source again. This header must not know about values.
#pragma once

#include <string_view>

#include "frontend/syntax/ast/ast.h"

namespace tfl::autograph {

/// Exactly one of the first two is set; neither when there is no such definition.
struct Found {
  const ast::FunctionDef* def = nullptr;
  const ast::Lambda* lambda = nullptr;
  std::string_view owner;  // the innermost class around it
};

/// The function or lambda that stands at `span`.
Found find_definition(ast::Block module, Span span, bool lambda);

}  // namespace tfl::autograph
