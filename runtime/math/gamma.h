// lgamma, digamma, lbeta. All in f64; f32 is rounded once.
//
// Method: lgamma by (y - 1)(y - 2) P(y) on [1, 2], where both zeros are factors, by the recurrence up to 8, and by Stirling's
// series beyond; digamma by the recurrence up to 10 and its asymptotic series; reflection for negative arguments (NIST Digital
// Library of Mathematical Functions, 5.5, 5.11). Near the zeros on the negative axis only the absolute error is small.
#pragma once

#include "runtime/math/log.h"
#include "runtime/math/trig.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

namespace detail {
// For x > 0.
template <class V>
TFL_OUTLINE V lgamma_positive(V x) {
  // x - n in [1, 2) for 1 <= x < 8; below 1 the step goes up. Both factors are exact differences of x.
  V n = select(x < 1, V(-1), floor(min(x, V(8))) - V(1));
  V y1 = select(x < 1, x, (x - n) - V(1));
  V y2 = select(x < 1, x - V(1), (x - n) - V(2));
  V t = y1 - V(0.5);
  V p = horner(t, 0x1.eeb95b094c191p-2, -0x1.2aed059bd608ap-3, 0x1.01af62a292b91p-4, -0x1.007aa83cee19p-5, 0x1.133423524da82p-6,
               -0x1.34dbda149c4c7p-7, 0x1.64f06672dfa22p-8, -0x1.a503522e7b2ebp-9, 0x1.f814aa1b3d9d5p-10, -0x1.313e8b0eb5ba2p-10,
               0x1.750ca50cb7cfp-11, -0x1.cb44b054d713dp-12, 0x1.1c4faddc34a6ap-12, -0x1.62423bec30f05p-13, 0x1.befbea987ca19p-14,
               -0x1.1548718fe0074p-14, 0x1.3a900c3e2e111p-15, -0x1.ca20e7e57ddc8p-16, 0x1.e5e32bf016becp-16,
               -0x1.11ec887f7297fp-17, -0x1.c403251d55282p-17, -0x1.0968106585b63p-17, 0x1.2eda82c358c01p-16);
  V product = select(x < 1, x, V(1));
  V factor = x - V(1);
  for (int i = 0; i < 6; ++i) {
    product = select((factor >= 1) & (n > i), product * factor, product);
    factor = factor - V(1);
  }
  V l = log(select(x < 8, product, x));
  V small = fma(y1 * y2, p, select(x < 1, neg(l), l));
  // (x - 1/2)(log x - 1) + (log(2 pi) - 1)/2 + 1/(12 x) - ...
  V i = V(1) / x;
  V z = i * i;
  V series = horner(z, 0x1.5555555555555p-4, -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11, -0x1.3813813813813p-11,
                    0x1.b951e2b18ff24p-11, -0x1.f6ab0d9993c7cp-10, 0x1.a41a41a41a41bp-8, -0x1.e4286cb0f5397p-6);
  V large = fma(x - V(0.5), l - V(1), fma(i, series, V(0x1.acfe390c97d68p-2)));
  return select(x < 8, small, large);
}

// x - 2 rint(x / 2) in quarter turns: sin(pi x) and cos(pi x) for any x, exact reduction. f64.
template <class V>
struct SinCosPi {
  V sin, cos;
};
template <class V>
TFL_OUTLINE SinCosPi<V> sin_cos_pi(V x) {
  V q = rint(x * 2.0);
  V f = fma(q, V(-0.5), x);  // exact, |f| <= 1/4
  V r = f * 0x1.921fb54442d18p1;
  V low = fma(f, V(0x1.1a62633145c07p-53), fma(f, V(0x1.921fb54442d18p1), neg(r)));
  SinCos<V> s = sin_kernel(r, low), c = cos_kernel(r, low);
  V sn = s.hi + s.lo, cs = c.hi + c.lo;
  V half = q * 0.5, quarter = q * 0.25;
  auto odd = floor(half) != half;
  auto flip_sin = (quarter - floor(quarter)) >= 0.5;  // q mod 4 is 2 or 3
  V next = (q + V(1)) * 0.25;
  auto flip_cos = (next - floor(next)) >= 0.5;  // q mod 4 is 1 or 2
  V a = select(odd, cs, sn), b = select(odd, sn, cs);
  return {select(flip_sin, neg(a), a), select(flip_cos, neg(b), b)};
}
}  // namespace detail

// log |gamma(x)|; +inf at 0, -1, -2, ... and at both infinities.
template <class V>
TFL_OUTLINE V lgamma(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(lgamma(convert<double>(x)));
  } else {
    V a = abs(x);
    V positive = detail::lgamma_positive(max(a, V(0x1p-1022)));
    positive = select(a < 0x1p-60, neg(log(a)), positive);
    V y = rarely(
        x < 0,
        [=] {
          V s = abs(detail::sin_cos_pi(a).sin);
          V reflected = log(V(0x1.921fb54442d18p1) / (a * s)) - positive;
          reflected = select(a < 0x1p-60, positive, reflected);
          return select((x < 0) & (floor(x) == x), inf_of<V>(), select(x < 0, reflected, positive));
        },
        positive);
    return select(is_inf(x), inf_of<V>(), select(x != x, x, y));
  }
}

// The logarithmic derivative of gamma; NaN at 0, -1, -2, ...
template <class V>
TFL_OUTLINE V digamma(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(digamma(convert<double>(x)));
  } else {
    auto reflect = x <= 0;
    V y = select(reflect, V(1) - x, x);
    // 1/y + 1/(y + 1) + ... as one fraction, up to y + k >= 10.
    V top = 0.0, bottom = 1.0, z = y;
    for (int i = 0; i < 10; ++i) {
      auto step = z < 10;
      top = select(step, fma(top, z, bottom), top);
      bottom = select(step, bottom * z, bottom);
      z = select(step, z + V(1), z);
    }
    V i = V(1) / z;
    V w = i * i;
    // B_2k / (2 k) for k = 1 ..
    V series = w * horner(w, 0x1.5555555555555p-4, -0x1.1111111111111p-7, 0x1.0410410410410p-8, -0x1.1111111111111p-8,
                          0x1.f07c1f07c1f08p-8, -0x1.5995995995995p-6, 0x1.5555555555556p-4, -0x1.c5e5e5e5e5e5ep-2);
    V p = log(z) - fma(V(0.5), i, series) - top / bottom;
    V r = rarely(
        reflect,
        [=] {
          detail::SinCosPi<V> sc = detail::sin_cos_pi(x);
          V reflected = p - V(0x1.921fb54442d18p1) * (sc.cos / sc.sin);
          return select(reflect, select(floor(x) == x, nan_of<V>(), reflected), p);
        },
        p);
    r = select(x == neg(inf_of<V>()), nan_of<V>(), select(x == inf_of<V>(), x, r));
    return select(x != x, x, r);
  }
}

template <class V>
TFL_OUTLINE V lbeta(V a, V b) {
  if constexpr (is_f32<V>) {
    return convert<float>(lbeta(convert<double>(a), convert<double>(b)));
  } else {
    return lgamma(a) + lgamma(b) - lgamma(a + b);
  }
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
