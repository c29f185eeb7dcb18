// Fixed-width vectors over IEEE-exact primitives: what every formula of runtime/math is written in.
//
// Knows: element types, lanes, masks and the operations whose result IEEE 754 (or two's complement) fixes to the bit. A formula is
// a template over the value type V and calls nothing else, so Vec<float, 16>, Vec<float, 1> or a type that records the operations
// all mean the same. Must not know: tensors, memory management, which formula is used where.
//
// The file is compiled at several instruction set levels within one program. Everything that has code lives in the inline
// namespace TFL_ISA and is always_inline, so that no function compiled for a newer machine is ever linked into the portable path.
//
// The contract of the primitives (each lane by itself):
//   + - * / sqrt fma            IEEE, round to nearest even. Integers wrap. Integer / needs a non-zero divisor and not MIN / -1.
//   min(a, b) max(a, b)         a < b ? a : b and a > b ? a : b: the second operand if either is NaN or both are zeros.
//   floor ceil trunc rint       integral values, sign of zero kept; rint rounds halves to even.
//   abs neg copysign            sign bit only; NaN payload kept.
//   == != < <= > >=             a mask; false with NaN, except !=.
//   select(m, a, b)             m ? a : b.
//   shl shr                     by 0 .. width - 1; shr is arithmetic on signed, logical on unsigned elements.
//   convert<T>(v)               int -> float rounds to nearest; float -> int truncates and needs a value in T's range;
//                               f64 -> f32 rounds; integer -> integer wraps or extends.
//   bitcast<T>(v)               same size.
//   table(i, array)             array[i]; i within the array.
//   rarely(m, slow, fast)       select(m, slow(), fast); slow() runs only if some lane needs it.
//   iterate(n, m, state, body)  at most n times, for the lanes in m: m &= body(state).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifndef TFL_ISA
#define TFL_ISA base
#endif

#ifndef TFL_INLINE  // what only records the operations need not be inlined
#define TFL_INLINE [[gnu::always_inline]] inline
#endif
// For large templates over vector types, compiled once per type. Their names hold TFL_ISA, so that levels stay apart.
#define TFL_OUTLINE [[gnu::noinline]]

// Vectors wider than the machine's only ever travel inside always_inline functions, where no calling convention applies.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace tfl {
inline namespace TFL_ISA {

// The width one machine register has; wider vectors are built from halves.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TFL_HAS_AVX512 1
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__) && defined(__FMA__)
#define TFL_HAS_AVX2 1
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class T>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

namespace detail {
// clang-format off
template <int Bytes> struct IntOf;
template <> struct IntOf<1> { using S = std::int8_t;  using U = std::uint8_t; };
template <> struct IntOf<2> { using S = std::int16_t; using U = std::uint16_t; };
template <> struct IntOf<4> { using S = std::int32_t; using U = std::uint32_t; };
template <> struct IntOf<8> { using S = std::int64_t; using U = std::uint64_t; };
// clang-format on

template <class T, int N>
struct RegOf {
  typedef T Type __attribute__((vector_size(sizeof(T) * N)));
};
template <class T>
struct RegOf<T, 1> {
  using Type = T;
};
}  // namespace detail

template <class T>
using signed_of = typename detail::IntOf<sizeof(T)>::S;
template <class T>
using unsigned_of = typename detail::IntOf<sizeof(T)>::U;

template <class T, int N>
struct Vec;
template <int Bytes, int N>
struct LaneMask;
template <class T, int N>
using Mask = LaneMask<sizeof(T), N>;

template <class T, int N>
inline constexpr bool kIsSplit = N > 1 && sizeof(T) * N > kVectorBytes;

// ---- storage ---------------------------------------------------------------------------------------------------------------

namespace detail {
template <class T, int N, bool Split>
struct Store {  // one register
  using Reg = typename RegOf<T, N>::Type;
  Reg r;
};
template <class T, int N>
struct Store<T, N, true> {  // two halves
  Vec<T, N / 2> lo, hi;
};
}  // namespace detail

