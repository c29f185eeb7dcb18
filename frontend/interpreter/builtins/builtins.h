// The builtins module: its functions, the types that have a name there, the exception classes, NotImplemented and Ellipsis.
#pragma once

#include "frontend/core/interp.h"

namespace tfl {

/// Puts every name of the builtins module into `module`'s dictionary. Types and exception types exist already.
void fill_builtins(Interp& interp, Module* module);

/// print's rows, for whoever writes to the program's streams in the same way.
std::span<const NativeDef> builtin_functions();

}  // namespace tfl
