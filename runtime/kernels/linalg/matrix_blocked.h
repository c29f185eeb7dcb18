// One large matrix of linear algebra: copied, worked on by the blocked loops of dense.h in C, and rounded. This header must not know tensors or
// batches.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/linalg/dense_spectral.h"
#include "runtime/kernels/linalg/matrix_small.h"

namespace tfl::matrices {

template <class C>
dense::Tools<C> tools_for(const Workers& workers, const MatrixLevel& level, double* memory, int64_t elements) {
  // Memory of f64 has room for as many elements of C.
  C* from = reinterpret_cast<C*>(memory);
  if constexpr (std::is_same_v<C, float>)
    return {workers, *level.f32, *level.product_f32, from, from + 2 * elements};
  else
    return {workers, *level.f64, *level.product_f64, from, from + elements};
}

/// Rows of a given array as rows of C, and back.
template <class C, class T>
void read_row(const T* from, int64_t n, C* to) {
  if constexpr (std::is_same_v<C, double>) {
    widen(from, n, to);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<C>(from[i]);
  }
}
template <class C, class T>
void write_row(const C* from, int64_t n, T* to) {
  if constexpr (std::is_same_v<C, double>) {
    narrow(from, n, to);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
  }
}
template <class C, class T>
void read_matrix(const T* from, int64_t rows, int64_t columns, C* to, int64_t stride) {
  for (int64_t i = 0; i < rows; ++i) read_row(from + i * columns, columns, to + i * stride);
}
template <class C, class T>
void write_matrix(const C* from, int64_t stride, int64_t rows, int64_t columns, T* to) {
  for (int64_t i = 0; i < rows; ++i) write_row(from + i * stride, columns, to + i * columns);
}
template <class C>
void transpose_square(C* a, int64_t n, int64_t stride) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) std::swap(a[i * stride + j], a[j * stride + i]);
  }
}

template <class C, class T>
bool solve_blocked(const Workers& workers, const MatrixLevel& level, MatrixSolve kind, int64_t flags, const T* a, const T* b,
                   T* out, double* memory, int64_t elements, int64_t n, int64_t columns) {
  dense::Tools<C> tools = tools_for<C>(workers, level, memory, elements);
  const int64_t stride = dense::stride_of(n);
  C* m = tools.take(n * stride);
  read_matrix(a, n, n, m, stride);
  if (kind == MatrixSolve::cholesky) {
    const bool done = dense::cholesky(tools, n, m, stride);
    if (workers.interrupted()) return true;
    for (int64_t i = 0; i < n; ++i) {
      if (!done) std::fill(m + i * stride, m + i * stride + i + 1, std::numeric_limits<C>::quiet_NaN());
      std::fill(m + i * stride + i + 1, m + i * stride + n, C(0));
    }
    write_matrix(m, stride, n, n, out);
    return true;
  }
  if (kind != MatrixSolve::determinant && flags & kMatrixAdjoint) transpose_square(m, n, stride);
  const int64_t width = dense::stride_of(columns);
  if (kind == MatrixSolve::triangular) {
    C* x = tools.take(n * width);
    read_matrix(b, n, columns, x, width);
    const bool lower = flags & kMatrixLower, turned = flags & kMatrixAdjoint;
    dense::triangular(tools, n, columns, m, stride, x, width, lower != turned, false);
    write_matrix(x, width, n, columns, out);
    return true;
  }
  auto* order = reinterpret_cast<int32_t*>(tools.take(n));
  const int sign = dense::lu(tools, n, m, stride, order);
  if (kind == MatrixSolve::determinant) {
    double product = sign;
    for (int64_t k = 0; k < n; ++k) product *= static_cast<double>(m[k * stride + k]);
    narrow(&product, 1, out);
    return true;
  }
  for (int64_t i = 0; i < n; ++i) {
    if (!(std::fabs(m[i * stride + i]) > 0)) return workers.interrupted();
  }
  C* x = tools.take(n * width);
  if (b) {
    for (int64_t i = 0; i < n; ++i) read_row(b + order[i] * columns, columns, x + i * width);
    dense::triangular(tools, n, columns, m, stride, x, width, true, true);
  } else {
    dense::lower_inverse(tools, n, m, stride, x, width);
  }
  dense::triangular(tools, n, columns, m, stride, x, width, false, false);
  if (workers.interrupted()) return true;
  if (b) {
    write_matrix(x, width, n, columns, out);
    return true;
  }
  // Column i of the inverse of the permuted matrix belongs to row order[i].
  C* line = tools.take(n);
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t i = 0; i < n; ++i) line[order[i]] = x[r * width + i];
    write_row(line, n, out + r * n);
  }
  return true;
}

