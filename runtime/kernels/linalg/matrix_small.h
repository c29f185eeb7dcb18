// One small matrix of linear algebra: widened to f64, worked on by the plain loops of matrix.h, and rounded once. This header must not know
// tensors or batches.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/kernels/linalg/matrix.h"
#include "runtime/kernels/linalg/matrix_sizes.h"
#include "runtime/kernels/routine.h"

namespace tfl::matrices {

template <class T>
void widen(const T* from, int64_t n, double* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<double>(from[i]);
}
template <class T>
void narrow(const double* from, int64_t n, T* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
}
inline std::span<int32_t> order_in(double* scratch, int64_t n) {
  return {reinterpret_cast<int32_t*>(scratch), static_cast<size_t>(n)};
}

inline bool zero_pivot(const Matrix& lu) {
  for (int64_t i = 0; i < lu.rows; ++i) {
    if (!(std::fabs(lu(i, i)) > 0)) return true;
  }
  return false;
}

/// Of one matrix; false where it has no inverse.
template <class T>
bool solve_one(MatrixSolve kind, int64_t flags, const T* a, const T* b, T* out, double* scratch, int64_t n, int64_t columns) {
  Matrix m{scratch, n, n};
  widen(a, n * n, m.data);
  double* rest = scratch + n * n;
  if (kind == MatrixSolve::cholesky) {
    if (!cholesky_in_place(m)) {
      for (int64_t i = 0; i < n * n; ++i) m.data[i] = i % n > i / n ? 0 : std::numeric_limits<double>::quiet_NaN();
    }
    narrow(m.data, n * n, out);
    return true;
  }
  if (kind == MatrixSolve::determinant) {
    double product = lu_in_place(m, order_in(rest, n));
    for (int64_t k = 0; k < n; ++k) product *= m(k, k);
    narrow(&product, 1, out);
    return true;
  }
  Matrix y{rest, n, columns}, x{rest + n * columns, n, columns};
  if (kind == MatrixSolve::triangular) {
    widen(b, n * columns, y.data);
    triangular_solve(m, y, flags & kMatrixLower, flags & kMatrixAdjoint);
    narrow(y.data, n * columns, out);
    return true;
  }
  if (flags & kMatrixAdjoint) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) std::swap(m(i, j), m(j, i));
    }
  }
  std::span<int32_t> order = order_in(x.data + n * columns, n);
  lu_in_place(m, order);
  if (zero_pivot(m)) return false;
  if (b) widen(b, n * columns, y.data);
  for (int64_t r = 0; r < n; ++r) {
    int64_t from = order[static_cast<size_t>(r)];
    for (int64_t c = 0; c < columns; ++c) x(r, c) = b ? y(from, c) : from == c;
  }
  lu_solve(m, x);
  narrow(x.data, n * columns, out);
  return true;
}

template <class T>
bool factor_one(MatrixFactor kind, int64_t flags, const T* a, T* first, void* second, double* scratch, int64_t rows,
                int64_t columns) {
  Matrix m{scratch, rows, columns};
  widen(a, rows * columns, m.data);
  double* rest = scratch + rows * columns;
  T* other = static_cast<T*>(second);
  switch (kind) {
    case MatrixFactor::lu:
      if (lu_in_place(m, {static_cast<int32_t*>(second), static_cast<size_t>(rows)}) == 0) return false;
      narrow(m.data, rows * columns, first);
      return true;
    case MatrixFactor::log_determinant: {
      int sign = lu_in_place(m, order_in(rest, rows));
      double logarithm = 0, direction = sign;
      for (int64_t k = 0; k < rows; ++k) {
        logarithm += std::log(std::fabs(m(k, k)));
        direction *= m(k, k) < 0 ? -1 : 1;
      }
      if (sign == 0) logarithm = -std::numeric_limits<double>::infinity();
      narrow(&direction, 1, first);
      narrow(&logarithm, 1, other);
      return true;
    }
    case MatrixFactor::qr: {
      Matrix q{rest, rows, rows};
      qr_in_place(m, q);
      int64_t k = flags & kMatrixFull ? rows : std::min(rows, columns);
      for (int64_t i = 0; i < rows; ++i) narrow(q.data + i * rows, k, first + i * k);
      narrow(m.data, k * columns, other);
      return true;
    }
    case MatrixFactor::eigen: {
      Matrix vectors{rest, rows, rows};
      double* values = rest + rows * rows;
      symmetric_eigen(m, {values, static_cast<size_t>(rows)}, vectors);
      narrow(values, rows, first);
      if (!(flags & kMatrixValues)) narrow(vectors.data, rows * rows, other);
      return true;
    }
    case MatrixFactor::singular: break;  // which has three results
  }
  return false;
}

// Singular values, largest first, and the bases on both sides.
template <class T>
void singular_one(int64_t flags, const T* a, T* values, T* u, T* v, double* scratch, int64_t rows, int64_t columns) {
  // The rotations work on a tall matrix: a wide one is transposed, and the two bases change places.
  const bool wide = rows < columns;
  const int64_t m = std::max(rows, columns), n = std::min(rows, columns);
  Matrix work{scratch, m, n}, vectors{work.data + m * n, n, n}, basis{vectors.data + n * n, m, m};
  double* found = basis.data + m * m;
  for (int64_t r = 0; r < rows; ++r) {
    double* line = found;  // elements one by one, as widen has them
    for (int64_t c = 0; c < columns; ++c) {
      widen(a + r * columns + c, 1, line);
      (wide ? work(c, r) : work(r, c)) = *line;
    }
  }
  singular_values(work, {found, static_cast<size_t>(n)}, vectors);
  if (flags & kMatrixValues) return narrow(found, n, values);
  int64_t known = 0;
  while (known < n && found[known] > 0) ++known;
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t c = 0; c < m; ++c) basis(r, c) = c < n ? work(r, c) : 0;
  }
  const int64_t tall = flags & kMatrixFull ? m : n;  // columns of the larger base
  if (known < tall) complete_basis(basis, known);
  narrow(found, n, values);
  for (int64_t r = 0; r < m; ++r) narrow(basis.data + r * m, tall, (wide ? v : u) + r * tall);
  narrow(vectors.data, n * n, wide ? u : v);
}

}  // namespace tfl::matrices
