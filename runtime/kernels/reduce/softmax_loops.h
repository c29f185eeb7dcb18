// The loops of softmax, one set for each instruction set level. This header must not know tensors or threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/reduce/reduce.h"

namespace tfl {

/// Rows from this length on, up to the other; shorter ones are not worth the calls.
inline constexpr int64_t kShortestSoftmaxRow = 64;
inline constexpr int64_t kLongestSoftmaxRow = int64_t{1} << 18;
/// Rows that are taken together, as long as all of them are one block: reductions of one alone wait for each of its operations.
inline constexpr int64_t kSoftmaxRowsTogether = 4;

/// `rows` (1 to kSoftmaxRowsTogether; 1 when n > kReduceBlock) rows of n elements without gaps; `logs`: the logarithm of softmax.
using SoftmaxLoop = void (*)(const std::byte* x, int64_t rows, int64_t n, bool logs, std::byte* out);
struct SoftmaxLoops {
  SoftmaxLoop f32, f64;
};

}  // namespace tfl
