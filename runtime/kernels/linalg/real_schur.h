// Eigenvalues and vectors of a general real matrix by its real Schur form, in the order and with the lengths and signs in which the
// usual library of linear algebra gives them (balancing, reflections, double shifts, back substitution). Matrices are row-major, n rows.
// This header must not know tensors.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace tfl::schur {

/// Columns of `vectors` have length 1. `balanced`: rows and columns are brought to like lengths first, and of a pair's vector the largest
/// element is real (NumPy); else the element in which the pair ends is imaginary in the basis of Schur's form (TensorFlow).
/// False: no convergence, or no numbers.
bool real_eigen(int64_t n, std::vector<double> a, bool balanced, std::vector<std::complex<double>>& values,
                std::vector<std::complex<double>>& vectors);

}  // namespace tfl::schur
