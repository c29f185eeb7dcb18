// What a debugger needs of running code: part of the module `_frames`.
#pragma once

#include <span>

#include "frontend/core/native.h"

namespace tfl {

std::span<const NativeDef> debugging_natives();
/// What marks in debugged code look at (debugging.cpp).
Value debugging_state(Interp& interp);

}  // namespace tfl
