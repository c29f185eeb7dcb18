// Implicit shifts: eigenvalues of small tridiagonal matrices and singular values of small bidiagonal ones.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/linalg/dense_spectral.h"

namespace tfl::dense {

namespace {

constexpr int64_t kMostSweeps = 60;  // for each value

struct Rotation {
  double c, s, r;
  Rotation(double f, double g) {
    r = g == 0 ? f : f == 0 ? g : std::copysign(length_of(f, g), f);
    c = g == 0 ? 1 : f == 0 ? 0 : f / r;
    s = g == 0 ? 0 : f == 0 ? 1 : g / r;
  }
};

// The smaller singular value of [f g; 0 h].
double least_of_two(double f, double g, double h) {
  f = std::fabs(f), g = std::fabs(g), h = std::fabs(h);
  const double least = std::min(f, h), most = std::max(f, h);
  if (least == 0) return 0;
  const double as = 1 + least / most, at = (most - least) / most;
  if (g < most) {
    const double au = (g / most) * (g / most);
    return least * (2 / (std::sqrt(as * as + au) + std::sqrt(at * at + au)));
  }
  const double au = most / g;
  if (au == 0) return least * most / g;
  const double p = 1 + (as * au) * (as * au), q = 1 + (at * au) * (at * au);
  return 2 * (least * (1 / (std::sqrt(p) + std::sqrt(q)))) * au;
}

}  // namespace

void tridiagonal_rotations(const MatrixKernels<double>& kernels, int64_t n, double* d, double* e, double* z, int64_t stride,
                           int64_t length) {
  for (int64_t l = 0; l + 1 < n; ++l) {
    for (int64_t sweep = 0; sweep < kMostSweeps; ++sweep) {
      int64_t m = l;
      while (m + 1 < n && std::fabs(e[m]) > kEpsilon * (std::fabs(d[m]) + std::fabs(d[m + 1]))) ++m;
      if (m == l) break;
      double g = (d[l + 1] - d[l]) / (2 * e[l]);
      g = d[m] - d[l] + e[l] / (g + std::copysign(length_of(g, 1), g));
      double s = 1, c = 1, p = 0;
      int64_t i = m;
      while (i-- > l) {
        const double f = s * e[i], b = c * e[i], r = length_of(f, g);
        if (i + 1 < m) e[i + 1] = r;
        if (r == 0) {
          d[i + 1] -= p;
          break;
        }
        s = f / r, c = g / r;
        g = d[i + 1] - p;
        const double t = (d[i] - g) * s + 2 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        if (length > 0) kernels.rotate(length, c, -s, z + i * stride, z + (i + 1) * stride);
      }
      if (i >= l) continue;  // a part came off
      d[l] -= p;
      e[l] = g;
    }
  }
}

void rising(int64_t n, const double* d, int32_t* order) {
  for (int64_t i = 0; i < n; ++i) order[i] = static_cast<int32_t>(i);
  std::sort(order, order + n, [&](int32_t a, int32_t b) { return d[a] != d[b] ? d[a] < d[b] : a < b; });
}

void tridiagonal_values(int64_t n, double* d, double* e, int32_t* order) {
  for (int64_t i = 0; i + 1 < n; ++i) e[i] *= e[i];
  auto none = [&](int64_t i) {
    const double least = kEpsilon * (std::fabs(d[i]) + std::fabs(d[i + 1]));
    return e[i] <= least * least;
  };
  for (int64_t l = 0; l + 1 < n; ++l) {
    for (int64_t sweep = 0; sweep < kMostSweeps; ++sweep) {
      int64_t m = l;
      while (m + 1 < n && !none(m)) ++m;
      if (m + 1 < n) e[m] = 0;
      if (m == l) break;
      const double root = std::sqrt(e[l]), half = (d[l + 1] - d[l]) / (2 * root);
      const double shift = d[l] - root / (half + std::copysign(length_of(half, 1), half));
      double c = 1, s = 0, gamma = d[m] - shift, p = gamma * gamma;
      for (int64_t i = m; i-- > l;) {
        const double square = e[i], r = p + square, before = c, last = gamma, value = d[i];
        if (i + 1 < m) e[i + 1] = s * r;
        c = p / r, s = square / r;
        gamma = c * (value - shift) - s * last;
        d[i + 1] = last + (value - gamma);
        p = c != 0 ? gamma * gamma / c : before * square;
      }
      e[l] = s * p;
      d[l] = shift + gamma;
    }
  }
  rising(n, d, order);
}

void bidiagonal_rotations(const MatrixKernels<double>& kernels, int64_t n, bool more, double* d, double* e, double* u, double* v,
                          int64_t stride, int64_t u_length, int64_t v_length) {
  auto turn_u = [&](int64_t i, const Rotation& by) {
    if (u_length > 0) kernels.rotate(u_length, by.c, by.s, u + i * stride, u + (i + 1) * stride);
  };
  auto turn_v = [&](int64_t i, const Rotation& by) {
    if (v_length > 0) kernels.rotate(v_length, by.c, by.s, v + i * stride, v + (i + 1) * stride);
  };
  if (more) {
    // The last column goes: first to a lower bidiagonal matrix, then back.
    for (int64_t i = 0; i < n; ++i) {
      Rotation by(d[i], e[i]);
      d[i] = by.r;
      e[i] = 0;
      if (i + 1 < n) e[i] = by.s * d[i + 1], d[i + 1] *= by.c;
      turn_v(i, by);
    }
    for (int64_t i = 0; i + 1 < n; ++i) {
      Rotation by(d[i], e[i]);
      d[i] = by.r;
      e[i] = by.s * d[i + 1];
      d[i + 1] *= by.c;
      turn_u(i, by);
    }
  }
  double norm = 0;
  for (int64_t i = 0; i < n; ++i) norm = std::max({norm, std::fabs(d[i]), i + 1 < n ? std::fabs(e[i]) : 0.0});
  auto none = [&](int64_t i) { return std::fabs(e[i]) <= kEpsilon * std::max(std::fabs(d[i]) + std::fabs(d[i + 1]), norm / 4); };
  int64_t m = n - 1;
  for (int64_t left = kMostSweeps * n; m > 0 && left > 0; --left) {
    if (none(m - 1)) {
      e[--m] = 0;
      continue;
    }
    int64_t l = m - 1;
    while (l > 0 && !none(l - 1)) --l;
    double shift = least_of_two(d[m - 1], e[m - 1], d[m]);
    const double start = std::fabs(d[l]);
    if (!(start > 0) || (shift / start) * (shift / start) < kEpsilon) shift = 0;
    if (shift == 0) {
      Rotation by(1, 0), before(1, 0);
      for (int64_t i = l; i < m; ++i) {
        by = Rotation(d[i] * by.c, e[i]);
        if (i > l) e[i - 1] = before.s * by.r;
        before = Rotation(before.c * by.r, d[i + 1] * by.s);
        d[i] = before.r;
        turn_v(i, by);
        turn_u(i, before);
      }
      const double h = d[m] * by.c;
      d[m] = h * before.c;
      e[m - 1] = h * before.s;
      continue;
    }
    double f = (start - shift) * (std::copysign(1.0, d[l]) + shift / d[l]), g = e[l];
    for (int64_t i = l; i < m; ++i) {
      Rotation right(f, g);
      if (i > l) e[i - 1] = right.r;
      f = right.c * d[i] + right.s * e[i];
      e[i] = right.c * e[i] - right.s * d[i];
      g = right.s * d[i + 1];
      d[i + 1] *= right.c;
      turn_v(i, right);
      Rotation across(f, g);
      d[i] = across.r;
      f = across.c * e[i] + across.s * d[i + 1];
      d[i + 1] = across.c * d[i + 1] - across.s * e[i];
      if (i + 1 < m) g = across.s * e[i + 1], e[i + 1] *= across.c;
      turn_u(i, across);
    }
    e[m - 1] = f;
  }
  for (int64_t i = 0; i < n; ++i) {
    if (!(d[i] < 0)) continue;
    d[i] = -d[i];
    for (int64_t k = 0; k < v_length; ++k) v[i * stride + k] = -v[i * stride + k];
  }
}

}  // namespace tfl::dense
