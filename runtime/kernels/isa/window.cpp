// Loops over windows: sums stay in registers while the elements of a window pass.
#include <limits>
#include <utility>

#include "runtime/kernels/isa/multiply_add.h"
#include "runtime/kernels/window/window_kernels.h"
#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {

namespace {

#define TFL_INLINE_BODY __attribute__((always_inline))

#if TFL_HAS_AVX512
constexpr int kMaxVectors = 4;
constexpr int kMaxRows[kMaxWindowVectors] = {8, 8, 8, 6};
#elif TFL_HAS_AVX2
constexpr int kMaxVectors = 2;
constexpr int kMaxRows[kMaxWindowVectors] = {8, 6, 0, 0};
#else
constexpr int kMaxVectors = 2;
constexpr int kMaxRows[kMaxWindowVectors] = {4, 4, 0, 0};
#endif

template <class T, int Rows, int Vectors>
void tile(const WindowTile<T>& given) {
  const WindowTile<T> t = given;  // which nothing that is written overlaps
  using V = Vec<T, kLanes<T>>;
  constexpr int n = kLanes<T>;
  V sum[Rows][Vectors];
  const T* row[Rows];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    row[i] = t.rows[i];
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) sum[i][j] = V(0);
  }
  if (t.from) {
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) sum[i][j] = V::load(t.from + i * t.from_row + j * n);
    }
  }
  const T* b = t.b;
  const int64_t* offsets = t.offsets;
  const int64_t k = t.k, b_k = t.b_k;
  for (int64_t p = 0; p < k; ++p) {
    const int64_t at = offsets[p];
    V column[Vectors];
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) column[j] = V::load(b + j * n);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      V x(row[i][at]);
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) sum[i][j] = multiply_add(x, column[j], sum[i][j]);
    }
    b += b_k;
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    T* to = t.to + i * t.to_row;
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) {
      if (j < Vectors - 1) {
        if (t.add) sum[i][j] = V::load(to + j * n) + sum[i][j];
        sum[i][j].store(to + j * n);
      } else {
        if (t.add) sum[i][j] = V::load_partial(to + j * n, t.tail) + sum[i][j];
        sum[i][j].store_partial(to + j * n, t.tail);
      }
    }
  }
}

template <class T>
TFL_INLINE Vec<T, kLanes<T>> read(const T* p, int count) {
  using V = Vec<T, kLanes<T>>;
  return count == kLanes<T> ? V::load(p) : V::load_partial(p, count);
}
template <class V, class T>
TFL_INLINE void write(const V& v, T* p, int count) {
  if (count == V::lanes) {
    v.store(p);
  } else {
    v.store_partial(p, count);
  }
}

/// body(first channel, lanes): whole vectors, then the rest.
template <class T, class F>
TFL_INLINE void each_vector(int64_t channels, F body) {
  constexpr int n = kLanes<T>;
  int64_t c = 0;
  for (; c + n <= channels; c += n) body(c, n);
  if (c < channels) body(c, static_cast<int>(channels - c));
}

template <class T, int Rows>
void channels_tile(int64_t channels, const WindowTile<T>& given) {
  const WindowTile<T> t = given;
  using V = Vec<T, kLanes<T>>;
  const T* row[Rows];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) row[i] = t.rows[i];
  each_vector<T>(channels, [&](int64_t c, int lanes) TFL_INLINE_BODY {
    V sum[Rows];
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) sum[i] = V(0);
    if (t.from) {
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) sum[i] = read(t.from + i * t.from_row + c, lanes);
    }
    const T* b = t.b + c;
    for (int64_t p = 0; p < t.k; ++p) {
      const int64_t at = t.offsets[p] + c;
      V w = read(b, lanes);
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) sum[i] = multiply_add(read(row[i] + at, lanes), w, sum[i]);
      b += t.b_k;
    }
    T* to = t.to + c;
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      if (t.add) sum[i] = read(to + i * t.to_row, lanes) + sum[i];
      write(sum[i], to + i * t.to_row, lanes);
    }
  });
}

template <class T>
constexpr T kLowest =
    std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();

template <class T>
void largest(int64_t windows, int64_t step, int64_t channels, int64_t k, const T* x, const int64_t* offsets, T* to) {
  using V = Vec<T, kLanes<T>>;
  for (int64_t w = 0; w < windows; ++w, x += step, to += channels) {
    each_vector<T>(channels, [&](int64_t c, int lanes) TFL_INLINE_BODY {
      V most(kLowest<T>);
      for (int64_t i = 0; i < k; ++i) {
        V e = read(x + offsets[i] + c, lanes);
        most = select(e > most, e, most);
      }
      write(most, to + c, lanes);
    });
  }
}

