// The routines whose loops are vectors, at the instruction set level that the program runs at. This header must not know tensors.
#pragma once

#include "runtime/kernels/routine.h"

namespace tfl {

enum class IsaLevel : uint8_t;

RoutineFunction scan_routine(IsaLevel isa);
RoutineFunction scatter_routine(IsaLevel isa);
RoutineFunction segment_routine(IsaLevel isa);
RoutineFunction sort_routine(IsaLevel isa);

}  // namespace tfl
