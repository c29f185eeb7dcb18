// The random loops of each instruction set level.
#include "runtime/kernels/isa_levels.h"
#include "runtime/kernels/random/random_kernels.h"

namespace tfl {

TFL_EVERY_LEVEL(extern const RandomKernels kRandomKernels;)

const RandomKernels& random_kernels(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kRandomKernels); }

}  // namespace tfl
