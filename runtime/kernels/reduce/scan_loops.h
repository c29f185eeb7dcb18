// cumsum and cumprod. The order in which elements are combined is part of the language:
//
//   The sequence is cut into blocks of 4,096. Within a block prefixes are sequential: p[i] = p[i-1] + x[i], beginning with the
//   block's first element. The carry into block b combines the totals of the blocks before it by the binary digits of b: b is
//   cut, from the front, into runs whose lengths are the powers of two in b, largest first; a run's total is a binary tree over
//   its blocks; the runs' totals are combined from left to right. An element is carry + prefix.
//
// An exclusive scan gives the same numbers one place later, beginning with 0 (1 for products); a reverse scan is the scan of the
// reversed sequence. Half types are combined in f32, and each result is rounded once. This header must not know tensors.
#pragma once

#include <algorithm>

#include "runtime/kernels/routine.h"
#include "runtime/math/vec.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl {
inline namespace TFL_ISA {
namespace scans {

inline constexpr int64_t kBlock = 4096;
inline constexpr int64_t kBlocks = 64;              // of a sequence, whose totals are found before their elements
inline constexpr int kSequences = 4, kVectors = 4;  // side by side: one waits for the latency of each combination

/// A complex number, where others are vectors.
template <class T>
struct Single {
  T r;
  Single operator+(const Single& o) const { return {r + o.r}; }
  Single operator*(const Single& o) const { return {r * o.r}; }
};

// What elements of T are combined as. Integers are unsigned ones here, which wrap.
template <class T>
struct Elements {
  using C = compute_type<T>;
  static constexpr bool kComplex = is_complex_number<T>;
  static constexpr int kLargest = kComplex ? 1 : kLanes<std::conditional_t<kComplex, double, C>>;
  template <int N>
  using V = std::conditional_t<kComplex, std::type_identity<Single<C>>,
                               std::type_identity<Vec<std::conditional_t<kComplex, double, C>, N>>>::type;

  /// N elements in a row; where `some` is not 0 as many.
  template <int N>
  TFL_INLINE static V<N> read(const T* p, int some) {
    if constexpr (kComplex)
      return {*p};
    else if (some)
      return load_partial<T, N>(p, some);
    else
      return load<T, N>(p);
  }
  template <int N>
  TFL_INLINE static void write(T* p, const V<N>& v, int some) {
    if constexpr (kComplex)
      *p = v.r;
    else if (some)
      store_partial<T, N>(p, v, some);
    else
      store<T, N>(p, v);
  }
  template <int N>
  TFL_INLINE static V<N> numbers(const C* p) {
    if constexpr (kComplex)
      return {*p};
    else
      return V<N>::load(p);
  }
  template <int N>
  TFL_INLINE static void keep(C* p, const V<N>& v) {
    if constexpr (kComplex)
      *p = v.r;
    else
      v.store(p);
  }
};

template <bool Product, class V>
TFL_INLINE V combine(const V& a, const V& b) {
  if constexpr (Product)
    return a * b;
  else
    return a + b;
}

// What changes nothing that it is combined with, to the bit.
template <bool Product, class T>
typename Elements<T>::C neutral() {
  using C = typename Elements<T>::C;
  if constexpr (Product) return C(1);
  if constexpr (Elements<T>::kComplex) return C(-0.0, -0.0);
  if constexpr (std::is_floating_point_v<C>) return -C(0);
  return C(0);
}

// The totals of the runs that the blocks so far are cut into, for sequences side by side, and what goes into the block behind them.
template <bool Product, class T, int Width>
struct Carry {
  using C = typename Elements<T>::C;
  C runs[52][Width];
  C value[Width];
  int64_t blocks = 0;
  int count = 0;  // of runs

  Carry() { std::fill_n(value, Width, neutral<Product, T>()); }
  void add(const C* totals) {
    // As in counting: runs of equal length become one, like carries between binary digits.
    int depth = count;
    std::copy_n(totals, Width, runs[depth]);
    for (int64_t b = blocks; b & 1; b >>= 1, --depth) {
      for (int c = 0; c < Width; ++c) runs[depth - 1][c] = combine<Product>(runs[depth - 1][c], runs[depth][c]);
    }
    ++blocks;
    count = depth + 1;
    std::copy_n(runs[0], Width, value);
    for (int d = 1; d <= depth; ++d) {
      for (int c = 0; c < Width; ++c) value[c] = combine<Product>(value[c], runs[d][c]);
    }
  }
};

/// How sequences lie: elements of one are `step` apart (negative for a reverse scan, which begins at the last), groups of lanes `apart`.
struct Layout {
  int64_t step, apart;
  int some;  // lanes of a group that count; 0: all
  bool exclusive;
};

// One block of Q groups of N sequences behind `carry`: its totals, and where `out` is not null its elements. An exclusive scan writes them one
// place later, which has been read by then.
template <bool Product, class T, int N, int Q>
void scan_block(const Layout& at, const T* x, T* out, int64_t n, const typename Elements<T>::C* carry,
                typename Elements<T>::C* totals) {
  using E = Elements<T>;
  using V = typename E::template V<N>;
  const int some = N > 1 ? at.some : 0;
  V prefix[Q], before[Q];
#pragma GCC unroll 8
  for (int q = 0; q < Q; ++q) {
    prefix[q] = E::template read<N>(x + q * at.apart, some);
    before[q] = E::template numbers<N>(carry + q * N);
  }
  if (out) {
    if (at.exclusive) {
#pragma GCC unroll 8
      for (int q = 0; q < Q; ++q) E::template write<N>(out + q * at.apart, before[q], some);
      out += at.step;
    }
    for (int64_t i = 1; i < n; ++i, out += at.step) {
      x += at.step;
#pragma GCC unroll 8
      for (int q = 0; q < Q; ++q) {
        const V next = E::template read<N>(x + q * at.apart, some);
        E::template write<N>(out + q * at.apart, combine<Product>(before[q], prefix[q]), some);
        prefix[q] = combine<Product>(prefix[q], next);
      }
    }
    if (!at.exclusive) {
#pragma GCC unroll 8
      for (int q = 0; q < Q; ++q) E::template write<N>(out + q * at.apart, combine<Product>(before[q], prefix[q]), some);
    }
  } else {
    for (int64_t i = 1; i < n; ++i) {
      x += at.step;
#pragma GCC unroll 8
      for (int q = 0; q < Q; ++q) prefix[q] = combine<Product>(prefix[q], E::template read<N>(x + q * at.apart, some));
    }
  }
#pragma GCC unroll 8
  for (int q = 0; q < Q; ++q) E::template keep<N>(totals + q * N, prefix[q]);
}

// Q groups of N whole sequences.
template <bool Product, class T, int N, int Q>
void side_by_side(const Layout& at, const T* x, T* out, int64_t n) {
  Carry<Product, T, N * Q> carry;
  typename Elements<T>::C totals[N * Q];
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t skip = first * at.step;
    scan_block<Product, T, N, Q>(at, x + skip, out + skip, std::min(kBlock, n - first), carry.value, totals);
    if (n > kBlock) carry.add(totals);
  }
}

// A sequence of many blocks: these side by side, first for their totals alone.
template <bool Product, class T>
void long_sequence(const Workers& workers, bool threaded, const Layout& at, const T* x, T* out, int64_t n) {
  using C = typename Elements<T>::C;
  const Layout blocks{at.step, kBlock * at.step, 0, at.exclusive};
  Carry<Product, T, 1> carry;
  C totals[kBlocks], into[kBlocks];
  for (int64_t first = 0; first < n && !workers.interrupted(); first += kBlocks * kBlock) {
    const int64_t some = std::min(kBlocks * kBlock, n - first), count = (some + kBlock - 1) / kBlock;
    auto scan = [&](int64_t b, int64_t last, T* to) {
      for (; b < last; ++b) {
        const int64_t skip = (first + b * kBlock) * at.step;
        T* target = to ? to + skip : nullptr;
        if (b + kSequences <= last && (b + kSequences) * kBlock <= some) {
          scan_block<Product, T, 1, kSequences>(blocks, x + skip, target, kBlock, into + b, totals + b);
          b += kSequences - 1;
        } else {
          scan_block<Product, T, 1, 1>(blocks, x + skip, target, std::min(kBlock, some - b * kBlock), into + b, totals + b);
        }
      }
    };
    auto all = [&](T* to) {
      if (threaded && count > kSequences)
        workers.parallel_for(count, kSequences, [&](int64_t b, int64_t last) { scan(b, last, to); });
      else
        scan(0, count, to);
    };
    all(nullptr);
    for (int64_t b = 0; b < count; ++b) {
      into[b] = carry.value[0];
      carry.add(totals + b);
    }
    all(out);
  }
}

template <bool Product, class T>
void scan_all(const Workers& workers, const RoutineCall& call) {
  using E = Elements<T>;
  constexpr int N = E::kLargest, kMost = N * kVectors;
  const int64_t outer = call.sizes[0], n = call.sizes[1], inner = call.sizes[2];
  const bool reverse = call.flags & kScanReverse, exclusive = call.flags & kScanExclusive;
  const T* x = static_cast<const T*>(call.at[0]);
  T* out = static_cast<T*>(call.at[1]);
  const int64_t step = reverse ? -inner : inner;
  auto begin = [&](int64_t o, int64_t column) { return o * n * inner + column + (reverse ? (n - 1) * inner : 0); };
  // What an exclusive scan begins with is 0 itself, also where nothing is added to it.
  auto finish = [&](int64_t at, int64_t columns) {
    if (exclusive) {
      for (int64_t c = 0; c < columns; ++c) {
        const typename E::C first(Product);
        E::template write<1>(out + at + c, E::template numbers<1>(&first), 0);
      }
    }
  };
  // Side by side, Q groups of lanes each time.
  auto several = [&]<int Lanes, int Q>(const Layout& at, int64_t from) {
    side_by_side<Product, T, Lanes, Q>(at, x + from, out + from, n);
  };
  constexpr int64_t kWork = 1 << 15;
  if (inner == 1) {
    const bool is_long = n >= 2 * kBlock, threaded = is_long && outer < workers.threads && workers.threads > 1;
    auto rows = [&](int64_t first, int64_t last) {
      for (int64_t o = first; o < last && !workers.interrupted();) {
        const int64_t at = begin(o, 0), together = !is_long && o + kSequences <= last ? kSequences : 1;
        if (is_long)
          long_sequence<Product, T>(workers, threaded, {step, 0, 0, exclusive}, x + at, out + at, n);
        else if (together == 1)
          several.template operator()<1, 1>({step, 0, 0, exclusive}, at);
        else
          several.template operator()<1, kSequences>({step, n, 0, exclusive}, at);
        for (int64_t k = 0; k < together; ++k) finish(at + k * n, 1);
        o += together;
      }
    };
    if (threaded) return rows(0, outer);
    return in_parts(workers, outer, std::max<int64_t>(kSequences, kWork / n / kSequences * kSequences), n, rows);
  }
  if (inner <= N && !E::kComplex) {  // a part of a vector, of several outer indices
    const int some = inner == N ? 0 : static_cast<int>(inner);
    return in_parts(workers, outer, std::max<int64_t>(kVectors, kWork / (n * N) / kVectors * kVectors), n * N,
                    [&](int64_t first, int64_t last) {
                      for (int64_t o = first; o < last;) {
                        const int64_t at = begin(o, 0), together = o + kVectors <= last ? kVectors : 1;
                        if (together == 1)
                          several.template operator()<N, 1>({step, 0, some, exclusive}, at);
                        else
                          several.template operator()<N, kVectors>({step, n * inner, some, exclusive}, at);
                        for (int64_t k = 0; k < together; ++k) finish(at + k * n * inner, inner);
                        o += together;
                      }
                    });
  }
  const int64_t strips = (inner + kMost - 1) / kMost;
  in_parts(workers, outer * strips, std::max<int64_t>(1, kWork / (n * kMost)), n * kMost, [&](int64_t first, int64_t last) {
    for (int64_t unit = first; unit < last; ++unit) {
      const int64_t column = unit % strips * kMost, columns = std::min<int64_t>(kMost, inner - column);
      const int64_t at = begin(unit / strips, column);
      if (columns == kMost) {
        several.template operator()<N, kVectors>({step, N, 0, exclusive}, at);
      } else {
        for (int64_t c = 0; c < columns; c += N)
          several.template operator()<N, 1>({step, 0, columns - c < N ? static_cast<int>(columns - c) : 0, exclusive}, at + c);
      }
      finish(at, columns);
    }
  });
}

inline bool run(const Workers& workers, const RoutineCall& call) {
  if (call.sizes[0] == 0 || call.sizes[1] == 0 || call.sizes[2] == 0) return true;
  with_element_type(static_cast<DType>(call.dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, std::string> && !std::is_same_v<T, bool>) {
      using Any = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
      if (call.flags & kScanProduct)
        scan_all<true, Any>(workers, call);
      else
        scan_all<false, Any>(workers, call);
    }
  });
  return true;
}

}  // namespace scans
}  // namespace TFL_ISA
}  // namespace tfl