template <class T, int N>
struct Vec : detail::Store<T, N, kIsSplit<T, N>> {
  static_assert(N > 0 && (N & (N - 1)) == 0);
  using elem = T;
  using mask = Mask<T, N>;
  template <class U>
  using with = Vec<U, N>;  // the same lanes with another element type
  using Base = detail::Store<T, N, kIsSplit<T, N>>;
  static constexpr int lanes = N;
  static constexpr bool split = kIsSplit<T, N>;

  Vec() = default;
  template <class S>
    requires std::is_arithmetic_v<S>
  TFL_INLINE Vec(S scalar) {  // NOLINT: implicit, so that literals mix with vectors
    T s = static_cast<T>(scalar);
    if constexpr (split) {
      this->lo = Vec<T, N / 2>(s);
      this->hi = Vec<T, N / 2>(s);
    } else if constexpr (N == 1) {
      this->r = s;
    } else {
      this->r = s - typename Base::Reg{};  // x - 0 is x for every x, -0 included
    }
  }

  TFL_INLINE static Vec load(const void* p) {
    Vec v;
    std::memcpy(static_cast<void*>(&v), p, sizeof(T) * N);
    return v;
  }
  TFL_INLINE void store(void* p) const { std::memcpy(p, this, sizeof(T) * N); }
  // Lanes count .. N-1 are zero when loaded and not touched in memory when stored; 0 <= count <= N.
  TFL_INLINE static Vec load_partial(const void* p, int count);
  TFL_INLINE void store_partial(void* p, int count) const;
  // Lane i comes from p[i * stride], stride in elements.
  TFL_INLINE static Vec load_strided(const T* p, std::int64_t stride) {
    T a[N];
    for (int i = 0; i < N; ++i) a[i] = p[i * stride];
    return load(a);
  }
  TFL_INLINE T operator[](int i) const {
    if constexpr (N == 1) {
      return this->r;
    } else if constexpr (split) {
      return i < N / 2 ? this->lo[i] : this->hi[i - N / 2];
    } else {
      return this->r[i];
    }
  }
  TFL_INLINE void set(int i, T x) {
    if constexpr (N == 1) {
      this->r = x;
    } else if constexpr (split) {
      if (i < N / 2) {
        this->lo.set(i, x);
      } else {
        this->hi.set(i - N / 2, x);
      }
    } else {
      this->r[i] = x;
    }
  }
  TFL_INLINE T get() const { return (*this)[0]; }
};

// A condition per lane, all ones or all zeros in an integer of the compared elements' size.
template <int Bytes, int N>
struct LaneMask {
  using Int = typename detail::IntOf<Bytes>::S;
  using Lanes = Vec<Int, N>;
  static constexpr int lanes = N;
  Lanes v;
  LaneMask() = default;
  TFL_INLINE explicit LaneMask(Lanes bits) : v(bits) {}
  TFL_INLINE explicit LaneMask(bool b) : v(static_cast<Int>(b ? -1 : 0)) {}
  TFL_INLINE bool operator[](int i) const { return v[i] != 0; }
};

template <class V>
using elem_of = typename V::elem;
template <class V>
using mask_of = typename V::mask;
template <class V, class T>
using with_elem = typename V::template with<T>;
template <class V>
using int_of = with_elem<V, signed_of<elem_of<V>>>;
template <class V>
using uint_of = with_elem<V, unsigned_of<elem_of<V>>>;
template <class V>
inline constexpr bool is_f32 = std::is_same_v<elem_of<V>, float>;
template <class V>
inline constexpr bool is_f64 = std::is_same_v<elem_of<V>, double>;
template <class V>
inline constexpr bool is_real =  // dtype.h has is_floating for dtypes
    std::is_floating_point_v<elem_of<V>>;

// ---- halves ----------------------------------------------------------------------------------------------------------------

namespace detail {
// Lanes First, First + 1, ... of the registers a and b laid end to end.
template <int First, class R, int... I>
TFL_INLINE auto lanes_from(R a, R b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (First + I)...);
}
}  // namespace detail

