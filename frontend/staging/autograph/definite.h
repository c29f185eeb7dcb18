// Definite assignment: variables of a function that have a value wherever they are read, whichever way its branches and loops go. Where
// lowering jumps to flags has made it seem otherwise, such a variable may hold anything, because nothing will read it.
// This header must not know how jumps are lowered.
#pragma once

#include "frontend/syntax/ast/names.h"

namespace tfl::autograph {

using namespace ast;

/// The local variables that are always assigned before they are read, without those that have a value before the first compound
/// statement that binds them. Looks at the function as it was written.
NameSet always_assigned(const FunctionDef* def);

}  // namespace tfl::autograph
