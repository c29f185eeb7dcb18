// asin, acos, atan, atan2. f32 goes through f64 and is rounded once.
//
// Method: asin by an odd polynomial on [0, 1/2] and asin x = pi/2 - 2 asin sqrt((1 - x)/2) beyond; atan by subtracting the
// arctangent of 1/2, 1, 3/2 or infinity and an odd polynomial on [0, 7/16] (the intervals of FDLIBM's s_atan.c; the
// polynomials are tests/tools/fit.py's).
#pragma once

#include "runtime/math/basic.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

namespace detail {
// asin(x) = x + x * asin_tail(x^2) for |x| <= 1/2.
template <class V>
TFL_INLINE V asin_tail(V z) {
  return z * horner(z, 0x1.555555555556ep-3, 0x1.333333332f2cp-4, 0x1.6db6db714e2a6p-5, 0x1.f1c71adabd732p-6,
                    0x1.6e8bd7885d928p-6, 0x1.1c4a6f20db6e9p-6, 0x1.ca1419313f04cp-7, 0x1.75e03cae2686bp-7, 0x1.5f4f449026cd8p-7,
                    0x1.0122d74f6e2fcp-8, 0x1.5b38600b3038dp-6, -0x1.4c6638ad7798ep-6, 0x1.07bbb22ec8f3fp-5);
}
// asin sqrt((1 - a) / 2) for 1/2 <= a <= 1, as a pair.
template <class V>
struct HalfAngle {
  V hi, lo;
};
template <class V>
TFL_INLINE HalfAngle<V> half_angle(V a) {
  V z = (V(1) - a) * 0.5;
  V s = sqrt(z);
  V correction = select(z == 0, V(0), fma(neg(s), s, z) / (s + s));
  return {s, fma(s, asin_tail(z), correction)};
}
}  // namespace detail

template <class V>
TFL_OUTLINE V asin(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(asin(convert<double>(x)));
  } else {
    V a = abs(x);
    V small = fma(a, detail::asin_tail(a * a), a);
    detail::HalfAngle<V> h = detail::half_angle(a);
    const V half_pi = 0x1.921fb54442d18p0;
    V head = half_pi - (h.hi + h.hi);
    V lost = (half_pi - head) - (h.hi + h.hi);
    V large = head + (lost + (V(0x1.1a62633145c07p-54) - (h.lo + h.lo)));
    V y = select(a <= 0.5, small, large);
    return select(a > 1, nan_of<V>(), copysign(y, x));
  }
}

template <class V>
TFL_OUTLINE V acos(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(acos(convert<double>(x)));
  } else {
    V a = abs(x);
    const V half_pi = 0x1.921fb54442d18p0, half_pi_low = 0x1.1a62633145c07p-54;
    V head = half_pi - x;
    V lost = (half_pi - head) - x;
    V small = head + (lost + fma(neg(x), detail::asin_tail(a * a), half_pi_low));
    detail::HalfAngle<V> h = detail::half_angle(a);
    V positive = V(2) * (h.hi + h.lo);
    head = half_pi - h.hi;
    lost = (half_pi - head) - h.hi;
    V negative = V(2) * (head + (lost + (half_pi_low - h.lo)));
    V y = select(a <= 0.5, small, select(x < 0, negative, positive));
    return select(a > 1, nan_of<V>(), y);
  }
}

namespace detail {
// The arctangent of (n + n_low) / d for n, d >= 0, as a pair. Zero over zero and infinity over infinity are the caller's.
template <class V>
TFL_INLINE HalfAngle<V> atan_ratio(V n, V d) {
  // tan a = n/d; tan(a - b) = (n - d tan b) / (d + n tan b).
  auto b1 = n * 16 < d * 7, b2 = n * 16 < d * 11, b3 = n * 16 < d * 19, b4 = n * 16 < d * 39;
  V top = select(b1, n, select(b2, n + n - d, select(b3, n - d, select(b4, fma(d, V(-1.5), n), neg(d)))));
  V bottom = select(b1, d, select(b2, fma(d, V(2), n), select(b3, d + n, select(b4, fma(n, V(1.5), d), n))));
  V t = top / bottom;
  V base = select(b1, V(0),
                  select(b2, V(0x1.dac670561bb4fp-2),
                         select(b3, V(0x1.921fb54442d18p-1), select(b4, V(0x1.f730bd281f69bp-1), V(0x1.921fb54442d18p0)))));
  V base_low =
      select(b1, V(0),
             select(b2, V(0x1.a2b7f222f65e2p-56),
                    select(b3, V(0x1.1a62633145c07p-55), select(b4, V(0x1.007887af0cbbdp-56), V(0x1.1a62633145c07p-54)))));
  V rest = fma(neg(t), bottom, top);
  V correction = select(is_finite(rest), rest / bottom, V(0));
  V z = t * t;
  V tail = t * (z * horner(z, -0x1.5555555555552p-2, 0x1.999999999902ep-3, -0x1.2492492447d5ap-3, 0x1.c71c71a231cd1p-4,
                           -0x1.745d11e7062dp-4, 0x1.3b1331995839p-4, -0x1.110921edcccf1p-4, 0x1.e1345e04991b7p-5,
                           -0x1.aa04d48be7068p-5, 0x1.6b3e5da5bc01bp-5, -0x1.05a41c7731cd9p-5, 0x1.c14ef99a82a2bp-7));
  tail = tail + fma(neg(z), correction, correction);
  V head = base + t;
  V lost = select(b1, V(0), (base - head) + t);
  V low = lost + (tail + base_low);
  return {head, low};
}
}  // namespace detail

template <class V>
TFL_OUTLINE V atan(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(atan(convert<double>(x)));
  } else {
    detail::HalfAngle<V> a = detail::atan_ratio(min(abs(x), V(0x1p60)), V(1));
    V y = copysign(a.hi + a.lo, x);
    return select(x != x, x, y);
  }
}

// The angle of the point (x, y) in (-pi, pi].
template <class V>
TFL_OUTLINE V atan2(V y, V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(atan2(convert<double>(y), convert<double>(x)));
  } else {
    V n = abs(y), d = abs(x);
    // Scaled away from overflow and underflow; a ratio beyond 2^200 is as good as infinite or zero.
    V large = max(n, d);
    V factor = select(large > 0x1p500, V(0x1p-520), select(large < 0x1p-500, V(0x1p+520), V(1)));
    V ns = n * factor, ds = d * factor;
    auto both_inf = is_inf(y) & is_inf(x);
    ns = select(both_inf, V(1), select(is_inf(y), V(0x1p400), ns));
    ds = select(both_inf, V(1), select(is_inf(x), V(0x1p400), ds));
    ns = select(is_inf(x) & ~both_inf, V(0), ns);
    ds = select(is_inf(y) & ~both_inf, V(0), ds);
    ds = select((n == 0) & (d == 0), V(1), ds);
    detail::HalfAngle<V> a = detail::atan_ratio(ns, ds);
    auto left = sign_bit(x);
    const V pi = 0x1.921fb54442d18p1, pi_low = 0x1.1a62633145c07p-53;
    V right_half = a.hi + a.lo;
    // A tiny ratio is itself the angle; its quotient may be subnormal and must be rounded once.
    right_half = select((n < d * 0x1p-60) & is_finite(x), n / d, right_half);
    V head = pi - a.hi;
    V left_half = head + (((pi - head) - a.hi) + (pi_low - a.lo));
    V r = copysign(select(left, left_half, right_half), y);
    return select((x != x) | (y != y), x + y, r);
  }
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
