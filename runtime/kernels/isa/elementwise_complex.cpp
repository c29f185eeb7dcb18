// Elementwise loops over complex numbers.
#include "runtime/kernels/isa/elementwise_loops.h"

namespace tfl {
inline namespace TFL_ISA {

const ElementwiseLoop kLoopsC64[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) complex_loop_of<rows::Row_##name, c64>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

const ElementwiseLoop kLoopsC128[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) complex_loop_of<rows::Row_##name, c128>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

}  // namespace TFL_ISA
}  // namespace tfl
