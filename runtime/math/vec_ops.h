// The primitives of vec.h that need instructions the compiler does not find by itself: fma, square root, rounding, minimum,
// sign bits, horizontal mask tests, partial loads and table look-up. Included by vec.h only; the contract stands there.
#pragma once

#include <type_traits>

#ifndef TFL_HAS_AVX512
#define TFL_HAS_AVX512 0
#endif
#ifndef TFL_HAS_AVX2
#define TFL_HAS_AVX2 0
#endif

namespace tfl {
inline namespace TFL_ISA {

namespace detail {

template <class R>
inline constexpr bool kIsScalar = std::is_arithmetic_v<R>;

template <class R, bool = kIsScalar<R>>
struct ElemOfReg {
  using Type = R;
};
template <class R>
struct ElemOfReg<R, false> {
  using Type = std::remove_cvref_t<decltype(std::declval<R&>()[0])>;
};
template <class R>
inline constexpr bool kIsF32 = std::is_same_v<typename ElemOfReg<R>::Type, float>;

// The unmasked forms of these draw false "uninitialized" warnings from g++ 12's own headers.
#define TFL_SQRT512_PS(a) _mm512_maskz_sqrt_ps((__mmask16) - 1, a)
#define TFL_SQRT512_PD(a) _mm512_maskz_sqrt_pd((__mmask8) - 1, a)
#define TFL_MIN512_PS(a, b) _mm512_maskz_min_ps((__mmask16) - 1, a, b)
#define TFL_MIN512_PD(a, b) _mm512_maskz_min_pd((__mmask8) - 1, a, b)
#define TFL_MAX512_PS(a, b) _mm512_maskz_max_ps((__mmask16) - 1, a, b)
#define TFL_MAX512_PD(a, b) _mm512_maskz_max_pd((__mmask8) - 1, a, b)
#define TFL_ROUND512_PS(a, mode) _mm512_maskz_roundscale_ps((__mmask16) - 1, a, mode)
#define TFL_ROUND512_PD(a, mode) _mm512_maskz_roundscale_pd((__mmask8) - 1, a, mode)

// Chooses the intrinsic for a register of R's size and element type; falls through where the machine has none.
#if defined(__x86_64__)
#if TFL_HAS_AVX512
#define TFL_DISPATCH_512(f32, f64, ...) \
  if constexpr (sizeof(R) == 64) {      \
    if constexpr (kIsF32<R>)            \
      return (R)f32(__VA_ARGS__);       \
    else                                \
      return (R)f64(__VA_ARGS__);       \
  }
#else
#define TFL_DISPATCH_512(f32, f64, ...)
#endif
#define TFL_DISPATCH(a32, a64, b32, b64, c32, c64, ...) \
  TFL_DISPATCH_512(c32, c64, __VA_ARGS__)               \
  if constexpr (sizeof(R) == 32) {                      \
    if constexpr (kIsF32<R>)                            \
      return (R)b32(__VA_ARGS__);                       \
    else                                                \
      return (R)b64(__VA_ARGS__);                       \
  }                                                     \
  if constexpr (sizeof(R) == 16) {                      \
    if constexpr (kIsF32<R>)                            \
      return (R)a32(__VA_ARGS__);                       \
    else                                                \
      return (R)a64(__VA_ARGS__);                       \
  }
#endif

template <class R>
TFL_INLINE R reg_fma(R a, R b, R c) {
  if constexpr (kIsScalar<R>) {
    if constexpr (kIsF32<R>) {
      return __builtin_fmaf(a, b, c);
    } else {
      return __builtin_fma(a, b, c);
    }
  } else {
#if TFL_HAS_AVX512 || TFL_HAS_AVX2
    TFL_DISPATCH(_mm_fmadd_ps, _mm_fmadd_pd, _mm256_fmadd_ps, _mm256_fmadd_pd, _mm512_fmadd_ps, _mm512_fmadd_pd, a, b, c)
#endif
    R out;
    for (unsigned i = 0; i < sizeof(R) / sizeof(a[0]); ++i) out[i] = reg_fma(a[i], b[i], c[i]);
    return out;
  }
}

template <class R>
TFL_INLINE R reg_sqrt(R a) {
  if constexpr (kIsScalar<R>) {
    if constexpr (kIsF32<R>) {
      return __builtin_sqrtf(a);
    } else {
      return __builtin_sqrt(a);
    }
  } else {
#if TFL_HAS_AVX512 || TFL_HAS_AVX2
    TFL_DISPATCH(_mm_sqrt_ps, _mm_sqrt_pd, _mm256_sqrt_ps, _mm256_sqrt_pd, TFL_SQRT512_PS, TFL_SQRT512_PD, a)
#elif defined(__x86_64__)
    if constexpr (sizeof(R) == 16) {
      if constexpr (kIsF32<R>) {
        return (R)_mm_sqrt_ps(a);
      } else {
        return (R)_mm_sqrt_pd(a);
      }
    }
#endif
    R out;
    for (unsigned i = 0; i < sizeof(R) / sizeof(a[0]); ++i) out[i] = reg_sqrt(a[i]);
    return out;
  }
}

// a < b ? a : b, which the compiler does not fold into the instruction that does precisely this.
template <class R>
TFL_INLINE R reg_min(R a, R b) {
#if defined(__x86_64__)
  if constexpr (!kIsScalar<R>) {
#if TFL_HAS_AVX512 || TFL_HAS_AVX2
    TFL_DISPATCH(_mm_min_ps, _mm_min_pd, _mm256_min_ps, _mm256_min_pd, TFL_MIN512_PS, TFL_MIN512_PD, a, b)
#else
    if constexpr (sizeof(R) == 16 && kIsF32<R>) return (R)_mm_min_ps(a, b);
    if constexpr (sizeof(R) == 16 && !kIsF32<R>) return (R)_mm_min_pd(a, b);
#endif
  }
#endif
  return a < b ? a : b;
}
template <class R>
TFL_INLINE R reg_max(R a, R b) {
#if defined(__x86_64__)
  if constexpr (!kIsScalar<R>) {
#if TFL_HAS_AVX512 || TFL_HAS_AVX2
    TFL_DISPATCH(_mm_max_ps, _mm_max_pd, _mm256_max_ps, _mm256_max_pd, TFL_MAX512_PS, TFL_MAX512_PD, a, b)
#else
    if constexpr (sizeof(R) == 16 && kIsF32<R>) return (R)_mm_max_ps(a, b);
    if constexpr (sizeof(R) == 16 && !kIsF32<R>) return (R)_mm_max_pd(a, b);
#endif
  }
#endif
  return a > b ? a : b;
}

enum class Rounding { kNearest = 0, kDown = 1, kUp = 2, kZero = 3 };

#if TFL_HAS_AVX512 || TFL_HAS_AVX2
// 8: no inexact exception; the low bits are the direction.
template <Rounding Mode, class R>
TFL_INLINE R reg_round(R a) {
  constexpr int mode = static_cast<int>(Mode) | 8;
  if constexpr (kIsScalar<R>) {
    if constexpr (kIsF32<R>) {
      __m128 v = _mm_set_ss(a);
      return _mm_cvtss_f32(_mm_round_ss(v, v, mode));
    } else {
      __m128d v = _mm_set_sd(a);
      return _mm_cvtsd_f64(_mm_round_sd(v, v, mode));
    }
  } else {
    TFL_DISPATCH(_mm_round_ps, _mm_round_pd, _mm256_round_ps, _mm256_round_pd, TFL_ROUND512_PS, TFL_ROUND512_PD, a, mode)
    R out;
    for (unsigned i = 0; i < sizeof(R) / sizeof(a[0]); ++i) out[i] = reg_round<Mode>(a[i]);
    return out;
  }
}
#endif
}  // namespace detail

template <class T, int N>
TFL_INLINE Vec<T, N> fma(const Vec<T, N>& a, const Vec<T, N>& b, const Vec<T, N>& c) {
  return detail::lift<Vec<T, N>>([](auto x, auto y, auto z) { return detail::reg_fma(x, y, z); }, a, b, c);
}
// Constants may be written as literals in any place.
template <class T, int N, class A, class B>
TFL_INLINE Vec<T, N> fma(const Vec<T, N>& a, const A& b, const B& c) {
  return fma(a, Vec<T, N>(b), Vec<T, N>(c));
}

template <class T, int N>
TFL_INLINE Vec<T, N> sqrt(const Vec<T, N>& a) {
  return detail::lift<Vec<T, N>>([](auto x) { return detail::reg_sqrt(x); }, a);
}

// ---- sign bits -------------------------------------------------------------------------------------------------------------

namespace detail {
template <class T>
inline constexpr unsigned_of<T> kSignBit = static_cast<unsigned_of<T>>(unsigned_of<T>{1} << (8 * sizeof(T) - 1));
}
template <class T, int N>
TFL_INLINE Vec<T, N> abs(const Vec<T, N>& a) {
  if constexpr (std::is_floating_point_v<T>) {
    using U = unsigned_of<T>;
    return bitcast<T>(bitcast<U>(a) & Vec<U, N>(static_cast<U>(~detail::kSignBit<T>)));
  } else if constexpr (std::is_signed_v<T>) {
    return select(a < 0, Vec<T, N>(0) - a, a);  // MIN stays MIN
  } else {
    return a;
  }
}
template <class T, int N>
TFL_INLINE Vec<T, N> neg(const Vec<T, N>& a) {
  if constexpr (std::is_floating_point_v<T>) {
    using U = unsigned_of<T>;
    return bitcast<T>(bitcast<U>(a) ^ Vec<U, N>(detail::kSignBit<T>));
  } else {
    return Vec<T, N>(0) - a;
  }
}
template <class T, int N>
TFL_INLINE Vec<T, N> operator-(const Vec<T, N>& a) {
  return neg(a);
}
// The magnitude of a with the sign of b.
template <class T, int N>
TFL_INLINE Vec<T, N> copysign(const Vec<T, N>& a, const Vec<T, N>& b) {
  using U = unsigned_of<T>;
  Vec<U, N> sign(detail::kSignBit<T>);
  return bitcast<T>((bitcast<U>(a) & ~sign) | (bitcast<U>(b) & sign));
}
// a with its sign flipped where b is negative (-0 included).
template <class T, int N>
TFL_INLINE Vec<T, N> flipsign(const Vec<T, N>& a, const Vec<T, N>& b) {
  using U = unsigned_of<T>;
  return bitcast<T>(bitcast<U>(a) ^ (bitcast<U>(b) & Vec<U, N>(detail::kSignBit<T>)));
}
template <class T, int N>
TFL_INLINE Mask<T, N> sign_bit(const Vec<T, N>& a) {
  return bitcast<signed_of<T>>(a) < 0;
}

template <class T, int N>
TFL_INLINE Vec<T, N> min(const Vec<T, N>& a, const Vec<T, N>& b) {
  if constexpr (std::is_floating_point_v<T>) {
    return detail::lift<Vec<T, N>>([](auto x, auto y) { return detail::reg_min(x, y); }, a, b);
  } else {
    return select(a < b, a, b);
  }
}
template <class T, int N>
TFL_INLINE Vec<T, N> max(const Vec<T, N>& a, const Vec<T, N>& b) {
  if constexpr (std::is_floating_point_v<T>) {
    return detail::lift<Vec<T, N>>([](auto x, auto y) { return detail::reg_max(x, y); }, a, b);
  } else {
    return select(a > b, a, b);
  }
}
template <class T, int N, class S>
  requires std::is_arithmetic_v<S>
TFL_INLINE Vec<T, N> min(const Vec<T, N>& a, S b) {
  return min(a, Vec<T, N>(b));
}
template <class T, int N, class S>
  requires std::is_arithmetic_v<S>
TFL_INLINE Vec<T, N> max(const Vec<T, N>& a, S b) {
  return max(a, Vec<T, N>(b));
}

// ---- rounding to integral values -------------------------------------------------------------------------------------------

#if TFL_HAS_AVX512 || TFL_HAS_AVX2
#define TFL_ROUND(name, mode)                                                                               \
  template <class T, int N>                                                                                 \
  TFL_INLINE Vec<T, N> name(const Vec<T, N>& a) {                                                           \
    return detail::lift<Vec<T, N>>([](auto x) { return detail::reg_round<detail::Rounding::mode>(x); }, a); \
  }
TFL_ROUND(rint, kNearest)
TFL_ROUND(floor, kDown)
TFL_ROUND(ceil, kUp)
TFL_ROUND(trunc, kZero)
#undef TFL_ROUND
#else
// Adding 2^(p-1) pushes the fraction out of the significand, rounding to nearest even; larger values are integral already.
template <class T, int N>
TFL_INLINE Vec<T, N> rint(const Vec<T, N>& a) {
  constexpr T kBig = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
  Vec<T, N> m = abs(a);
  Vec<T, N> r = copysign((m + kBig) - kBig, a);
  return select(m < kBig, r, a);
}
template <class T, int N>
TFL_INLINE Vec<T, N> floor(const Vec<T, N>& a) {
  Vec<T, N> r = rint(a);
  return select(r > a, copysign(r - T(1), a), r);
}
template <class T, int N>
TFL_INLINE Vec<T, N> ceil(const Vec<T, N>& a) {
  Vec<T, N> r = rint(a);
  return select(r < a, copysign(r + T(1), a), r);
}
template <class T, int N>
TFL_INLINE Vec<T, N> trunc(const Vec<T, N>& a) {
  return copysign(floor(abs(a)), a);
}
#endif

// ---- masks, horizontally ---------------------------------------------------------------------------------------------------

template <int B, int N>
TFL_INLINE bool any(const LaneMask<B, N>& m) {
  if constexpr (N == 1) {
    return m.v.r != 0;
  } else if constexpr (LaneMask<B, N>::Lanes::split) {
    return any(LaneMask<B, N / 2>(m.v.lo | m.v.hi));
  } else {
#if TFL_HAS_AVX512
    if constexpr (sizeof(m.v.r) == 64) {
      if constexpr (B == 1) return _mm512_movepi8_mask((__m512i)m.v.r) != 0;
      if constexpr (B == 2) return _mm512_movepi16_mask((__m512i)m.v.r) != 0;
      if constexpr (B == 4) return _mm512_movepi32_mask((__m512i)m.v.r) != 0;
      if constexpr (B == 8) return _mm512_movepi64_mask((__m512i)m.v.r) != 0;
    }
#endif
#if TFL_HAS_AVX512 || TFL_HAS_AVX2
    if constexpr (sizeof(m.v.r) == 32) return _mm256_movemask_epi8((__m256i)m.v.r) != 0;
#endif
#if defined(__x86_64__)
    if constexpr (sizeof(m.v.r) == 16) return _mm_movemask_epi8((__m128i)m.v.r) != 0;
#endif
    bool out = false;
    for (int i = 0; i < N; ++i) out |= m.v.r[i] != 0;
    return out;
  }
}
template <int B, int N>
TFL_INLINE bool all(const LaneMask<B, N>& m) {
  return !any(~m);
}

template <class M, class V, class Slow>
TFL_INLINE V rarely(const M& m, Slow slow, const V& fast) {
  if (any(m)) [[unlikely]] {
    return select(m, slow(), fast);
  }
  return fast;
}

namespace detail {
template <class M, class... V, std::size_t... I>
TFL_INLINE void keep(const M& active, std::tuple<V...>& state, const std::tuple<V...>& next, std::index_sequence<I...>) {
  ((std::get<I>(state) = select(active, std::get<I>(next), std::get<I>(state))), ...);
}
}  // namespace detail

// The same for several values at once: slow() and fast are tuples.
template <class M, class... V, class Slow>
TFL_INLINE std::tuple<V...> rarely(const M& m, Slow slow, const std::tuple<V...>& fast) {
  std::tuple<V...> out = fast;
  if (any(m)) [[unlikely]] {
    detail::keep(m, out, slow(), std::index_sequence_for<V...>{});
  }
  return out;
}

// For at most `limit` rounds, while a lane is active: next = state; go_on = body(next); active lanes take next; active &= go_on.
// A lane's result depends on that lane alone.
template <class M, class Body, class... V>
TFL_INLINE void iterate(int limit, M active, std::tuple<V...>& state, Body body) {
  for (int i = 0; i < limit && any(active); ++i) {
    std::tuple<V...> next = state;
    M go_on = body(next);
    detail::keep(active, state, next, std::index_sequence_for<V...>{});
    active = active & go_on;
  }
}

// ---- memory ----------------------------------------------------------------------------------------------------------------

namespace detail {
#if TFL_HAS_AVX512
/// The first `count` of N lanes as the bits of a mask register.
template <int N>
TFL_INLINE auto lane_bits(int count) {
  using Bits = std::conditional_t<N <= 8, __mmask8,
                                  std::conditional_t<N == 16, __mmask16, std::conditional_t<N == 32, __mmask32, __mmask64>>>;
  return static_cast<Bits>(count >= N ? ~0ull : (1ull << count) - 1);
}
#elif TFL_HAS_AVX2
/// All ones in the first `count` of the 32-bit words of a register; the lower half of it is the mask of half a register.
TFL_INLINE __m256i word_mask(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#endif
}  // namespace detail

template <class T, int N>
TFL_INLINE Vec<T, N> Vec<T, N>::load_partial(const void* p, int count) {
  Vec v;
  if constexpr (split) {
    const int low = count < N / 2 ? count : N / 2;
    v.lo = Vec<T, N / 2>::load_partial(p, low);
    v.hi = Vec<T, N / 2>::load_partial(static_cast<const T*>(p) + low, count - low);
    return v;
  } else {
#if TFL_HAS_AVX512
    if constexpr (sizeof(T) * N == 64 || sizeof(T) * N == 32) {
      const auto bits = detail::lane_bits<N>(count);
      using R = typename Base::Reg;
      if constexpr (sizeof(T) * N == 64) {
        if constexpr (sizeof(T) == 1) v.r = (R)_mm512_maskz_loadu_epi8(bits, p);
        if constexpr (sizeof(T) == 2) v.r = (R)_mm512_maskz_loadu_epi16(bits, p);
        if constexpr (sizeof(T) == 4) v.r = (R)_mm512_maskz_loadu_epi32(bits, p);
        if constexpr (sizeof(T) == 8) v.r = (R)_mm512_maskz_loadu_epi64(bits, p);
      } else {
        if constexpr (sizeof(T) == 1) v.r = (R)_mm256_maskz_loadu_epi8(bits, p);
        if constexpr (sizeof(T) == 2) v.r = (R)_mm256_maskz_loadu_epi16(bits, p);
        if constexpr (sizeof(T) == 4) v.r = (R)_mm256_maskz_loadu_epi32(bits, p);
        if constexpr (sizeof(T) == 8) v.r = (R)_mm256_maskz_loadu_epi64(bits, p);
      }
      return v;
    } else if constexpr (sizeof(T) * N == 16) {
      const auto bits = detail::lane_bits<N>(count);
      using R = typename Base::Reg;
      if constexpr (sizeof(T) == 1) v.r = (R)_mm_maskz_loadu_epi8(bits, p);
      if constexpr (sizeof(T) == 2) v.r = (R)_mm_maskz_loadu_epi16(bits, p);
      if constexpr (sizeof(T) == 4) v.r = (R)_mm_maskz_loadu_epi32(bits, p);
      if constexpr (sizeof(T) == 8) v.r = (R)_mm_maskz_loadu_epi64(bits, p);
      return v;
    }
#elif TFL_HAS_AVX2
    if constexpr (sizeof(T) * N == 16 && sizeof(T) >= 4) {
      const __m128i mask = _mm256_castsi256_si128(detail::word_mask(count * static_cast<int>(sizeof(T) / 4)));
      v.r = (typename Base::Reg)_mm_maskload_epi32(static_cast<const int*>(p), mask);
      return v;
    } else if constexpr (sizeof(T) * N == 32 && sizeof(T) >= 4) {
      const __m256i mask = detail::word_mask(count * static_cast<int>(sizeof(T) / 4));
      v.r = (typename Base::Reg)_mm256_maskload_epi32(static_cast<const int*>(p), mask);
      return v;
    }
#endif
    std::memset(static_cast<void*>(&v), 0, sizeof v);
    std::memcpy(static_cast<void*>(&v), p, sizeof(T) * static_cast<unsigned>(count));
    return v;
  }
}
template <class T, int N>
TFL_INLINE void Vec<T, N>::store_partial(void* p, int count) const {
  if constexpr (split) {
    const int low = count < N / 2 ? count : N / 2;
    this->lo.store_partial(p, low);
    this->hi.store_partial(static_cast<T*>(p) + low, count - low);
  } else {
#if TFL_HAS_AVX512
    if constexpr (sizeof(T) * N == 64) {
      const auto bits = detail::lane_bits<N>(count);
      if constexpr (sizeof(T) == 1) _mm512_mask_storeu_epi8(p, bits, (__m512i)this->r);
      if constexpr (sizeof(T) == 2) _mm512_mask_storeu_epi16(p, bits, (__m512i)this->r);
      if constexpr (sizeof(T) == 4) _mm512_mask_storeu_epi32(p, bits, (__m512i)this->r);
      if constexpr (sizeof(T) == 8) _mm512_mask_storeu_epi64(p, bits, (__m512i)this->r);
      return;
    }
#endif
    std::memcpy(p, this, sizeof(T) * static_cast<unsigned>(count));
  }
}

/// The first `count` lanes of v, others of `rest`. 0 <= count <= N.
template <class T, int N>
TFL_INLINE Vec<T, N> first_lanes(const Vec<T, N>& v, int count, const Vec<T, N>& rest) {
  using I = signed_of<T>;
  alignas(64) static constexpr auto kNumbers = [] {
    std::array<I, N> a{};
    for (int i = 0; i < N; ++i) a[static_cast<std::size_t>(i)] = static_cast<I>(i);
    return a;
  }();
  return select(Vec<I, N>::load(kNumbers.data()) < Vec<I, N>(count), v, rest);
}

// table(i, {...})[lane] = values[i[lane]].
template <class I, int N, class T, std::size_t K>
TFL_INLINE Vec<T, N> table(const Vec<I, N>& index, const std::array<T, K>& values) {
#if TFL_HAS_AVX512
  if constexpr (sizeof(T) == 4 && sizeof(I) == 4 && N == 16) {
    return bitcast<T>(detail::lift<Vec<float, N>>(
        [&](auto i) { return _mm512_mask_i32gather_ps(__m512{}, (__mmask16)-1, (__m512i)i, values.data(), 4); }, index));
  } else if constexpr (sizeof(T) == 8 && sizeof(I) == 8 && N == 8) {
    return bitcast<T>(detail::lift<Vec<double, N>>(
        [&](auto i) { return _mm512_mask_i64gather_pd(__m512d{}, (__mmask8)-1, (__m512i)i, values.data(), 8); }, index));
  }
#endif
  Vec<T, N> out;
  for (int i = 0; i < N; ++i) out.set(i, values[static_cast<std::size_t>(index[i])]);
  return out;
}

}  // namespace TFL_ISA
}  // namespace tfl
