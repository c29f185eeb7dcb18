// Elimination by halves: the left half of the columns, the rows above the rest, a product for what is left, the right half.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/linalg/dense.h"

namespace tfl::dense {

namespace {

constexpr int64_t kColumns = 128;        // of a right-hand side, by one thread at a time
constexpr int64_t kInverseColumns = 64;  // of a triangle's inverse: its parts begin at different rows
constexpr int64_t kFactorRows = 128;     // of a symmetric matrix, whose lower triangle is left alone

int64_t first_half(int64_t n) { return ((n / 2 + kMatrixLeaf - 1) / kMatrixLeaf) * kMatrixLeaf; }

// to = -from
template <class T>
void negated(int64_t rows, int64_t columns, const T* from, int64_t stride, T* to, int64_t to_stride) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[i * to_stride + j] = -from[i * stride + j];
  }
}

// `minus` is -a, beside it.
template <class T>
void solve_part(const Tools<T>& tools, int64_t n, int64_t columns, const T* a, const T* minus, int64_t stride, T* b,
                int64_t b_stride, bool lower, bool unit) {
  if (tools.interrupted()) return;
  if (n <= kMatrixLeaf)
    return (lower ? tools.kernels.lower_leaf : tools.kernels.upper_leaf)(n, columns, a, stride, b, b_stride, unit);
  const int64_t h = first_half(n), r = n - h;
  const int64_t low = h * stride, corner = low + h;
  T* below = b + h * b_stride;
  if (lower) {
    solve_part(tools, h, columns, a, minus, stride, b, b_stride, lower, unit);
    tools.multiply(r, columns, h, minus + low, stride, b, b_stride, below, b_stride, true);
    solve_part(tools, r, columns, a + corner, minus + corner, stride, below, b_stride, lower, unit);
  } else {
    solve_part(tools, r, columns, a + corner, minus + corner, stride, below, b_stride, lower, unit);
    tools.multiply(h, columns, r, minus + h, stride, below, b_stride, b, b_stride, true);
    solve_part(tools, h, columns, a, minus, stride, b, b_stride, lower, unit);
  }
}

template <class T>
int64_t largest(int64_t rows, const T* column, int64_t stride) {
  int64_t place = 0;
  for (int64_t i = 1; i < rows; ++i) {
    if (std::fabs(column[i * stride]) > std::fabs(column[place * stride])) place = i;
  }
  return place;
}

// Columns [k, k + width); whole rows change places.
template <class T>
void lu_columns(Tools<T>& tools, int64_t n, T* a, int64_t stride, int64_t k, int64_t width, int32_t* order, int& sign) {
  if (tools.interrupted()) return;
  if (width <= kMatrixLeaf) {
    int64_t pivot = k + largest(n - k, a + k * stride + k, stride);
    for (int64_t c = 0; c < width; ++c) {
      const int64_t row = k + c;
      if (a[pivot * stride + row] == 0) {
        sign = 0;
        if (c + 1 < width) pivot = row + 1 + largest(n - row - 1, a + (row + 1) * stride + row + 1, stride);
        continue;
      }
      if (pivot != row) {
        std::swap_ranges(a + row * stride, a + row * stride + n, a + pivot * stride);
        std::swap(order[row], order[pivot]);
        sign = -sign;
      }
      pivot = row + 1 + tools.kernels.eliminate(n - row - 1, c, width, a + row * stride + k, a + (row + 1) * stride + k, stride);
    }
    return;
  }
  const int64_t h = first_half(width), r = width - h, rows = n - k - h;
  lu_columns(tools, n, a, stride, k, h, order, sign);
  T* corner = a + k * stride + k;
  Tools<T> own = tools;
  triangular(own, h, r, corner, stride, corner + h, stride, true, true);
  const int64_t other = stride_of(r);
  T* minus = own.take(h * other);
  negated(h, r, corner + h, stride, minus, other);
  own.multiply(rows, r, h, corner + h * stride, stride, minus, other, corner + h * stride + h, stride, true);
  lu_columns(tools, n, a, stride, k + h, r, order, sign);
}

