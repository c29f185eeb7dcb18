// deque and its iterators as names of the module `_collections`.
#pragma once

#include "frontend/core/native_module.h"

namespace tfl::deques {

void define(Interp& interp, Module& module);

}  // namespace tfl::deques
