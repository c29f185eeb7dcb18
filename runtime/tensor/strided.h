// Walking elements that lie at regular distances: fewer dimensions where neighbours can be merged, and plain copies.
// This header must not know about operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/support/small_vec.h"
#include "runtime/tensor/dtype.h"

namespace tfl {

/// Sizes and, for each of up to kMaxOperands arrays walked together, strides in elements. After `collapse` no size is 1
/// and no two neighbours could be one dimension; the innermost is the last. A rank of 0 is a single element.
struct Walk {
  static constexpr int kMaxOperands = 4;
  Dims sizes;
  int operands = 0;
  Dims strides[kMaxOperands];

  void collapse();
};

/// Copies elements (strings as objects) from one layout to another of the same sizes. The two must not overlap.
void copy_strided(DType dtype, std::span<const int64_t> dims, const std::byte* from, std::span<const int64_t> from_strides,
                  std::byte* to, std::span<const int64_t> to_strides);

/// `n` elements of 1, 2, 4, 8 or 16 bytes, `stride` elements apart, one after another into `to`.
void gather_run(size_t element, int64_t n, const std::byte* from, int64_t stride, std::byte* to);
/// And back: `n` elements in a row to places `stride` elements apart.
void scatter_run(size_t element, int64_t n, const std::byte* from, std::byte* to, int64_t stride);

}  // namespace tfl
