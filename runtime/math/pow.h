// x to the power y.
//
// y = 0, 1, 2, 3, -1, 0.5 are defined as 1, x, x*x, x*x*x, 1/x, sqrt(x) (with +0 for -0 and +inf for -inf). Otherwise
// |x|^y = e^(y log |x|): f32 computes the logarithm in f64; f64 computes it as a double-double, since y log x multiplies its
// relative error by up to 745 (Dekker's arithmetic, "A floating-point technique for extending the available precision", 1971).
#pragma once

#include "runtime/math/log.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

namespace detail {
// log x for positive finite x, relative error about 2^-64.
template <class V>
TFL_INLINE LogSum<V> log_pair(V x) {
  LogParts<V> p = log_parts(x);
  V f = p.m - V(1);
  V d = V(2) + f;
  V d_low = (V(2) - d) + f;
  V s = f / d;
  V s_low = fma(neg(s), d_low, fma(neg(s), d, f)) / d;
  V z = s * s;
  V z_low = fma(s + s, s_low, fma(s, s, neg(z)));
  // log m = 2 s + s^3 (2/3 + u).
  V u = z * horner(z, 0x1.9999999999996p-2, 0x1.2492492492f3ep-2, 0x1.c71c71c599cf1p-3, 0x1.745d1827962dcp-3,
                   0x1.3b13654474f54p-3, 0x1.11205cdd69e7cp-3, 0x1.de404023e2681p-4, 0x1.eaaf62a9c8cdbp-4);
  const V two_thirds = 0x1.5555555555555p-1;
  V a = two_thirds + u;
  V a_low = ((two_thirds - a) + u) + fma(z_low, 0.4, V(0x1.5555555555555p-55));
  V cube = s * z;
  V cube_low = fma(s_low, z, fma(s, z_low, fma(s, z, neg(cube))));
  V b = cube * a;
  V b_low = fma(cube_low, a, fma(cube, a_low, fma(cube, a, neg(b))));
  V twice = s + s;
  V m = twice + b;
  V m_low = ((twice - m) + b) + fma(s_low, 2.0, b_low);
  V big = p.k * 0x1.62e42fefa38p-1;
  V sum = big + m;
  V lost = select(p.k == 0, V(0), (big - sum) + m);
  V low = lost + fma(p.k, 0x1.ef35793c7673p-45, m_low);
  V hi = sum + low;
  return {hi, (sum - hi) + low};
}

// |x|^y in f64.
template <class V>
TFL_OUTLINE V pow_magnitude(V a, V y) {
  LogSum<V> l = log_pair(a);
  V t = y * l.hi;
  V t_low = fma(y, l.lo, fma(y, l.hi, neg(t)));
  V clamped = exp_clamp(t);
  ExpParts<V> e = exp_parts(clamped, select(clamped == t, t_low, V(0)));
  return scale(V(1) + (e.r + e.tail), e.k);
}

template <class V>
TFL_INLINE V pow_general(V x, V y) {
  V a = abs(x);
  V magnitude;
  if constexpr (is_f32<V>) {
    using D = with_elem<V, double>;
    LogParts<V> p = log_parts(a);
    D l = convert<double>(p.k) + log2_low(convert<double>(p.m));
    magnitude = convert<float>(exp2_low(max(D(-200), min(D(200), l * convert<double>(y)))));
  } else {
    magnitude = pow_magnitude(a, y);
  }
  auto ordinary = (x > 0) & (x < inf_of<V>()) & is_finite(y);
  return rarely(
      ~ordinary,
      [=] {
        auto integral = floor(y) == y;
        V half = y * 0.5f;
        auto odd = integral & (floor(half) != half);
        auto grows = (a > 1) ^ (y < 0);
        V limit = select(a == 1, V(1), select(grows, inf_of<V>(), V(0)));
        V r = select((a == 0) | is_inf(a) | is_inf(y), limit, magnitude);
        r = select(sign_bit(x) & odd, neg(r), r);
        r = select((x < 0) & is_finite(x) & ~integral, nan_of<V>(), r);
        r = select((x != x) | (y != y), x + y, r);
        return select(x == 1, V(1), r);
      },
      magnitude);
}
}  // namespace detail

template <class V>
  requires is_real<V>
TFL_INLINE V pow(V x, V y) {
  V square = x * x;
  V exact = select(y == 2, square, select(y == 3, square * x, select(y == 0, V(1), x)));
  auto simple = (y == 2) | (y == 3) | (y == 1) | (y == 0);
  return rarely(
      ~simple,
      [=] {
        auto invert = y == V(-1);
        auto root = y == 0.5f;
        V other =
            rarely(invert | root, [=] { return select(invert, V(1) / x, select(is_inf(x), inf_of<V>(), sqrt(x) + V(0))); }, V(0));
        return rarely(~(invert | root), [=] { return detail::pow_general(x, y); }, other);
      },
      exact);
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
