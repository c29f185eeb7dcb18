// sin, cos, tan.
//
// Method: x = q pi/2 + r with |r| <= pi/4. Small and medium x: pi/2 in three parts (Cody and Waite) with exact fma steps. Large x:
// the bits of 2/pi that matter are multiplied in integers (Payne and Hanek, "Radian reduction for trigonometric functions", 1983).
// r comes as an unevaluated pair, so that the polynomials for sin r and cos r are the only errors. Infinities and NaN give NaN.
#pragma once

#include "runtime/math/basic.h"
#include "runtime/math/two_over_pi.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

template <class V>
TFL_INLINE Reduced<V> reduce_medium(V x) {
  using S = signed_of<elem_of<V>>;
  const V magic = by_type<V>(0x1.8p23f, 0x1.8p52);
  V t = fma(x, by_type<V>(0x1.45f306p-1f, 0x1.45f306dc9c883p-1), magic);
  V q = t - magic;
  V head = fma(q, by_type<V>(-0x1.921fb6p0f, -0x1.921fb54442d18p0), x);  // exact
  const V second = by_type<V>(0x1.777a5cp-25f, -0x1.1a62633145c07p-54);
  V p = q * second;
  V p_low = fma(q, second, neg(p));
  V r = head + p;
  // Exact: head is a multiple of 2^-(p-1), so that head - r always fits.
  V low = ((head - r) + p) + p_low;
  low = fma(q, by_type<V>(0x1.ee59dap-50f, 0x1.f1976b7ed8fbcp-110), low);
  return {r, low, bitcast<S>(t)};
}

template <class V>
TFL_INLINE Reduced<V> reduce(V x) {
  using Parts = std::tuple<V, V, int_of<V>>;
  Reduced<V> m = reduce_medium(x);
  auto large = ~(abs(x) <= by_type<V>(0x1p16f, 0x1p22));
  auto [r, low, quadrant] = rarely(
      large,
      [=] {
        Reduced<V> p = reduce_large(x);
        return Parts(p.r, p.low, p.quadrant);
      },
      Parts(m.r, m.low, m.quadrant));
  return {r, low, quadrant};
}

// sin(r + low) for |r| <= pi/4: the value before and the correction after the last rounding.
template <class V>
struct SinCos {
  V hi, lo;
};
template <class V>
TFL_INLINE SinCos<V> sin_kernel(V r, V low) {
  V z = r * r;
  V q;
  if constexpr (is_f32<V>) {
    q = horner(z, -0x1.555556p-3f, 0x1.111166p-7f, -0x1.a04a76p-13f, 0x1.786552p-19f);
  } else {
    q = horner(z, -0x1.555555555554ap-3, 0x1.111111110f9d4p-7, -0x1.a01a019c347c1p-13, 0x1.71de35910fec2p-19,
               -0x1.ae5e77478ac5ep-26, 0x1.5d9753b278b64p-33);
  }
  // sin(r + low) = sin r + low cos r, and cos r = 1 - r^2/2 is good enough there.
  return {r, fma(z * r, q, fma(fma(z, V(-0.5f), V(1)), low, V(0)))};
}
template <class V>
TFL_INLINE SinCos<V> cos_kernel(V r, V low) {
  V z = r * r;
  V q;
  if constexpr (is_f32<V>) {
    q = horner(z, 0x1.55554ap-5f, -0x1.6c0c2ep-10f, 0x1.99eac2p-16f);
  } else {
    q = horner(z, 0x1.555555555554cp-5, -0x1.6c16c16c1522cp-10, 0x1.a01a019cc1361p-16, -0x1.27e4f8142e5d8p-22,
               0x1.1ee9f254babccp-29, -0x1.8fb1b14e95248p-37);
  }
  V half = z * 0.5f;
  V hi = V(1) - half;
  // What 1 - z/2 lost, what z lost, and -low sin r.
  V z_low = fma(r, r, neg(z));
  V lost = ((V(1) - hi) - half) - fma(z_low, V(0.5f), r * low);
  return {hi, fma(z * z, q, lost)};
}

// The sine of `quadrant` quarter turns plus (r + low).
template <class V>
TFL_INLINE V sin_of(const Reduced<V>& a) {
  using S = signed_of<elem_of<V>>;
  SinCos<V> s = sin_kernel(a.r, a.low), c = cos_kernel(a.r, a.low);
  auto odd = (a.quadrant & 1) != 0;
  V y = select(odd, c.hi, s.hi) + select(odd, c.lo, s.lo);
  constexpr int kToSign = static_cast<int>(sizeof(S)) * 8 - 2;
  return bitcast<elem_of<V>>(bitcast<S>(y) ^ shl(a.quadrant & 2, kToSign));
}

template <class V>
TFL_INLINE V sin(V x) {
  Reduced<V> a = reduce(x);
  V y = sin_of(a);
  return select(x == 0, x, y);  // keeps -0
}
template <class V>
TFL_INLINE V cos(V x) {
  Reduced<V> a = reduce(x);
  a.quadrant = a.quadrant + 1;
  return sin_of(a);
}

template <class V>
TFL_OUTLINE V tan(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(tan(convert<double>(x)));
  } else {
    Reduced<V> a = reduce(x);
    SinCos<V> s = sin_kernel(a.r, a.low), c = cos_kernel(a.r, a.low);
    auto odd = (a.quadrant & 1) != 0;
    // (n + n_low) / (d + d_low), the quotient corrected by its remainder.
    V n = select(odd, c.hi, s.hi), n_low = select(odd, c.lo, s.lo);
    V d = select(odd, neg(s.hi), c.hi), d_low = select(odd, neg(s.lo), c.lo);
    V sum = n + n_low;
    n_low = (n - sum) + n_low;
    n = sum;
    sum = d + d_low;
    d_low = (d - sum) + d_low;
    d = sum;
    V q = n / d;
    V rest = fma(neg(q), d, n) + fma(neg(q), d_low, n_low);
    V y = q + rest / d;
    return select(x == 0, x, y);
  }
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
