// The inner loops of linear algebra: sums over rows have 4 vectors of 64 bytes as partial results, whatever the machine's width.
#include "runtime/kernels/linalg/matrix_kernels.h"

#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {

extern const ProductTiles<float> kProductTilesF32;
extern const ProductTiles<double> kProductTilesF64;

namespace {

template <class T>
inline constexpr int kLine = 64 / static_cast<int>(sizeof(T));
template <class T>
using Line = Vec<T, kLine<T>>;
inline constexpr int kPartial = 4;

template <class T, int N>
TFL_INLINE T total(const Vec<T, N>& v) {
  if constexpr (N == 1)
    return v.get();
  else
    return total(low_half(v) + high_half(v));
}

// The partial results of a sum; element i belongs to lane i % (4 lines).
template <class T>
struct Sum {
  Line<T> part[kPartial] = {Line<T>(0), Line<T>(0), Line<T>(0), Line<T>(0)};
  TFL_INLINE T get() const { return total((part[0] + part[1]) + (part[2] + part[3])); }
};

// f(line number of four, first element, elements of the line) over [0, n).
template <class T, class F>
TFL_INLINE void each_line(int64_t n, F f) {
  constexpr int w = kLine<T>;
  int64_t i = 0;
  for (; i + kPartial * w <= n; i += kPartial * w) {
#pragma GCC unroll 4
    for (int p = 0; p < kPartial; ++p) f(p, i + p * w, w);
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPartial; ++p) {
    if (i >= n) return;
    f(p, i, n - i < w ? static_cast<int>(n - i) : w);
    i += w;
  }
}

template <class T>
TFL_INLINE Line<T> get(const T* from, int n) {
  return n == kLine<T> ? Line<T>::load(from) : Line<T>::load_partial(from, n);
}
template <class T>
TFL_INLINE void put(const Line<T>& v, T* to, int n) {
  if (n == kLine<T>)
    v.store(to);
  else
    v.store_partial(to, n);
}

template <class T>
T dot(int64_t n, const T* x, const T* y) {
  Sum<T> sum;
  each_line<T>(n, [&](int p, int64_t i, int m) { sum.part[p] = fma(get(x + i, m), get(y + i, m), sum.part[p]); });
  return sum.get();
}

template <class T>
void add(int64_t n, T a, const T* x, T* y) {
  each_line<T>(n, [&](int, int64_t i, int m) { put(fma(Line<T>(a), get(x + i, m), get(y + i, m)), y + i, m); });
}

template <class T>
void rotate(int64_t n, T c, T s, T* x, T* y) {
  each_line<T>(n, [&](int, int64_t i, int m) {
    Line<T> u = get(x + i, m), v = get(y + i, m);
    put(fma(Line<T>(s), v, Line<T>(c) * u), x + i, m);
    put(fma(Line<T>(-s), u, Line<T>(c) * v), y + i, m);
  });
}

// Four rows at a time, so that x is read less often.
template <class T>
void dots(int64_t rows, int64_t n, const T* a, int64_t stride, const T* x, T* y) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const T* row = a + r * stride;
    Sum<T> sum[4];
    each_line<T>(n, [&](int p, int64_t i, int m) {
      Line<T> v = get(x + i, m);
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) sum[k].part[p] = fma(get(row + k * stride + i, m), v, sum[k].part[p]);
    });
    for (int k = 0; k < 4; ++k) y[r + k] = sum[k].get();
  }
  for (; r < rows; ++r) y[r] = dot(n, a + r * stride, x);
}

template <class T>
void combine(int64_t rows, int64_t n, const T* a, int64_t stride, const T* c, T* y) {
  int64_t r = 0;
  for (; r + 8 <= rows; r += 8) {
    const T* row = a + r * stride;
    each_line<T>(n, [&](int, int64_t i, int m) {
      Line<T> v = get(y + i, m);
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k) v = fma(Line<T>(c[r + k]), get(row + k * stride + i, m), v);
      put(v, y + i, m);
    });
  }
  for (; r < rows; ++r) add(n, c[r], a + r * stride, y);
}

template <class T>
void symmetric(int64_t first, int64_t last, int64_t n, const T* a, int64_t stride, const T* x, T* y) {
  int64_t r = first;
  for (; r + 4 <= last; r += 4) {
    const T* row = a + r * stride;
    // The block on the diagonal by itself, then what is to the right of it.
    for (int k = 0; k < 4; ++k) {
      const T v = x[r + k];
      T sum = row[k * stride + r + k] * v;
      for (int j = k + 1; j < 4; ++j) {
        sum += row[k * stride + r + j] * x[r + j];
        y[r + j] += row[k * stride + r + j] * v;
      }
      y[r + k] += sum;
    }
    const int64_t at = r + 4;
    Sum<T> sum[4];
    each_line<T>(n - at, [&](int p, int64_t i, int m) {
      Line<T> v = get(x + at + i, m), w = get(y + at + i, m);
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        Line<T> e = get(row + k * stride + at + i, m);
        sum[k].part[p] = fma(e, v, sum[k].part[p]);
        w = fma(e, Line<T>(x[r + k]), w);
      }
      put(w, y + at + i, m);
    });
    for (int k = 0; k < 4; ++k) y[r + k] += sum[k].get();
  }
  for (; r < last; ++r) {
    const T* row = a + r * stride;
    y[r] += row[r] * x[r] + dot(n - r - 1, row + r + 1, x + r + 1);
    add(n - r - 1, x[r], row + r + 1, y + r + 1);
  }
}

