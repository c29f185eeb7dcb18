// Sums of arrays, with the bits of TFL's own addition.
#pragma once

#include "runtime/tensor/dtype.h"

namespace tfl::mpi {

/// to[i] = a[i] + b[i]; `to` may be one of them. False where elements of this dtype cannot be added.
bool add(DType dtype, void* to, const void* a, const void* b, size_t count);

}  // namespace tfl::mpi
