// Schur's form of a complex matrix, A = U T U* with T upper triangular, and what is made of it. Matrices are row-major and square, n
// rows each; all arithmetic is in f64.
// This header must not know tensors.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace tfl::schur {

using Z = std::complex<double>;
using Matrix = std::vector<Z>;

/// `t` becomes T, `u` U. False when the iteration does not come to an end.
bool decompose(int64_t n, Matrix& t, Matrix& u);

/// Eigenvalues, and vectors of length 1 as columns; in rising order of the absolute values, or as they stand in T with the largest element
/// of each vector real. False: no convergence.
enum class Order : uint8_t { rising, found };
bool eigen(int64_t n, Matrix a, Order order, std::vector<Z>& values, Matrix& vectors);

/// The principal square root and logarithm. False: no convergence.
bool square_root(int64_t n, Matrix a, Matrix& out);
bool logarithm(int64_t n, Matrix a, Matrix& out);

}  // namespace tfl::schur
