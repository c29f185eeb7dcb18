// Reductions: the order in which elements are combined, which is part of the language, and the loops that keep to it.
//
// The elements that go into one result, in row-major order of the reduced axes, are x[0] .. x[n-1].
//
//   block   x is cut into blocks of 4,096; the last may be shorter.
//   lane    Lane j of a block combines the block's elements j, j + 16, j + 32, ... from left to right.
//   lanes   The lanes of a block are combined as a binary tree: lane j with j + 8, then j with j + 4, j + 2, j + 1. Only lanes that
//           have an element take part.
//   blocks  Blocks are combined as a binary tree of neighbours: 0 with 1, 2 with 3, ..., then these results in the same way, and
//           so on; the last of an odd number goes up unchanged.
//
// No element takes part in any operation with something that is not an element: the sum of a -0 is -0. What the loops fill
// spare lanes with is neutral to the bit (-0 for sums, 1 for products, infinities for extremes). Half types are combined in f32
// and rounded once; a mean is the sum, divided once. Integers wrap, so their order does not matter; their mean is the sum in 64
// bits, divided towards zero. NaN goes through maximum and minimum.
//
// This header must not know shapes of tensors: the loops are given sequences and columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/context.h"
#include "runtime/tensor/dtype.h"

namespace tfl {

inline constexpr int64_t kReduceBlock = 4096;
inline constexpr int kReduceLanes = 16;
/// Bytes of partial results of the columns that are best reduced side by side.
inline constexpr int kReduceStripBytes = 2048;

enum class ReduceKind : uint8_t { sum, prod, max, min, wide_sum };  // wide_sum: integers into 64 bits
inline constexpr int kReduceKinds = 5;

/// One kind of reduction of one element type. Partial results are of `partial` bytes: f32 for half types, 64 bits for wide_sum.
struct ReduceLoop {
  size_t partial = 0;  // 0: there is no such reduction
  /// `count` sequences of `n` elements (1 <= n <= kReduceBlock) in a row, `stride` elements apart; one partial result each.
  void (*sequences)(const std::byte* x, int64_t stride, int64_t count, int64_t n, std::byte* out) = nullptr;
  /// `rows` rows (1 <= rows <= kReduceBlock), `stride` elements apart, of `columns` elements; one partial result a column.
  void (*columns)(const std::byte* x, int64_t stride, int64_t rows, int64_t columns, std::byte* out) = nullptr;
  /// Combines `blocks` rows of `width` partial results into the first of them.
  void (*tree)(std::byte* partials, int64_t blocks, int64_t width) = nullptr;
  /// Partial results to elements, divided by `divisor` unless that is 0.
  void (*finish)(const std::byte* partials, int64_t n, int64_t divisor, std::byte* out) = nullptr;
};
struct ReduceLoops {
  ReduceLoop of[kReduceKinds][kDTypeCount];
};
const ReduceLoops& reduce_loops(IsaLevel isa);
/// Products of complex numbers; their sums are those of their parts.
const ReduceLoop& complex_product_loop(DType dtype);

/// The index of the first extreme element; NaN is passed over. 0 when there is nothing but NaN.
struct ArgLoop {
  int64_t (*sequence)(const std::byte* x, int64_t n) = nullptr;
  /// Row by row: takes rows [0, rows) of `columns` elements, `stride` elements apart, into `index`.
  void (*columns)(const std::byte* x, int64_t stride, int64_t rows, int64_t columns, int64_t* index) = nullptr;
};
struct ArgLoops {
  ArgLoop of[2][kDTypeCount];  // [argmax, argmin]
};
const ArgLoops& arg_loops(IsaLevel isa);

}  // namespace tfl
