// Roots of the secular equation by rational interpolation between two poles, kept within a bracket, as Bunch, Nielsen and Sorensen and Gu and
// Eisenstat describe.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/linalg/dense_spectral.h"

namespace tfl::dense {

namespace {

constexpr int kMostSteps = 80;

// Where c + p / (first - x) + q / (second - x) is 0, for x beyond both or between them, told by their distances from x; the increment of x.
double interpolate(double c, double a, double b, bool beyond) {
  const double root = std::sqrt(std::fabs(a * a - 4 * b * c));
  if (beyond) return a >= 0 ? (a + root) / (2 * c) : 2 * b / (a - root);
  return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
}

}  // namespace

double secular_root(const MatrixKernels<double>& kernels, const Secular& s, int64_t j, double* to, int64_t& origin) {
  const int64_t n = s.n;
  const bool beyond = j == n - 1;
  const double* z = s.squared;
  origin = j;
  for (int64_t i = 0; i < n; ++i) to[i] = s.difference(i, j);
  if (n == 1) {
    to[0] = -z[0];
    return z[0];
  }
  double whole = 0;
  if (beyond) {
    for (int64_t i = 0; i < n; ++i) whole += z[i];
  } else {
    whole = to[j + 1];
  }
  double t = whole / 2, slope;
  const int64_t first = beyond ? n - 2 : j;  // of the two poles that the interpolation has
  const double at = kernels.poles(n, to, z, t, &slope) + 1;
  double low = 0, high = whole;
  // Of all other poles what they are in the middle.
  const double others = at - z[first] / (to[first] - t) - z[first + 1] / (to[first + 1] - t);
  if (beyond) {
    const double gap = to[n - 1] - to[n - 2], a = z[n - 2] + z[n - 1] - others * gap, b = z[n - 1] * gap;
    const double root = std::sqrt(a * a + 4 * b * std::fabs(others));
    at < 0 ? low = t : high = t;
    t = a >= 0 ? (a + root) / (2 * others) : 2 * b / (root - a);
  } else if (at >= 0) {
    const double a = others * whole + z[j] + z[j + 1], b = z[j] * whole;
    high = t;
    t = interpolate(others, a, b, false);
  } else {
    origin = j + 1;
    for (int64_t i = 0; i < n; ++i) to[i] = s.difference(i, origin);
    const double a = z[j] + z[j + 1] - others * whole, b = z[j + 1] * whole;
    const double root = std::sqrt(std::fabs(a * a + 4 * b * others));
    t = a < 0 ? 2 * b / (a - root) : -(a + root) / (2 * others);
    low = -whole / 2, high = 0;
  }
  auto inside = [&] { return t > low && t < high; };
  if (!inside()) t = low / 2 + high / 2;
  for (int step = 0; step < kMostSteps; ++step) {
    double left_slope, right_slope = 0, right = 0;
    const int64_t cut = first + 1;
    const double left = kernels.poles(cut, to, z, t, &left_slope);
    right = kernels.poles(n - cut, to + cut, z + cut, t, &right_slope);
    const double value = 1 + left + right;
    if (std::fabs(value) <= kEpsilon * (8 * (1 + std::fabs(left) + std::fabs(right)) + std::fabs(t) * (left_slope + right_slope)))
      break;
    value < 0 ? low = t : high = t;
    const double p = to[first] - t, q = to[first + 1] - t, before = t;
    const double c = value - p * left_slope - q * right_slope, a = (p + q) * value - p * q * (left_slope + right_slope),
                 b = p * q * value;
    double by = interpolate(c, a, b, beyond);
    if (!(value * by < 0)) by = -value / (left_slope + right_slope);
    t += by;
    if (!inside()) {
      // Far from the root it may be smaller than what is known by many powers of two.
      const double edge = low == 0 ? high : high == 0 ? low : 0;
      t = edge != 0 ? edge / 16 : low / 2 + high / 2;
      if (!inside()) {
        t = before;
        break;
      }
    }
    if (t == before) break;
  }
  for (int64_t i = 0; i < n; ++i) to[i] -= t;
  return t;
}

void secular_roots(const Tools<double>& tools, const Secular& s, double* away, int64_t stride, double* values, double* weights) {
  const int64_t n = s.n;
  constexpr int64_t kGrain = 16;
  for (int64_t i = 0; i < n; ++i) s.squared[i] = s.z[i] * s.z[i];
  tools.parts(n, kGrain, 10 * n, 0, [&](const Tools<double>& own, int64_t first, int64_t last) {
    for (int64_t j = first; j < last; ++j) {
      int64_t origin;
      const double t = secular_root(own.kernels, s, j, away + j * stride, origin), from = s.d[origin];
      values[j] = s.squares ? from + t / (from + std::sqrt(from * from + t)) : from + t;
    }
  });
  tools.parts(n, 4 * kGrain, 4 * n, 0, [&](const Tools<double>&, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) weights[i] = -away[i * stride + i];
    for (int64_t j = 0; j < n; ++j) {
      const double* row = away + j * stride;
      auto multiply = [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i) weights[i] *= row[i] / s.difference(i, j);
      };
      multiply(first, std::min(j, last));
      multiply(std::max(j + 1, first), last);
    }
    for (int64_t i = first; i < last; ++i) weights[i] = std::copysign(std::sqrt(std::fabs(weights[i])), s.z[i]);
  });
}

}  // namespace tfl::dense
