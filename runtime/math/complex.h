// Complex numbers as pairs of vectors: the value type of rows whose elements are complex, and arithmetic on it. Each part is an
// IEEE operation of its own, in the order written here; products and quotients that come out as NaN in both parts are looked at
// again, as C99's annex G says.
// This header must not know memory: a pair is made of elements and taken apart by loops.
#pragma once

#include "runtime/math/basic.h"
#include "runtime/math/complex_number.h"
#include "runtime/math/inverse_trig.h"

namespace tfl {
inline namespace TFL_ISA {

template <class V>
struct Complex {
  using elem = elem_of<V>;
  using mask = mask_of<V>;
  V re, im;
  Complex() = default;
  TFL_INLINE Complex(V real, V imag) : re(real), im(imag) {}
  template <class S>
    requires std::is_arithmetic_v<S>
  TFL_INLINE Complex(S scalar) : re(scalar), im(0) {}  // NOLINT: implicit, so that literals mix with pairs
};

namespace math {

template <class V>
TFL_INLINE Complex<V> complex(V re, V im) {
  return {re, im};
}
template <class V>
TFL_INLINE V real(Complex<V> z) {
  return z.re;
}
template <class V>
TFL_INLINE V imag(Complex<V> z) {
  return z.im;
}
template <class V>
TFL_INLINE Complex<V> conj(Complex<V> z) {
  return {z.re, neg(z.im)};
}
template <class V>
TFL_INLINE Complex<V> neg(Complex<V> z) {
  return {neg(z.re), neg(z.im)};
}
template <class V>
TFL_INLINE V angle(Complex<V> z) {
  return atan2(z.im, z.re);
}
template <class M, class V>
TFL_INLINE Complex<V> select(M m, Complex<V> a, Complex<V> b) {
  return {select(m, a.re, b.re), select(m, a.im, b.im)};
}

// i z and z / i.
template <class V>
TFL_INLINE Complex<V> times_i(Complex<V> z) {
  return {neg(z.im), z.re};
}
template <class V>
TFL_INLINE Complex<V> over_i(Complex<V> z) {
  return {z.im, neg(z.re)};
}

// sqrt(x^2 + y^2) without overflow; infinite if either is. f32 goes through f64, where the squares are exact; f64 is scaled and
// corrected once by what the square of the root misses.
template <class V>
TFL_INLINE V magnitude(V x, V y) {
  if constexpr (is_f32<V>) {
    auto a = convert<double>(x), b = convert<double>(y);
    V r = convert<float>(sqrt(a * a + b * b));
    return select(is_inf(x) | is_inf(y), inf_of<V>(), r);
  } else {
    V a = abs(x), b = abs(y);
    V big = max(a, b), small = min(a, b);
    auto large = big > V(0x1p500), tiny = big < V(0x1p-450);
    V scale = select(large, V(0x1p-600), select(tiny, V(0x1p600), V(1)));
    V back = select(large, V(0x1p600), select(tiny, V(0x1p-600), V(1)));
    big = big * scale;
    small = small * scale;
    V h = sqrt(fma(big, big, small * small));
    V h2 = h * h, b2 = big * big;
    V e = fma(neg(small), small, h2 - b2) + fma(h, h, neg(h2)) - fma(big, big, neg(b2));
    V r = select(h > V(0), h - e / (h + h), h) * back;
    r = select((a != a) | (b != b), nan_of<V>(), r);
    return select(is_inf(x) | is_inf(y), inf_of<V>(), r);
  }
}
template <class V>
TFL_INLINE V complex_abs(Complex<V> z) {
  return magnitude(z.re, z.im);
}

// 1 or 0 with the sign of x: what an infinity is worth beside finite numbers.
template <class V>
TFL_INLINE V unit_if_infinite(V x) {
  return copysign(select(is_inf(x), V(1), V(0)), x);
}
template <class V>
TFL_INLINE V zero_if_nan(V x) {
  return select(x != x, copysign(V(0), x), x);
}

template <class V>
TFL_INLINE Complex<V> plain_product(Complex<V> x, Complex<V> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

}  // namespace math

template <class V>
TFL_INLINE Complex<V> operator+(Complex<V> x, Complex<V> y) {
  return {x.re + y.re, x.im + y.im};
}
template <class V>
TFL_INLINE Complex<V> operator-(Complex<V> x, Complex<V> y) {
  return {x.re - y.re, x.im - y.im};
}
template <class V>
TFL_INLINE mask_of<V> operator==(Complex<V> x, Complex<V> y) {
  return (x.re == y.re) & (x.im == y.im);
}
template <class V>
TFL_INLINE mask_of<V> operator!=(Complex<V> x, Complex<V> y) {
  return (x.re != y.re) | (x.im != y.im);
}
template <class V, class S>
  requires std::is_arithmetic_v<S>
TFL_INLINE mask_of<V> operator==(Complex<V> x, S y) {
  return x == Complex<V>(y);
}

template <class V>
TFL_INLINE Complex<V> operator*(Complex<V> x, Complex<V> y) {
  using namespace math;  // NOLINT
  Complex<V> r = plain_product(x, y);
  auto lost = (r.re != r.re) & (r.im != r.im);
  auto recovered = [=] {
    auto left = is_inf(x.re) | is_inf(x.im), right = is_inf(y.re) | is_inf(y.im);
    auto inner = is_inf(x.re * y.re) | is_inf(x.im * y.im) | is_inf(x.re * y.im) | is_inf(x.im * y.re);
    auto part = [](auto own, auto other, auto both, V v) {
      V inf = select(own, unit_if_infinite(v), v);
      return select(other | (both & ~own), zero_if_nan(inf), inf);
    };
    auto neither = inner & ~(left | right);
    Complex<V> a{part(left, right, neither, x.re), part(left, right, neither, x.im)};
    Complex<V> b{part(right, left, neither, y.re), part(right, left, neither, y.im)};
    Complex<V> p = plain_product(a, b);
    auto again = left | right | inner;
    return std::tuple<V, V>(select(again, inf_of<V>() * p.re, r.re), select(again, inf_of<V>() * p.im, r.im));
  };
  std::tuple<V, V> parts = rarely(lost, recovered, std::tuple<V, V>(r.re, r.im));
  return {std::get<0>(parts), std::get<1>(parts)};
}

// Smith's: by the part of y that is larger.
template <class V>
TFL_INLINE Complex<V> operator/(Complex<V> x, Complex<V> y) {
  using namespace math;  // NOLINT
  auto turned = abs(y.re) < abs(y.im);
  V p = select(turned, y.im, y.re), q = select(turned, y.re, y.im);
  V ratio = q / p;
  V below = q * ratio + p;
  V re = (select(turned, x.re, x.im) * ratio + select(turned, x.im, x.re)) / below;
  V im = select(turned, x.im * ratio - x.re, x.im - x.re * ratio) / below;
  auto lost = (re != re) & (im != im);
  auto recovered = [=] {
    auto by_zero = (y.re == 0) & (y.im == 0) & ((x.re == x.re) | (x.im == x.im));
    auto infinite = (is_inf(x.re) | is_inf(x.im)) & is_finite(y.re) & is_finite(y.im);
    auto vanishes = (is_inf(y.re) | is_inf(y.im)) & is_finite(x.re) & is_finite(x.im);
    V inf = copysign(inf_of<V>(), y.re);
    auto products = [](Complex<V> a, Complex<V> b) { return plain_product(a, conj(b)); };
    Complex<V> up = products({unit_if_infinite(x.re), unit_if_infinite(x.im)}, y);
    Complex<V> down = products(x, {unit_if_infinite(y.re), unit_if_infinite(y.im)});
    auto part = [=](V own, V at_infinity, V at_zero, V plain) {
      V v = select(vanishes, V(0) * at_zero, plain);
      v = select(infinite, inf_of<V>() * at_infinity, v);
      return select(by_zero, inf * own, v);
    };
    return std::tuple<V, V>(part(x.re, up.re, down.re, re), part(x.im, up.im, down.im, im));
  };
  std::tuple<V, V> parts = rarely(lost, recovered, std::tuple<V, V>(re, im));
  return {std::get<0>(parts), std::get<1>(parts)};
}

namespace math {

// z / |z|, 0 for 0.
template <class V>
TFL_INLINE Complex<V> sign(Complex<V> z) {
  V r = complex_abs(z);
  return select(r == 0, Complex<V>(0), z / Complex<V>(r, V(0)));
}
template <class V>
TFL_INLINE Complex<V> squared_difference(Complex<V> x, Complex<V> y) {
  Complex<V> d = x - y;
  return d * conj(d);
}
template <class V>
TFL_INLINE Complex<V> divide_no_nan(Complex<V> x, Complex<V> y) {
  return select(y == 0, Complex<V>(0), x / y);
}
template <class V>
TFL_INLINE Complex<V> multiply_no_nan(Complex<V> x, Complex<V> y) {
  return select(y == 0, Complex<V>(0), x * y);
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
