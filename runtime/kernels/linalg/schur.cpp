#include "runtime/kernels/linalg/schur.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tfl::schur {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

double norm1(Z z) { return std::abs(z.real()) + std::abs(z.imag()); }
double abs2(Z z) { return z.real() * z.real() + z.imag() * z.imag(); }

/// Products without C99's second look at infinities, which is a call.
Z times(Z a, Z b) { return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()}; }

Matrix identity(int64_t n) {
  Matrix m(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) m[static_cast<size_t>(i * n + i)] = 1;
  return m;
}

Matrix product(int64_t n, const Matrix& a, const Matrix& b) {
  Matrix out(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) {
    Z* row = out.data() + i * n;
    for (int64_t k = 0; k < n; ++k) {
      Z x = a[static_cast<size_t>(i * n + k)];
      const Z* other = b.data() + k * n;
      for (int64_t j = 0; j < n; ++j) row[j] += times(x, other[j]);
    }
  }
  return out;
}

/// U M U*.
Matrix turned_back(int64_t n, const Matrix& u, const Matrix& m) {
  Matrix adjoint(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) adjoint[static_cast<size_t>(j * n + i)] = std::conj(u[static_cast<size_t>(i * n + j)]);
  }
  return product(n, product(n, u, m), adjoint);
}

struct Rotation {
  double c = 1;
  Z s = 0;

  /// The rotation that turns (p, q) into (r, 0).
  static Rotation of(Z p, Z q, Z* r = nullptr) {
    Rotation g;
    Z length;
    if (q == Z(0)) {
      g.c = p.real() < 0 ? -1 : 1;
      length = g.c * p;
    } else if (p == Z(0)) {
      g.c = 0;
      g.s = -q / std::abs(q);
      length = std::abs(q);
    } else if (double p1 = norm1(p), q1 = norm1(q); p1 >= q1) {
      Z ps = p / p1, qs = q / p1;
      double u = std::sqrt(1 + abs2(qs) / abs2(ps));
      if (p.real() < 0) u = -u;
      g.c = 1 / u;
      g.s = times(-qs, std::conj(ps)) * (g.c / abs2(ps));
      length = p * u;
    } else {
      Z ps = p / q1, qs = q / q1;
      double u = q1 * std::sqrt(abs2(ps) + abs2(qs));
      if (p.real() < 0) u = -u;
      double size = std::abs(p);
      ps = p / size;
      g.c = size / u;
      g.s = times(-std::conj(ps), q / u);
      length = ps * u;
    }
    if (r) *r = length;
    return g;
  }
  /// Rows p and p + 1 of columns [first, n).
  void rows(int64_t n, Matrix& m, int64_t p, int64_t first) const {
    for (int64_t j = first; j < n; ++j) {
      Z &x = m[static_cast<size_t>(p * n + j)], &y = m[static_cast<size_t>((p + 1) * n + j)], a = x, b = y;
      x = c * a - times(std::conj(s), b);
      y = times(s, a) + c * b;
    }
  }
  /// Columns p and p + 1 of rows [0, last).
  void columns(int64_t n, Matrix& m, int64_t p, int64_t last) const {
    for (int64_t i = 0; i < last; ++i) {
      Z &x = m[static_cast<size_t>(i * n + p)], &y = m[static_cast<size_t>(i * n + p + 1)], a = x, b = y;
      x = c * a - times(s, b);
      y = times(std::conj(s), a) + c * b;
    }
  }
};

/// To Hessenberg's form by reflections, which `u` collects.
void to_hessenberg(int64_t n, Matrix& t, Matrix& u) {
  u = identity(n);
  std::vector<Z> v(static_cast<size_t>(n));
  auto at = [n](Matrix& m, int64_t i, int64_t j) -> Z& { return m[static_cast<size_t>(i * n + j)]; };
  auto part = [&](int64_t i) -> Z& { return v[static_cast<size_t>(i)]; };
  for (int64_t k = 0; k + 2 < n; ++k) {
    double rest = 0;
    for (int64_t i = k + 2; i < n; ++i) rest += abs2(at(t, i, k));
    Z first = at(t, k + 1, k);
    constexpr double kNothing = std::numeric_limits<double>::min();
    if (rest <= kNothing && first.imag() * first.imag() <= kNothing) continue;
    double beta = std::sqrt(abs2(first) + rest);
    if (first.real() >= 0) beta = -beta;
    part(k + 1) = 1;
    for (int64_t i = k + 2; i < n; ++i) part(i) = at(t, i, k) / (first - beta);
    Z tau = std::conj((beta - first) / beta);
    at(t, k + 1, k) = beta;
    for (int64_t i = k + 2; i < n; ++i) at(t, i, k) = 0;
    for (int64_t j = k + 1; j < n; ++j) {
      Z sum = 0;
      for (int64_t i = k + 1; i < n; ++i) sum += times(std::conj(part(i)), at(t, i, j));
      sum = times(tau, sum);
      for (int64_t i = k + 1; i < n; ++i) at(t, i, j) -= times(part(i), sum);
    }
    auto from_the_right = [&](Matrix& m) {
      for (int64_t i = 0; i < n; ++i) {
        Z sum = 0;
        for (int64_t j = k + 1; j < n; ++j) sum += times(at(m, i, j), part(j));
        sum = times(std::conj(tau), sum);
        for (int64_t j = k + 1; j < n; ++j) at(m, i, j) -= times(sum, std::conj(part(j)));
      }
    };
    from_the_right(t);
    from_the_right(u);
  }
}

