// The vector loops of reductions, in the order that runtime/kernels/reduce/reduce.h defines.
// This header must not know tensors or threads.
#pragma once

#include <algorithm>
#include <limits>

#include "runtime/kernels/reduce/reduce.h"
#include "runtime/math/basic.h"
#include "runtime/math/half.h"

namespace tfl {
inline namespace TFL_ISA {
namespace reducers {

struct Sum {
  static constexpr bool kModular = true;
  template <class C>
  static constexpr C neutral() {
    if constexpr (std::is_floating_point_v<C>) {
      return -C(0);
    } else {
      return 0;
    }
  }
  template <class V>
  TFL_INLINE static V combine(V a, V b) {
    return a + b;
  }
};
struct Prod {
  static constexpr bool kModular = true;
  template <class C>
  static constexpr C neutral() {
    return 1;
  }
  template <class V>
  TFL_INLINE static V combine(V a, V b) {
    return a * b;
  }
};
template <class C, bool Lowest>
constexpr C extreme() {
  using L = std::numeric_limits<C>;
  if constexpr (std::is_floating_point_v<C>) {
    return Lowest ? -L::infinity() : L::infinity();
  } else {
    return Lowest ? L::min() : L::max();
  }
}
struct Max {
  static constexpr bool kModular = false;
  template <class C>
  static constexpr C neutral() {
    return extreme<C, true>();
  }
  template <class V>
  TFL_INLINE static V combine(V a, V b) {
    return math::maximum(a, b);
  }
};
struct Min {
  static constexpr bool kModular = false;
  template <class C>
  static constexpr C neutral() {
    return extreme<C, false>();
  }
  template <class V>
  TFL_INLINE static V combine(V a, V b) {
    return math::minimum(a, b);
  }
};

}  // namespace reducers

// Elements T, combined as C.
template <class R, class T, class C>
struct Reduce {
  static constexpr int L = kReduceLanes;
  static constexpr int N = kLanes<C>;
  static constexpr int kStrip = kReduceStripBytes / sizeof(C);  // columns whose 16 lanes stay in the first-level cache
  static constexpr int kNarrow = 64;                            // columns that are walked over with those of the next rows
  using V = Vec<C, L>;
  using W = Vec<C, N>;
  static constexpr C kNeutral = R::template neutral<C>();

  template <int Lanes>
  TFL_INLINE static Vec<C, Lanes> read(const T* p) {
    return convert<C>(load<T, Lanes>(p));
  }
  template <int Lanes>
  TFL_INLINE static Vec<C, Lanes> read_partial(const T* p, int count) {
    alignas(64) C lanes[Lanes];
    Vec<C, Lanes>(kNeutral).store(lanes);
    convert<C>(load_partial<T, Lanes>(p, count)).store_partial(lanes, count);
    return Vec<C, Lanes>::load(lanes);
  }
  template <int Lanes>
  TFL_INLINE static C across(const Vec<C, Lanes>& v) {
    if constexpr (Lanes == 1) {
      return v.get();
    } else {
      return across(R::combine(low_half(v), high_half(v)));
    }
  }

  // Q sequences at a time, since one alone waits for the latency of each combination.
  template <int Q>
  TFL_INLINE static void together(const T* x, std::int64_t stride, std::int64_t n, C* out) {
    V lanes[Q];
#pragma GCC unroll 4  // or the lanes lie in memory
    for (int q = 0; q < Q; ++q) lanes[q] = V(kNeutral);
    std::int64_t i = 0;
    for (; i + L <= n; i += L) {
#pragma GCC unroll 4
      for (int q = 0; q < Q; ++q) lanes[q] = R::combine(lanes[q], read<L>(x + q * stride + i));
    }
    if (i < n) {
#pragma GCC unroll 4
      for (int q = 0; q < Q; ++q) lanes[q] = R::combine(lanes[q], read_partial<L>(x + q * stride + i, static_cast<int>(n - i)));
    }
#pragma GCC unroll 4
    for (int q = 0; q < Q; ++q) out[q] = across(lanes[q]);
  }

  static void sequences(const std::byte* source, std::int64_t stride, std::int64_t count, std::int64_t n, std::byte* target) {
    auto* x = reinterpret_cast<const T*>(source);
    auto* out = reinterpret_cast<C*>(target);
    for (; count >= 4; count -= 4, x += 4 * stride, out += 4) together<4>(x, stride, n, out);
    for (; count > 0; --count, x += stride, ++out) together<1>(x, stride, n, out);
  }

  // Few columns whose rows lie without gaps: 16 rows are vectors without an end in each row. Spare lanes hold what is neutral.
  static void narrow_columns(const T* x, std::int64_t rows, std::int64_t columns, C* out) {
    alignas(64) C lanes[L * kNarrow + L];
    std::fill_n(lanes, L * columns + L, kNeutral);
    std::int64_t rest = rows * columns;
    for (std::int64_t group = L * columns; rest > 0; rest -= group, x += group) {
      std::int64_t n = std::min(rest, group), i = 0;
      for (; i + L <= n; i += L) R::combine(V::load(lanes + i), read<L>(x + i)).store(lanes + i);
      if (i < n) R::combine(V::load(lanes + i), read_partial<L>(x + i, static_cast<int>(n - i))).store(lanes + i);
    }
    // What a vector overwrites behind its half has been read.
    for (int half = L / 2; half > 0; half /= 2) {
      for (std::int64_t i = 0; i < half * columns; i += L) {
        R::combine(V::load(lanes + i), V::load(lanes + half * columns + i)).store(lanes + i);
      }
    }
    std::copy_n(lanes, columns, out);
  }

  static void columns(const std::byte* source, std::int64_t stride, std::int64_t rows, std::int64_t columns, std::byte* target) {
    alignas(64) C lanes[L][kStrip];
    auto* x = reinterpret_cast<const T*>(source);
    auto* out = reinterpret_cast<C*>(target);
    if (stride == columns && columns <= kNarrow && columns % N != 0) return narrow_columns(x, rows, columns, out);
    for (; columns > 0; columns -= kStrip, x += kStrip, out += kStrip) {
      int width = static_cast<int>(std::min<std::int64_t>(columns, kStrip));
      int used = static_cast<int>(std::min<std::int64_t>(rows, L));
      for (int j = 0; j < used; ++j) std::fill_n(lanes[j], kStrip, kNeutral);
      const T* row = x;
      for (std::int64_t r = 0; r < rows; ++r, row += stride) {
        C* lane = lanes[r % L];
        int c = 0;
        for (; c + N <= width; c += N) R::combine(W::load(lane + c), read<N>(row + c)).store(lane + c);
        if (c < width) {
          R::combine(W::load(lane + c), convert<C>(load_partial<T, N>(row + c, width - c))).store_partial(lane + c, width - c);
        }
      }
      for (int half = L / 2; half > 0; half /= 2) {
        for (int j = 0; j < half && j + half < used; ++j) {
          for (int c = 0; c < width; c += N) R::combine(W::load(lanes[j] + c), W::load(lanes[j + half] + c)).store(lanes[j] + c);
        }
        used = std::min(used, half);
      }
      std::copy_n(lanes[0], width, out);
    }
  }

  static void tree(std::byte* target, std::int64_t blocks, std::int64_t width) {
    auto* p = reinterpret_cast<C*>(target);
    for (std::int64_t step = 1; step < blocks; step *= 2) {
      for (std::int64_t i = 0; i + step < blocks; i += 2 * step) {
        C* a = p + i * width;
        const C* b = p + (i + step) * width;
        for (std::int64_t c = 0; c < width; ++c) {
          using One = Vec<C, 1>;
          a[c] = R::combine(One(a[c]), One(b[c])).get();
        }
      }
    }
  }

  static void finish(const std::byte* source, std::int64_t n, std::int64_t divisor, std::byte* target) {
    auto* p = reinterpret_cast<const C*>(source);
    auto* out = reinterpret_cast<T*>(target);
    for (std::int64_t i = 0; i < n; ++i) {
      C v = divisor ? static_cast<C>(p[i] / static_cast<C>(divisor)) : p[i];
      if constexpr (is_half<T>) {
        store<T, 1>(out + i, Vec<C, 1>(v));
      } else {
        out[i] = static_cast<T>(v);
      }
    }
  }

  static constexpr ReduceLoop loop() { return {sizeof(C), sequences, columns, tree, finish}; }
};

}  // namespace TFL_ISA
}  // namespace tfl
