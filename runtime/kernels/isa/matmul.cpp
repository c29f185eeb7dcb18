// The inner tiles of matrix products. A tile keeps all its elements in registers while it runs over k.
#include "runtime/kernels/product/matmul.h"

#include <algorithm>
#include <utility>

#include "runtime/kernels/isa/multiply_add.h"
#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {

namespace {

#if TFL_HAS_AVX512
constexpr bool kMasked = true;
constexpr int kRowVectors = 16;
constexpr int kMaxVectors = 4;
constexpr int kVectors = 2;
constexpr int kMaxRows[kMaxTileVectors] = {14, 14, 9, 6};
#elif TFL_HAS_AVX2
constexpr bool kMasked = false;
constexpr int kRowVectors = 8;
constexpr int kMaxVectors = 2;
constexpr int kVectors = 2;
constexpr int kMaxRows[kMaxTileVectors] = {8, 6, 0, 0};
#else
constexpr bool kMasked = false;
constexpr int kRowVectors = 4;
constexpr int kMaxVectors = 2;
constexpr int kVectors = 2;
constexpr int kMaxRows[kMaxTileVectors] = {4, 4, 0, 0};
#endif

// Where rows of a lie: every third has a register of its own, which moves along k, and the two after it are addressed from it. Left to
// itself the compiler keeps an offset for each row, and has not got that many registers.
template <class T, int Rows>
struct RowPointers {
  static constexpr int kCount = (Rows + 2) / 3;
  const T* at[kCount];
  TFL_INLINE RowPointers(const T* a, int64_t a_row) {
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) at[i] = a + 3 * i * a_row;
  }
  TFL_INLINE void advance(int64_t step) {
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
      at[i] += step;
      asm("" : "+r"(at[i]));
    }
  }
};

constexpr int64_t kLongRun = 128;

// `Edge`: the columns of the last vector are loaded under a mask, which costs a slot beside the multiplications.
template <class T, int Rows, int Vectors, bool Edge>
void tile(int64_t k, const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, T* c, int64_t c_row, int tail, bool add,
          const void* ahead) {
  using V = Vec<T, kLanes<T>>;
  constexpr int n = kLanes<T>;
  V sum[Rows][Vectors];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) sum[i][j] = V(0);
  }
  // The place of the result is on its way while the sums are made; a short run over k would not hide what asking costs.
  if (k >= kLongRun) {
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) __builtin_prefetch(c + i * c_row + j * n, 1, 2);
    }
  }
  RowPointers<T, Rows> rows(a, a_row);
  for (int64_t p = 0; p < k; ++p) {
    V row[Vectors];
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) row[j] = Edge && j == Vectors - 1 ? V::load_partial(b + j * n, tail) : V::load(b + j * n);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      V x(rows.at[i / 3][i % 3 * a_row]);
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) sum[i][j] = multiply_add(x, row[j], sum[i][j]);
    }
    rows.advance(a_k);
    if constexpr (Vectors > 1 || Edge) {
      __builtin_prefetch(ahead, 0, 2);
      ahead = static_cast<const char*>(ahead) + kAheadBytes;
    }
    b += b_k;
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    T* to = c + i * c_row;
#pragma GCC unroll 16
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

// Lane l of register i changes places with lane i of register l, one bit of the two numbers after the other.
template <int Step, class R, int... L>
TFL_INLINE void exchange(R& x, R& y, std::integer_sequence<int, L...>) {
  constexpr int n = sizeof...(L);
  R low = __builtin_shufflevector(x, y, (L & Step ? n + L - Step : L)...);
  R high = __builtin_shufflevector(x, y, (L & Step ? n + L : L + Step)...);
  x = low;
  y = high;
}
template <int Step, class T, int N>
TFL_INLINE void transpose(Vec<T, N> (&r)[N]) {
  if constexpr (Step < N) {
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) {
      if (!(i & Step)) exchange<Step>(r[i].r, r[i + Step].r, std::make_integer_sequence<int, N>());
    }
    transpose<Step * 2>(r);
  }
}

// A square of the matrix at `from`, turned: of `rows` rows and `columns` columns, zeros elsewhere.
template <class T, int n = kLanes<T>>
TFL_INLINE void turned_square(const T* from, int64_t stride, int64_t rows, int64_t columns, Vec<T, n> (&square)[n]) {
  using V = Vec<T, n>;
  if (rows >= n && columns >= n) {
#pragma GCC unroll 16
    for (int l = 0; l < n; ++l) square[l] = V::load(from + l * stride);
  } else {
    const int some = static_cast<int>(std::min<int64_t>(n, columns));
#pragma GCC unroll 16
    for (int l = 0; l < n; ++l) square[l] = l < rows ? V::load_partial(from + l * stride, some) : V(0);
  }
  transpose<1>(square);
}

