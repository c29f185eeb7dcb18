// How the axes of a reduction lie in memory: brought to one of two forms that the loops serve, by a copy where they are neither.
// This header must not know what is reduced.
#pragma once

#include "runtime/core/context.h"
#include "runtime/support/result.h"
#include "runtime/tensor/tensor.h"

namespace tfl {

/// The reduced axes are [length] and the results [outer][columns]. With columns == 1 each result has a sequence of `length`
/// elements in a row, sequences `outer_stride` apart. Otherwise the element of result (o, c) at place r lies at
/// o * outer_stride + r * row_stride + c.
struct ReduceLayout {
  Tensor source;  // keeps a copy alive
  const std::byte* data = nullptr;
  int64_t length = 1;
  int64_t outer = 1;
  int64_t columns = 1;
  int64_t outer_stride = 0;
  int64_t row_stride = 0;
};

/// `reduced` says of every axis of `x` whether it goes. The order of the reduced elements is row-major.
Result<ReduceLayout> reduce_layout(Context& context, const Tensor& x, std::span<const bool> reduced);

}  // namespace tfl
