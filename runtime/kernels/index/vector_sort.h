// Unsigned numbers in order, by vectors of 512 bits: halves about a pivot until a network of registers sorts what is left. Equal numbers cannot be
// told apart, so the order is the only one there is. This header must not know what the numbers stand for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/workers.h"
#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {
namespace sorts {

#if TFL_HAS_AVX512

template <class U>
struct Register {
  static constexpr int N = kLanes<U>;
  static constexpr bool kWord = sizeof(U) == 4;
  using R = typename Vec<U, N>::Reg;
  using M = std::conditional_t<kWord, __mmask16, __mmask8>;

  TFL_INLINE static M first(int64_t count) { return static_cast<M>((1u << count) - 1); }
  TFL_INLINE static R load(const U* p) { return (R)_mm512_loadu_si512(p); }
  TFL_INLINE static void store(U* p, R r) { _mm512_storeu_si512(p, (__m512i)r); }
  TFL_INLINE static R load(const U* p, M m) {  // the largest number elsewhere
    const __m512i ones = _mm512_set1_epi32(-1);
    return kWord ? (R)_mm512_mask_loadu_epi32(ones, static_cast<__mmask16>(m), p)
                 : (R)_mm512_mask_loadu_epi64(ones, static_cast<__mmask8>(m), p);
  }
  TFL_INLINE static void store(U* p, M m, R r) {
    if constexpr (kWord)
      _mm512_mask_storeu_epi32(p, m, (__m512i)r);
    else
      _mm512_mask_storeu_epi64(p, m, (__m512i)r);
  }
  TFL_INLINE static R all(U x) {
    return kWord ? (R)_mm512_set1_epi32(static_cast<int>(x)) : (R)_mm512_set1_epi64(static_cast<long long>(x));
  }
  TFL_INLINE static R least(R a, R b) {
    return kWord ? (R)_mm512_maskz_min_epu32((__mmask16)-1, (__m512i)a, (__m512i)b)
                 : (R)_mm512_maskz_min_epu64((__mmask8)-1, (__m512i)a, (__m512i)b);
  }
  TFL_INLINE static R most(R a, R b) {
    return kWord ? (R)_mm512_maskz_max_epu32((__mmask16)-1, (__m512i)a, (__m512i)b)
                 : (R)_mm512_maskz_max_epu64((__mmask8)-1, (__m512i)a, (__m512i)b);
  }
  TFL_INLINE static R blend(M m, R a, R b) {
    return kWord ? (R)_mm512_mask_blend_epi32(static_cast<__mmask16>(m), (__m512i)a, (__m512i)b)
                 : (R)_mm512_mask_blend_epi64(static_cast<__mmask8>(m), (__m512i)a, (__m512i)b);
  }
  TFL_INLINE static M below(R a, R pivot, bool equal) {
    if constexpr (kWord)
      return equal ? _mm512_cmple_epu32_mask((__m512i)a, (__m512i)pivot) : _mm512_cmplt_epu32_mask((__m512i)a, (__m512i)pivot);
    else
      return equal ? _mm512_cmple_epu64_mask((__m512i)a, (__m512i)pivot) : _mm512_cmplt_epu64_mask((__m512i)a, (__m512i)pivot);
  }
  TFL_INLINE static R compressed(M m, R a) {
    return kWord ? (R)_mm512_maskz_compress_epi32(static_cast<__mmask16>(m), (__m512i)a)
                 : (R)_mm512_maskz_compress_epi64(static_cast<__mmask8>(m), (__m512i)a);
  }
  template <int With, int... I>
  TFL_INLINE static R exchanged(R a, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, a, (I ^ With)...);
  }
  /// Lane i gets what lane i ^ With holds.
  template <int With>
  TFL_INLINE static R exchanged(R a) {
    return exchanged<With>(a, std::make_integer_sequence<int, N>());
  }
  /// Lanes whose number has this bit.
  static constexpr M with_bit(int bit) {
    unsigned m = 0;
    for (int i = 0; i < N; ++i) m |= static_cast<unsigned>((i & bit) != 0) << i;
    return static_cast<M>(m);
  }
};

// A bitonic network: sorted runs of K / 2 elements of Q registers become runs of K.
template <class U, int Q>
struct Network {
  using O = Register<U>;
  using R = typename O::R;
  static constexpr int N = O::N;

  template <int With, int Bit>
  TFL_INLINE static void in_registers(R (&r)[Q]) {
#pragma GCC unroll 16
    for (int i = 0; i < Q; ++i) {
      const R other = O::template exchanged<With>(r[i]);
      r[i] = O::blend(O::with_bit(Bit), O::least(r[i], other), O::most(r[i], other));
    }
  }
  // Elements at a distance of Step, and so on down to 1.
  template <int Step>
  TFL_INLINE static void halves(R (&r)[Q]) {
    if constexpr (Step >= N) {
#pragma GCC unroll 16
      for (int i = 0; i < Q; ++i) {
        if (i & Step / N) continue;
        const R a = r[i], b = r[i + Step / N];
        r[i] = O::least(a, b);
        r[i + Step / N] = O::most(a, b);
      }
    } else if constexpr (Step > 0) {
      in_registers<Step, Step>(r);
    }
    if constexpr (Step > 1) halves<Step / 2>(r);
  }
  template <int K>
  TFL_INLINE static void merge(R (&r)[Q]) {
    if constexpr (K <= N * Q) {
      // The second run is read backwards.
      if constexpr (K <= N) {
        in_registers<K - 1, K / 2>(r);
      } else {
#pragma GCC unroll 16
        for (int i = 0; i < Q; ++i) {
          const int other = i ^ (K / N - 1);
          if (other < i) continue;
          const R a = r[i], b = O::template exchanged<N - 1>(r[other]);
          r[i] = O::least(a, b);
          r[other] = O::template exchanged<N - 1>(O::most(a, b));
        }
      }
      if constexpr (K > 2) halves<K / 4>(r);
      merge<K * 2>(r);
    }
  }
  TFL_OUTLINE static void sort(U* a, int64_t n) {
    R r[Q];
#pragma GCC unroll 16
    for (int i = 0; i < Q; ++i) r[i] = O::load(a + i * N, O::first(std::clamp<int64_t>(n - i * N, 0, N)));
    merge<2>(r);
#pragma GCC unroll 16
    for (int i = 0; i < Q; ++i) O::store(a + i * N, O::first(std::clamp<int64_t>(n - i * N, 0, N)), r[i]);
  }
};

