// sinh, cosh, tanh and their inverses, and the logistic function.
//
// sigmoid, and tanh in f64, divide unevaluated pairs built from the pieces of e^x, in the element type itself, so that f32 needs no f64.
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

// In f32 a polynomial where |x| is small, and 1 - 2 / (e^2|x| + 1), of which the subtraction loses nothing where it is not: from 10 on the
// result is 1. Both are cheap enough to compute for all lanes.
template <class V>
TFL_INLINE V tanh_f32(V x) {
  V a = abs(x);
  V z = a * a;
  V p = horner(z, -0x1.555546p-2f, 0x1.110db4p-3f, -0x1.b9993p-5f, 0x1.618422p-6f, -0x1.097a0cp-7f, 0x1.3ed406p-9f,
               -0x1.a4e9bep-12f);
  V small = fma(a * z, p, a);
  // |x| = k ln(2) / 2 + r, with ln 2 in two parts as in exp_parts.
  const V magic = 0x1.8p23f;
  V b = min(V(10.0f), a);
  V t = fma(b, 0x1.715476p+1f, magic);
  V kf = t - magic;
  V r = fma(kf, -0x1.7f7d1cp-21f, fma(kf, -0x1.62e4p-2f, b));
  V q = horner(r, 0x1p1f, 0x1.55548ap0f, 0x1.5554e4p-1f, 0x1.123e3cp-2f, 0x1.6d515ap-4f);
  V rest = fma(r * r, q, r + r);  // e^2r - 1
  V s = pow2<V>(bitcast<std::int32_t>(t) - bitcast<std::int32_t>(magic));
  V d = fma(s, rest, s + V(1));
  V large = fma(V(-2), V(1) / d, V(1));
  V y = copysign(select(a < 0.95f, small, large), x);
  return select(x != x, x, y);
}

// With E = e^2|x| - 1 as a pair, tanh |x| = E / (E + 2).
template <class V>
TFL_INLINE V tanh(V x) {
  if constexpr (is_f32<V>) {
    return tanh_f32(x);
  } else {
    V a = min(V(40), abs(x) * 2.0f);
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
    y = select(abs(x) < 0x1p-28, abs(x), y);
    return select(x != x, x, copysign(min(y, V(1)), x));
  }
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
