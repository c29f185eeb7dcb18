#include "runtime/kernels/linalg/complex_dense.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tfl::complex_dense {

namespace {

double norm2(Z z) { return z.real() * z.real() + z.imag() * z.imag(); }
/// Products without C99's second look at infinities, which is a call.
Z mul(Z a, Z b) { return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()}; }

/// to[j] -= factor * from[j].
void subtract(Z factor, const Z* from, Z* to, int64_t n) {
  for (int64_t j = 0; j < n; ++j) to[j] -= mul(factor, from[j]);
}

/// The reflection that takes x to a real multiple of the first unit vector, which is given back.
Reflections::One reflection(int64_t first, std::vector<Z> x, double& beta) {
  double rest = 0;
  for (size_t i = 1; i < x.size(); ++i) rest += norm2(x[i]);
  const Z alpha = x[0];
  if (rest == 0 && alpha.imag() == 0) {
    beta = alpha.real();
    return {first, 0, std::move(x)};
  }
  beta = std::sqrt(norm2(alpha) + rest);
  if (alpha.real() >= 0) beta = -beta;
  for (size_t i = 1; i < x.size(); ++i) x[i] /= alpha - beta;
  x[0] = 1;
  return {first, std::conj((beta - alpha) / beta), std::move(x)};
}

/// m becomes (1 - tau v v*) m, in columns from `column` on.
void reflect_rows(const Reflections::One& h, Z tau, Matrix& m, int64_t column) {
  if (tau == Z(0)) return;
  const int64_t n = m.columns - column;
  std::vector<Z> sum(static_cast<size_t>(n));
  for (size_t i = 0; i < h.v.size(); ++i) {
    const Z* row = m.row(h.first + static_cast<int64_t>(i)) + column;
    for (int64_t j = 0; j < n; ++j) sum[static_cast<size_t>(j)] += mul(std::conj(h.v[i]), row[j]);
  }
  for (size_t i = 0; i < h.v.size(); ++i)
    subtract(mul(tau, h.v[i]), sum.data(), m.row(h.first + static_cast<int64_t>(i)) + column, n);
}

/// m becomes m (1 - tau v v*)*, in rows from `row` on.
void reflect_columns(const Reflections::One& h, Matrix& m, int64_t row) {
  if (h.tau == Z(0)) return;
  const auto n = static_cast<int64_t>(h.v.size());
  for (int64_t i = row; i < m.rows; ++i) {
    Z* at = m.row(i) + h.first;
    Z sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += mul(at[j], h.v[static_cast<size_t>(j)]);
    sum = mul(sum, std::conj(h.tau));
    for (int64_t j = 0; j < n; ++j) at[j] -= mul(sum, std::conj(h.v[static_cast<size_t>(j)]));
  }
}

std::vector<Z> column_from(const Matrix& m, int64_t row, int64_t column) {
  std::vector<Z> x;
  for (int64_t i = row; i < m.rows; ++i) x.push_back(m.at(i, column));
  return x;
}

}  // namespace

Matrix adjoint(const Matrix& a) {
  Matrix out(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) out.at(j, i) = std::conj(a.at(i, j));
  }
  return out;
}

Matrix unit(int64_t rows, int64_t columns) {
  Matrix m(rows, columns);
  for (int64_t i = 0; i < std::min(rows, columns); ++i) m.at(i, i) = 1;
  return m;
}

Lu::Lu(Matrix a) : factors(std::move(a)) {
  const int64_t n = factors.rows;
  for (int64_t i = 0; i < n; ++i) order.push_back(static_cast<int32_t>(i));
  for (int64_t k = 0; k < n; ++k) {
    int64_t most = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (norm2(factors.at(i, k)) > norm2(factors.at(most, k))) most = i;
    }
    if (most != k) {
      std::swap_ranges(factors.row(k), factors.row(k) + n, factors.row(most));
      std::swap(order[static_cast<size_t>(k)], order[static_cast<size_t>(most)]);
      odd = !odd;
    }
    const Z pivot = factors.at(k, k);
    if (pivot == Z(0)) {
      whole = false;
      continue;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      Z& factor = factors.at(i, k);
      factor /= pivot;
      subtract(factor, factors.row(k) + k + 1, factors.row(i) + k + 1, n - k - 1);
    }
  }
}