template <class T, int N>
TFL_INLINE Vec<T, N / 2> low_half(const Vec<T, N>& a) {
  if constexpr (Vec<T, N>::split) {
    return a.lo;
  } else {
    Vec<T, N / 2> h;
    if constexpr (N == 2) {
      h.r = a.r[0];
    } else {
      h.r = detail::lanes_from<0>(a.r, a.r, std::make_integer_sequence<int, N / 2>());
    }
    return h;
  }
}
template <class T, int N>
TFL_INLINE Vec<T, N / 2> high_half(const Vec<T, N>& a) {
  if constexpr (Vec<T, N>::split) {
    return a.hi;
  } else {
    Vec<T, N / 2> h;
    if constexpr (N == 2) {
      h.r = a.r[1];
    } else {
      h.r = detail::lanes_from<N / 2>(a.r, a.r, std::make_integer_sequence<int, N / 2>());
    }
    return h;
  }
}
template <class T, int H>
TFL_INLINE Vec<T, 2 * H> join(const Vec<T, H>& lo, const Vec<T, H>& hi) {
  Vec<T, 2 * H> v;
  if constexpr (Vec<T, 2 * H>::split) {
    v.lo = lo;
    v.hi = hi;
  } else if constexpr (H == 1) {
    v.r = typename Vec<T, 2>::Reg{lo.r, hi.r};
  } else {
    v.r = detail::lanes_from<0>(lo.r, hi.r, std::make_integer_sequence<int, 2 * H>());
  }
  return v;
}

namespace detail {
// Applies f to registers: directly, or half by half. All operands have the same element size and lanes.
template <class R, class F, class T, int N, class... Rest>
TFL_INLINE R lift(F f, const Vec<T, N>& a, const Rest&... rest) {
  R out;
  if constexpr (kIsSplit<T, N>) {
    using H = Vec<typename R::elem, N / 2>;
    out.lo = lift<H>(f, a.lo, rest.lo...);
    out.hi = lift<H>(f, a.hi, rest.hi...);
  } else {
    out.r = f(a.r, rest.r...);
  }
  return out;
}
// Signed arithmetic in C++ must not overflow; unsigned may.
template <class T>
using wrapping = std::conditional_t<std::is_integral_v<T>, unsigned_of<T>, T>;
}  // namespace detail

// ---- bit casts, conversions, arithmetic ------------------------------------------------------------------------------------

template <class U, class T, int N>
TFL_INLINE Vec<U, N> bitcast(const Vec<T, N>& a) {
  static_assert(sizeof(U) == sizeof(T));
  if constexpr (std::is_same_v<U, T>) {
    return a;
  } else {
    return detail::lift<Vec<U, N>>(
        [](auto r) {
          constexpr int n = sizeof(r) / sizeof(U);
          return __builtin_bit_cast(typename detail::RegOf<U, n>::Type, r);
        },
        a);
  }
}

template <class U, class T, int N>
TFL_INLINE Vec<U, N> convert(const Vec<T, N>& a) {
  if constexpr (std::is_same_v<U, T>) {
    return a;
  } else if constexpr (kIsSplit<T, N> || kIsSplit<U, N>) {
    return join(convert<U>(low_half(a)), convert<U>(high_half(a)));
  } else {
    Vec<U, N> out;
    if constexpr (N == 1) {
      out.r = static_cast<U>(a.r);
#if defined(TFL_HAS_AVX512)  // the compiler splits these two
    } else if constexpr (std::is_same_v<T, float> && std::is_same_v<U, double> && N == 8) {
      out.r = _mm512_maskz_cvtps_pd((__mmask8)-1, a.r);
    } else if constexpr (std::is_same_v<T, double> && std::is_same_v<U, float> && N == 8) {
      out.r = _mm512_maskz_cvtpd_ps((__mmask8)-1, a.r);
#endif
    } else {
      out.r = __builtin_convertvector(a.r, typename detail::RegOf<U, N>::Type);
    }
    return out;
  }
}

