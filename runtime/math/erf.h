// The error function, its complement and its inverses.
//
// Method: near 0 an odd polynomial; beyond, f32 takes 1 - e^-Q(x) with Q = -log erfc fitted directly, f64 takes
// erfc x = e^(-x^2) erfcx(x) with (1 + 2 x) erfcx(x) fitted in t = (x - 4) / (x + 4) (M. Shepherd and J. Laframboise,
// "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x", 1981). The inverses start from a polynomial in -log(1 - v^2)
// (M. Giles, "Approximating the erfinv function", 2010) and take one step of Halley's method. Fits by tests/tools/fit.py.
#pragma once

#include "runtime/math/log.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

namespace detail {
// erf(x) / x - 1 as a polynomial in z = x^2, f64, |x| <= 0.9.
template <class V>
TFL_INLINE V erf_tail(V z) {
  return horner(z, 0x1.06eba8214db69p-3, -0x1.812746b037a08p-2, 0x1.ce2f21a044123p-4, -0x1.b82ce312eacfep-6, 0x1.565bcd1e09a0ap-8,
                -0x1.c02db70cb62e7p-11, 0x1.f9a389dcfe508p-14, -0x1.f4dabd93dace2p-17, 0x1.ba615ad882725p-20,
                -0x1.641b5f380075bp-23, 0x1.1b12c9688e1e7p-26, -0x1.0d3ae01d09c7bp-29, 0x1.ea090a0e4562ap-33);
}
// erfc(a) in f64 for 0.45 <= a.
template <class V>
TFL_OUTLINE V erfc_large(V x) {
  V a = min(V(28), x);
  V d = a + V(4);
  V t = (a - V(4)) / d;
  V p = horner(t, 0x1.3ba5916e9fd7fp0, -0x1.1df1ad154a28fp-3, 0x1.f7f5df66fc665p-7, 0x1.16ecefcfa5492p-4, -0x1.9ddb23c3e25e9p-4,
               0x1.7fee004e0f624p-4, -0x1.0fb06dfee2583p-4, 0x1.3079edf700ddbp-5, -0x1.096238665e014p-6, 0x1.49c67257e5382p-8,
               -0x1.8d4ab86496844p-11, -0x1.a1defc4a32d36p-13, 0x1.3be2b6c5f0d98p-13, -0x1.995f1cb3b4bb7p-16,
               -0x1.790f159991c3ep-17, 0x1.7f6e3be28f454p-18, 0x1.62992c7eb4cf2p-22, -0x1.bf480f1b84b0fp-21,
               0x1.139312c7e1ecfp-26, 0x1.011832195b63ap-23, 0x1.6ddd32b7172d6p-25, -0x1.688fe819381d4p-26,
               -0x1.27d4b8b98638ep-25, 0x1.d22b784ac2048p-29, 0x1.49f8133bda1cdp-27);
  V z = a * a;
  ExpParts<V> e = exp_parts(neg(z), neg(fma(a, a, neg(z))));
  V g = p / fma(a, V(2), V(1));
  return scale(fma(g, e.r + e.tail, g), e.k);
}
}  // namespace detail

template <class V>
TFL_INLINE V erf(V x) {
  V a = abs(x);
  V z = x * x;
  if constexpr (is_f32<V>) {
    V p = horner(z, 0x1.06eba8p-3f, -0x1.81274p-2f, 0x1.ce2d54p-4f, -0x1.b7fefap-6f, 0x1.5431eap-8f, -0x1.a52958p-11f,
                 0x1.4c8a2cp-14f);
    V small = fma(x, p, x);
    V t = min(V(4.0f), a);
    V h = horner(t, 0x1.20f0f2p0f, 0x1.45239p-1f, 0x1.b3ecc2p-4f, -0x1.8803d8p-6f, 0x1.e7b048p-9f, -0x1.66cf0cp-12f,
                 0x1.ba4572p-17f);
    // e^-Q with Q = t h, as exp does it: e^-Q is below 1/5, so that its last bits do not count. The reduced argument does
    // not see how t h is rounded.
    const V magic = 0x1.8p23f;
    V n = fma(t * h, -0x1.715476p+0f, magic);
    V k = n - magic;
    V r = fma(k, -0x1.7f7d1cp-20f, fma(neg(t), h, k * -0x1.62e4p-1f));
    V large = V(1) - exp_scaled(r, n);
    return select(a >= 0.95f, copysign(large, x), small);  // NaN, too, is a sum of x
  } else {
    V small = fma(x, detail::erf_tail(z), x);
    V large = V(1) - detail::erfc_large(max(a, V(0.5)));
    return select(a < 0.9, small, select(x != x, x, copysign(large, x)));
  }
}

