// Eigenvalues of symmetric matrices and singular values, by divide and conquer: what its parts share. Bases are stored as rows.
// This header must not know tensors.
#pragma once

#include <cmath>

#include "runtime/kernels/linalg/dense.h"

namespace tfl::dense {

inline constexpr int64_t kSpectralLeaf = 24;  // sizes that are not divided
inline constexpr double kEpsilon = 0x1p-53;

/// sqrt(a^2 + b^2) without overflow, of operations whose result is defined to the bit.
inline double length_of(double a, double b) {
  a = std::fabs(a), b = std::fabs(b);
  const double most = a > b ? a : b, least = a > b ? b : a;
  if (!(most > 0)) return most + least;
  const double q = least / most;
  return most * std::sqrt(1 + q * q);
}

// ---- the secular equation (dense_secular.cpp): 1 + sum of z[i]^2 / (d[i] - x) = 0, or with d[i]^2, for rising and different d

struct Secular {
  int64_t n;
  const double* d;
  const double* z;  // not squared
  bool squares;
  double* squared;  // z[i]^2
  /// d[i] - d[j], or of their squares.
  double difference(int64_t i, int64_t j) const { return squares ? (d[i] - d[j]) * (d[i] + d[j]) : d[i] - d[j]; }
};
/// Root j as d[origin] (squared, where squares are meant) plus what comes back; to[i] = d[i] - x.
double secular_root(const MatrixKernels<double>& kernels, const Secular& s, int64_t j, double* to, int64_t& origin);
/// All roots: rows of `away` hold d[i] - x[j]; `values` the eigenvalues, or with squares the singular values. `weights` are then those z for which the
/// roots are exact.
void secular_roots(const Tools<double>& tools, const Secular& s, double* away, int64_t stride, double* values, double* weights);

// ---- small ones (dense_leaf.cpp): rotations turn rows of z, of u and of v, as many elements of them as are given

/// The tridiagonal matrix of diagonal d and off-diagonal e: d gets its eigenvalues.
void tridiagonal_rotations(const MatrixKernels<double>& kernels, int64_t n, double* d, double* e, double* z, int64_t stride,
                           int64_t length);
/// The tridiagonal matrix without vectors: d gets its eigenvalues, `order` their order. Roots of squares are what it is spared (Pal, Walker and
/// Kahan).
void tridiagonal_values(int64_t n, double* d, double* e, int32_t* order);
/// `order`: of n values, by rising value.
void rising(int64_t n, const double* d, int32_t* order);
/// The bidiagonal matrix of n rows and n + `more` columns: d gets its singular values.
void bidiagonal_rotations(const MatrixKernels<double>& kernels, int64_t n, bool more, double* d, double* e, double* u, double* v,
                          int64_t stride, int64_t u_length, int64_t v_length);

// ---- divide and conquer. `order`: rows by rising value; all of it has n elements and is taken from the tools' memory

/// z gets the eigenvectors of the tridiagonal matrix as rows.
void tridiagonal_divide(Tools<double> tools, int64_t n, double* d, double* e, double* z, int64_t stride, int32_t* order);
/// u and v get the singular vectors of the square bidiagonal matrix as rows.
void bidiagonal_divide(Tools<double> tools, int64_t n, double* d, double* e, double* u, double* v, int64_t stride,
                       int32_t* order);
constexpr int64_t divide_memory(int64_t n) { return 5 * (n + 2) * (n + 96) + 32 * n + product_memory(n, n) + 4096; }

// ---- whole matrices

/// Of the symmetric matrix whose upper triangle lies in a: eigenvalues d and, where z is not null, vectors as rows of z, in `order`. No element may be infinite or NaN.
void eigen(Tools<double> tools, int64_t n, double* a, int64_t stride, double* d, double* z, int32_t* order);
constexpr int64_t eigen_memory(int64_t n) {
  return (3 * kReflections + 8) * stride_of(n) + (n + 64) * 3 * kReflections + n * stride_of(n) + 16 * n + divide_memory(n) +
         reflect_memory(n, n) + 4096;
}
/// Of a (m x n, m >= n): d, left vectors as `wanted` rows of u (n or m of them, of m elements), right ones as rows of v; in `order`.
/// Without vectors where u is null.
void singular(Tools<double> tools, int64_t m, int64_t n, double* a, int64_t stride, double* d, int64_t wanted, double* u,
              int64_t u_stride, double* v, int64_t v_stride, int32_t* order);

}  // namespace tfl::dense
