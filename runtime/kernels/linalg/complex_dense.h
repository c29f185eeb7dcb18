// Factors of matrices of complex numbers. Matrices are row-major; all arithmetic is in f64. Plain loops: each is of the order n^3, none in blocks.
// This header must not know tensors.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace tfl::complex_dense {

using Z = std::complex<double>;

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<Z> elements;

  Matrix(int64_t m, int64_t n) : rows(m), columns(n), elements(static_cast<size_t>(m * n)) {}
  Z* row(int64_t i) { return elements.data() + i * columns; }
  const Z* row(int64_t i) const { return elements.data() + i * columns; }
  Z& at(int64_t i, int64_t j) { return row(i)[j]; }
  const Z& at(int64_t i, int64_t j) const { return row(i)[j]; }
};

Matrix adjoint(const Matrix& a);
/// The first `rows` rows and `columns` columns of the unit matrix.
Matrix unit(int64_t rows, int64_t columns);

/// L and U in one, rows in `order`; the sign of the order. `whole`: no pivot is zero.
struct Lu {
  Matrix factors;
  std::vector<int32_t> order;
  bool odd = false, whole = true;

  explicit Lu(Matrix a);
  /// x with A x = b, or A* x = b.
  Matrix solve(const Matrix& b, bool adjoint) const;
};

/// b becomes x with T x = b, or T* x = b; only one triangle of `t` is read, or what is below its diagonal of ones. False: a zero on the diagonal.
bool solve_triangle(const Matrix& t, bool lower, bool adjoint, bool unit_diagonal, Matrix& b);

/// L of the matrix whose lower triangle is given. False: not positive definite.
bool cholesky(const Matrix& a, Matrix& l);

/// Reflections 1 - tau v v* that were applied from one side, in turn; v begins at row `first` with a one.
struct Reflections {
  struct One {
    int64_t first;
    Z tau;
    std::vector<Z> v;
  };
  std::vector<One> each;

  /// m becomes (H1 H2 ... Hk)* m, of reflections that took A to H A.
  void unwind(Matrix& m) const;
};

/// a becomes upper triangular: Q* a. The reflections unwind Q.
Reflections triangular(Matrix& a);
/// The matrix whose lower triangle is given as U T U*: the diagonal and what is beside it, both real.
Reflections tridiagonal(Matrix a, std::vector<double>& diagonal, std::vector<double>& beside);
/// a (m >= n) as U B V*: the real diagonal of B and what is above it.
void bidiagonal(Matrix a, Reflections& left, Reflections& right, std::vector<double>& diagonal, std::vector<double>& above);

}  // namespace tfl::complex_dense
