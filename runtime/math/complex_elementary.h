// Elementary functions of complex numbers, with the special values of C99's annex G. All are computed in f64: c64 is widened, and
// each part rounded once. The inverse functions are Kahan's ("Branch cuts for complex elementary functions").
#pragma once

#include "runtime/math/complex.h"
#include "runtime/math/exp.h"
#include "runtime/math/hyperbolic.h"
#include "runtime/math/log.h"
#include "runtime/math/trig.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {
namespace in_double {

using math::acosh;
using math::asinh;
using math::cos;
using math::cosh;
using math::exp;
using math::expm1;
using math::log;
using math::log1p;
using math::sin;
using math::sinh;
using tfl::sqrt;

template <class V>
TFL_OUTLINE Complex<V> exp(Complex<V> z) {
  V e = exp(z.re), c = cos(z.im), s = sin(z.im);
  V re = e * c, im = e * s;
  // e alone may be too large, or too small, for what it is multiplied with.
  auto large = (z.re > V(700)) & is_finite(z.re), small = (z.re < V(-700)) & is_finite(z.re);
  V first = exp(select(large, z.re - V(700), select(small, z.re + V(700), V(0))));
  V second = exp(select(large, V(700), V(-700)));
  re = select(large | small, first * c * second, re);
  im = select(large | small, first * s * second, im);
  auto endless = ~is_finite(z.im);
  auto nothing = (z.re == V(0) - inf_of<V>()) & endless;
  auto all = (z.re == inf_of<V>()) & endless;
  re = select(nothing, V(0), select(all, inf_of<V>(), re));
  im = select(nothing, copysign(V(0), z.im), select(all, nan_of<V>(), im));
  auto on_axis = z.im == 0;
  return {select(on_axis, e, re), select(on_axis, z.im, im)};
}

// log sqrt(x^2 + y^2): near 1 by what the sum of the squares has beyond 1.
template <class V>
TFL_OUTLINE V log_magnitude(V x, V y) {
  V a = max(abs(x), abs(y)), b = min(abs(x), abs(y));
  V h = magnitude(x, y);
  auto near = (h > V(0.5)) & (h < V(2));
  V a2 = a * a, b2 = b * b;
  V rest = fma(a, a, neg(a2)) + fma(b, b, neg(b2));
  V d = a2 - V(1);
  V sum = d + b2;
  V left = sum - d;
  V lost = (d - (sum - left)) + (b2 - left);
  V close = V(0.5) * log1p(sum + (lost + rest));
  // The logarithm of what overflows, or of what is subnormal and has lost bits.
  auto large = a > V(0x1p1021), tiny = a < V(0x1p-960);
  V scaled = magnitude(x * select(large, V(0x1p-4), V(0x1p120)), y * select(large, V(0x1p-4), V(0x1p120)));
  V shifted = log(scaled) + select(large, V(4 * 0.69314718055994531), V(-120 * 0.69314718055994531));
  return select(near, close, select((large | tiny) & is_finite(a) & (a > V(0)), shifted, log(h)));
}
template <class V>
TFL_OUTLINE Complex<V> log(Complex<V> z) {
  return {log_magnitude(z.re, z.im), atan2(z.im, z.re)};
}
template <class V>
TFL_OUTLINE Complex<V> log1p(Complex<V> z) {
  V re = V(0.5) * log1p(fma(z.re, z.re + V(2), z.im * z.im));
  auto far = max(abs(z.re), abs(z.im)) > V(0.5);
  re = select(far | ~is_finite(z.re) | ~is_finite(z.im), log_magnitude(V(1) + z.re, z.im), re);
  return {re, atan2(z.im, V(1) + z.re)};
}
template <class V>
TFL_OUTLINE Complex<V> expm1(Complex<V> z) {
  V half = sin(z.im * V(0.5));
  V re = expm1(z.re) * cos(z.im) - V(2) * half * half;
  V im = exp(z.re) * sin(z.im);
  auto on_axis = z.im == 0;
  return {select(on_axis, expm1(z.re), re), select(on_axis, z.im, im)};
}

template <class V>
TFL_OUTLINE Complex<V> sqrt(Complex<V> z) {
  V x = abs(z.re), y = abs(z.im);
  V big = max(x, y);
  auto large = big > V(0x1p1020), tiny = big < V(0x1p-960);
  V scale = select(large, V(0x1p-4), select(tiny, V(0x1p108), V(1)));
  V back = select(large, V(4), select(tiny, V(0x1p-54), V(1)));
  V h = magnitude(x * scale, y * scale);
  V root = sqrt(V(0.5) * (x * scale + h));
  V other = select(root > V(0), (y * scale) / (root + root), V(0)) * back;
  root = root * back;
  auto left = sign_bit(z.re);
  V re = select(left, other, root), im = select(left, root, other);
  // Infinities, and NaN beside them.
  auto wide = is_inf(z.re) & ~is_inf(z.im);
  V rest = select(z.im != z.im, z.im, V(0));
  re = select(wide, select(left, rest, inf_of<V>()), re);
  im = select(wide, select(left, inf_of<V>(), rest), im);
  re = select((z.re != z.re) | ((z.im != z.im) & ~is_inf(z.re)), nan_of<V>(), re);
  im = select((z.re != z.re) | ((z.im != z.im) & ~is_inf(z.re)), nan_of<V>(), im);
  re = select(is_inf(z.im), inf_of<V>(), re);
  im = select(is_inf(z.im), inf_of<V>(), im);
  return {re, select(im != im, im, copysign(im, z.im))};
}

// e^|x| / 2 times c and s where cosh and sinh overflow.
template <class V>
TFL_INLINE Complex<V> beyond(V x, V c, V s) {
  V first = V(0.5) * exp(abs(x) - V(700)), second = exp(V(700));
  return {first * c * second, first * s * second};
}
template <class V>
TFL_OUTLINE Complex<V> sinh(Complex<V> z) {
  V c = cos(z.im), s = sin(z.im);
  V re = sinh(z.re) * c, im = cosh(z.re) * s;
  auto large = (abs(z.re) > V(700)) & is_finite(z.re);
  Complex<V> far = beyond(z.re, flipsign(c, z.re), s);
  re = select(large, far.re, re);
  im = select(large, far.im, im);
  auto endless = ~is_finite(z.im);
  re = select(endless & (z.re == 0), z.re, select(endless & is_inf(z.re), z.re, re));
  auto on_axis = z.im == 0;
  return {select(on_axis, sinh(z.re), re), select(on_axis, z.im, im)};
}
template <class V>
TFL_OUTLINE Complex<V> cosh(Complex<V> z) {
  V c = cos(z.im), s = sin(z.im);
  V re = cosh(z.re) * c, im = sinh(z.re) * s;
  auto large = (abs(z.re) > V(700)) & is_finite(z.re);
  Complex<V> far = beyond(z.re, c, flipsign(s, z.re));
  re = select(large, far.re, re);
  im = select(large, far.im, im);
  auto endless = ~is_finite(z.im);
  re = select(endless & is_inf(z.re), inf_of<V>(), re);
  im = select(endless & (z.re == 0), V(0), im);
  auto on_axis = z.im == 0;
  return {select(on_axis, cosh(z.re), re), select(on_axis, flipsign(z.im, z.re), im)};
}
template <class V>
TFL_OUTLINE Complex<V> tanh(Complex<V> z) {
  V x = abs(z.re), c = cos(z.im), s = sin(z.im);
  auto far = x > V(22);
  V sh = sinh(select(far, V(0), x)), ch = cosh(select(far, V(0), x));
  V below = sh * sh + c * c;
  V re = select(far, V(1), sh * ch / below);
  V im = select(far, V(4) * s * c * exp(V(-2) * x), s * c / below);
  auto endless = ~is_finite(z.im);
  im = select(is_inf(z.re), copysign(V(0), select(endless, z.im, s * c)), im);
  re = copysign(re, z.re);
  re = select(endless & (z.re == 0), z.re, select(endless & ~is_inf(z.re), nan_of<V>(), re));
  im = select(endless & ~is_inf(z.re), nan_of<V>(), im);
  auto unknown = z.re != z.re;
  re = select(unknown, nan_of<V>(), re);
  im = select(unknown, select(z.im == 0, z.im, nan_of<V>()), im);
  return {re, im};
}

template <class V>
TFL_INLINE mask_of<V> is_far(Complex<V> z) {
  return (abs(z.re) > V(0x1p1000)) | (abs(z.im) > V(0x1p1000));
}
// log |z| + log 2 where |z| may overflow.
template <class V>
TFL_INLINE V far_log(Complex<V> z) {
  return log_magnitude(z.re * V(0.25), z.im * V(0.25)) + V(3 * 0.69314718055994531);
}

template <class V>
TFL_OUTLINE Complex<V> asinh(Complex<V> z) {
  Complex<V> a = sqrt(Complex<V>{V(1) + z.im, neg(z.re)}), b = sqrt(Complex<V>{V(1) - z.im, z.re});
  V re = asinh(a.re * b.im - b.re * a.im);
  V im = atan2(z.im, a.re * b.re - a.im * b.im);
  auto far = is_far(z);
  re = select(far, copysign(far_log(z), z.re), re);
  im = select(far, atan2(z.im, abs(z.re)), im);
  // NaN beside an infinity or on the axis.
  auto unknown = (z.re != z.re) | (z.im != z.im);
  V u_re = select(is_inf(z.re), z.re, select(is_inf(z.im), inf_of<V>(), nan_of<V>()));
  V u_im = select((z.im == 0) & (z.re != z.re), z.im, nan_of<V>());
  return {select(unknown, u_re, re), select(unknown, u_im, im)};
}
template <class V>
TFL_OUTLINE Complex<V> acos(Complex<V> z) {
  Complex<V> a = sqrt(Complex<V>{V(1) - z.re, neg(z.im)}), b = sqrt(Complex<V>{V(1) + z.re, z.im});
  V re = V(2) * atan2(a.re, b.re);
  V im = asinh(b.re * a.im - b.im * a.re);
  auto far = is_far(z);
  re = select(far, atan2(abs(z.im), z.re), re);
  im = select(far, neg(copysign(far_log(z), z.im)), im);
  auto unknown = (z.re != z.re) | (z.im != z.im);
  V u_re = select((z.re == 0) & (z.im != z.im), V(1.5707963267948966), nan_of<V>());
  V u_im = select(is_inf(z.im), neg(z.im), select(is_inf(z.re), V(0) - inf_of<V>(), nan_of<V>()));
  return {select(unknown, u_re, re), select(unknown, u_im, im)};
}
template <class V>
TFL_OUTLINE Complex<V> acosh(Complex<V> z) {
  Complex<V> a = sqrt(Complex<V>{z.re - V(1), z.im}), b = sqrt(Complex<V>{z.re + V(1), z.im});
  V re = asinh(a.re * b.re + a.im * b.im);
  V im = V(2) * atan2(a.im, b.re);
  auto far = is_far(z);
  re = select(far, far_log(z), re);
  im = select(far, atan2(z.im, z.re), im);
  auto unknown = (z.re != z.re) | (z.im != z.im);
  V u_re = select(is_inf(z.re) | is_inf(z.im), inf_of<V>(), nan_of<V>());
  V u_im = select((z.re == 0) & (z.im != z.im), V(1.5707963267948966), nan_of<V>());
  return {select(unknown, u_re, re), select(unknown, u_im, im)};
}
template <class V>
TFL_OUTLINE Complex<V> atanh(Complex<V> z) {
  V x = abs(z.re), y = flipsign(z.im, z.re), ay = abs(y);
  V re = V(0.25) * log1p(V(4) * x / ((V(1) - x) * (V(1) - x) + ay * ay));
  V im = V(-0.5) * atan2(V(-2) * y, (V(1) - x) * (V(1) + x) - ay * ay);
  auto far = (x > V(0x1p500)) | (ay > V(0x1p500));
  V h = magnitude(x * V(0.5), y * V(0.5));
  re = select(far, x * V(0.25) / h / h, re);
  im = select(far, copysign(V(1.5707963267948966), y), im);
  auto corner = (x == V(1)) & (ay < V(0x1p-511));
  re = select(corner, select(ay == V(0), inf_of<V>(), neg(log(sqrt(ay) / sqrt(magnitude(ay, V(2)))))), re);
  im = select(corner, select(ay == V(0), y, copysign(atan2(V(2), neg(ay)) * V(0.5), y)), im);
  re = select(far & (is_inf(x) | is_inf(y)), V(0), re);
  auto unknown = (x != x) | (y != y);
  re = select(unknown, select(is_inf(x) | is_inf(y) | ((x == 0) & (y != y)), V(0), nan_of<V>()), re);
  im = select(unknown, select(is_inf(y), copysign(V(1.5707963267948966), y), nan_of<V>()), im);
  return {flipsign(re, z.re), flipsign(im, z.re)};
}

}  // namespace in_double

