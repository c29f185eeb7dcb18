// Eigenvalues of general matrices as a native of NumPy's module.
#pragma once

#include "frontend/core/interp.h"

namespace tfl {

/// eigen(a) of square matrices of finite numbers: (values, vectors), both complex128. LinAlgError where the iteration does not end.
Result<Value> numpy_eigen(Interp& interp, Value* args);

}  // namespace tfl
