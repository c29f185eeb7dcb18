// The operations on arrays of tensors, over values. This header must not know graphs or how they run.
#pragma once

#include "ir/datum.h"

namespace tfl::ir {

using Array = std::shared_ptr<ArrayContent>;

/// Runs array operation `op`. `array` (null for operations that make one) is consumed: a content that nobody else holds is changed
/// in place. `tensors` are the operands that are no arrays, in order; what comes out is left in `array` and `tensors`.
Result<void> run_array(Context& context, Op op, const Attrs& attrs, const Type& result, Array& array, Array& other,
                       Tensors& tensors);

/// An array that grows, whose elements are the first `count` rows of `rows`.
Result<Array> array_of_rows(Context& context, const TensorType& element, Tensor rows, int64_t count);

}  // namespace tfl::ir
