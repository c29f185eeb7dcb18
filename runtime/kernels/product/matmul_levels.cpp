// The product tiles of each instruction set level.
#include "runtime/kernels/isa_levels.h"
#include "runtime/kernels/product/matmul.h"

namespace tfl {

TFL_EVERY_LEVEL(extern const ProductKernels kProductKernels;)

const ProductKernels& product_kernels(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kProductKernels); }

}  // namespace tfl
