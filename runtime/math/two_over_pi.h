// Payne and Hanek's reduction of large angles: x mod pi/2 through an integer product of x with the bits of 2/pi that matter.
// Used by trig.h only; every lane is computed, the caller selects those that need it.
#pragma once

#include "runtime/math/basic.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

template <class V>
struct Reduced {
  V r, low;            // the remainder, an unevaluated sum with |r + low| <= pi/4
  int_of<V> quadrant;  // modulo 4: the two lowest bits
};

// 64 zero bits, then the binary fraction of 2/pi.
inline constexpr std::array<std::uint32_t, 44> kTwoOverPi = {
    0x00000000, 0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
    0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b,
    0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea,
    0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d, 0xa9e39161, 0x5ee61b08};

namespace detail {
template <class U>
TFL_INLINE U two_over_pi_word(U index, unsigned offset) {
  return convert<std::uint64_t>(
      table(bitcast<std::int32_t>(convert<std::uint32_t>(index)) + static_cast<int>(offset), kTwoOverPi));
}
}  // namespace detail

// |x| = m 2^e with an integer m. Bits of 2/pi above weight 2^(1-e) contribute multiples of 4 quadrants and are left out.
template <class V>
TFL_OUTLINE Reduced<V> reduce_large(V x) {
  using T = elem_of<V>;
  using U = with_elem<V, std::uint64_t>;
  using D = with_elem<V, double>;
  const U low32 = 0xffffffffu;
  auto finite = is_finite(x);
  auto negative = sign_bit(x);
  if constexpr (is_f32<V>) {
    U bits = convert<std::uint64_t>(bitcast<std::uint32_t>(abs(x)));
    U m = (bits & 0x7fffffu) | 0x800000u;
    U start = shr(bits, 23) - (150u - 62u);
    start = select(start > 200u, U(0u), start);  // wraps for small x, whose result is not used
    U word = shr(start, 5), shift = start & 31u;
    U t0 = detail::two_over_pi_word(word, 0), t1 = detail::two_over_pi_word(word, 1);
    U t2 = detail::two_over_pi_word(word, 2), t3 = detail::two_over_pi_word(word, 3);
    U high = shl(shl(t0, 32) | t1, shift) | shr(t2, U(32u) - shift);
    U next = shr(shl(shl(t2, 32) | t3, shift), 32);
    U product = m * high + shr(m * next, 32);  // quadrants in fixed point, 62 bits of fraction
    U quadrant = shr(product + (std::uint64_t{1} << 61), 62);
    D r = convert<double>(bitcast<std::int64_t>(product - shl(quadrant, 62))) * (0x1.921fb54442d18p0 * 0x1p-62);
    V r_hi = convert<T>(r);
    V r_lo = convert<T>(r - convert<double>(r_hi));
    int_of<V> q = convert<std::int32_t>(bitcast<std::int64_t>(quadrant));
    return {select(finite, flipsign(r_hi, x), nan_of<V>()), flipsign(r_lo, x), select(negative, neg(q), q)};
  } else {
    U bits = bitcast<std::uint64_t>(abs(x));
    U m = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    U start = shr(bits, 52) - (1075u - 62u);
    start = select(start > 1040u, U(0u), start);
    U word = shr(start, 5), shift = start & 31u;
    U m_lo = m & low32, m_hi = shr(m, 32);
    U t[7], a[7];
    for (unsigned i = 0; i < 7; ++i) t[i] = detail::two_over_pi_word(word, i);
    for (unsigned i = 0; i < 6; ++i) a[i] = shr(shl(shl(t[i], 32) | t[i + 1], shift), 32);
    a[6] = U(0u);
    // The product's words of 32 bits, modulo 2^192, most significant first; the sixth is not needed.
    U s[5], carry = 0u;
    for (int i = 4; i >= 0; --i) {
      U sum = (m_lo * a[i] & low32) + (m_hi * a[i + 1] & low32) + shr(m_lo * a[i + 1], 32) + carry;
      if (i < 4) sum = sum + shr(m_hi * a[i + 2], 32);
      s[i] = sum & low32;
      carry = shr(sum, 32);
    }
    U high = shl(s[0], 32) | s[1], rest = shl(s[2], 32) | s[3];
    U quadrant = shr(high + (std::uint64_t{1} << 61), 62);
    high = high - shl(quadrant, 62);
    // Sign and magnitude; ones' complement is off by 2^-126 only.
    auto minus = bitcast<std::int64_t>(high) < 0;
    U flip = select(minus, U(~std::uint64_t{0}), U(0u));
    high = high ^ flip;
    rest = rest ^ flip;
    auto as_f64 = [](U u) { return convert<double>(bitcast<std::int64_t>(u)); };
    V d0 = as_f64(shr(high, 32)) * 0x1p-30, d1 = as_f64(high & low32) * 0x1p-62;
    V d2 = as_f64(shr(rest, 32)) * 0x1p-94 + as_f64(rest & low32) * 0x1p-126;
    V sum = d0 + d1;
    V low = ((d0 - sum) + d1) + d2;
    V f = sum + low;
    V f_low = (sum - f) + low;
    const V half_pi = 0x1.921fb54442d18p0;
    V r = f * half_pi;
    V r_low = fma(f, half_pi, neg(r)) + fma(f, 0x1.1a62633145c07p-54, f_low * half_pi);
    auto flip_sign = minus ^ negative;
    int_of<V> q = bitcast<std::int64_t>(quadrant);
    return {select(finite, select(flip_sign, neg(r), r), nan_of<V>()), select(flip_sign, neg(r_low), r_low),
            select(negative, neg(q), q)};
  }
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
