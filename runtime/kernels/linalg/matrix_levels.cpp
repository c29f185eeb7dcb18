// The loops of linear algebra of each instruction set level.
#include "runtime/kernels/isa_levels.h"
#include "runtime/kernels/linalg/matrix_kernels.h"

namespace tfl {

TFL_EVERY_LEVEL(extern const MatrixLevel kMatrixLevel;)

const MatrixLevel& matrix_level(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kMatrixLevel); }

}  // namespace tfl
