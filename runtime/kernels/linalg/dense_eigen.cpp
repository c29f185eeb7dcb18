// Symmetric matrices: reflections make them tridiagonal, one panel of rows after the other, and turn the vectors back.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/linalg/dense_spectral.h"

namespace tfl::dense {

namespace {

constexpr int64_t kShares = 4;       // of the rows of a symmetric product: each sums by itself
constexpr int64_t kShared = 192;     // rows from which there are shares
constexpr int64_t kUpdateRows = 96;  // updated together, from their diagonal on

// y = a x for the upper triangle a.
void symmetric_product(const Tools<double>& tools, int64_t n, const double* a, int64_t stride, const double* x, double* y,
                       double* shares) {
  if (n < kShared) {
    std::fill(y, y + n, 0.0);
    return tools.kernels.symmetric(0, n, n, a, stride, x, y);
  }
  int64_t begin[kShares + 1];
  for (int64_t s = 0; s <= kShares; ++s)
    begin[s] = s == kShares
                   ? n
                   : static_cast<int64_t>(static_cast<double>(n) * (1 - std::sqrt(1 - static_cast<double>(s) / kShares))) / 4 * 4;
  const int64_t length = stride_of(n);
  tools.parts(kShares, 1, n * n / kShares / 2, 0, [&](const Tools<double>& own, int64_t s, int64_t) {
    double* sum = shares + s * length;
    std::fill(sum + begin[s], sum + n, 0.0);
    own.kernels.symmetric(begin[s], begin[s + 1], n, a, stride, x, sum);
  });
  std::copy(shares, shares + n, y);
  for (int64_t s = 1; s < kShares; ++s) tools.kernels.add(n - begin[s], 1, shares + s * length + begin[s], y + begin[s]);
}

}  // namespace

void eigen(Tools<double> tools, int64_t n, double* a, int64_t stride, double* d, double* z, int32_t* order) {
  double* e = tools.take(n);
  Reflections<double> r = reflections_of(tools, n, n);
  r.count = n - 1;  // vector i has its 1 in column i + 1
  const int64_t length = stride_of(n), pair = 2 * kReflections;
  double *beside = tools.take(kReflections * length), *updates = tools.take(n * pair), *both = tools.take(pair * length),
         *shares = tools.take(kShares * length);
  double factors[kReflections], with_w[kReflections], with_v[kReflections];
  for (int64_t at = 0; at < r.count && !tools.interrupted(); at += kReflections) {
    const int64_t count = r.together(at);
    double* panel = r.vectors + at * r.stride;  // rows from column 0 on
    for (int64_t j = 0; j < count && !tools.interrupted(); ++j) {
      const int64_t k = at + j, rest = n - k - 1;
      double *row = a + k * stride + k, *v = panel + j * r.stride, *w = beside + j * length;
      for (int64_t p = 0; p < j; ++p) {
        tools.kernels.add(rest + 1, -beside[p * length + k], panel + p * r.stride + k, row);
        tools.kernels.add(rest + 1, -panel[p * r.stride + k], beside + p * length + k, row);
      }
      d[k] = row[0];
      std::fill(v, v + k + 1, 0.0);
      std::copy(row + 1, row + 1 + rest, v + k + 1);
      factors[j] = reflection(tools.kernels, v[k + 1], rest - 1, v + k + 2);
      e[k] = v[k + 1];
      v[k + 1] = 1;
      const double *x = v + k + 1, factor = factors[j];
      double* y = w + k + 1;
      std::fill(w, w + k + 1, 0.0);
      symmetric_product(tools, rest, row + stride + 1, stride, x, y, shares);
      tools.kernels.dots(j, rest, beside + k + 1, length, x, with_w);
      tools.kernels.dots(j, rest, panel + k + 1, r.stride, x, with_v);
      for (int64_t p = 0; p < j; ++p) {
        tools.kernels.add(rest, -with_w[p], panel + p * r.stride + k + 1, y);
        tools.kernels.add(rest, -with_v[p], beside + p * length + k + 1, y);
      }
      for (int64_t i = 0; i < rest; ++i) y[i] *= factor;
      tools.kernels.add(rest, -factor / 2 * tools.kernels.dot(rest, y, x), x, y);
    }
    if (z) reflection_triangle(tools.kernels, count, n - at - 1, panel + at + 1, r.stride, factors, r.triangle(at));
    // What is left of the matrix: a - v' w - w' v.
    const int64_t from = at + count, rest = n - from;
    turn(count, rest, beside + from, length, updates, pair);
    turn(count, rest, panel + from, r.stride, updates + count, pair);
    for (int64_t i = 0; i < rest; ++i) {
      for (int64_t j = 0; j < 2 * count; ++j) updates[i * pair + j] = -updates[i * pair + j];
    }
    for (int64_t p = 0; p < count; ++p) {
      std::copy(panel + p * r.stride + from, panel + p * r.stride + n, both + p * length);
      std::copy(beside + p * length + from, beside + p * length + n, both + (count + p) * length);
    }
    for (int64_t i = 0; i < rest; i += kUpdateRows) {
      const int64_t rows = std::min(kUpdateRows, rest - i);
      tools.multiply(rows, rest - i, 2 * count, updates + i * pair, pair, both + i, length, a + (from + i) * stride + from + i,
                     stride, true);
    }
  }
  d[n - 1] = a[(n - 1) * stride + n - 1];
  if (tools.interrupted()) return;
  if (!z) return tridiagonal_values(n, d, e, order);
  const int64_t z_stride = stride_of(n);
  tridiagonal_divide(tools, n, d, e, z, z_stride, order);
  for (int64_t at = r.last(); at >= 0 && !tools.interrupted(); at -= kReflections) {
    const int64_t rows = n - at - 1;
    const double* panel = r.vectors + at * r.stride + at + 1;
    turn(r.together(at), rows, panel, r.stride, r.turned, kReflections);
    reflect_rows(tools, r.together(at), rows, panel, r.stride, r.turned, r.triangle(at), n, z + at + 1, z_stride);
  }
}

}  // namespace tfl::dense
