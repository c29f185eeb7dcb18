// Elementwise formulas whose result is exact or a single rounding: signs, extremes, remainders, neighbours, clamps.
// Shared helpers of the other formula files (Horner evaluation, NaN and infinity constants) live here too.
#pragma once

#include <limits>

#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

// c0 + x (c1 + x (c2 + ...)), one fma per coefficient.
template <class V, class C>
TFL_INLINE V horner(V, C c0) {
  return V(c0);
}
template <class V, class C, class... Rest>
TFL_INLINE V horner(V x, C c0, Rest... rest) {
  return fma(horner(x, rest...), x, V(c0));
}

template <class V>
TFL_INLINE V nan_of() {
  return V(std::numeric_limits<elem_of<V>>::quiet_NaN());
}
template <class V>
TFL_INLINE V inf_of() {
  return V(std::numeric_limits<elem_of<V>>::infinity());
}
// A constant that has a value for each of the two float types.
template <class V>
TFL_INLINE V by_type(float f32, double f64) {
  if constexpr (is_f32<V>) {
    return V(f32);
  } else {
    return V(f64);
  }
}

template <class V>
TFL_INLINE mask_of<V> is_nan(V x) {
  return x != x;
}
template <class V>
TFL_INLINE mask_of<V> is_inf(V x) {
  return abs(x) == inf_of<V>();
}
template <class V>
TFL_INLINE mask_of<V> is_finite(V x) {
  return abs(x) < inf_of<V>();
}

// NaN if either is; of two zeros the first.
template <class V>
TFL_INLINE V minimum(V a, V b) {
  if constexpr (is_real<V>) {
    return select((a <= b) | (a != a), a, b);
  } else {
    return min(a, b);
  }
}
template <class V>
TFL_INLINE V maximum(V a, V b) {
  if constexpr (is_real<V>) {
    return select((a >= b) | (a != a), a, b);
  } else {
    return max(a, b);
  }
}

// -1, 0 or 1; NaN stays, both zeros give +0.
template <class V>
TFL_INLINE V sign(V x) {
  V positive = select(x > 0, V(1), V(0));
  if constexpr (std::is_unsigned_v<elem_of<V>>) {
    return positive;
  } else if constexpr (is_real<V>) {
    return select(x != x, x, select(x < 0, V(-1), positive));
  } else {
    return select(x < 0, V(-1), positive);
  }
}

template <class V>
TFL_INLINE V round_half_even(V x) {
  return rint(x);
}

template <class V>
TFL_INLINE V square(V x) {
  return x * x;
}
template <class V>
TFL_INLINE V squared_difference(V a, V b) {
  V d = a - b;
  return d * d;
}
template <class V>
TFL_INLINE V reciprocal(V x) {
  return V(1) / x;
}
// 1 / sqrt(x), corrected once: with s = sqrt(x) + error, e = x - s^2 and r = 1/s, 1/sqrt(x) = r (1 + (1 - r s) - e r^2 / 2).
template <class V>
TFL_INLINE V rsqrt(V x) {
  // Small x are scaled up so that e does not underflow.
  auto small = x < by_type<V>(0x1p-90f, 0x1p-900);
  V y = select(small, x * by_type<V>(0x1p100f, 0x1p1000), x);
  V s = sqrt(y);
  V r = V(1) / s;
  V e = fma(neg(s), s, y);
  V better = fma(r, fma(e * r, r * -0.5f, fma(neg(r), s, V(1))), r);
  r = select((y > 0) & (y < inf_of<V>()), better, r);
  return select(small, r * by_type<V>(0x1p50f, 0x1p500), r);
}
template <class V>
TFL_INLINE V divide_no_nan(V a, V b) {
  return select(b == 0, V(0), a / b);
}
template <class V>
TFL_INLINE V multiply_no_nan(V a, V b) {
  return select(b == 0, V(0), a * b);
}

// The next representable value after a in the direction of b.
template <class V>
TFL_INLINE V nextafter(V a, V b) {
  using I = int_of<V>;
  using T = elem_of<V>;
  using S = signed_of<T>;
  I bits = bitcast<S>(a);
  // Away from zero is +1 on the bits, towards zero -1.
  auto away = (a < b) ^ sign_bit(a);
  V moved = bitcast<T>(bits + select(away, I(1), I(-1)));
  V from_zero = copysign(bitcast<T>(I(1)), b);
  V r = select(a == 0, from_zero, moved);
  return select((a != a) | (b != b), a + b, select(a == b, b, r));
}

// ---- division with TensorFlow's sign rules ---------------------------------------------------------------------------------

template <class V>
  requires is_real<V>
TFL_INLINE V floor_div(V a, V b) {
  return floor(a / b);
}
template <class V>
  requires is_real<V>
TFL_INLINE V truncate_div(V a, V b) {
  return trunc(a / b);
}

// C's fmod: the exact remainder of a / b rounded towards zero, with the sign of a. Schoolbook division: each round takes as many
// quotient bits as an exact fma allows; one round serves every quotient below 2^(p-2).
template <class V>
  requires is_real<V>
TFL_OUTLINE V truncate_mod(V a, V b) {
  using T = elem_of<V>;
  constexpr int p = std::numeric_limits<T>::digits;
  V x = abs(a), y = abs(b);
  const V limit = by_type<V>(0x1p22f, 0x1p51);
  // 0 <= r < d * limit, d a power-of-two multiple of y: leaves 0 <= r < d.
  auto step = [](V r, V d) {
    V q = trunc(r / d);
    r = fma(neg(q), d, r);
    return select(r < 0, r + d, select(r >= d, r - d, r));
  };
  V quotient = x / y;
  V r = step(x, y);
  r = rarely((quotient >= limit) & is_finite(x),
             [=] {
               constexpr T kUp = sizeof(T) == 4 ? T(0x1p21) : T(0x1p50);
               constexpr int kRounds = 2200 / (p - 3);  // the exponents of x and y differ by less than 2200
               std::tuple<V> state(x);
               iterate(kRounds, x >= y, state, [=](std::tuple<V>& s) {
                 V rest = std::get<0>(s);
                 // d = y 2^(k (p-3)) <= rest, as large as such a d can be.
                 std::tuple<V> d(y);
                 iterate(kRounds, y * kUp <= rest, d, [=](std::tuple<V>& t) {
                   std::get<0>(t) = std::get<0>(t) * kUp;
                   return std::get<0>(t) * kUp <= rest;
                 });
                 rest = step(rest, std::get<0>(d));
                 std::get<0>(s) = rest;
                 return rest >= y;
               });
               return std::get<0>(state);
             },
             r);
  r = select(x < y, x, r);  // also y infinite
  r = select((y == 0) | ~is_finite(x) | (y != y), nan_of<V>(), r);
  return copysign(r, a);
}

// The remainder with the sign of b.
template <class V>
  requires is_real<V>
TFL_INLINE V floor_mod(V a, V b) {
  V r = truncate_mod(a, b);
  return select((r != 0) & ((b < 0) ^ (r < 0)), r + b, r);
}

// ---- clamps ----------------------------------------------------------------------------------------------------------------

template <class V>
TFL_INLINE V clip(V x, V lo, V hi) {
  return maximum(minimum(x, hi), lo);
}
template <class V>
TFL_INLINE V relu(V x) {
  return select(x < 0, V(0), x);
}
template <class V>
TFL_INLINE V relu6(V x) {
  return select(x < 0, V(0), select(x > 6, V(6), x));
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