#define TFL_VEC_BINARY(op)                                                                                                       \
  template <class T, int N>                                                                                                      \
  TFL_INLINE Vec<T, N> operator op(const Vec<T, N>& a, const Vec<T, N>& b) {                                                     \
    using W = detail::wrapping<T>;                                                                                               \
    return bitcast<T>(                                                                                                           \
        detail::lift<Vec<W, N>>([](auto x, auto y) { return static_cast<decltype(x)>(x op y); }, bitcast<W>(a), bitcast<W>(b))); \
  }                                                                                                                              \
  template <class T, int N, class S>                                                                                             \
    requires std::is_arithmetic_v<S>                                                                                             \
  TFL_INLINE Vec<T, N> operator op(const Vec<T, N>& a, S b) {                                                                    \
    return a op Vec<T, N>(b);                                                                                                    \
  }                                                                                                                              \
  template <class T, int N, class S>                                                                                             \
    requires std::is_arithmetic_v<S>                                                                                             \
  TFL_INLINE Vec<T, N> operator op(S a, const Vec<T, N>& b) {                                                                    \
    return Vec<T, N>(a) op b;                                                                                                    \
  }
TFL_VEC_BINARY(+)
TFL_VEC_BINARY(-)
TFL_VEC_BINARY(&)
TFL_VEC_BINARY(|)
TFL_VEC_BINARY(^)
#undef TFL_VEC_BINARY

namespace detail {
// C++ promotes narrow unsigned factors to int, where 65535 * 65535 overflows.
template <class R>
TFL_INLINE R multiply(R x, R y) {
  if constexpr (std::is_same_v<R, std::uint16_t> || std::is_same_v<R, std::uint8_t>) {
    return static_cast<R>(static_cast<unsigned>(x) * static_cast<unsigned>(y));
  } else {
    return x * y;
  }
}
}  // namespace detail

template <class T, int N>
TFL_INLINE Vec<T, N> operator*(const Vec<T, N>& a, const Vec<T, N>& b) {
  using W = detail::wrapping<T>;
  return bitcast<T>(detail::lift<Vec<W, N>>([](auto x, auto y) { return detail::multiply(x, y); }, bitcast<W>(a), bitcast<W>(b)));
}
template <class T, int N>
TFL_INLINE Vec<T, N> operator/(const Vec<T, N>& a, const Vec<T, N>& b) {
  return detail::lift<Vec<T, N>>([](auto x, auto y) { return static_cast<decltype(x)>(x / y); }, a, b);
}
#define TFL_VEC_SCALAR(op)                                    \
  template <class T, int N, class S>                          \
    requires std::is_arithmetic_v<S>                          \
  TFL_INLINE Vec<T, N> operator op(const Vec<T, N>& a, S b) { \
    return a op Vec<T, N>(b);                                 \
  }                                                           \
  template <class T, int N, class S>                          \
    requires std::is_arithmetic_v<S>                          \
  TFL_INLINE Vec<T, N> operator op(S a, const Vec<T, N>& b) { \
    return Vec<T, N>(a) op b;                                 \
  }
TFL_VEC_SCALAR(*)
TFL_VEC_SCALAR(/)
#undef TFL_VEC_SCALAR

template <class T, int N>
TFL_INLINE Vec<T, N> operator~(const Vec<T, N>& a) {
  return a ^ Vec<T, N>(-1);
}

// By a count that is the same for all lanes; 0 <= count < width.
template <class T, int N>
TFL_INLINE Vec<T, N> shl(const Vec<T, N>& a, int count) {
  using W = detail::wrapping<T>;
  return bitcast<T>(detail::lift<Vec<W, N>>([count](auto x) { return static_cast<decltype(x)>(x << count); }, bitcast<W>(a)));
}
template <class T, int N>
TFL_INLINE Vec<T, N> shr(const Vec<T, N>& a, int count) {
  return detail::lift<Vec<T, N>>([count](auto x) { return static_cast<decltype(x)>(x >> count); }, a);
}
// By a count per lane.
template <class T, int N>
TFL_INLINE Vec<T, N> shl(const Vec<T, N>& a, const Vec<T, N>& count) {
  using W = detail::wrapping<T>;
  return bitcast<T>(
      detail::lift<Vec<W, N>>([](auto x, auto y) { return static_cast<decltype(x)>(x << y); }, bitcast<W>(a), bitcast<W>(count)));
}
template <class T, int N>
TFL_INLINE Vec<T, N> shr(const Vec<T, N>& a, const Vec<T, N>& count) {
  return detail::lift<Vec<T, N>>([](auto x, auto y) { return static_cast<decltype(x)>(x >> y); }, a, count);
}

