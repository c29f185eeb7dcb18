// Elementwise loops over integers of 8 and 16 bits and bool.
#include "runtime/kernels/isa/elementwise_loops.h"

namespace tfl {
inline namespace TFL_ISA {

const ElementwiseLoop kLoopsI8[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) \
  loop_of<rows::Row_##name, std::int8_t, false>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

const ElementwiseLoop kLoopsI16[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) \
  loop_of<rows::Row_##name, std::int16_t, false>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

const ElementwiseLoop kLoopsU8[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) \
  loop_of<rows::Row_##name, std::uint8_t, false>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

const ElementwiseLoop kLoopsU16[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) \
  loop_of<rows::Row_##name, std::uint16_t, false>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

const ElementwiseLoop kLoopsBool[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) \
  loop_of<rows::Row_##name, std::uint8_t, true>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

}  // namespace TFL_ISA
}  // namespace tfl
