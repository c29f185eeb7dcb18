// Operations that machine code does not write out but calls: what one call is told, and the functions that run it. Eager kernels, the JIT
// and native libraries share the loops behind them. This header must not know tensors, plans or contexts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/workers.h"

namespace tfl {

enum class Routine : uint8_t {
  scan,  // at: x, out; sizes: outer, length, inner; flags: kScan...
  arg,   // at: x, out of the index dtype; sizes as scan; flags: 1 the smallest
  scatter,  // at: base (out itself: in place; null: zeros), indices, updates, out; flags: ScatterHow; sizes: elements of out, tuples, inner,
  // depth, sizes of the axes that are indexed. Fails on an index out of range, and has written nothing then.
  segment,  // at: x, ids, out, sums of half types as f32; sizes: rows, segments, width; flags: SegmentFold. Fails on an id too large.
  sort,  // at: x, values (may be null), indices of the index dtype (may be null), entries (twice as many where there are indices); sizes: rows, length, how many are wanted;
         // flags: 1 descending
  random,  // at: seed of the index dtype, out, low, high (of kRandomInteger, of out's dtype); sizes: elements, words of the seed; flags: RandomKind.
           // Fails on an empty range.
  solve,  // at: a, b (where the kind has one), out, scratch of f64; sizes: matrices, rows of a, columns of out, lots that have scratch; flags: MatrixSolve, and of
          // triangular solve kMatrixLower, of others but cholesky kMatrixAdjoint. Fails on a matrix without inverse.
  factor,  // at: a, two results (of svd three), scratch of f64; sizes: matrices, rows and columns of a, lots; flags: MatrixFactor, kMatrixFull. lu fails
           // on a matrix without inverse.
  sample,  // at: seed of the index dtype, out, parameters; sizes: elements, words of the seed, elements of each parameter; flags: SampleKind,
  // kSample..., the parameters' tfl::DType from kSampleDType on. Fails on parameters that truncated normal numbers do not take.
  fourier,  // at: x, out, scratch; sizes: before, at and behind the axis (of the numbers that are transformed), pairs of scratch for a lot, lots;
            // flags: of fourier_sizes.h; the dtype is that of the parts. Fails without memory for roots of unity.
};
inline constexpr const char* kRoutineNames[] = {"scan",   "arg",   "scatter", "segment", "sort",
                                                "random", "solve", "factor",  "sample",  "fourier"};
inline constexpr int kRoutines = sizeof kRoutineNames / sizeof kRoutineNames[0];
static_assert(kRoutines == static_cast<int>(Routine::fourier) + 1);
/// Which pointers of a call are written, as bits.
inline constexpr uint8_t kRoutineWrites[kRoutines] = {2, 2, 8, 12, 14, 2, 12, 30, 2, 6};
inline constexpr bool routine_fails(Routine r) { return r != Routine::scan && r != Routine::arg && r != Routine::sort; }

inline constexpr int64_t kScanProduct = 1, kScanExclusive = 2, kScanReverse = 4;
enum class ScatterHow : uint8_t { set, add, subtract, minimum, maximum };
enum class SegmentFold : uint8_t { sum, product, most, least };
enum class RandomKind : uint8_t { uniform, normal, integer, full_integer, truncated, permutation };
enum class MatrixSolve : uint8_t { cholesky, determinant, inverse, solve, triangular };
enum class MatrixFactor : uint8_t { lu, log_determinant, qr, eigen, singular };
enum class SampleKind : uint8_t { gamma, poisson, binomial, truncated };
inline constexpr int64_t kMatrixKind = 7, kMatrixLower = 8, kMatrixAdjoint = 16, kMatrixFull = 32;
inline constexpr int64_t kSampleKind = 7, kSampleNarrow = 8, kSampleDType = 8;

inline constexpr int kRoutinePointers = 6, kRoutineSizes = 12, kScatterDepth = 8;

/// One call. Everything is row-major; pointers are to elements. Words of 8 bytes only: machine code writes them.
struct RoutineCall {
  int64_t routine;  // Routine
  int64_t flags;
  int64_t dtype;  // of elements: tfl::DType
  int64_t index_dtype;
  int64_t location;  // what Frame::failed tells, less 1
  void* at[kRoutinePointers];
  int64_t sizes[kRoutineSizes];
};

/// Bytes of an entry of `sort` for elements of so many bytes.
inline constexpr int64_t sort_entry_bytes(int64_t element_bytes) { return element_bytes <= 4 ? 8 : 16; }

/// False where the operation would raise.
using RoutineFunction = bool (*)(const Workers& workers, const RoutineCall& call);

/// body(first, last) over [0, n) in parts of `grain`; on more than one thread when there is enough to do. `cost`: of one unit, in cheap
/// element operations.
template <class F>
void in_parts(const Workers& workers, int64_t n, int64_t grain, int64_t cost, const F& body) {
  constexpr int64_t kThreaded = 1 << 17;
  int64_t work;
  bool large = __builtin_mul_overflow(n, cost, &work) || work >= kThreaded;
  if (large && n > grain && workers.threads > 1) {
    workers.parallel_for(n, grain, [&](int64_t first, int64_t last) {
      if (!workers.interrupted()) body(first, last);
    });
    return;
  }
  for (int64_t first = 0; first < n && !workers.interrupted(); first += grain) body(first, first + grain < n ? first + grain : n);
}

}  // namespace tfl