// As many rows at once as a vector has lanes.
template <class T>
void dots(int64_t rows, int64_t k, const T* a, int64_t a_row, const T* x, int64_t x_step, T* c, bool add) {
  constexpr int n = kLanes<T>;
  using V = Vec<T, n>;
  for (int64_t i = 0; i < rows; i += n) {
    const T* from = a + i * a_row;
    const int some = static_cast<int>(std::min<int64_t>(n, rows - i));
    V sum(0), square[n];
    int64_t p = 0;
    for (; p + n <= k; p += n) {
      turned_square(from + p, a_row, some, n, square);
#pragma GCC unroll 16
      for (int l = 0; l < n; ++l) sum = multiply_add(V(x[(p + l) * x_step]), square[l], sum);
    }
    if (p < k) {
      turned_square(from + p, a_row, some, k - p, square);
      for (int l = 0; p + l < k; ++l) sum = multiply_add(V(x[(p + l) * x_step]), square[l], sum);
    }
    if (add) sum = V::load_partial(c + i, some) + sum;
    sum.store_partial(c + i, some);
  }
}

template <class T, int Rows>
void stream_rows(const T* a, int64_t a_k, const T* b, int64_t b_k, int64_t columns, T* chains) {
  constexpr int n = kLanes<T>;
  using V = Vec<T, n>;
  V x[Rows];
#pragma GCC unroll 8
  for (int p = 0; p < Rows; ++p) x[p] = V(a[p * a_k]);
  int64_t j = 0;
  for (; j + n <= columns; j += n) {
    V sum = V::load(chains + j);
#pragma GCC unroll 8
    for (int p = 0; p < Rows; ++p) sum = multiply_add(x[p], V::load(b + p * b_k + j), sum);
    sum.store(chains + j);
  }
  if (j == columns) return;
  const int tail = static_cast<int>(columns - j);
  V sum = V::load_partial(chains + j, tail);
  for (int p = 0; p < Rows; ++p) sum = multiply_add(x[p], V::load_partial(b + p * b_k + j, tail), sum);
  sum.store_partial(chains + j, tail);
}

template <class T>
void stream(int64_t k, const T* a, int64_t a_k, const T* b, int64_t b_k, int64_t columns, T* chains) {
  constexpr int kRows = 8;
  int64_t p = 0;
  for (; p + kRows <= k; p += kRows) stream_rows<T, kRows>(a + p * a_k, a_k, b + p * b_k, b_k, columns, chains);
  for (; p < k; ++p) stream_rows<T, 1>(a + p * a_k, a_k, b + p * b_k, b_k, columns, chains);
}

template <class T>
void pack_columns(int64_t k, int64_t columns, int64_t width, const T* b, int64_t b_col, T* to) {
  constexpr int n = kLanes<T>;
  for (int64_t j = 0; j < width; j += n) {
    for (int64_t p = 0; p < k; p += n) {
      Vec<T, n> square[n];
      turned_square(b + j * b_col + p, b_col, columns - j, k - p, square);
      const int some = static_cast<int>(std::min<int64_t>(n, k - p));
      if (some == n) {
#pragma GCC unroll 16
        for (int l = 0; l < n; ++l) square[l].store(to + (p + l) * width + j);
      } else {
        for (int l = 0; l < some; ++l) square[l].store(to + (p + l) * width + j);
      }
    }
  }
}

template <class T, int Vectors, int... Rows>
constexpr void put_tiles(ProductTiles<T>& tiles, std::integer_sequence<int, Rows...>) {
  ((tiles.tile[Vectors - 1][Rows + 1] = &tile<T, Rows + 1, Vectors, false>), ...);
  if constexpr (kMasked && Vectors == 1) ((tiles.edge[Rows + 1] = &tile<T, Rows + 1, 1, true>), ...);
}

template <class T, int... Vectors>
constexpr ProductTiles<T> all_tiles(std::integer_sequence<int, Vectors...>) {
  ProductTiles<T> tiles{};
  tiles.lanes = kLanes<T>;
  tiles.max_vectors = kMaxVectors;
  tiles.vectors = kVectors;
  tiles.masked = kMasked;
  for (int i = 0; i < kMaxTileVectors; ++i) tiles.max_rows[i] = kMaxRows[i];
  tiles.row_vectors = kRowVectors;
  tiles.row = &tile<T, 1, kRowVectors, false>;
  tiles.stream = &stream<T>;
  tiles.dots = &dots<T>;
  tiles.pack_columns = &pack_columns<T>;
  (put_tiles<T, Vectors + 1>(tiles, std::make_integer_sequence<int, kMaxRows[Vectors]>()), ...);
  return tiles;
}

template <class T>
constexpr ProductTiles<T> tiles_of() {
  return all_tiles<T>(std::make_integer_sequence<int, kMaxVectors>());
}

}  // namespace

// One table a type: a library that multiplies floats alone carries no other tiles.
extern const ProductTiles<float> kProductTilesF32;
extern const ProductTiles<double> kProductTilesF64;
extern const ProductTiles<int32_t> kProductTilesI32;
extern const ProductTiles<int64_t> kProductTilesI64;
constexpr ProductTiles<float> kProductTilesF32 = tiles_of<float>();
constexpr ProductTiles<double> kProductTilesF64 = tiles_of<double>();
constexpr ProductTiles<int32_t> kProductTilesI32 = tiles_of<int32_t>();
constexpr ProductTiles<int64_t> kProductTilesI64 = tiles_of<int64_t>();

extern const ProductKernels kProductKernels;
constexpr ProductKernels kProductKernels = {&kProductTilesF32, &kProductTilesF64, &kProductTilesI32, &kProductTilesI64};

}  // namespace TFL_ISA
}  // namespace tfl