#define TFL_COMPLEX_FUNCTION(name)                                                                           \
  template <class V>                                                                                         \
  TFL_INLINE Complex<V> name(Complex<V> z) {                                                                 \
    if constexpr (is_f64<V>) {                                                                               \
      return in_double::name(z);                                                                             \
    } else {                                                                                                 \
      auto r = in_double::name(Complex<with_elem<V, double>>{convert<double>(z.re), convert<double>(z.im)}); \
      return {convert<float>(r.re), convert<float>(r.im)};                                                   \
    }                                                                                                        \
  }
TFL_COMPLEX_FUNCTION(exp)
TFL_COMPLEX_FUNCTION(log)
TFL_COMPLEX_FUNCTION(log1p)
TFL_COMPLEX_FUNCTION(expm1)
TFL_COMPLEX_FUNCTION(sqrt)
TFL_COMPLEX_FUNCTION(sinh)
TFL_COMPLEX_FUNCTION(cosh)
TFL_COMPLEX_FUNCTION(tanh)
TFL_COMPLEX_FUNCTION(asinh)
TFL_COMPLEX_FUNCTION(acos)
TFL_COMPLEX_FUNCTION(acosh)
TFL_COMPLEX_FUNCTION(atanh)
#undef TFL_COMPLEX_FUNCTION