template <class U>
inline constexpr int64_t kNetwork = 16 * kLanes<U>;  // elements that a network sorts

template <class U>
void sort_few(U* a, int64_t n) {
  constexpr int N = kLanes<U>;
  if (n <= N) return Network<U, 1>::sort(a, n);
  if (n <= 2 * N) return Network<U, 2>::sort(a, n);
  if (n <= 4 * N) return Network<U, 4>::sort(a, n);
  if (n <= 8 * N) return Network<U, 8>::sort(a, n);
  Network<U, 16>::sort(a, n);
}

/// Elements below the pivot (or equal to it) go to the front, in their order the others behind them: how many there are. `spare` is as large.
template <class U>
int64_t split(U* a, int64_t n, U pivot, bool equal, U* spare) {
  using O = Register<U>;
  constexpr int N = O::N;
  const auto p = O::all(pivot);
  int64_t low = 0, high = 0, i = 0;
  auto deal = [&](typename O::R x) {
    const auto m = O::below(x, p, equal);
    const int count = __builtin_popcount(m);
    // What is stored too much is written over, or lies where nothing is yet.
    O::store(a + low, O::compressed(m, x));
    O::store(spare + high, O::compressed(static_cast<typename O::M>(~m), x));
    low += count;
    high += N - count;
  };
  for (; i + 4 * N <= n; i += 4 * N) {
    const auto x0 = O::load(a + i), x1 = O::load(a + i + N), x2 = O::load(a + i + 2 * N), x3 = O::load(a + i + 3 * N);
    deal(x0), deal(x1), deal(x2), deal(x3);
  }
  for (; i + N <= n; i += N) deal(O::load(a + i));
  if (i < n) {
    const auto some = O::first(n - i);
    const auto x = O::load(a + i, some);
    const auto m = static_cast<typename O::M>(O::below(x, p, equal) & some), others = static_cast<typename O::M>(~m & some);
    const int count = __builtin_popcount(m), rest = __builtin_popcount(others);
    O::store(a + low, O::first(count), O::compressed(m, x));
    O::store(spare + high, O::first(rest), O::compressed(others, x));
    low += count;
    high += rest;
  }
  std::copy_n(spare, high, a + low);
  return low;
}

/// About the middle: of elements all over.
template <class U>
U middle(const U* a, int64_t n) {
  constexpr int kSample = 4 * kLanes<U>;
  alignas(64) U sample[kSample];
  const int64_t step = n / kSample;
  for (int i = 0; i < kSample; ++i) sample[i] = a[i * step + (i * 7 & 3) % step];
  Network<U, 4>::sort(sample, kSample);
  return sample[kSample / 2];
}

/// The first `wanted` of n numbers in order, the others behind them in any. `depth`: halvings that are tried before another way is taken.
template <class U>
void vector_sort(const Workers& workers, U* a, int64_t n, int64_t wanted, U* spare, int depth = 64) {
  while (n > kNetwork<U>) {
    if (workers.interrupted()) return;
    if (--depth < 0) {
      std::partial_sort(a, a + std::min(wanted, n), a + n);
      return;
    }
    const U pivot = middle(a, n);
    int64_t low = split(a, n, pivot, false, spare);
    if (low == 0) {  // nothing is smaller: equal ones are where they belong
      low = split(a, n, pivot, true, spare);
    } else if (wanted <= low) {
      n = low;
      continue;
    } else {
      vector_sort(workers, a, low, low, spare, depth);
    }
    a += low;
    n -= low;
    wanted -= low;
    if (wanted <= 0) return;
  }
  if (n > 1) sort_few(a, n);
}

/// All of them, by all threads.
template <class U>
void threaded_vector_sort(const Workers& workers, U* a, int64_t n, U* spare) {
  constexpr int kMost = 32;
  int64_t begin[kMost + 1] = {0, n};
  int parts = 1;
  for (int round = 0; parts * 2 <= std::min(kMost, 4 * workers.threads) && round < 8; ++round) {
    int64_t next[kMost + 1];
    int count = 0;
    for (int i = 0; i < parts; ++i) {
      const int64_t first = begin[i], length = begin[i + 1] - first;
      next[count++] = first;
      if (length <= 4 * kNetwork<U> || length * 4 * workers.threads < n) continue;
      const U pivot = middle(a + first, length);
      int64_t low = split(a + first, length, pivot, false, spare);
      if (low == 0) low = split(a + first, length, pivot, true, spare);
      if (low < length) next[count++] = first + low;
    }
    std::copy_n(next, count, begin);
    begin[count] = n;
    if (count == parts) break;
    parts = count;
  }
  workers.parallel_for(parts, 1, [&](int64_t i, int64_t last) {
    for (; i < last; ++i) vector_sort(workers, a + begin[i], begin[i + 1] - begin[i], begin[i + 1] - begin[i], spare + begin[i]);
  });
}

#endif

}  // namespace sorts
}  // namespace TFL_ISA
}  // namespace tfl