/// The index of the largest of k elements, for some channels.
template <class T>
TFL_INLINE Vec<signed_of<T>, kLanes<T>> index_of_largest(int64_t k, const T* x, const int64_t* offsets, int lanes) {
  using V = Vec<T, kLanes<T>>;
  using I = Vec<signed_of<T>, kLanes<T>>;
  V most(kLowest<T>);
  I at(0);
  for (int64_t i = 0; i < k; ++i) {
    V e = read(x + offsets[i], lanes);
    auto better = e > most;
    most = select(better, e, most);
    at = select(better, I(i), at);
  }
  return at;
}

template <class T>
void where_largest(int64_t channels, int64_t k, const T* x, const int64_t* offsets, int32_t* to) {
  each_vector<T>(channels, [&](int64_t c, int lanes) TFL_INLINE_BODY {
    write(convert<int32_t>(index_of_largest(k, x + c, offsets, lanes)), to + c, lanes);
  });
}

template <class T>
void to_largest(int64_t windows, int64_t step, int64_t channels, int64_t pixel, int64_t k, const T* x, const int64_t* offsets,
                const T* g, T* to) {
  using I = Vec<signed_of<T>, kLanes<T>>;
  for (int64_t w = 0; w < windows; ++w, x += step, to += step, g += pixel) {
    each_vector<T>(channels, [&](int64_t c, int lanes) TFL_INLINE_BODY {
      I at = index_of_largest(k, x + c, offsets, lanes);
      auto gradient = read(g + c, lanes);
      for (int64_t i = 0; i < k; ++i) {
        T* place = to + offsets[i] + c;
        auto before = read(place, lanes);
        write(select(at == I(i), before + gradient, before), place, lanes);
      }
    });
  }
}

template <class T>
void average(int64_t windows, int64_t step, int64_t channels, int64_t k, const T* x, const int64_t* offsets, T divisor, T* to) {
  using V = Vec<T, kLanes<T>>;
  for (int64_t w = 0; w < windows; ++w, x += step, to += channels) {
    each_vector<T>(channels, [&](int64_t c, int lanes) TFL_INLINE_BODY {
      V sum(0);
      for (int64_t i = 0; i < k; ++i) sum = sum + read(x + offsets[i] + c, lanes);
      if constexpr (std::is_floating_point_v<T>) sum = sum / V(divisor);
      write(sum, to + c, lanes);
    });
  }
}

template <class T>
void weighted(int64_t channels, int64_t k, const T* x, const int64_t* offsets, const T* factors, T* to) {
  using V = Vec<T, kLanes<T>>;
  each_vector<T>(channels, [&](int64_t c, int lanes) TFL_INLINE_BODY {
    V sum(0);
    for (int64_t i = 0; i < k; ++i) sum = sum + read(x + offsets[i] + c, lanes) * V(factors[i]);
    write(sum, to + c, lanes);
  });
}

template <class T, int Vectors, int... Rows>
constexpr void put_tiles(WindowLoops<T>& loops, std::integer_sequence<int, Rows...>) {
  ((loops.tile[Vectors - 1][Rows + 1] = &tile<T, Rows + 1, Vectors>), ...);
}
template <class T, int... Rows>
constexpr void put_channels(WindowLoops<T>& loops, std::integer_sequence<int, Rows...>) {
  ((loops.channels[Rows + 1] = &channels_tile<T, Rows + 1>), ...);
}

template <class T, int... Vectors>
constexpr WindowLoops<T> loops_of(std::integer_sequence<int, Vectors...>) {
  WindowLoops<T> loops{};
  loops.lanes = kLanes<T>;
  // Pooling is all that long integers are used for, and convolution is for floats and int32.
  if constexpr (sizeof(T) == 4 || std::is_floating_point_v<T>) {
    loops.max_vectors = kMaxVectors;
    for (int i = 0; i < kMaxWindowVectors; ++i) loops.max_rows[i] = kMaxRows[i];
    (put_tiles<T, Vectors + 1>(loops, std::make_integer_sequence<int, kMaxRows[Vectors]>()), ...);
  }
  if constexpr (std::is_floating_point_v<T>) put_channels<T>(loops, std::make_integer_sequence<int, kMaxWindowRows>());
  loops.largest = &largest<T>;
  loops.where_largest = &where_largest<T>;
  loops.to_largest = &to_largest<T>;
  loops.average = &average<T>;
  loops.weighted = &weighted<T>;
  return loops;
}

template <class T>
constexpr WindowLoops<T> kLoops = loops_of<T>(std::make_integer_sequence<int, kMaxVectors>());

}  // namespace

extern const WindowKernels kWindowKernels;
constexpr WindowKernels kWindowKernels = {&kLoops<float>, &kLoops<double>, &kLoops<int32_t>, &kLoops<int64_t>};

}  // namespace TFL_ISA
}  // namespace tfl