// sin z = sinh(i z) / i, and so on.
template <class V>
TFL_INLINE Complex<V> sin(Complex<V> z) {
  return over_i(sinh(times_i(z)));
}
template <class V>
TFL_INLINE Complex<V> cos(Complex<V> z) {
  return cosh(times_i(z));
}
template <class V>
TFL_INLINE Complex<V> tan(Complex<V> z) {
  return over_i(tanh(times_i(z)));
}
template <class V>
TFL_INLINE Complex<V> asin(Complex<V> z) {
  return over_i(asinh(times_i(z)));
}
template <class V>
TFL_INLINE Complex<V> atan(Complex<V> z) {
  return over_i(atanh(times_i(z)));
}

template <class V>
TFL_INLINE Complex<V> rsqrt(Complex<V> z) {
  return Complex<V>(1) / sqrt(z);
}
template <class V>
TFL_INLINE Complex<V> sigmoid(Complex<V> z) {
  return Complex<V>(1) / (Complex<V>(1) + exp(neg(z)));
}
template <class V>
TFL_INLINE Complex<V> pow(Complex<V> x, Complex<V> y) {
  return exp(y * log(x));
}
template <class V>
TFL_INLINE Complex<V> xlogy(Complex<V> x, Complex<V> y) {
  return select(x == 0, Complex<V>(0), x * log(y));
}
template <class V>
TFL_INLINE Complex<V> xlog1py(Complex<V> x, Complex<V> y) {
  return select(x == 0, Complex<V>(0), x * log1p(y));
}
template <class V>
TFL_INLINE Complex<V> xdivy(Complex<V> x, Complex<V> y) {
  return select(x == 0, Complex<V>(0), x / y);
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
