// Several arrays of one shape walked together, each with its own strides: dimensions that are one run in all of them merged, and
// runs of the walk packed into contiguous blocks. This header must not know operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/support/small_vec.h"

namespace tfl {

struct Walk {
  static constexpr int kMaxOperands = 4;
  Dims sizes;
  int operands = 0;
  Dims strides[kMaxOperands];  // in elements

  void add(std::span<const int64_t> operand_strides) { strides[operands++] = Dims(operand_strides); }
  /// Drops sizes of 1 and merges neighbours that are one run in every operand. A rank of 0 is a single element.
  void collapse();
};

/// The strides that make an operand of these sizes look like one of sizes `dims`, to which they broadcast.
Dims broadcast_strides(std::span<const int64_t> operand_dims, std::span<const int64_t> operand_strides,
                       std::span<const int64_t> dims);

/// Elements [first, first + count) of the row-major order over `sizes`, of an array with these strides, one after another into
/// `to`. `element` is 1, 2, 4 or 8 bytes.
void pack_elements(size_t element, std::span<const int64_t> sizes, std::span<const int64_t> strides, const std::byte* from,
                   int64_t first, int64_t count, std::byte* to);

}  // namespace tfl