template <class C, class T>
bool factor_blocked(const Workers& workers, const MatrixLevel& level, MatrixFactor kind, int64_t flags, const T* a, T* first,
                    void* second, double* memory, int64_t elements, int64_t rows, int64_t columns) {
  dense::Tools<C> tools = tools_for<C>(workers, level, memory, elements);
  const int64_t stride = dense::stride_of(columns);
  C* m = tools.take(rows * stride);
  read_matrix(a, rows, columns, m, stride);
  T* other = static_cast<T*>(second);
  switch (kind) {
    case MatrixFactor::lu:
      if (dense::lu(tools, rows, m, stride, static_cast<int32_t*>(second)) == 0) return workers.interrupted();
      write_matrix(m, stride, rows, columns, first);
      return true;
    case MatrixFactor::log_determinant: {
      auto* order = reinterpret_cast<int32_t*>(tools.take(rows));
      const int sign = dense::lu(tools, rows, m, stride, order);
      double logarithm = 0, direction = sign;
      for (int64_t k = 0; k < rows; ++k) {
        const double pivot = static_cast<double>(m[k * stride + k]);
        logarithm += std::log(std::fabs(pivot));
        direction *= pivot < 0 ? -1 : 1;
      }
      if (sign == 0) logarithm = -std::numeric_limits<double>::infinity();
      narrow(&direction, 1, first);
      narrow(&logarithm, 1, other);
      return true;
    }
    case MatrixFactor::qr: {
      const int64_t k = flags & kMatrixFull ? rows : std::min(rows, columns), width = dense::stride_of(k);
      C* q = tools.take(rows * width);
      dense::qr(tools, rows, columns, m, stride, k, q, width);
      if (workers.interrupted()) return true;
      write_matrix(q, width, rows, k, first);
      write_matrix(m, stride, k, columns, other);
      return true;
    }
    default: return false;
  }
}

/// Makes the largest element of `a` 1 or a little less, by a power of two: values of the result are to be multiplied by 2 to the `exponent`. False
/// where an element is infinite or NaN.
inline bool scale_rows(double* a, int64_t rows, int64_t columns, int64_t stride, int& exponent) {
  double most = 0, sum = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      most = std::max(most, std::fabs(a[i * stride + j]));
      sum += a[i * stride + j] * 0;  // NaN of those
    }
  }
  exponent = 0;
  if (sum != 0 || most == 0) return sum == 0;
  std::frexp(most, &exponent);
  // In two steps, for the smallest numbers.
  const double first = std::ldexp(1.0, -exponent / 2), second = std::ldexp(1.0, -exponent - -exponent / 2);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) a[i * stride + j] = a[i * stride + j] * first * second;
  }
  return true;
}

/// Columns of `to` are rows of a basis, first those in `order`, from its end or from its beginning, then the others.
template <class T>
void write_basis(const double* rows, int64_t stride, int64_t length, int64_t columns, const int32_t* order, int64_t ordered,
                 bool falling, T* to) {
  constexpr int64_t kBlock = 16;
  double line[kBlock];
  for (int64_t c0 = 0; c0 < columns; c0 += kBlock) {
    const int64_t n = std::min(kBlock, columns - c0);
    const double* from[kBlock];
    for (int64_t c = 0; c < n; ++c) {
      const int64_t k = c0 + c;
      from[c] = rows + (k >= ordered ? k : falling ? order[ordered - 1 - k] : order[k]) * stride;
    }
    for (int64_t r = 0; r < length; ++r) {
      for (int64_t c = 0; c < n; ++c) line[c] = from[c][r];
      narrow(line, n, to + r * columns + c0);
    }
  }
}

template <class T>
void fill_nan(int64_t n, T* to) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int64_t i = 0; i < n; ++i) narrow(&nan, 1, to + i);
}

