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
  using V = Vec<C, L>;
  using W = Vec<C, N>;
  static constexpr C kNeutral = R::template neutral<C>();

  template <int Lanes>
  TFL_INLINE static Vec<C, Lanes> read(const T* p) {
    return convert<C>(load<T, Lanes>(p));
  }
  template <int Lanes>
  TFL_INLINE static Vec<C, Lanes> read_partial(const T* p, int count) {
    return first_lanes(convert<C>(load_partial<T, Lanes>(p, count)), count, Vec<C, Lanes>(kNeutral));
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

  // Sequences of at most Lanes elements: one vector each. Lanes without an element take no part, so what is left of the tree is its lower half.
  template <int Lanes>
  TFL_INLINE static void tiny(const T* x, std::int64_t stride, std::int64_t count, int n, C* out) {
    auto one = [&](std::int64_t i) { return read_partial<Lanes>(x + i * stride, n); };
    std::int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
      const auto a = one(i), b = one(i + 1), c = one(i + 2), d = one(i + 3);
      out[i] = across(a);
      out[i + 1] = across(b);
      out[i + 2] = across(c);
      out[i + 3] = across(d);
    }
    for (; i < count; ++i) out[i] = across(one(i));
  }

  static void sequences(const std::byte* source, std::int64_t stride, std::int64_t count, std::int64_t n, std::byte* target) {
    auto* x = reinterpret_cast<const T*>(source);
    auto* out = reinterpret_cast<C*>(target);
    if (n <= 4) return tiny<4>(x, stride, count, static_cast<int>(n), out);
    if (n <= 8) return tiny<8>(x, stride, count, static_cast<int>(n), out);
    for (; count >= 4; count -= 4, x += 4 * stride, out += 4) together<4>(x, stride, n, out);
    for (; count > 0; --count, x += stride, ++out) together<1>(x, stride, n, out);
  }

  // Few columns whose rows lie without gaps: 16 rows are vectors without an end in each row. Spare lanes hold what is neutral.
  static void narrow_columns(const T* x, std::int64_t rows, std::int64_t columns, C* out) {
    alignas(64) C lanes[L * N + L];
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

  // The lanes of Q vectors of columns stay in registers, four at a time: lanes j, j + 4, j + 8 and j + 12, which are one branch of the tree.
  // Every row is read once.
  template <int Q>
  struct Branch {
    W of[Q];
    TFL_INLINE void take(const Branch& other) {
      for (int q = 0; q < Q; ++q) of[q] = R::combine(of[q], other.of[q]);
    }
  };
  template <int Q, class Read>
  TFL_INLINE static Branch<Q> branch(const T* x, std::int64_t stride, std::int64_t rows, int first, Read read_row) {
    Branch<Q> lane[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) std::fill_n(lane[k].of, Q, W(kNeutral));
    const T* row = x + first * stride;
    std::int64_t r = first;
    for (; r + 12 < rows; r += L, row += L * stride) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) lane[k].take(read_row(row + 4 * k * stride));
    }
#pragma GCC unroll 4
    for (int k = 0; k < 3; ++k) {
      if (r + 4 * k < rows) lane[k].take(read_row(row + 4 * k * stride));
    }
    lane[0].take(lane[2]);
    lane[1].take(lane[3]);
    lane[0].take(lane[1]);
    return lane[0];
  }
  template <int Q, class Read>
  TFL_INLINE static Branch<Q> all_rows(const T* x, std::int64_t stride, std::int64_t rows, Read read_row) {
    Branch<Q> even = branch<Q>(x, stride, rows, 0, read_row);
    if (rows > 2) even.take(branch<Q>(x, stride, rows, 2, read_row));
    if (rows > 1) {
      Branch<Q> odd = branch<Q>(x, stride, rows, 1, read_row);
      if (rows > 3) odd.take(branch<Q>(x, stride, rows, 3, read_row));
      even.take(odd);
    }
    return even;
  }
  template <int Q>
  TFL_INLINE static void wide_columns(const T* x, std::int64_t stride, std::int64_t rows, C* out) {
    Branch<Q> sum = all_rows<Q>(x, stride, rows, [](const T* row) {
      Branch<Q> b;
      for (int q = 0; q < Q; ++q) b.of[q] = read<N>(row + q * N);
      return b;
    });
    for (int q = 0; q < Q; ++q) sum.of[q].store(out + q * N);
  }

  static void columns(const std::byte* source, std::int64_t stride, std::int64_t rows, std::int64_t columns, std::byte* target) {
    constexpr int kQ = kVectorBytes == 64 ? 4 : 2;
    auto* x = reinterpret_cast<const T*>(source);
    auto* out = reinterpret_cast<C*>(target);
    if (columns < N) {
      if (stride == columns) return narrow_columns(x, rows, columns, out);
      const int width = static_cast<int>(columns);
      Branch<1> sum =
          all_rows<1>(x, stride, rows, [&](const T* row) { return Branch<1>{{convert<C>(load_partial<T, N>(row, width))}}; });
      return sum.of[0].store_partial(out, width);
    }
    std::int64_t c = 0;
    for (; c + kQ * N <= columns; c += kQ * N) wide_columns<kQ>(x + c, stride, rows, out + c);
    for (; c + N <= columns; c += N) wide_columns<1>(x + c, stride, rows, out + c);
    // The last columns are computed with some of those before them once more.
    if (c < columns) wide_columns<1>(x + columns - N, stride, rows, out + columns - N);
  }

  static void tree(std::byte* target, std::int64_t blocks, std::int64_t width) {
    auto* p = reinterpret_cast<C*>(target);
    for (std::int64_t step = 1; step < blocks; step *= 2) {
      for (std::int64_t i = 0; i + step < blocks; i += 2 * step) {
        C* a = p + i * width;
        const C* b = p + (i + step) * width;
        std::int64_t c = 0;
        for (; c + N <= width; c += N) R::combine(W::load(a + c), W::load(b + c)).store(a + c);
        for (; c < width; ++c) {
          using One = Vec<C, 1>;
          a[c] = R::combine(One(a[c]), One(b[c])).get();
        }
      }
    }
  }

  static void finish(const std::byte* source, std::int64_t n, std::int64_t divisor, std::byte* target) {
    auto* p = reinterpret_cast<const C*>(source);
    auto* out = reinterpret_cast<T*>(target);
    std::int64_t i = 0;
    if constexpr (std::is_same_v<T, C>) {
      if (divisor == 0) {
        std::copy_n(p, n, out);
        return;
      }
    }
    if constexpr (std::is_floating_point_v<C>) {
      const W by(divisor ? static_cast<C>(divisor) : C(1));
      for (; i + N <= n; i += N) store<T, N>(out + i, W::load(p + i) / by);
    }
    for (; i < n; ++i) {
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
