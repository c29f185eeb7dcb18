// Softmax of rows that lie one after the other, a few rows at a time while they are in a cache: maximum, exponential of the
// difference, sum and quotient, with the bits of these operations applied in turn. This header must not know which axis is meant.
#pragma once

#include "runtime/core/context.h"
#include "runtime/kernels/reduce/softmax_loops.h"
#include "runtime/support/result.h"
#include "runtime/tensor/tensor.h"

namespace tfl {

/// Whether `x` is f32 or f64 without gaps, and its rows are of a length that the loops take.
bool has_softmax_rows(const Tensor& x);
/// Over the last axis; `logs`: the logarithm of it.
Result<Tensor> softmax_rows(Context& context, const Tensor& x, bool logs);

}  // namespace tfl
