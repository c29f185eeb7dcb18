// Dense factorisations of one small matrix in f64, each in one fixed order of operations. Rows are contiguous.
// This header must not know tensors or batches.
#pragma once

#include <cstdint>
#include <span>

namespace tfl {

struct Matrix {
  double* data;
  int64_t rows, cols;
  double& operator()(int64_t i, int64_t j) const { return data[i * cols + j]; }
};

/// PA = LU in place, with row pivots; `order` gets the row of A that each row of LU came from. The sign of the permutation, or 0
/// when a pivot is zero (the factors are still those of the elimination without that pivot).
int lu_in_place(const Matrix& a, std::span<int32_t> order);
/// Solves LU x = P b for every column of b, in place; b is permuted already.
void lu_solve(const Matrix& lu, const Matrix& b);
/// The lower factor in place; false when the matrix is not positive definite. What is above the diagonal becomes zero.
bool cholesky_in_place(const Matrix& a);
void triangular_solve(const Matrix& a, const Matrix& b, bool lower, bool transposed);
/// a (m x n) becomes R, q (m x m) the orthogonal factor.
void qr_in_place(const Matrix& a, const Matrix& q);
/// Eigenvalues in rising order and the vectors as columns of `vectors`, by Jacobi rotations; a is overwritten.
void symmetric_eigen(const Matrix& a, std::span<double> values, const Matrix& vectors);
/// a (m x n, m >= n) becomes U's first n columns, v (n x n) the right vectors, by one-sided Jacobi rotations; values fall.
void singular_values(const Matrix& a, std::span<double> values, const Matrix& v);
/// Completes the first `known` columns of q (m x m), orthonormal, to a basis.
void complete_basis(const Matrix& q, int64_t known);

}  // namespace tfl