template <class T>
bool cholesky_part(const Tools<T>& tools, int64_t n, T* a, int64_t stride) {
  if (tools.interrupted()) return true;
  if (n <= kMatrixLeaf) {
    for (int64_t j = 0; j < n; ++j) {
      T d = a[j * stride + j];
      for (int64_t k = 0; k < j; ++k) d -= a[j * stride + k] * a[j * stride + k];
      if (!(d > 0)) return false;
      a[j * stride + j] = std::sqrt(d);
      for (int64_t i = j + 1; i < n; ++i) {
        T v = a[i * stride + j];
        for (int64_t k = 0; k < j; ++k) v -= a[i * stride + k] * a[j * stride + k];
        a[j * stride + i] = a[i * stride + j] = v / a[j * stride + j];
      }
    }
    return true;
  }
  const int64_t h = first_half(n), r = n - h;
  if (!cholesky_part(tools, h, a, stride)) return false;
  T *right = a + h, *low = a + h * stride, *corner = low + h;
  Tools<T> own = tools;
  triangular(own, h, r, a, stride, right, stride, true, false);
  const int64_t other = stride_of(h);
  T* minus = own.take(r * other);
  for (int64_t i = 0; i < r; ++i) {
    for (int64_t j = 0; j < h; ++j) {
      low[i * stride + j] = right[j * stride + i];
      minus[i * other + j] = -right[j * stride + i];
    }
  }
  for (int64_t i = 0; i < r; i += kFactorRows) {
    const int64_t rows = std::min(kFactorRows, r - i);
    own.multiply(rows, r - i, h, minus + i * other, other, right + i, stride, corner + i * stride + i, stride, true);
  }
  // The leaves read below the diagonal.
  for (int64_t i = 0; i < r; ++i) {
    for (int64_t j = i / kMatrixLeaf * kMatrixLeaf; j < i; ++j) corner[i * stride + j] = corner[j * stride + i];
  }
  return cholesky_part(tools, r, corner, stride);
}

}  // namespace

template <class T>
int lu(Tools<T> tools, int64_t n, T* a, int64_t stride, int32_t* order) {
  for (int64_t i = 0; i < n; ++i) order[i] = static_cast<int32_t>(i);
  int sign = 1;
  lu_columns(tools, n, a, stride, 0, n, order, sign);
  return sign;
}

template <class T>
void triangular(Tools<T> tools, int64_t n, int64_t columns, const T* a, int64_t stride, T* b, int64_t b_stride, bool lower,
                bool unit) {
  if (n <= kMatrixLeaf)
    return (lower ? tools.kernels.lower_leaf : tools.kernels.upper_leaf)(n, columns, a, stride, b, b_stride, unit);
  T* minus = tools.take(n * stride);
  negated(n, n, a, stride, minus, stride);
  tools.parts(columns, kColumns, n * n, product_memory(kColumns, n), [&](const Tools<T>& own, int64_t first, int64_t last) {
    solve_part(own, n, last - first, a, minus, stride, b + first, b_stride, lower, unit);
  });
}

template <class T>
void lower_inverse(Tools<T> tools, int64_t n, const T* a, int64_t stride, T* y, int64_t y_stride) {
  T* minus = tools.take(n * stride);
  negated(n, n, a, stride, minus, stride);
  tools.parts(n, kInverseColumns, n * n, product_memory(kInverseColumns, n),
              [&](const Tools<T>& own, int64_t first, int64_t last) {
                for (int64_t i = 0; i < n; ++i) {
                  for (int64_t j = first; j < last; ++j) y[i * y_stride + j] = i == j;
                }
                const int64_t corner = first * stride + first;
                solve_part(own, n - first, last - first, a + corner, minus + corner, stride, y + first * y_stride + first,
                           y_stride, true, true);
              });
}

template <class T>
bool cholesky(Tools<T> tools, int64_t n, T* a, int64_t stride) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) a[j * stride + i] = a[i * stride + j];
  }
  return cholesky_part(tools, n, a, stride);
}

#define TFL_INSTANTIATE(T)                                                                             \
  template int lu<T>(Tools<T>, int64_t, T*, int64_t, int32_t*);                                        \
  template void triangular<T>(Tools<T>, int64_t, int64_t, const T*, int64_t, T*, int64_t, bool, bool); \
  template void lower_inverse<T>(Tools<T>, int64_t, const T*, int64_t, T*, int64_t);                   \
  template bool cholesky<T>(Tools<T>, int64_t, T*, int64_t);
TFL_INSTANTIATE(float)
TFL_INSTANTIATE(double)
#undef TFL_INSTANTIATE

}  // namespace tfl::dense
