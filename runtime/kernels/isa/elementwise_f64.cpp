// Elementwise loops over f64.
#include "runtime/kernels/isa/elementwise_loops.h"

namespace tfl {
inline namespace TFL_ISA {

const ElementwiseLoop kLoopsF64[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) loop_of<rows::Row_##name, double, false>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

}  // namespace TFL_ISA
}  // namespace tfl
