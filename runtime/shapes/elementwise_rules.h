// Types and sizes of elementwise operations: what eager execution and tracing both check.
// This header must not know kernels.
#pragma once

#include "runtime/ops/op.h"

namespace tfl {

/// The size two sizes broadcast to; negative sizes are unknown, and an unknown size is 1 or equal to the other at run time.
/// False when they cannot.
bool broadcast_size(int64_t a, int64_t b, int64_t& out);
/// Broadcasts `dims` into `into`; false when they do not fit.
bool broadcast_dims(Dims& into, std::span<const int64_t> dims);

/// The element type that all operands share (the second's of a choice), or TensorFlow's error.
Result<DType> check_elementwise_types(Op op, std::span<const DType> dtypes, const Attrs& attrs);
DType elementwise_result_type(Op op, DType operand);
/// "Incompatible shapes: [2,3] vs. [4]".
Failure incompatible_shapes(Op op, std::span<const TensorType> operands, const Attrs& attrs);

/// The whole rule.
Result<TensorType> infer_elementwise(Op op, std::span<const OperandInfo> operands, const Attrs& attrs);

}  // namespace tfl
