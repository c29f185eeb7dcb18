// The two 16-bit float types and their conversions, as formulas on integer bits: every machine gives the same result, whatever
// its native conversions do to NaN and subnormals. Rounds to nearest even, once; keeps subnormals, infinities and NaN.
//
// Must not know: arithmetic on halves. Half operands are widened to f32, computed there, and rounded once per operation.
#pragma once

#include "runtime/math/vec.h"

namespace tfl {

struct f16 {
  std::uint16_t bits;
};
struct bf16 {
  std::uint16_t bits;
};

inline namespace TFL_ISA {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

// Bits of f16 and bf16 values (u16 lanes) to f32 lanes. Exact.
template <class V>
TFL_INLINE with_elem<V, float> f16_to_f32(const V& half) {
#if TFL_HAS_AVX512
  if constexpr (std::is_same_v<V, Vec<std::uint16_t, 16>>) {
    Vec<float, 16> out;
    out.r = _mm512_maskz_cvtph_ps((__mmask16)-1, (__m256i)half.r);
    return out;
  }
#endif
  using U = with_elem<V, std::uint32_t>;
  U h = convert<std::uint32_t>(half);
  U magnitude = h & 0x7fffu;
  U sign = shl(h & 0x8000u, 16);
  U normal = shl(magnitude, 13) + (112u << 23);
  U special = (shl(magnitude, 13) | 0x7f800000u) | select(magnitude > 0x7c00u, U(0x00400000u), U(0u));
  U tiny = bitcast<std::uint32_t>(convert<float>(bitcast<std::int32_t>(magnitude)) * 0x1p-24f);
  U bits = select(magnitude >= 0x7c00u, special, select(magnitude < 0x0400u, tiny, normal));
  return bitcast<float>(bits | sign);
}
template <class V>
TFL_INLINE with_elem<V, float> bf16_to_f32(const V& half) {
  return bitcast<float>(shl(convert<std::uint32_t>(half), 16));
}

template <class V>
TFL_INLINE with_elem<V, std::uint16_t> f32_to_f16(const V& x) {
#if TFL_HAS_AVX512
  if constexpr (std::is_same_v<V, Vec<float, 16>>) {
    Vec<std::uint16_t, 16> out;
    out.r = (typename Vec<std::uint16_t, 16>::Reg)_mm512_maskz_cvtps_ph((__mmask16)-1, (__m512)x.r, _MM_FROUND_TO_NEAREST_INT);
    return out;
  }
#endif
  using U = with_elem<V, std::uint32_t>;
  U u = bitcast<std::uint32_t>(x);
  U a = u & 0x7fffffffu;
  U sign = shr(u, 16) & 0x8000u;
  // Adding 0.5, whose last place is 2^-24 = the smallest f16, lets the float addition do the rounding.
  U tiny = bitcast<std::uint32_t>(bitcast<float>(a) + 0.5f) - 0x3f000000u;
  U normal = shr(a - (112u << 23) + 0xfffu + (shr(a, 13) & 1u), 13);
  U nan = (shr(a, 13) & 0x3ffu) | 0x7e00u;
  U bits = select(a < 0x38800000u, tiny, select(a >= 0x47800000u, U(0x7c00u), normal));
  bits = select(a > 0x7f800000u, nan, bits);
  return convert<std::uint16_t>(bits | sign);
}
template <class V>
TFL_INLINE with_elem<V, std::uint16_t> f32_to_bf16(const V& x) {
  using U = with_elem<V, std::uint32_t>;
  U u = bitcast<std::uint32_t>(x);
  U rounded = shr(u + 0x7fffu + (shr(u, 16) & 1u), 16);
  U nan = shr(u, 16) | 0x40u;
  return convert<std::uint16_t>(select((u & 0x7fffffffu) > 0x7f800000u, nan, rounded));
}

// f64 to f32, inexact results to the neighbour with an odd last bit: a later rounding to at most 22 bits is then correct.
template <class V>
TFL_INLINE with_elem<V, float> f64_to_f32_odd(const V& x) {
  using I = with_elem<V, std::int32_t>;
  with_elem<V, float> f = convert<float>(x);
  V back = convert<double>(f);
  I bits = bitcast<std::int32_t>(f);
  auto to_fix = convert_mask<float>((back != x) & (x == x)) & ((bits & 1) == 0);
  I step = select(convert_mask<float>(abs(back) > abs(x)), I(-1), I(1));
  return bitcast<float>(select(to_fix, bits + step, bits));
}
template <class V>
TFL_INLINE with_elem<V, std::uint16_t> f64_to_f16(const V& x) {
  return f32_to_f16(f64_to_f32_odd(x));
}
template <class V>
TFL_INLINE with_elem<V, std::uint16_t> f64_to_bf16(const V& x) {
  return f32_to_bf16(f64_to_f32_odd(x));
}

// Single values.
TFL_INLINE float to_f32(f16 x) { return f16_to_f32(Vec<std::uint16_t, 1>(x.bits)).get(); }
TFL_INLINE float to_f32(bf16 x) { return bf16_to_f32(Vec<std::uint16_t, 1>(x.bits)).get(); }
TFL_INLINE f16 to_f16(float x) { return {f32_to_f16(Vec<float, 1>(x)).get()}; }
TFL_INLINE f16 to_f16(double x) { return {f64_to_f16(Vec<double, 1>(x)).get()}; }
TFL_INLINE bf16 to_bf16(float x) { return {f32_to_bf16(Vec<float, 1>(x)).get()}; }
TFL_INLINE bf16 to_bf16(double x) { return {f64_to_bf16(Vec<double, 1>(x)).get()}; }

// How arrays of T are computed with: half types as f32, all others as themselves. bool arrays are u8 lanes of 0 and 1.
template <class T>
using compute_type = std::conditional_t<is_half<T>, float, std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>;

template <class T, int N>
TFL_INLINE Vec<compute_type<T>, N> load(const T* p) {
  if constexpr (std::is_same_v<T, f16>) {
    return f16_to_f32(Vec<std::uint16_t, N>::load(p));
  } else if constexpr (std::is_same_v<T, bf16>) {
    return bf16_to_f32(Vec<std::uint16_t, N>::load(p));
  } else {
    return Vec<compute_type<T>, N>::load(p);
  }
}
template <class T, int N>
TFL_INLINE Vec<compute_type<T>, N> load_partial(const T* p, int count) {
  if constexpr (std::is_same_v<T, f16>) {
    return f16_to_f32(Vec<std::uint16_t, N>::load_partial(p, count));
  } else if constexpr (std::is_same_v<T, bf16>) {
    return bf16_to_f32(Vec<std::uint16_t, N>::load_partial(p, count));
  } else {
    return Vec<compute_type<T>, N>::load_partial(p, count);
  }
}
template <class T, int N>
TFL_INLINE void store(T* p, const Vec<compute_type<T>, N>& v) {
  if constexpr (std::is_same_v<T, f16>) {
    f32_to_f16(v).store(p);
  } else if constexpr (std::is_same_v<T, bf16>) {
    f32_to_bf16(v).store(p);
  } else {
    v.store(p);
  }
}
template <class T, int N>
TFL_INLINE void store_partial(T* p, const Vec<compute_type<T>, N>& v, int count) {
  if constexpr (std::is_same_v<T, f16>) {
    f32_to_f16(v).store_partial(p, count);
  } else if constexpr (std::is_same_v<T, bf16>) {
    f32_to_bf16(v).store_partial(p, count);
  } else {
    v.store_partial(p, count);
  }
}

}  // namespace TFL_ISA
}  // namespace tfl
