// The loops of Fourier transforms of each instruction set level.
#include "runtime/kernels/fourier/fourier_kernels.h"
#include "runtime/kernels/isa_levels.h"

namespace tfl {

TFL_EVERY_LEVEL(extern const FourierLevel kFourierLevel;)

const FourierLevel& fourier_level(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kFourierLevel); }

}  // namespace tfl
