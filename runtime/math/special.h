// Functions of several parameters around the gamma function: igamma, igammac, betainc, zeta, polygamma. In f64; f32 is rounded
// once. Their series and continued fractions run until each lane has converged, so a lane's result does not depend on its
// neighbours.
//
// Methods: the power series and the continued fraction of the incomplete gamma function (DLMF 8.7, 8.9); Lentz's algorithm for
// the incomplete beta function (DLMF 8.17); Euler and Maclaurin's summation for the Hurwitz zeta function (DLMF 2.10, 25.11).
#pragma once

#include "runtime/math/gamma.h"
#include "runtime/math/pow.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

namespace detail {
inline constexpr int kMostTerms = 10000;
inline constexpr double kEpsilon = 0x1p-53;

// a - b and what rounding lost (Knuth's two-sum).
template <class V>
TFL_INLINE LogSum<V> two_difference(V a, V b) {
  V d = a - b;
  V v = d - a;
  return {d, (a - (d - v)) - (b + v)};
}
// x^a e^-x / gamma(a). The exponent is a difference of large terms, so all but lgamma(a) is kept in pairs.
template <class V>
TFL_OUTLINE V gamma_density(V a, V x) {
  LogSum<V> l = log_pair(x);
  V t = a * l.hi;
  V t_low = fma(a, l.lo, fma(a, l.hi, neg(t)));
  LogSum<V> u = two_difference(t, x), w = two_difference(u.hi, lgamma(a));
  V clamped = exp_clamp(w.hi);
  ExpParts<V> e = exp_parts(clamped, select(clamped == w.hi, t_low + (u.lo + w.lo), V(0)));
  return scale(V(1) + (e.r + e.tail), e.k);
}

// The lower function by its power series, for the lanes of `active`.
template <class V>
TFL_OUTLINE V igamma_series(V a, V x, mask_of<V> active) {
  std::tuple<V, V, V> state(a, V(1), V(1));  // denominator, term, sum
  iterate(kMostTerms, active, state, [=](std::tuple<V, V, V>& s) {
    auto& [r, term, sum] = s;
    r = r + V(1);
    term = term * (x / r);
    sum = sum + term;
    return term > sum * kEpsilon;
  });
  return std::get<2>(state) * gamma_density(a, x) / a;
}

// The upper function by its continued fraction, evaluated forwards with rescaling.
template <class V>
TFL_OUTLINE V igamma_fraction(V a, V x, mask_of<V> active) {
  V z = x + V(2) - a;
  std::tuple<V, V, V, V, V, V> state(V(1), x, x + V(1), (x + V(2) - a) * x, (x + V(1)) / ((x + V(2) - a) * x), V(1));
  iterate(kMostTerms, active, state, [=](std::tuple<V, V, V, V, V, V>& s) {
    auto& [p2, q2, p1, q1, value, k] = s;
    V factor = (V(1) + k - a) * k;
    V denominator = z + V(2) * k;
    V p = fma(p1, denominator, neg(p2 * factor));
    V q = fma(q1, denominator, neg(q2 * factor));
    V next = select(q == 0, value, p / q);
    auto go_on = abs(value - next) > abs(next) * kEpsilon;
    V shrink = select(abs(p) > 0x1p200, V(0x1p-200), V(1));
    p2 = p1 * shrink;
    q2 = q1 * shrink;
    p1 = p * shrink;
    q1 = q * shrink;
    value = next;
    k = k + V(1);
    return go_on;
  });
  return std::get<4>(state) * gamma_density(a, x);
}

template <class V>
TFL_INLINE V igamma_limits(V a, V x, V at_zero, V at_infinity, V y) {
  y = select(x == 0, at_zero, select(is_inf(x), at_infinity, select(is_inf(a), at_zero, y)));
  auto undefined = (a <= 0) | (x < 0) | (a != a) | (x != x) | (is_inf(a) & is_inf(x));
  return select(undefined, nan_of<V>(), y);
}
}  // namespace detail

// The regularised lower incomplete gamma function P(a, x).
template <class V>
TFL_OUTLINE V igamma(V a, V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(igamma(convert<double>(a), convert<double>(x)));
  } else {
    auto inside = (a > 0) & (x > 0) & is_finite(a) & is_finite(x);
    auto upper = (x > 1) & (x > a);
    V series = detail::igamma_series(a, x, and_not(inside, upper));
    V y = rarely(inside & upper, [=] { return V(1) - detail::igamma_fraction(a, x, inside & upper); }, series);
    return detail::igamma_limits(a, x, V(0), V(1), y);
  }
}
// Q(a, x) = 1 - P(a, x).
template <class V>
TFL_OUTLINE V igammac(V a, V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(igammac(convert<double>(a), convert<double>(x)));
  } else {
    auto inside = (a > 0) & (x > 0) & is_finite(a) & is_finite(x);
    auto lower = (x < 1) | (x < a);
    V fraction = detail::igamma_fraction(a, x, and_not(inside, lower));
    V y = rarely(inside & lower, [=] { return V(1) - detail::igamma_series(a, x, inside & lower); }, fraction);
    return detail::igamma_limits(a, x, V(1), V(0), y);
  }
}

