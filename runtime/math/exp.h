// The exponential family: exp, exp2, expm1, and the unevaluated pieces that sigmoid, tanh, sinh, pow and erfc build on.
//
// Method: x = k ln 2 + r with |r| <= ln(2) / 2, the ln 2 in two parts (Cody and Waite, "Software Manual for the Elementary
// Functions", 1980), a polynomial for e^r fitted by tests/tools/fit.py, and a scaling by 2^k in two exact halves, so that
// subnormal results are rounded once.
#pragma once

#include "runtime/math/basic.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

// 2^k for k in the range of normal exponents.
template <class V>
TFL_INLINE V pow2(int_of<V> k) {
  using T = elem_of<V>;
  if constexpr (is_f32<V>) {
    return bitcast<T>(shl(k + 127, 23));
  } else {
    return bitcast<T>(shl(k + 1023, 52));
  }
}
// y 2^k for |k| up to about twice the largest exponent.
template <class V>
TFL_INLINE V scale(V y, int_of<V> k) {
  int_of<V> half = shr(k, 1);
  return y * pow2<V>(half) * pow2<V>(k - half);
}

// e^x = (1 + r + tail) 2^k, where r is rounded and tail holds what that rounding lost, and the rest of the series.
template <class V>
struct ExpParts {
  V r, tail;
  int_of<V> k;
};

// For |x| below 2^7 ln 2 (f32), 2^10 ln 2 (f64); x_low is added to x.
template <class V>
TFL_INLINE ExpParts<V> exp_parts(V x, V x_low) {
  using T = elem_of<V>;
  using S = signed_of<T>;
  // Adding 1.5 2^(p-1) leaves the nearest integer in the low bits.
  const V magic = by_type<V>(0x1.8p23f, 0x1.8p52);
  V t = fma(x, by_type<V>(0x1.715476p+0f, 0x1.71547652b82fep+0), magic);
  int_of<V> k = bitcast<S>(t) - bitcast<S>(magic);
  V kf = t - magic;
  // The first part of ln 2 has so few bits that k times it is exact, and x minus that too.
  V head = fma(kf, by_type<V>(-0x1.62e4p-1f, -0x1.62e42fefa38p-1), x);
  V rest = fma(kf, by_type<V>(-0x1.7f7d1cp-20f, -0x1.ef35793c7673p-45), x_low);
  V r = head + rest;
  V c = (head - r) + rest;
  V tail;
  if constexpr (is_f32<V>) {
    V q = horner(r, 0x1p-1f, 0x1.555556p-3f, 0x1.5554fp-5f, 0x1.110fe2p-7f, 0x1.6d437ap-10f, 0x1.a28f34p-13f);
    tail = fma(r * r, q, c);
  } else {
    V q = horner(r, 0x1p-1, 0x1.5555555555559p-3, 0x1.5555555555557p-5, 0x1.111111110f64ap-7, 0x1.6c16c16c15779p-10,
                 0x1.a01a01b00a43cp-13, 0x1.a01a01ab165fp-16, 0x1.71ddf7fa5404p-19, 0x1.27e4d13bd8832p-22, 0x1.af5f55fc1e14dp-26,
                 0x1.1f83f2c68ede2p-29);
    tail = fma(r * r, q, c);
  }
  return {r, tail, k};
}
template <class V>
TFL_INLINE ExpParts<V> exp_parts(V x) {
  return exp_parts(x, V(0));
}

// Clamped so that k stays in the range of scale(); NaN passes.
template <class V>
TFL_INLINE V exp_clamp(V x) {
  return max(by_type<V>(-104.0f, -746.0), min(by_type<V>(89.0f, 710.0), x));
}

// e^r 2^k in f32 for |r| <= ln(2) / 2, where t = 1.5 2^23 + k and the result is a normal number.
template <class V>
TFL_INLINE V exp_scaled(V r, V t) {
  V p = horner(r, 1.0f, 1.0f, 0x1p-1f, 0x1.55548ap-3f, 0x1.5554e4p-5f, 0x1.123e3cp-7f, 0x1.6d515ap-10f);
  // The bits of t shifted to the exponent are k alone: the magic number has zeros there.
  return bitcast<float>(bitcast<std::int32_t>(p) + shl(bitcast<std::int32_t>(t), 23));
}

template <class V>
TFL_INLINE V exp(V x) {
  if constexpr (is_f32<V>) {
    const V magic = 0x1.8p23f;
    V t = fma(x, 0x1.715476p+0f, magic);
    V kf = t - magic;
    V r = fma(kf, -0x1.62e4p-1f, x);
    r = fma(kf, -0x1.7f7d1cp-20f, r);
    return rarely(
        ~(abs(x) < 87.0f),
        [=] {
          ExpParts<V> e = exp_parts(exp_clamp(x));
          return scale(V(1) + (e.r + e.tail), e.k);
        },
        exp_scaled(r, t));
  } else {
    ExpParts<V> e = exp_parts(exp_clamp(x));
    return scale(V(1) + (e.r + e.tail), e.k);
  }
}

template <class V>
TFL_INLINE V expm1(V x) {
  V y = max(by_type<V>(-20.0f, -45.0), min(by_type<V>(89.0f, 710.0), x));
  ExpParts<V> e = exp_parts(y);
  // (2^k - 1) + 2^k r + 2^k tail, all halved so that k = 128 (1024) is in range; the sums are exact with their errors.
  V s = pow2<V>(e.k - 1);
  V a = s - 0.5f;
  V b = s * e.r;
  V sum = a + b;
  V error = ((a - sum) + b) + ((s - a) - 0.5f);
  V result = V(2) * (sum + fma(s, e.tail, error));
  return select(abs(x) < by_type<V>(0x1p-26f, 0x1p-55), x, result);
}

// The nearest integer, as a float and as an integer, for |x| below 2^(p-2). NaN gives some integer.
template <class V>
struct Nearest {
  V value;
  int_of<V> integer;
};
template <class V>
TFL_INLINE Nearest<V> nearest(V x) {
  using S = signed_of<elem_of<V>>;
  const V magic = by_type<V>(0x1.8p23f, 0x1.8p52);
  V t = x + magic;
  return {t - magic, bitcast<S>(t) - bitcast<S>(magic)};
}

// 2^y in f64 with an error of 2^-39, enough for a result that is rounded to f32; |y| <= 1000 or NaN.
template <class D>
TFL_INLINE D exp2_low(D y) {
  Nearest<D> k = nearest(y);
  D r = (y - k.value) * 0x1.62e42fefa39efp-1;
  D p = horner(r, 1.0, 1.0, 0x1.ffffffffeab85p-2, 0x1.5555557ec3fa5p-3, 0x1.5555558ae0b26p-5, 0x1.1110a0e097db9p-7,
               0x1.6c16220178065p-10, 0x1.a18791844d6fbp-13, 0x1.a18c20fb26dc3p-16);
  return p * pow2<D>(k.integer);
}

template <class V>
TFL_INLINE V exp2(V x) {
  if constexpr (is_f32<V>) {
    using D = with_elem<V, double>;
    return convert<float>(exp2_low(max(D(-160), min(D(160), convert<double>(x)))));
  } else {
    V y = max(V(-1100), min(V(1100), x));
    Nearest<V> k = nearest(y);
    V f = y - k.value;
    const V ln2 = 0x1.62e42fefa39efp-1;
    V hi = f * ln2;
    V lo = fma(f, 0x1.abc9e3b39803fp-56, fma(f, ln2, neg(hi)));
    ExpParts<V> e = exp_parts(hi, lo);
    return scale(V(1) + (e.r + e.tail), e.k + k.integer);
  }
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
