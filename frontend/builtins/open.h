// open(), a row of the builtins table.
#pragma once

#include "frontend/vm/interp.h"

namespace tfl {

Result<Value> builtin_open(Interp& interp, Value* args);

}  // namespace tfl