/// The eigenvalue of the 2 x 2 matrix that ends at row `end` which is nearer to its last element; now and then something else.
Z shift_of(int64_t n, const Matrix& t, int64_t end, int iteration) {
  auto at = [&](int64_t i, int64_t j) { return t[static_cast<size_t>(i * n + j)]; };
  if ((iteration == 10 || iteration == 20) && end > 1)
    return std::abs(at(end, end - 1).real()) + std::abs(at(end - 1, end - 2).real());
  Z a = at(end - 1, end - 1), b = at(end - 1, end), c = at(end, end - 1), d = at(end, end);
  double size = std::abs(a) + std::abs(b) + std::abs(c) + std::abs(d);
  a /= size, b /= size, c /= size, d /= size;
  Z mixed = times(b, c), difference = a - d;
  Z root = std::sqrt(times(difference, difference) + 4.0 * mixed);
  Z determinant = times(a, d) - mixed, trace = a + d;
  Z one = (trace + root) * 0.5, two = (trace - root) * 0.5;
  if (norm1(one) > norm1(two))
    two = determinant / one;
  else if (norm1(two) != 0)
    one = determinant / two;
  return size * (norm1(one - d) < norm1(two - d) ? one : two);
}

Matrix root_of_triangle(int64_t n, const Matrix& t) {
  Matrix r(static_cast<size_t>(n * n));
  auto at = [n](auto& m, int64_t i, int64_t j) -> auto& { return m[static_cast<size_t>(i * n + j)]; };
  for (int64_t j = 0; j < n; ++j) {
    at(r, j, j) = std::sqrt(at(t, j, j));
    for (int64_t i = j - 1; i >= 0; --i) {
      Z sum = at(t, i, j);
      for (int64_t k = i + 1; k < j; ++k) sum -= times(at(r, i, k), at(r, k, j));
      if (sum != Z(0)) sum /= at(r, i, i) + at(r, j, j);
      at(r, i, j) = sum;
    }
  }
  return r;
}

/// log T = 2 artanh((T - 1) / (T + 1)) of a triangle near 1.
Matrix log_of_triangle(int64_t n, const Matrix& t) {
  auto at = [n](auto& m, int64_t i, int64_t j) -> auto& { return m[static_cast<size_t>(i * n + j)]; };
  Matrix z(static_cast<size_t>(n * n));
  for (int64_t j = 0; j < n; ++j) {  // (T + 1) z = T - 1
    for (int64_t i = j; i >= 0; --i) {
      Z sum = at(t, i, j) - (i == j ? 1.0 : 0.0);
      for (int64_t k = i + 1; k <= j; ++k) sum -= times(at(t, i, k), at(z, k, j));
      at(z, i, j) = sum / (at(t, i, i) + 1.0);
    }
  }
  Matrix square = product(n, z, z), power = z, out = z;
  for (int k = 3; k <= 23; k += 2) {
    power = product(n, power, square);
    for (size_t i = 0; i < out.size(); ++i) out[i] += power[i] / static_cast<double>(k);
  }
  for (Z& v : out) v *= 2.0;
  return out;
}

}  // namespace

