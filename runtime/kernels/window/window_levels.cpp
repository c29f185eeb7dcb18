// The window loops of each instruction set level.
#include "runtime/kernels/isa_levels.h"
#include "runtime/kernels/window/window_kernels.h"

namespace tfl {

TFL_EVERY_LEVEL(extern const WindowKernels kWindowKernels;)

const WindowKernels& window_kernels(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kWindowKernels); }

}  // namespace tfl
