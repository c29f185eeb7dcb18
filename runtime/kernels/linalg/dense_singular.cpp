// Singular values: reflections on both sides make a square matrix bidiagonal, one panel after the other, and turn the vectors back. Tall
// matrices are made triangular first.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/linalg/dense_spectral.h"

namespace tfl::dense {

namespace {

constexpr int64_t kProductRows = 64, kProductColumns = 256;  // of a product with a vector, by one thread at a time

// y = a x
void product(const Tools<double>& tools, int64_t rows, int64_t columns, const double* a, int64_t stride, const double* x,
             double* y) {
  tools.parts(rows, kProductRows, columns, 0, [&](const Tools<double>& own, int64_t first, int64_t last) {
    own.kernels.dots(last - first, columns, a + first * stride, stride, x, y + first);
  });
}
// y = a' x
void turned_product(const Tools<double>& tools, int64_t rows, int64_t columns, const double* a, int64_t stride, const double* x,
                    double* y) {
  tools.parts(columns, kProductColumns, rows, 0, [&](const Tools<double>& own, int64_t first, int64_t last) {
    std::fill(y + first, y + last, 0.0);
    own.kernels.combine(rows, last - first, a + first, stride, x, y + first);
  });
}

// a, which is square, as the bidiagonal d and e between reflections on the left and on the right.
void bidiagonal(Tools<double> tools, int64_t n, double* a, int64_t stride, double* d, double* e, const Reflections<double>& left,
                const Reflections<double>& right) {
  const int64_t length = stride_of(n), pair = 2 * kReflections, l = left.stride, r = right.stride;
  // a - v' y - x' u, with rows v and u of the reflections.
  double *xs = tools.take(kReflections * length), *ys = tools.take(kReflections * length),
         *panel = tools.take(kReflections * length), *updates = tools.take(n * pair), *both = tools.take(pair * length);
  double of_left[kReflections], of_right[kReflections], by[kReflections], others[kReflections];
  for (int64_t at = 0; at < n && !tools.interrupted(); at += kReflections) {
    const int64_t count = std::min(kReflections, n - at);
    double *vs = left.vectors + at * l, *us = right.vectors + at * r;
    turn(n - at, count, a + at * stride + at, stride, panel + at, length);
    for (int64_t j = 0; j < count && !tools.interrupted(); ++j) {
      const int64_t k = at + j, rows = n - k, rest = n - k - 1;
      double *v = vs + j * l, *u = us + j * r, *x = xs + j * length, *y = ys + j * length, *column = panel + j * length;
      for (int64_t p = 0; p < j; ++p) {
        tools.kernels.add(rows, -ys[p * length + k], vs + p * l + k, column + k);
        tools.kernels.add(rows, -us[p * r + k], xs + p * length + k, column + k);
      }
      std::fill(v, v + k, 0.0);
      std::copy(column + k, column + n, v + k);
      of_left[j] = reflection(tools.kernels, v[k], rest, v + k + 1);
      d[k] = v[k];
      v[k] = 1;
      std::fill(y, y + n, 0.0);
      std::fill(u, u + n, 0.0);
      std::fill(x, x + n, 0.0);
      of_right[j] = 0;
      if (rest == 0) continue;
      double *row = a + k * stride + k + 1, *behind = y + k + 1;
      turned_product(tools, rows, rest, row, stride, v + k, behind);
      tools.kernels.dots(j, rows, vs + k, l, v + k, by);
      tools.kernels.dots(j, rows, xs + k, length, v + k, others);
      for (int64_t p = 0; p < j; ++p) {
        tools.kernels.add(rest, -by[p], ys + p * length + k + 1, behind);
        tools.kernels.add(rest, -others[p], us + p * r + k + 1, behind);
      }
      for (int64_t i = 0; i < rest; ++i) behind[i] *= of_left[j];
      // The row, and its reflection.
      for (int64_t p = 0; p <= j; ++p) tools.kernels.add(rest, -vs[p * l + k], ys + p * length + k + 1, row);
      for (int64_t p = 0; p < j; ++p) tools.kernels.add(rest, -xs[p * length + k], us + p * r + k + 1, row);
      std::copy(row, row + rest, u + k + 1);
      of_right[j] = reflection(tools.kernels, u[k + 1], rest - 1, u + k + 2);
      e[k] = u[k + 1];
      u[k + 1] = 1;
      double* below = x + k + 1;
      product(tools, rest, rest, row + stride, stride, u + k + 1, below);
      tools.kernels.dots(j + 1, rest, ys + k + 1, length, u + k + 1, by);
      tools.kernels.dots(j, rest, us + k + 1, r, u + k + 1, others);
      for (int64_t p = 0; p <= j; ++p) tools.kernels.add(rest, -by[p], vs + p * l + k + 1, below);
      for (int64_t p = 0; p < j; ++p) tools.kernels.add(rest, -others[p], xs + p * length + k + 1, below);
      for (int64_t i = 0; i < rest; ++i) below[i] *= of_right[j];
    }
    reflection_triangle(tools.kernels, count, n - at, vs + at, l, of_left, left.triangle(at));
    reflection_triangle(tools.kernels, count, n - at, us + at, r, of_right, right.triangle(at));
    const int64_t from = at + count, rest = n - from;
    turn(count, rest, vs + from, l, updates, pair);
    turn(count, rest, xs + from, length, updates + count, pair);
    for (int64_t i = 0; i < rest; ++i) {
      for (int64_t j = 0; j < 2 * count; ++j) updates[i * pair + j] = -updates[i * pair + j];
    }
    for (int64_t p = 0; p < count; ++p) {
      std::copy(ys + p * length + from, ys + p * length + n, both + p * length);
      std::copy(us + p * r + from, us + p * r + n, both + (count + p) * length);
    }
    tools.multiply(rest, rest, 2 * count, updates, pair, both, length, a + from * stride + from, stride, true);
  }
}

}  // namespace

void singular(Tools<double> tools, int64_t m, int64_t n, double* a, int64_t stride, double* d, int64_t wanted, double* u,
              int64_t u_stride, double* v, int64_t v_stride, int32_t* order) {
  Reflections<double> tall{};
  if (m > n) {
    tall = reflections_of(tools, m, n);
    qr_factor(tools, m, n, a, stride, tall);
  }
  double* e = tools.take(n);
  const Reflections<double> left = reflections_of(tools, n, n), right = reflections_of(tools, n, n);
  bidiagonal(tools, n, a, stride, d, e, left, right);
  if (tools.interrupted()) return;
  if (!u) {
    bidiagonal_rotations(tools.kernels, n, false, d, e, nullptr, nullptr, 0, 0, 0);
    return rising(n, d, order);
  }
  const int64_t square = stride_of(n);
  double *of_left = tools.take(n * square), *of_right = tools.take(n * square);
  bidiagonal_divide(tools, n, d, e, of_left, of_right, square, order);
  for (int64_t i = 0; i < wanted; ++i) {
    std::fill(u + i * u_stride, u + i * u_stride + m, 0.0);
    if (i < n)
      std::copy(of_left + i * square, of_left + i * square + n, u + i * u_stride);
    else
      u[i * u_stride + i] = 1;
  }
  for (int64_t i = 0; i < n; ++i) std::copy(of_right + i * square, of_right + i * square + n, v + i * v_stride);
  reflect_all_rows(tools, left, std::min(wanted, n), u, u_stride);
  // Vector k of the right ones begins with k + 1 zeros: those of the panel count one column less, too.
  reflect_all_rows(tools, right, n, v, v_stride);
  if (m > n) reflect_all_rows(tools, tall, wanted, u, u_stride);
}

}  // namespace tfl::dense