template <class T>
int64_t eliminate(int64_t rows, int64_t column, int64_t width, const T* pivot, T* a, int64_t stride) {
  using V = Vec<T, kMatrixLeaf>;
  T behind[kMatrixLeaf] = {};
  for (int64_t j = column + 1; j < width; ++j) behind[j] = pivot[j];
  const int n = static_cast<int>(width);
  const V over = V::load(behind);
  const T divisor = pivot[column];
  T most = -1;
  int64_t place = 0;
  for (int64_t i = 0; i < rows; ++i) {
    T* row = a + i * stride;
    const T factor = row[column] / divisor;
    if (factor != 0) fma(V(-factor), over, V::load_partial(row, n)).store_partial(row, n);
    row[column] = factor;
    if (column + 1 < width) {
      const T next = row[column + 1] < 0 ? -row[column + 1] : row[column + 1];
      if (next > most || (i == 0 && next != next)) most = next, place = i;
    }
  }
  return place;
}

// Two lines of b's columns at a time stay in registers.
template <class T, bool Lower>
void leaf(int64_t n, int64_t columns, const T* a, int64_t a_stride, T* b, int64_t b_stride, bool unit) {
  constexpr int w = kLine<T>;
  for (int64_t c = 0; c < columns; c += w) {
    const int m = columns - c < w ? static_cast<int>(columns - c) : w;
    Line<T> x[kMatrixLeaf];
    auto solve = [&](int i, int from, int to) {
      const T* row = a + i * a_stride;
      Line<T> v = get(b + i * b_stride + c, m);
      for (int k = from; k < to; ++k) v = fma(Line<T>(-row[k]), x[k], v);
      if (!unit) v = v / Line<T>(row[i]);
      x[i] = v;
      put(v, b + i * b_stride + c, m);
    };
    if (n == kMatrixLeaf) {
#pragma GCC unroll 8
      for (int s = 0; s < kMatrixLeaf; ++s) {
        const int i = Lower ? s : static_cast<int>(kMatrixLeaf) - 1 - s;
        Lower ? solve(i, 0, i) : solve(i, i + 1, kMatrixLeaf);
      }
    } else {
      for (int s = 0; s < n; ++s) {
        const int i = Lower ? s : static_cast<int>(n) - 1 - s;
        Lower ? solve(i, 0, i) : solve(i, i + 1, static_cast<int>(n));
      }
    }
  }
}

template <class T>
T poles(int64_t n, const T* d, const T* z, T t, T* slope) {
  Sum<T> sum, slopes;
  each_line<T>(n, [&](int p, int64_t i, int m) {
    // Lanes behind the end are 0 / 1.
    Line<T> away = get(d + i, m) - Line<T>(t);
    if (m < kLine<T>) {
      T filled[kLine<T>];
      away.store(filled);
      for (int l = m; l < kLine<T>; ++l) filled[l] = 1;
      away = Line<T>::load(filled);
    }
    Line<T> inverse = Line<T>(1) / away, share = get(z + i, m) * inverse;
    sum.part[p] = sum.part[p] + share;
    slopes.part[p] = fma(share, inverse, slopes.part[p]);
  });
  *slope = slopes.get();
  return sum.get();
}

template <class T>
T quotients(int64_t n, const T* z, T* x) {
  Sum<T> sum;
  each_line<T>(n, [&](int p, int64_t i, int m) {
    Line<T> below = get(x + i, m);
    if (m < kLine<T>) {
      T filled[kLine<T>];
      below.store(filled);
      for (int l = m; l < kLine<T>; ++l) filled[l] = 1;
      below = Line<T>::load(filled);
    }
    Line<T> v = get(z + i, m) / below;
    sum.part[p] = fma(v, v, sum.part[p]);
    put(v, x + i, m);
  });
  return sum.get();
}

template <class T>
constexpr MatrixKernels<T> kernels_of() {
  return {dot<T>,       add<T>,        rotate<T>,      dots<T>,  combine<T>,  symmetric<T>,
          eliminate<T>, leaf<T, true>, leaf<T, false>, poles<T>, quotients<T>};
}
constexpr MatrixKernels<float> kFloats = kernels_of<float>();
constexpr MatrixKernels<double> kDoubles = kernels_of<double>();

}  // namespace

extern const MatrixLevel kMatrixLevel;
constexpr MatrixLevel kMatrixLevel = {&kFloats, &kDoubles, &kProductTilesF32, &kProductTilesF64};

}  // namespace TFL_ISA
}  // namespace tfl
