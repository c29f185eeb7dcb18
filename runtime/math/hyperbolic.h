// sinh, cosh, tanh and their inverses, and the logistic function.
//
// tanh and sigmoid divide unevaluated pairs built from the pieces of e^x, in the element type itself, so that f32 needs no f64.
// The rarer functions take f32 through f64 and round once.
#pragma once

#include "runtime/math/log.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

// (n + n_low) / (d + d_low): the rounded quotient, corrected once by its remainder.
template <class V>
TFL_INLINE V divide_pairs(V n, V n_low, V d, V d_low) {
  V r = V(1) / d;
  V q = n * r;
  V rest = fma(neg(q), d_low, fma(neg(q), d, n) + n_low);
  return fma(rest, r, q);
}

// 1 / (1 + e^-x), as e^x / (1 + e^x) for negative x, so that nothing overflows or cancels.
template <class V>
TFL_INLINE V sigmoid(V x) {
  ExpParts<V> e = exp_parts(max(by_type<V>(-104.0f, -746.0), neg(abs(x))));
  V one_r = V(1) + e.r;
  V tail = (e.r - (one_r - V(1))) + e.tail;
  V hi = one_r + tail;
  V lo = (one_r - hi) + tail;
  // 2^k only matters beside 1 while it is not tiny.
  V s = pow2<V>(max(e.k, int_of<V>(is_f32<V> ? -100 : -1000)));
  V big = s * hi;
  V d = V(1) + big;
  V d_low = fma(s, lo, big - (d - V(1)));
  auto negative = x < 0;
  V n = select(negative, hi, V(1));
  V n_low = select(negative, lo, V(0));
  V q = divide_pairs(n, n_low, d, d_low);
  V y = scale(q, select(convert_mask<signed_of<elem_of<V>>>(negative), e.k, int_of<V>(0)));
  return select(x != x, x, y);
}

// With E = e^2|x| - 1 as a pair, tanh |x| = E / (E + 2).
template <class V>
TFL_INLINE V tanh(V x) {
  V a = min(by_type<V>(20.0f, 40.0), abs(x) * 2.0f);
  ExpParts<V> e = exp_parts(a);
  V s = pow2<V>(e.k);
  V m = s - V(1);
  V b = s * e.r;
  V sum = m + b;
  V tail = fma(s, e.tail, (m - sum) + b);
  V hi = sum + tail;
  V lo = (sum - hi) + tail;
  V d = hi + V(2);
  V d_low = ((max(hi, V(2)) - d) + min(hi, V(2))) + lo;
  V y = divide_pairs(hi, lo, d, d_low);
  y = select(abs(x) < by_type<V>(0x1p-13f, 0x1p-28), abs(x), y);
  return select(x != x, x, copysign(min(y, V(1)), x));
}

template <class V>
TFL_OUTLINE V cosh(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(cosh(convert<double>(x)));
  } else {
    ExpParts<V> e = exp_parts(min(V(711), abs(x)));
    V half = scale(V(1) + (e.r + e.tail), e.k - 1);  // e^|x| / 2
    V y = half + V(0.25) / half;
    return select(x != x, x, y);
  }
}

template <class V>
TFL_OUTLINE V sinh(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(sinh(convert<double>(x)));
  } else {
    V a = abs(x);
    ExpParts<V> e = exp_parts(min(V(711), a));
    V half = scale(V(1) + (e.r + e.tail), e.k - 1);
    V large = half - V(0.25) / half;
    V z = a * a;
    V p = horner(z, 0x1.5555555555555p-3, 0x1.1111111111181p-7, 0x1.a01a01a00cb98p-13, 0x1.71de3a61d3fb4p-19,
                 0x1.ae6449d185dc3p-26, 0x1.612b9d4e71636p-33, 0x1.aa2a4e8f6f098p-41, 0x1.530d602d7acbcp-48);
    V small = fma(a * z, p, a);
    V y = select(a < 1, small, large);
    return select(x != x, x, copysign(y, x));
  }
}

template <class V>
TFL_OUTLINE V asinh(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(asinh(convert<double>(x)));
  } else {
    V a = abs(x);
    V z = a * a;
    V small = log1p(a + z / (V(1) + sqrt(z + V(1))));
    V large = log(a) + V(0x1.62e42fefa39efp-1);
    V y = select(a < 0x1p-28, a, select(a > 0x1p28, large, small));
    return copysign(y, x);
  }
}

template <class V>
TFL_OUTLINE V acosh(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(acosh(convert<double>(x)));
  } else {
    V t = x - V(1);
    V small = log1p(t + sqrt(fma(t, t, t + t)));
    V large = log(x) + V(0x1.62e42fefa39efp-1);
    return select(x < 1, nan_of<V>(), select(x > 0x1p28, large, small));
  }
}

template <class V>
TFL_OUTLINE V atanh(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(atanh(convert<double>(x)));
  } else {
    V a = abs(x);
    V twice = a + a;
    V small = log1p(twice + twice * a / (V(1) - a));
    V large = log1p(twice / (V(1) - a));
    V y = V(0.5) * select(a < 0.5, small, large);
    y = select(a < 0x1p-28, a, y);
    return select(a > 1, nan_of<V>(), copysign(y, x));
  }
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