// The regularised incomplete beta function I_x(a, b).
template <class V>
TFL_OUTLINE V betainc(V a, V b, V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(betainc(convert<double>(a), convert<double>(b), convert<double>(x)));
  } else {
    auto inside = (a > 0) & (b > 0) & (x > 0) & (x < 1);
    // The fraction converges fast below the mean; above, I_x(a, b) = 1 - I_{1-x}(b, a).
    auto swap = x * (a + b + V(2)) > a + V(1);
    V p = select(swap, b, a), q = select(swap, a, b), t = select(swap, V(1) - x, x);
    V front = exp(fma(a, log(x), b * log1p(neg(x))) - lbeta(a, b)) / p;
    auto nonzero = [](V v) { return select(abs(v) < 0x1p-900, V(0x1p-900), v); };
    V d0 = V(1) / nonzero(V(1) - (p + q) * t / (p + V(1)));
    std::tuple<V, V, V, V> state(V(1), d0, d0, V(1));  // Lentz's C, D and the value; the number of the round
    iterate(detail::kMostTerms, inside, state, [=](std::tuple<V, V, V, V>& s) {
      auto& [c, d, value, m] = s;
      V twice = m + m;
      V even = (q - m) * m * t / ((p + (twice - V(1))) * (p + twice));
      d = V(1) / nonzero(fma(even, d, V(1)));
      c = nonzero(V(1) + even / c);
      value = value * (c * d);
      V odd = neg((p + m) * (p + q + m) * t) / ((p + twice) * (p + (twice + V(1))));
      d = V(1) / nonzero(fma(odd, d, V(1)));
      c = nonzero(V(1) + odd / c);
      V change = c * d;
      value = value * change;
      m = m + V(1);
      return abs(change - V(1)) > 2 * detail::kEpsilon;
    });
    V y = front * std::get<2>(state);
    y = select(swap, V(1) - y, y);
    y = select(x == 0, V(0), select(x == 1, V(1), y));
    auto defined = (a > 0) & (b > 0) & (x >= 0) & (x <= 1);
    return select(defined, y, nan_of<V>());
  }
}

// The Hurwitz zeta function: the sum of (q + n)^-x over n >= 0.
template <class V>
TFL_OUTLINE V zeta(V x, V q) {
  if constexpr (is_f32<V>) {
    return convert<float>(zeta(convert<double>(x), convert<double>(q)));
  } else {
    auto usable = (x > 1) & is_finite(x) & is_finite(q) & ((q > 0) | ((floor(q) != q) & (floor(x) == x)));
    V power = neg(x);
    std::tuple<V, V, V> state(q, V(0), V(0));  // q + n, partial sum, n
    iterate(1 << 20, usable, state, [=](std::tuple<V, V, V>& s) {
      auto& [a, sum, n] = s;
      sum = sum + pow(a, power);
      a = a + V(1);
      n = n + V(1);
      return (n <= 8) | (a <= 9);
    });
    V w = std::get<0>(state), sum = std::get<1>(state);
    V b = pow(w, power);
    V tail = fma(b, w / (x - V(1)), V(0.5) * b);
    // B_2k / (2k)! x (x + 1) ... (x + 2k - 2) w^(-x - 2k + 1).
    constexpr double kTerms[12] = {0x1.5555555555555p-4,  -0x1.6c16c16c16c17p-10, 0x1.1566abc011566p-15, -0x1.bbd779334ef0bp-21,
                                   0x1.66a8f2bf70ebep-26, -0x1.22805d644267fp-31, 0x1.d6db2c4e09163p-37, -0x1.7da4e1f79955cp-42,
                                   0x1.355871d652e9ep-47, -0x1.f57d968caacf1p-53, 0x1.967e1f09c376fp-58, -0x1.497d9033a2b5dp-63};
    V factor = x * b / w;
    V inverse = V(1) / (w * w);
    for (int k = 0; k < 12; ++k) {
      tail = fma(factor, V(kTerms[k]), tail);
      factor = factor * ((x + V(2 * k + 1)) * (x + V(2 * k + 2)) * inverse);
    }
    V y = sum + tail;
    V one = select(x == 1, inf_of<V>(), nan_of<V>());
    auto even = floor(x * 0.5) == x * 0.5;
    V pole = select((floor(q) == q) & even, inf_of<V>(), nan_of<V>());
    return select(usable, y,
                  select(x <= 1, one, select(q <= 0, pole, select(x != x, x, select(is_inf(x) | is_inf(q), V(0), q)))));
  }
}

// The n-th derivative of digamma, n a non-negative integer.
template <class V>
TFL_OUTLINE V polygamma(V n, V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(polygamma(convert<double>(n), convert<double>(x)));
  } else {
    V up = n + V(1);
    auto defined = (n >= 0) & (floor(n) == n);
    V magnitude = exp(lgamma(up)) * zeta(up, x);
    V y = select(floor(n * 0.5) == n * 0.5, neg(magnitude), magnitude);
    y = rarely(n == 0, [=] { return digamma(x); }, y);
    return select(defined, y, nan_of<V>());
  }
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