Matrix Lu::solve(const Matrix& b, bool adjoint) const {
  Matrix x(b.rows, b.columns);
  if (!adjoint) {
    for (int64_t i = 0; i < b.rows; ++i) std::copy_n(b.row(order[static_cast<size_t>(i)]), b.columns, x.row(i));
    solve_triangle(factors, true, false, true, x);
    solve_triangle(factors, false, false, false, x);
    return x;
  }
  Matrix y = b;
  solve_triangle(factors, false, true, false, y);
  solve_triangle(factors, true, true, true, y);
  for (int64_t i = 0; i < b.rows; ++i) std::copy_n(y.row(i), b.columns, x.row(order[static_cast<size_t>(i)]));
  return x;
}

bool solve_triangle(const Matrix& t, bool lower, bool adjoint, bool unit_diagonal, Matrix& b) {
  const int64_t n = t.rows;
  const bool down = lower != adjoint;
  bool whole = true;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = down ? step : n - 1 - step;
    for (int64_t k = down ? 0 : i + 1; k < (down ? i : n); ++k)
      subtract(adjoint ? std::conj(t.at(k, i)) : t.at(i, k), b.row(k), b.row(i), b.columns);
    if (unit_diagonal) continue;
    const Z pivot = adjoint ? std::conj(t.at(i, i)) : t.at(i, i);
    whole = whole && pivot != Z(0);
    for (int64_t j = 0; j < b.columns; ++j) b.at(i, j) /= pivot;
  }
  return whole;
}

bool cholesky(const Matrix& a, Matrix& l) {
  const int64_t n = a.rows;
  l = Matrix(n, n);
  for (int64_t i = 0; i < n; ++i) {
    Z* row = l.row(i);
    for (int64_t j = 0; j <= i; ++j) {
      Z sum = i == j ? Z(a.at(i, i).real()) : a.at(i, j);
      const Z* other = l.row(j);
      for (int64_t k = 0; k < j; ++k) sum -= mul(row[k], std::conj(other[k]));
      if (i != j) {
        row[j] = sum / other[j].real();
      } else {
        if (!(sum.real() > 0)) return false;
        row[j] = std::sqrt(sum.real());
      }
    }
  }
  return true;
}

void Reflections::unwind(Matrix& m) const {
  for (auto h = each.rbegin(); h != each.rend(); ++h) reflect_rows(*h, std::conj(h->tau), m, 0);
}

Reflections triangular(Matrix& a) {
  Reflections all;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    double beta = 0;
    Reflections::One h = reflection(k, column_from(a, k, k), beta);
    reflect_rows(h, h.tau, a, k);
    a.at(k, k) = beta;
    for (int64_t i = k + 1; i < a.rows; ++i) a.at(i, k) = 0;
    all.each.push_back(std::move(h));
  }
  return all;
}

Reflections tridiagonal(Matrix a, std::vector<double>& diagonal, std::vector<double>& beside) {
  const int64_t n = a.rows;
  for (int64_t i = 0; i < n; ++i) {
    a.at(i, i) = a.at(i, i).real();
    for (int64_t j = i + 1; j < n; ++j) a.at(i, j) = std::conj(a.at(j, i));
  }
  Reflections all;
  for (int64_t k = 0; k + 1 < n; ++k) {
    double beta = 0;
    Reflections::One h = reflection(k + 1, column_from(a, k + 1, k), beta);
    reflect_rows(h, h.tau, a, k + 1);
    reflect_columns(h, a, k + 1);
    beside.push_back(beta);
    all.each.push_back(std::move(h));
  }
  for (int64_t i = 0; i < n; ++i) diagonal.push_back(a.at(i, i).real());
  return all;
}

void bidiagonal(Matrix a, Reflections& left, Reflections& right, std::vector<double>& diagonal, std::vector<double>& above) {
  for (int64_t k = 0; k < a.columns; ++k) {
    double beta = 0;
    Reflections::One h = reflection(k, column_from(a, k, k), beta);
    reflect_rows(h, h.tau, a, k + 1);
    diagonal.push_back(beta);
    left.each.push_back(std::move(h));
    if (k + 1 == a.columns) break;
    std::vector<Z> x;
    for (int64_t j = k + 1; j < a.columns; ++j) x.push_back(std::conj(a.at(k, j)));
    Reflections::One g = reflection(k + 1, std::move(x), beta);
    reflect_columns(g, a, k + 1);
    above.push_back(beta);
    right.each.push_back(std::move(g));
  }
}

}  // namespace tfl::complex_dense
