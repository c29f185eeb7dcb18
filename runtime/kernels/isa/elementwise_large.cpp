// Elementwise loops over integers of 32 and 64 bits.
#include "runtime/kernels/isa/elementwise_loops.h"

namespace tfl {
inline namespace TFL_ISA {

const ElementwiseLoop kLoopsI32[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) \
  loop_of<rows::Row_##name, std::int32_t, false>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

const ElementwiseLoop kLoopsI64[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) \
  loop_of<rows::Row_##name, std::int64_t, false>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

const ElementwiseLoop kLoopsU32[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) \
  loop_of<rows::Row_##name, std::uint32_t, false>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

const ElementwiseLoop kLoopsU64[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) \
  loop_of<rows::Row_##name, std::uint64_t, false>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

}  // namespace TFL_ISA
}  // namespace tfl
