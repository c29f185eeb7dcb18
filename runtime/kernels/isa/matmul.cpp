// The inner tiles of matrix products. A tile keeps all its elements in registers while it runs over k.
#include "runtime/kernels/matmul.h"

#include <utility>

#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {

namespace {

template <class V>
TFL_INLINE V multiply_add(const V& a, const V& b, const V& c) {
  if constexpr (std::is_floating_point_v<elem_of<V>>) return fma(a, b, c);
  else return c + a * b;
}

#if TFL_HAS_AVX512
constexpr bool kMasked = true;
constexpr int kMaxVectors = 4;
constexpr int kMaxRows[kMaxTileVectors] = {14, 12, 8, 6};
#elif TFL_HAS_AVX2
constexpr bool kMasked = false;
constexpr int kMaxVectors = 2;
constexpr int kMaxRows[kMaxTileVectors] = {8, 6, 0, 0};
#else
constexpr bool kMasked = false;
constexpr int kMaxVectors = 2;
constexpr int kMaxRows[kMaxTileVectors] = {4, 4, 0, 0};
#endif

template <class T, int Rows, int Vectors>
void tile(int64_t k, const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, T* c, int64_t c_row, int tail, bool add) {
  using V = Vec<T, kLanes<T>>;
  constexpr int n = kLanes<T>;
  V sum[Rows][Vectors];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) sum[i][j] = V(0);
  }
  for (int64_t p = 0; p < k; ++p) {
    V row[Vectors];
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) row[j] = kMasked && j == Vectors - 1 ? V::load_partial(b + j * n, tail) : V::load(b + j * n);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      V x(a[i * a_row]);
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) sum[i][j] = multiply_add(x, row[j], sum[i][j]);
    }
    a += a_k;
    b += b_k;
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    T* to = c + i * c_row;
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) {
      if (j < Vectors - 1) {
        if (add) sum[i][j] = V::load(to + j * n) + sum[i][j];
        sum[i][j].store(to + j * n);
      } else {
        if (add) sum[i][j] = V::load_partial(to + j * n, tail) + sum[i][j];
        sum[i][j].store_partial(to + j * n, tail);
      }
    }
  }
}

template <class T, int Vectors, int... Rows>
constexpr void put_tiles(ProductTiles<T>& tiles, std::integer_sequence<int, Rows...>) {
  ((tiles.tile[Vectors - 1][Rows + 1] = &tile<T, Rows + 1, Vectors>), ...);
}

template <class T, int... Vectors>
constexpr ProductTiles<T> all_tiles(std::integer_sequence<int, Vectors...>) {
  ProductTiles<T> tiles{};
  tiles.lanes = kLanes<T>;
  tiles.max_vectors = kMaxVectors;
  tiles.masked = kMasked;
  for (int i = 0; i < kMaxTileVectors; ++i) tiles.max_rows[i] = kMaxRows[i];
  (put_tiles<T, Vectors + 1>(tiles, std::make_integer_sequence<int, kMaxRows[Vectors]>()), ...);
  return tiles;
}

template <class T>
constexpr ProductTiles<T> kTiles = all_tiles<T>(std::make_integer_sequence<int, kMaxVectors>());

}  // namespace

extern const ProductKernels kProductKernels;
constexpr ProductKernels kProductKernels = {&kTiles<float>, &kTiles<double>, &kTiles<int32_t>, &kTiles<int64_t>};

}  // namespace TFL_ISA
}  // namespace tfl
