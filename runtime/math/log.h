// The logarithm family: log, log1p, log2, log10, and a double-double logarithm for pow.
//
// Method: x = 2^k m with m in [sqrt(1/2), sqrt(2)), f = m - 1. In f32 log(1 + f) = f - f^2/2 + f^3 P(f); in f64 with
// s = f / (2 + f), log(1 + f) = 2 s + s^3 R(s^2), arranged as f - (f^2/2 - s (f^2/2 + s^2 R)) so that the leading term is exact
// (K. C. Ng's arrangement in FDLIBM). Polynomials fitted by tests/tools/fit.py.
#pragma once

#include "runtime/math/exp.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

// x = 2^k m for positive finite x that is not subnormal.
template <class V>
struct LogSplit {
  V m;
  int_of<V> k;
};
template <class V>
TFL_INLINE LogSplit<V> log_split(V x) {
  using T = elem_of<V>;
  using S = signed_of<T>;
  constexpr int p = std::numeric_limits<T>::digits - 1;
  // Subtracting the bits of sqrt(1/2) makes the exponent field count from there.
  int_of<V> offset = bitcast<S>(by_type<V>(0x1.6a09e6p-1f, 0x1.6a09e667f3bcdp-1));
  int_of<V> k = shr(bitcast<S>(x) - offset, p);
  return {bitcast<T>(bitcast<S>(x) - shl(k, p)), k};
}
template <class V>
TFL_INLINE V log_exponent(int_of<V> k) {
  using T = elem_of<V>;
  if constexpr (is_f32<V>) {
    return convert<T>(k);
  } else {
    // Small integers become floats without a 64-bit conversion.
    const V magic = 0x1.8p52;
    return bitcast<T>(k + bitcast<signed_of<T>>(magic)) - magic;
  }
}

// The same, subnormals included; k is returned as a float.
template <class V>
struct LogParts {
  V m, k;
};
template <class V>
TFL_INLINE LogParts<V> log_parts(V x) {
  using T = elem_of<V>;
  constexpr int p = std::numeric_limits<T>::digits - 1;
  auto small = x < std::numeric_limits<T>::min();
  LogSplit<V> s = log_split(V(select(small, x * by_type<V>(0x1p23f, 0x1p52), x)));
  return {s.m, log_exponent<V>(s.k - select(small, int_of<V>(p), int_of<V>(0)))};
}

// above < x < inf, where `above` is not negative. As integers: two comparisons of floats cost more where they are masks.
template <class V>
TFL_INLINE auto is_finite_above(V x, elem_of<V> above) {
  using S = signed_of<elem_of<V>>;
  int_of<V> bits = bitcast<S>(x);
  return (bits > bitcast<S>(V(above))) & (bits < bitcast<S>(inf_of<V>()));
}

// What log gives where log_parts does not apply: log 0 = -inf, log of a negative number is NaN, log inf = inf.
template <class V>
TFL_INLINE V log_special(V x, V result) {
  auto ordinary = is_finite_above(x, 0);
  return rarely(~ordinary, [=] { return select(x == 0, neg(inf_of<V>()), select(x < 0, nan_of<V>(), x)); }, result);
}

// log(2^k (1 + f + f_low)), |f_low| tiny against f; result and the part of it that rounding lost are to be added by the caller.
template <class V>
struct LogSum {
  V hi, lo;
};
template <class V>
TFL_INLINE LogSum<V> log_sum(V f, V f_low, V k) {
  const V ln2_hi = by_type<V>(0x1.62e4p-1f, 0x1.62e42fefa38p-1);
  const V ln2_lo = by_type<V>(0x1.7f7d1cp-20f, 0x1.ef35793c7673p-45);
  V big = k * ln2_hi;  // exact
  V hi = big + f;
  V lost = (big - hi) + f;  // exact where k != 0, since |k ln 2| > |f|; 0 where k == 0
  V lo;
  if constexpr (is_f32<V>) {
    V q = horner(f, 0x1.555552p-2f, -0x1.000238p-2f, 0x1.99a132p-3f, -0x1.546f34p-3f, 0x1.22c28cp-3f, -0x1.0d88e2p-3f,
                 0x1.05ee74p-3f, -0x1.3a035ep-4f);
    V z = f * f;
    lo = fma(fma(f, q, V(-0.5f)), z, fma(k, ln2_lo, lost + f_low));
  } else {
    V s = f / (V(2) + f);
    V z = s * s;
    V r = z * horner(z, 0x1.555555555558bp-1, 0x1.9999999981f96p-2, 0x1.2492494043e85p-2, 0x1.c71c5347acb5fp-3,
                     0x1.7466028fe0b9cp-3, 0x1.39a76652ef5b5p-3, 0x1.2ecfc5cd57f53p-3);
    V half = f * f * 0.5;
    lo = fma(s, half + r, fma(k, ln2_lo, lost + f_low)) - half;
  }
  return {hi, lo};
}