bool decompose(int64_t n, Matrix& t, Matrix& u) {
  for (const Z& v : t) {
    if (!std::isfinite(v.real()) || !std::isfinite(v.imag())) return false;
  }
  to_hessenberg(n, t, u);
  auto at = [&](int64_t i, int64_t j) -> Z& { return t[static_cast<size_t>(i * n + j)]; };
  auto vanishes = [&](int64_t i) {
    if (norm1(at(i + 1, i)) > kEpsilon * (norm1(at(i, i)) + norm1(at(i + 1, i + 1)))) return false;
    at(i + 1, i) = 0;
    return true;
  };
  int64_t end = n - 1;
  int iteration = 0;
  for (int64_t total = 0; total <= 30 * n;) {
    while (end > 0 && vanishes(end - 1)) {
      iteration = 0;
      --end;
    }
    if (end <= 0) return true;
    ++iteration;
    ++total;
    int64_t first = end - 1;
    while (first > 0 && !vanishes(first - 1)) --first;
    Z shift = shift_of(n, t, end, iteration);
    for (int64_t i = first; i < end; ++i) {
      Rotation g;
      if (i == first) {
        g = Rotation::of(at(i, i) - shift, at(i + 1, i));
      } else {
        g = Rotation::of(at(i, i - 1), at(i + 1, i - 1), &at(i, i - 1));
        at(i + 1, i - 1) = 0;
      }
      g.rows(n, t, i, i);
      g.columns(n, t, i, std::min(i + 2, end) + 1);
      g.columns(n, u, i, n);
    }
  }
  return false;
}

bool eigen(int64_t n, Matrix a, Order order, std::vector<Z>& values, Matrix& vectors) {
  Matrix u;
  if (!decompose(n, a, u)) return false;
  auto at = [n](auto& m, int64_t i, int64_t j) -> auto& { return m[static_cast<size_t>(i * n + j)]; };
  double size = 0;
  for (const Z& v : a) size += abs2(v);
  size = std::max(std::sqrt(size), std::numeric_limits<double>::min());
  values.resize(static_cast<size_t>(n));
  Matrix x(static_cast<size_t>(n * n));
  for (int64_t k = 0; k < n; ++k) {
    values[static_cast<size_t>(k)] = at(a, k, k);
    at(x, k, k) = 1;
    for (int64_t i = k - 1; i >= 0; --i) {
      Z sum = -at(a, i, k);
      for (int64_t j = i + 1; j < k; ++j) sum -= times(at(a, i, j), at(x, j, k));
      Z difference = at(a, i, i) - at(a, k, k);
      if (difference == Z(0)) difference = kEpsilon * size;
      at(x, i, k) = sum / difference;
    }
  }
  vectors = product(n, u, x);
  for (int64_t k = 0; k < n; ++k) {
    double length = 0;
    for (int64_t i = 0; i < n; ++i) length += abs2(at(vectors, i, k));
    length = std::sqrt(length);
    for (int64_t i = 0; i < n && length > 0; ++i) at(vectors, i, k) /= length;
  }
  for (int64_t k = 0; k < n && order == Order::found; ++k) {
    int64_t most = 0;
    for (int64_t i = 1; i < n; ++i) {
      if (abs2(at(vectors, i, k)) > abs2(at(vectors, most, k))) most = i;
    }
    Z turn = std::conj(at(vectors, most, k)) / std::abs(at(vectors, most, k));
    for (int64_t i = 0; i < n; ++i) at(vectors, i, k) = times(at(vectors, i, k), turn);
    at(vectors, most, k) = at(vectors, most, k).real();
  }
  for (int64_t i = 0; i < n && order == Order::rising; ++i) {
    int64_t least = i;
    for (int64_t k = i + 1; k < n; ++k) {
      if (std::abs(values[static_cast<size_t>(k)]) < std::abs(values[static_cast<size_t>(least)])) least = k;
    }
    if (least == i) continue;
    std::swap(values[static_cast<size_t>(i)], values[static_cast<size_t>(least)]);
    for (int64_t r = 0; r < n; ++r) std::swap(at(vectors, r, i), at(vectors, r, least));
  }
  return true;
}

bool square_root(int64_t n, Matrix a, Matrix& out) {
  Matrix u;
  if (!decompose(n, a, u)) return false;
  out = turned_back(n, u, root_of_triangle(n, a));
  return true;
}

bool logarithm(int64_t n, Matrix a, Matrix& out) {
  Matrix u;
  if (!decompose(n, a, u)) return false;
  Matrix diagonal(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) diagonal[static_cast<size_t>(i)] = std::log(a[static_cast<size_t>(i * n + i)]);
  auto distance = [&] {
    double most = 0;
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t i = 0; i <= j; ++i) sum += std::abs(a[static_cast<size_t>(i * n + j)] - (i == j ? 1.0 : 0.0));
      most = std::max(most, sum);
    }
    return most;
  };
  double scale = 1;
  for (int roots = 0; roots < 60 && distance() > 0.25; ++roots) {
    a = root_of_triangle(n, a);
    scale *= 2;
  }
  Matrix log = log_of_triangle(n, a);
  for (Z& v : log) v *= scale;
  for (int64_t i = 0; i < n; ++i) log[static_cast<size_t>(i * n + i)] = diagonal[static_cast<size_t>(i)];
  out = turned_back(n, u, log);
  return true;
}

}  // namespace tfl::schur
