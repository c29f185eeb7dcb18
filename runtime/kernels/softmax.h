// Softmax of rows that lie one after the other, a row at a time while it is in a cache: maximum, difference,
// exponential, sum and quotient by the loops of the operations that it is made of, so that no bit differs from applying
// them in turn. This header must not know which axis is meant.
#pragma once

#include "runtime/context.h"
#include "runtime/support/result.h"
#include "runtime/tensor/tensor.h"

namespace tfl {

/// Rows from this length on, up to the other, of f32 or f64; shorter ones are not worth the calls.
inline constexpr int64_t kShortestSoftmaxRow = 64;
inline constexpr int64_t kLongestSoftmaxRow = int64_t{1} << 18;
bool has_softmax_rows(const Tensor& x);
/// Over the last axis; `logs`: the logarithm of it.
Result<Tensor> softmax_rows(Context& context, const Tensor& x, bool logs);

}  // namespace tfl