template <class V>
TFL_OUTLINE V erfc(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(erfc(convert<double>(x)));
  } else {
    V a = abs(x);
    V p = detail::erf_tail(x * x);
    // 1 - x - x p; for x >= 1/4 as 1/2 - ((x - 1/2) + x p) to keep the last bits.
    V small = select(x < 0.25, V(1) - fma(x, p, x), V(0.5) - fma(x, p, x - V(0.5)));
    V large = detail::erfc_large(max(a, V(0.45)));
    V y = select((x > -0.9) & (x < 0.47), small, select(x < 0, V(2) - large, large));
    return select(x != x, x, y);
  }
}

namespace detail {
// The x >= 0 with erf x = v and erfc x = q, where 0 <= v = 1 - q; both are given so that neither loses digits. f64.
template <class V>
TFL_INLINE V erf_inverse(V v, V q) {
  V w = neg(log(max(q * (V(1) + v), V(0x1p-1022))));
  w = min(w, V(740));
  V s = sqrt(w);
  V c = w - V(2.5);
  V central = v * horner(c, 0x1.805c5ce78329fp0, 0x1.f91e8b2180d58p-3, -0x1.11c32b58f0eadp-8, -0x1.48663c9b04098p-10,
                         0x1.c99fd11cdd98ep-13, -0x1.4d10b79087175p-18, -0x1.c8e38944f419ap-19, 0x1.f4a777260a187p-22,
                         0x1.b12c7bc6ac2eep-27, -0x1.2e978dc1d626cp-27, 0x1.7330d98df2057p-31);
  V t = s - V(4);
  V tail = horner(t, 0x1.eb7e06cdd60a6p1, 0x1.026e41502939ep0, 0x1.48ded7728eb25p-10, -0x1.bfab42dd757dp-11,
                  0x1.32ea60e054443p-12, -0x1.60ac8b776410ep-14, 0x1.8fd515b6ae408p-16, -0x1.6484b72583a5fp-18,
                  -0x1.6b0403fb28cfp-22, 0x1.4aa9af1c4681bp-21, -0x1.ddd51a9ae8d9dp-24);
  V u = s - V(16);
  V far = horner(u, 0x1.fd583468afbd5p3, 0x1.00d46500fea06p0, -0x1.2a03d105fdc9ap-13, 0x1.af93eb3c1fa9bp-18,
                 -0x1.26e0dfdf232bbp-22, 0x1.153516d15f764p-27, -0x1.06c8ea9ed6392p-31, 0x1.6000c7419138fp-34,
                 -0x1.204b11841e7b1p-40, -0x1.4af77f9491d6cp-41, 0x1.03ea7559eb9c8p-45);
  V x = select(w < 6, central, select(s < 6.2, tail, far));
  V error = select(v < 0.5, v - erf(x), erfc(x) - q);  // v - erf x either way
  V density = V(0x1.20dd750429b6dp0) * exp(neg(x * x));
  V step = select(density > 0, error / density, V(0));
  return x + step / fma(x, neg(step), V(1));
}
}  // namespace detail

template <class V>
TFL_OUTLINE V erfinv(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(erfinv(convert<double>(x)));
  } else {
    V a = abs(x);
    V y = detail::erf_inverse(a, V(1) - a);
    y = select(a == 1, inf_of<V>(), select(a > 1, nan_of<V>(), select(x != x, x, y)));
    return copysign(select(a < 0x1p-500, a * 0x1.c5bf891b4ef6bp-1, y), x);
  }
}

// The inverse of the normal distribution function.
template <class V>
TFL_OUTLINE V ndtri(V p) {
  if constexpr (is_f32<V>) {
    return convert<float>(ndtri(convert<double>(p)));
  } else {
    auto upper = p > 0.5;
    V q = V(2) * select(upper, V(1) - p, p);
    V y = V(0x1.6a09e667f3bcdp0) * detail::erf_inverse(V(1) - q, q);
    y = select(q == 0, inf_of<V>(), y);
    y = select(upper, y, select(q == 1, V(0), neg(y)));
    return select((p < 0) | (p > 1), nan_of<V>(), select(p != p, p, y));
  }
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
