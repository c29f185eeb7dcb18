// The inner loops of linear algebra over dense rows, one copy an instruction set level (isa/matrix.cpp). Every sum has one order, which the
// index alone gives, so that all levels give the same bits.
#pragma once

#include <cstdint>

#include "runtime/kernels/product/matmul.h"

namespace tfl {

inline constexpr int64_t kMatrixLeaf = 8;  // rows or columns that the leaves of recursive factorisations take

template <class T>
struct MatrixKernels {
  T (*dot)(int64_t n, const T* x, const T* y);
  /// y += a x, fused.
  void (*add)(int64_t n, T a, const T* x, T* y);
  /// (x, y) = (c x + s y, c y - s x)
  void (*rotate)(int64_t n, T c, T s, T* x, T* y);
  /// y[i] = row i of a by x.
  void (*dots)(int64_t rows, int64_t n, const T* a, int64_t stride, const T* x, T* y);
  /// y += the sum of c[i] by row i of a, row after row.
  void (*combine)(int64_t rows, int64_t n, const T* a, int64_t stride, const T* c, T* y);
  /// Of a symmetric matrix of n rows, whose upper triangle lies in `a`, the share of its rows [first, last) in y += a x.
  void (*symmetric)(int64_t first, int64_t last, int64_t n, const T* a, int64_t stride, const T* x, T* y);
  /// Eliminates column `column` of `rows` rows below a pivot row: each is divided by the pivot, and what is behind it in the leaf, which has
  /// `width` columns, is updated. Where the next column's largest element is comes back.
  int64_t (*eliminate)(int64_t rows, int64_t column, int64_t width, const T* pivot, T* a, int64_t stride);
  /// b = inverse(a) b for a triangle of at most kMatrixLeaf rows; `unit`: ones are on its diagonal.
  void (*lower_leaf)(int64_t n, int64_t columns, const T* a, int64_t a_stride, T* b, int64_t b_stride, bool unit);
  void (*upper_leaf)(int64_t n, int64_t columns, const T* a, int64_t a_stride, T* b, int64_t b_stride, bool unit);
  /// The sum of z[i] / (d[i] - t), and in `slope` that of z[i] / (d[i] - t)^2.
  T (*poles)(int64_t n, const T* d, const T* z, T t, T* slope);
  /// x[i] = z[i] / x[i], and the sum of their squares comes back.
  T (*quotients)(int64_t n, const T* z, T* x);
};

struct MatrixLevel {
  const MatrixKernels<float>* f32;
  const MatrixKernels<double>* f64;
  const ProductTiles<float>* product_f32;
  const ProductTiles<double>* product_f64;
};

/// Of the instruction set level that the program runs at.
const MatrixLevel& matrix_level(IsaLevel isa);

}  // namespace tfl
