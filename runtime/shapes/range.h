// The number of elements of a range, which its shape rule and its kernel both need.
// This header must not know how ranges are written in scripts.
#pragma once

#include "runtime/ops/op.h"

namespace tfl {

/// For three operands of one element each and one numeric type; or what TensorFlow says of a range that does not end.
Result<int64_t> range_size(Op op, const Attrs& attrs, const Tensor& start, const Tensor& limit, const Tensor& delta);

}  // namespace tfl
