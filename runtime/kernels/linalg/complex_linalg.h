// Linear algebra of complex matrices as the operations have it: complex_dense.h over tensors.
#pragma once

#include "runtime/kernels/routine.h"
#include "runtime/ops/structural.h"

namespace tfl {

/// `refusal`: what is said of a matrix without inverse.
Result<void> solve_complex(RunCall& call, MatrixSolve kind, int64_t flags, const char* refusal);
Result<void> factor_complex(RunCall& call, MatrixFactor kind, int64_t flags);

/// Eigenvalues and vectors, or singular values and both kinds of vectors, of matrices of f64, into tensors of their sizes.
Result<void> factor_real(Context& context, MatrixFactor kind, Tensor& a, Tensor& first, Tensor& second, Tensor* third);

}  // namespace tfl
