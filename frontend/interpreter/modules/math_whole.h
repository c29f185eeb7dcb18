// The part of the math module that is about ints of any size.
#pragma once

#include "frontend/core/native.h"

namespace tfl {

std::span<const NativeDef> math_whole_functions();

}  // namespace tfl