template <class V>
TFL_INLINE V log(V x) {
  using T = elem_of<V>;
  LogSplit<V> p = log_split(x);
  LogSum<V> s = log_sum(p.m - V(1), V(0), log_exponent<V>(p.k));
  constexpr T kSubnormal = std::numeric_limits<T>::min() - std::numeric_limits<T>::denorm_min();  // the largest
  return rarely(
      ~is_finite_above(x, kSubnormal),
      [=] {
        LogParts<V> all = log_parts(x);
        LogSum<V> sum = log_sum(all.m - V(1), V(0), all.k);
        return log_special(x, sum.hi + sum.lo);
      },
      s.hi + s.lo);
}

template <class V>
TFL_INLINE V log1p(V x) {
  using T = elem_of<V>;
  using S = signed_of<T>;
  constexpr int p = std::numeric_limits<T>::digits - 1;
  // 1 + x = 2^k m as in log_parts; f = m - 1 = x 2^-k + (2^-k - 1) and its rounding error.
  V u = V(1) + x;
  int_of<V> offset = bitcast<S>(by_type<V>(0x1.6a09e6p-1f, 0x1.6a09e667f3bcdp-1));
  int_of<V> k = shr(bitcast<S>(u) - offset, p);
  V down = pow2<V>(select(k > std::numeric_limits<T>::max_exponent - 2, int_of<V>(0), neg(k)));
  V a = x * down;
  V b = down - V(1);
  V f = a + b;
  V v = f - a;  // two-sum: a and b may have any order
  V low = (a - (f - v)) + (b - v);
  V kf;
  if constexpr (is_f32<V>) {
    kf = convert<T>(k);
  } else {
    const V magic = 0x1.8p52;
    kf = bitcast<T>(k + bitcast<S>(magic)) - magic;
  }
  // For the largest exponent 2^-k is subnormal: there 1 + x is x.
  auto huge = x > by_type<V>(0x1p100f, 0x1p1000);
  LogSum<V> s = log_sum(f, fma(neg(f), low, low), kf);
  V result = s.hi + s.lo;
  result = select(abs(x) < by_type<V>(0x1p-26f, 0x1p-55), x, result);
  auto ordinary = (x > V(-1)) & ~huge;
  return rarely(
      ~ordinary, [=] { return select(x == V(-1), neg(inf_of<V>()), select(x < V(-1), nan_of<V>(), select(huge, log(x), x))); },
      result);
}

// log2(m) for m in [sqrt(1/2), sqrt(2)) in f64, relative error 2^-39: for results that are rounded to f32.
template <class D>
TFL_INLINE D log2_low(D m) {
  D f = m - D(1);
  D q = horner(f, 0x1.55555551e6023p-2, -0x1.0000001daba17p-2, 0x1.99999ec42b573p-3, -0x1.55553c0a8a6a3p-3, 0x1.2490ed8eb7977p-3,
               -0x1.0003504030b25p-3, 0x1.c772d9df74ee2p-4, -0x1.995a6481fee1bp-4, 0x1.6eeae587216a7p-4, -0x1.52a1940c083a5p-4,
               0x1.64562e34ae6b9p-4, -0x1.611ab84e9e9c3p-4, 0x1.6fbc51f1e8991p-5);
  D z = f * f;
  return (f + fma(fma(f, q, D(-0.5)), z, D(0))) * 0x1.71547652b82fep+0;
}

template <class V>
TFL_INLINE V log2(V x) {
  LogParts<V> p = log_parts(x);
  V result;
  if constexpr (is_f32<V>) {
    result = convert<float>(convert<double>(p.k) + log2_low(convert<double>(p.m)));
  } else {
    LogSum<V> s = log_sum(p.m - V(1), V(0), V(0));  // hi = f is exact
    const V inv = 0x1.71547652b82fep+0;
    V hi = s.hi + s.lo;
    V lo = (s.hi - hi) + s.lo;
    V big = hi * inv;
    V rest = fma(hi, inv, neg(big)) + fma(hi, 0x1.777d0ffda0d24p-56, lo * inv);
    V sum = p.k + big;
    V lost = select(p.k == 0, V(0), (p.k - sum) + big);
    result = sum + (lost + rest);
  }
  return log_special(x, result);
}

template <class V>
TFL_INLINE V log10(V x) {
  LogParts<V> p = log_parts(x);
  V result;
  if constexpr (is_f32<V>) {
    result = convert<float>((convert<double>(p.k) + log2_low(convert<double>(p.m))) * 0x1.34413509f79ffp-2);
  } else {
    LogSum<V> s = log_sum(p.m - V(1), V(0), V(0));
    const V inv = 0x1.bcb7b1526e50ep-2;
    V hi = s.hi + s.lo;
    V lo = (s.hi - hi) + s.lo;
    V big = hi * inv;
    V rest = fma(hi, inv, neg(big)) + fma(hi, 0x1.95355baaafad3p-57, lo * inv);
    V head = p.k * 0x1.34413509f78p-2;  // exact
    V sum = head + big;
    V lost = select(p.k == 0, V(0), (head - sum) + big);
    result = sum + (lost + fma(p.k, 0x1.fef311f12b358p-46, rest));
  }
  return log_special(x, result);
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
