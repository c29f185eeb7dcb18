// How much memory linear algebra takes, for whoever sets it aside: eager kernels and plans. This header must not know the loops.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/routine.h"

namespace tfl::matrices {

/// A flag of `factor`: eigenvalues or singular values without vectors, whose memory is not there.
inline constexpr int64_t kMatrixValues = 64;

/// Up to here the plain loops of matrix.h do best, in f64; above the blocked ones of dense.h, floats in f32 above kMatrixWide.
inline constexpr int64_t kMatrixSmall = 12, kMatrixWide = 64;
/// Up to here Jacobi's rotations find eigenvalues and singular values.
inline constexpr int64_t kSpectralSmall = 4;
/// Elimination without a solution has little to gain from blocks.
inline constexpr int64_t kEliminationSmall = 32;
inline constexpr int64_t matrix_small(MatrixFactor kind) {
  return kind >= MatrixFactor::eigen ? kSpectralSmall : kind == MatrixFactor::qr ? kMatrixSmall : kEliminationSmall;
}
inline constexpr int64_t matrix_small(MatrixSolve kind) {
  return kind == MatrixSolve::determinant ? kEliminationSmall : kMatrixSmall;
}

/// Elements of f64 that one matrix takes. Polynomials of the sizes (N may be any type with + and *), so that plans can write them down.
/// Permutations of 32-bit integers lie in them, too.
template <class N>
N solve_scratch(bool small, N n, N columns) {
  N plain = n * n + n * columns * 2 + n;
  if (small) return plain;
  return plain + n * n * 6 + n * columns * 4 + n * 1024 + columns * 512 + 16384;
}
/// `least`: the smaller side's square, or more. That the matrix is small means that this side is.
template <class N>
N factor_scratch(MatrixFactor kind, int64_t flags, bool small, N rows, N columns, N least) {
  N a = rows * columns;
  N plain = kind == MatrixFactor::singular ? a + rows * rows + columns * columns + rows + columns
            : kind == MatrixFactor::qr     ? a + rows * rows
            : kind == MatrixFactor::eigen  ? a + rows * rows + rows
                                           : a + rows;
  if (small) return plain;
  if (kind == MatrixFactor::qr) {
    N k = flags & kMatrixFull ? rows : columns;
    return a * 4 + rows * k * 2 + k * columns + (rows + columns + k) * 512 + 16384;
  }
  const N lines = (rows + columns) * 800 + 32768;
  if (kind == MatrixFactor::eigen) return a * 12 + lines;
  if (kind == MatrixFactor::singular) {
    N most = a * 5 + least * 14 + lines;
    if (flags & kMatrixFull) return most + (rows * rows + columns * columns) * 3;
    return most;
  }
  return solve_scratch<N>(false, rows, columns);
}
/// How many matrices are worked on at once, each on one thread: 1 where all threads work on each.
inline int64_t matrix_lots(int64_t count, int64_t rows, int64_t columns) {
  constexpr int64_t kMost = 8, kElements = 128 * 128;
  return rows <= kElements && columns <= kElements && rows * columns <= kElements ? std::clamp<int64_t>(count, 1, kMost) : 1;
}

}  // namespace tfl::matrices
