// The elementwise loops of each instruction set level.
#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/kernels/isa_levels.h"

namespace tfl {

TFL_EVERY_LEVEL(extern const ElementwiseLoops kElementwiseLoops; extern const HalfLoops kHalfLoops;)

const ElementwiseLoops& elementwise_loops(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kElementwiseLoops); }
const HalfLoops& half_loops(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kHalfLoops); }

}  // namespace tfl
