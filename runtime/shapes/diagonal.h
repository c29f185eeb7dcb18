// Diagonals low .. high of matrices (0 the main one, positive above it), as they lie in a packed tensor: one row a diagonal,
// the highest first, shorter ones padded on the side that the alignment says.
#pragma once

#include <algorithm>

#include "runtime/ops/attrs.h"

namespace tfl {

struct DiagonalBand {
  int64_t low = 0, high = 0;
  bool left_super = false;  // diagonals above the main one begin at the left of their row
  bool left_sub = true;

  int64_t count() const { return high - low + 1; }
  static int64_t length(int64_t d, int64_t rows, int64_t cols) {
    return std::max<int64_t>(0, std::min(rows + std::min<int64_t>(d, 0), cols - std::max<int64_t>(d, 0)));
  }
  int64_t longest(int64_t rows, int64_t cols) const {
    return std::max<int64_t>(0, std::min(rows + std::min<int64_t>(high, 0), cols - std::max<int64_t>(low, 0)));
  }
  /// Where the first element of diagonal `d` lies in its row of `longest` places.
  int64_t start(int64_t d, int64_t rows, int64_t cols) const {
    bool left = (d >= 0 && left_super) || (d <= 0 && left_sub);
    return left ? 0 : longest(rows, cols) - length(d, rows, cols);
  }
};

/// From the attributes k (one or two diagonals) and mode ("RIGHT_LEFT": above to the right, below to the left, and so on).
DiagonalBand diagonal_band(const Attrs& attrs);

}  // namespace tfl
