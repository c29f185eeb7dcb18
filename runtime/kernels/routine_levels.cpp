// The loops of routines of each instruction set level.
#include "runtime/kernels/routine_levels.h"

#include "runtime/kernels/isa_levels.h"

namespace tfl {

TFL_EVERY_LEVEL(extern const RoutineFunction kScan, kScatter, kSegment, kSort;)

RoutineFunction scan_routine(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kScan); }
RoutineFunction scatter_routine(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kScatter); }
RoutineFunction segment_routine(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kSegment); }
RoutineFunction sort_routine(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kSort); }

}  // namespace tfl
