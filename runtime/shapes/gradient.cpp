// Shape rules of the operations that only gradients use.
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

namespace {

// A result whose sizes are those that `operand` holds.
Result<void> give_sizes(InferCall& call, DType dtype, const OperandInfo& operand) {
  if (std::optional<Dims> sizes = integers(operand)) return give(call, ranked(dtype, std::move(*sizes)));
  const TensorType& t = operand.type;
  if (!t.ranked || t.dims.size() != 1 || !known(t.dims[0])) return give(call, unranked(dtype));
  return give(call, ranked(dtype, Dims(static_cast<size_t>(t.dims[0]), -1)));
}

}  // namespace

Result<void> infer_sum_to_shape(InferCall& call) {
  TFL_TRY(check_index_dtype(call.op, "Tidx", call.operands[1].type.dtype, false));
  return give_sizes(call, call.operands[0].type.dtype, call.operands[1]);
}

Result<void> infer_strided_slice_grad(InferCall& call) {
  TFL_TRY(check_index_dtype(call.op, "Index", call.operands[0].type.dtype));
  for (size_t i = 1; i < 4; ++i) {
    TFL_TRY(check_same_dtype("StridedSliceGrad", i, call.operands[0].type.dtype, call.operands[i].type.dtype));
  }
  return give_sizes(call, call.operands[4].type.dtype, call.operands[0]);
}

}  // namespace tfl