template <class T>
bool eigen_blocked(const Workers& workers, const MatrixLevel& level, int64_t flags, const T* a, T* values, T* vectors,
                   double* memory, int64_t elements, int64_t n) {
  dense::Tools<double> tools = tools_for<double>(workers, level, memory, elements);
  const int64_t stride = dense::stride_of(n);
  double *m = tools.take(n * stride), *z = tools.take(n * stride), *d = tools.take(n);
  auto* order = reinterpret_cast<int32_t*>(tools.take(n));
  read_matrix(a, n, n, m, stride);
  // The lower triangle is what counts; the upper one is worked on.
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) m[j * stride + i] = m[i * stride + j];
  }
  int exponent;
  if (!scale_rows(m, n, n, stride, exponent)) {
    fill_nan(n, values);
    if (!(flags & kMatrixValues)) fill_nan(n * n, vectors);
    return true;
  }
  dense::eigen(tools, n, m, stride, d, flags & kMatrixValues ? nullptr : z, order);
  if (workers.interrupted()) return true;
  for (int64_t i = 0; i < n; ++i) {
    const double value = std::ldexp(d[order[i]], exponent);
    narrow(&value, 1, values + i);
  }
  if (!(flags & kMatrixValues)) write_basis(z, stride, n, n, order, n, false, vectors);
  return true;
}

template <class T>
void singular_blocked(const Workers& workers, const MatrixLevel& level, int64_t flags, const T* a, T* values, T* u, T* v,
                      double* memory, int64_t elements, int64_t rows, int64_t columns) {
  dense::Tools<double> tools = tools_for<double>(workers, level, memory, elements);
  // A wide matrix is transposed, and the two bases change places.
  const bool wide = rows < columns;
  const int64_t m = std::max(rows, columns), n = std::min(rows, columns), wanted = flags & kMatrixFull ? m : n;
  const int64_t stride = dense::stride_of(n), long_stride = dense::stride_of(m);
  double *work = tools.take(m * stride), *long_rows = tools.take(wanted * long_stride), *short_rows = tools.take(n * stride),
         *d = tools.take(n);
  auto* order = reinterpret_cast<int32_t*>(tools.take(n));
  if (wide) {
    for (int64_t i = 0; i < rows; ++i) {
      read_row(a + i * columns, columns, long_rows);
      for (int64_t j = 0; j < columns; ++j) work[j * stride + i] = long_rows[j];
    }
  } else {
    read_matrix(a, rows, columns, work, stride);
  }
  int exponent;
  if (!scale_rows(work, m, n, stride, exponent)) {
    fill_nan(n, values);
    if (flags & kMatrixValues) return;
    fill_nan(rows * (wide ? n : wanted), u);
    return fill_nan(columns * (wide ? wanted : n), v);
  }
  if (flags & kMatrixValues) {
    // The squares' eigenvalues: what f64 loses of them is less than f32 can tell of the largest.
    const bool squares = sizeof(T) < sizeof(double);
    if (squares) {
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < m; ++i) long_rows[j * long_stride + i] = work[i * stride + j];
      }
      for (int64_t i = 0; i < m; i += kProductBlock)
        tools.multiply(n, n, std::min(kProductBlock, m - i), long_rows + i, long_stride, work + i * stride, stride, short_rows,
                       stride, i > 0);
      dense::eigen(tools, n, short_rows, stride, d, nullptr, order);
    } else {
      dense::singular(tools, m, n, work, stride, d, wanted, nullptr, long_stride, nullptr, stride, order);
    }
    if (workers.interrupted()) return;
    for (int64_t i = 0; i < n; ++i) {
      const double value = d[order[n - 1 - i]];
      const double scaled = std::ldexp(squares ? std::sqrt(std::max(value, 0.0)) : value, exponent);
      narrow(&scaled, 1, values + i);
    }
    return;
  }
  dense::singular(tools, m, n, work, stride, d, wanted, long_rows, long_stride, short_rows, stride, order);
  if (workers.interrupted()) return;
  for (int64_t i = 0; i < n; ++i) {
    const double value = std::ldexp(d[order[n - 1 - i]], exponent);
    narrow(&value, 1, values + i);
  }
  write_basis(long_rows, long_stride, m, wanted, order, n, true, wide ? v : u);
  write_basis(short_rows, stride, n, n, order, n, true, wide ? u : v);
}

}  // namespace tfl::matrices
