// Python's indexing as TensorFlow's strided slice: from begin, end, strides and masks to the sizes of the result and where it
// starts. Used by the shape rule, the kernel and by whoever indexes without building index tensors.
#pragma once

#include "runtime/ops/structural.h"

namespace tfl {

struct SliceSpec {
  Dims begin, end, strides;  // one entry a written index
  int64_t begin_mask = 0;    // bit i: begin[i] is left out
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
};

struct SlicePlan {
  Dims dims;     // of the result; negative where the operand's size is unknown
  Dims axes;     // the operand's axis behind each axis of the result; -1 for a new one
  Dims begin;    // for each axis of the operand
  Dims strides;  // likewise
};

/// Fills an empty plan. InvalidArgumentError for an index out of range, too many indices, a zero stride.
Result<void> plan_slice(std::span<const int64_t> dims, const SliceSpec& spec, SlicePlan& plan);
inline Result<SlicePlan> plan_slice(std::span<const int64_t> dims, const SliceSpec& spec) {
  SlicePlan plan;
  TFL_TRY(plan_slice(dims, spec, plan));
  return plan;
}

/// The slice as a view of `x`.
Result<Tensor> slice_view(Context& context, const Tensor& x, const SliceSpec& spec);
/// x[i] of a tensor that has this row: 0 <= i < its first size.
Tensor row_view(Context& context, const Tensor& x, int64_t i);

}  // namespace tfl