// ---- masks -----------------------------------------------------------------------------------------------------------------

#define TFL_VEC_COMPARE(op)                                                                            \
  template <class T, int N>                                                                            \
  TFL_INLINE Mask<T, N> operator op(const Vec<T, N>& a, const Vec<T, N>& b) {                          \
    using I = signed_of<T>;                                                                            \
    return Mask<T, N>(detail::lift<Vec<I, N>>(                                                         \
        [](auto x, auto y) {                                                                           \
          if constexpr (sizeof(x) == sizeof(T) && std::is_arithmetic_v<decltype(x)>) {                 \
            return static_cast<I>(x op y ? -1 : 0);                                                    \
          } else {                                                                                     \
            return __builtin_bit_cast(typename detail::RegOf<I, sizeof(x) / sizeof(T)>::Type, x op y); \
          }                                                                                            \
        },                                                                                             \
        a, b));                                                                                        \
  }                                                                                                    \
  template <class T, int N, class S>                                                                   \
    requires std::is_arithmetic_v<S>                                                                   \
  TFL_INLINE Mask<T, N> operator op(const Vec<T, N>& a, S b) {                                         \
    return a op Vec<T, N>(b);                                                                          \
  }
TFL_VEC_COMPARE(==)
TFL_VEC_COMPARE(!=)
TFL_VEC_COMPARE(<)
TFL_VEC_COMPARE(<=)
TFL_VEC_COMPARE(>)
TFL_VEC_COMPARE(>=)
#undef TFL_VEC_COMPARE

// clang-format off
template <int B, int N> TFL_INLINE LaneMask<B, N> operator&(const LaneMask<B, N>& a, const LaneMask<B, N>& b) { return LaneMask<B, N>(a.v & b.v); }
template <int B, int N> TFL_INLINE LaneMask<B, N> operator|(const LaneMask<B, N>& a, const LaneMask<B, N>& b) { return LaneMask<B, N>(a.v | b.v); }
template <int B, int N> TFL_INLINE LaneMask<B, N> operator^(const LaneMask<B, N>& a, const LaneMask<B, N>& b) { return LaneMask<B, N>(a.v ^ b.v); }
template <int B, int N> TFL_INLINE LaneMask<B, N> operator~(const LaneMask<B, N>& a) { return LaneMask<B, N>(~a.v); }
template <int B, int N> TFL_INLINE LaneMask<B, N> and_not(const LaneMask<B, N>& a, const LaneMask<B, N>& b) { return LaneMask<B, N>(a.v & ~b.v); }
// clang-format on

// The same condition for elements of T's size.
template <class T, int B, int N>
TFL_INLINE Mask<T, N> convert_mask(const LaneMask<B, N>& m) {
  return Mask<T, N>(convert<signed_of<T>>(m.v));
}

template <int B, int N, class T>
TFL_INLINE Vec<T, N> select(const LaneMask<B, N>& m, const Vec<T, N>& a, const Vec<T, N>& b) {
  if constexpr (B != sizeof(T)) {
    return select(convert_mask<T>(m), a, b);
  } else {
    return detail::lift<Vec<T, N>>([](auto c, auto x, auto y) { return static_cast<decltype(x)>(c ? x : y); }, m.v, a, b);
  }
}
template <int B, int N, class T, class S>
  requires std::is_arithmetic_v<S>
TFL_INLINE Vec<T, N> select(const LaneMask<B, N>& m, const Vec<T, N>& a, S b) {
  return select(m, a, Vec<T, N>(b));
}
template <int B, int N, class T, class S>
  requires std::is_arithmetic_v<S>
TFL_INLINE Vec<T, N> select(const LaneMask<B, N>& m, S a, const Vec<T, N>& b) {
  return select(m, Vec<T, N>(a), b);
}

}  // namespace TFL_ISA
}  // namespace tfl

#include "runtime/math/vec_ops.h"
