// Linear algebra over batches: small matrices by matrix_small.h, large ones by matrix_blocked.h. Matrices come one after the other. This
// header must not know tensors.
#pragma once

#include <algorithm>

#include "runtime/kernels/linalg/matrix_blocked.h"
#include "runtime/kernels/linalg/matrix_sizes.h"
#include "runtime/kernels/linalg/matrix_small.h"
#include "runtime/tensor/dtype.h"

namespace tfl::matrices {

/// work(own, i, memory) for every matrix, until one is refused: each on one thread of its own where there are `lots` of them at once, else on
/// all. `elements` of `memory` for each.
template <class F>
bool each_matrix(const Workers& workers, int64_t count, int64_t lots, int64_t cost, double* memory, int64_t elements,
                 const F& work) {
  constexpr int64_t kThreaded = 1 << 16;
  bool refused = false;
  if (lots < 2 || workers.threads == 1 || count * cost < kThreaded) {
    for (int64_t i = 0; i < count && !refused && !workers.interrupted(); ++i) refused = !work(workers, i, memory);
    return !refused;
  }
  Workers own = workers;
  own.threads = 1;
  workers.parallel_for(lots, 1, [&](int64_t first, int64_t last) {
    for (int64_t lot = first; lot < last; ++lot) {
      for (int64_t i = lot * count / lots; i < (lot + 1) * count / lots && !workers.interrupted(); ++i) {
        if (!work(own, i, memory + lot * elements)) __atomic_store_n(&refused, true, __ATOMIC_RELAXED);
      }
    }
  });
  return !refused;
}

template <class T>
bool solve_all(const Workers& workers, const MatrixLevel& level, const RoutineCall& c) {
  const auto kind = static_cast<MatrixSolve>(c.flags & kMatrixKind);
  const int64_t n = c.sizes[1], columns = c.sizes[2], given = n * n, wanted = kind == MatrixSolve::determinant ? 1 : n * columns;
  const bool small = n <= matrix_small(kind);
  const int64_t elements = solve_scratch<int64_t>(small, n, columns);
  return each_matrix(workers, c.sizes[0], c.sizes[3], n * n * (n + columns), static_cast<double*>(c.at[3]), elements,
                     [&](const Workers& own, int64_t i, double* memory) {
                       const T *a = static_cast<const T*>(c.at[0]) + i * given,
                               *b = c.at[1] ? static_cast<const T*>(c.at[1]) + i * wanted : nullptr;
                       T* out = static_cast<T*>(c.at[2]) + i * wanted;
                       if (small) return solve_one(kind, c.flags, a, b, out, memory, n, columns);
                       if constexpr (std::is_same_v<T, float>) {
                         if (n > kMatrixWide)
                           return solve_blocked<float>(own, level, kind, c.flags, a, b, out, memory, elements, n, columns);
                       }
                       return solve_blocked<double>(own, level, kind, c.flags, a, b, out, memory, elements, n, columns);
                     });
}

template <class T>
bool factor_all(const Workers& workers, const MatrixLevel& level, const RoutineCall& c) {
  const auto kind = static_cast<MatrixFactor>(c.flags & kMatrixKind);
  const int64_t rows = c.sizes[1], columns = c.sizes[2], least = std::min(rows, columns),
                k = c.flags & kMatrixFull ? rows : least;
  // Bytes of each result for one matrix.
  const int64_t element = static_cast<int64_t>(sizeof(T));
  int64_t first = rows * columns * element, second = rows * static_cast<int64_t>(sizeof(int32_t)), third = 0;
  if (kind == MatrixFactor::log_determinant) first = second = element;
  if (kind == MatrixFactor::qr) first = rows * k * element, second = k * columns * element;
  if (kind == MatrixFactor::eigen) first = rows * element, second = rows * rows * element;
  if (kind == MatrixFactor::singular) {
    first = least * element;
    second = rows * k * element;
    third = columns * (c.flags & kMatrixFull ? columns : least) * element;
  }
  const bool small = least <= matrix_small(kind);
  const int64_t elements = factor_scratch<int64_t>(kind, c.flags, small, rows, columns, least * least);
  double* scratch = static_cast<double*>(c.at[kind == MatrixFactor::singular ? 4 : 3]);
  return each_matrix(workers, c.sizes[0], c.sizes[3], rows * columns * least, scratch, elements,
                     [&](const Workers& own, int64_t i, double* memory) {
                       const T* a = static_cast<const T*>(c.at[0]) + i * rows * columns;
                       T* one = reinterpret_cast<T*>(static_cast<char*>(c.at[1]) + i * first);
                       char* two = static_cast<char*>(c.at[2]) + i * second;
                       if (kind == MatrixFactor::singular) {
                         T* three = reinterpret_cast<T*>(static_cast<char*>(c.at[3]) + i * third);
                         if (small)
                           singular_one(c.flags, a, one, reinterpret_cast<T*>(two), three, memory, rows, columns);
                         else
                           singular_blocked(own, level, c.flags, a, one, reinterpret_cast<T*>(two), three, memory, elements, rows,
                                            columns);
                         return true;
                       }
                       if (small) return factor_one(kind, c.flags, a, one, two, memory, rows, columns);
                       if (kind == MatrixFactor::eigen)
                         return eigen_blocked(own, level, c.flags, a, one, reinterpret_cast<T*>(two), memory, elements, rows);
                       if constexpr (std::is_same_v<T, float>) {
                         if (least > kMatrixWide)
                           return factor_blocked<float>(own, level, kind, c.flags, a, one, two, memory, elements, rows, columns);
                       }
                       return factor_blocked<double>(own, level, kind, c.flags, a, one, two, memory, elements, rows, columns);
                     });
}

inline bool solve(const Workers& workers, const MatrixLevel& level, const RoutineCall& c) {
  return static_cast<DType>(c.dtype) == DType::F32 ? solve_all<float>(workers, level, c) : solve_all<double>(workers, level, c);
}
inline bool factor(const Workers& workers, const MatrixLevel& level, const RoutineCall& c) {
  return static_cast<DType>(c.dtype) == DType::F32 ? factor_all<float>(workers, level, c) : factor_all<double>(workers, level, c);
}

}  // namespace tfl::matrices
