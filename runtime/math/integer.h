// Integer formulas with TensorFlow's meaning: wrapping arithmetic, floor division, clamped shifts, powers, bit counts.
//
// Division by zero and negative exponents are errors that the caller raises before it calls; here a zero divisor counts as one,
// so that no instruction traps.
#pragma once

#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

template <class V>
struct Quotient {
  V quotient, remainder;
};

// Towards zero. MIN / -1 = MIN, remainder 0.
template <class V>
TFL_INLINE Quotient<V> int_truncate_divide(V a, V b) {
  using T = elem_of<V>;
  V divisor = select(b == 0, V(1), b);
  if constexpr (std::is_signed_v<T>) {
    auto negate = divisor == V(-1);
    divisor = select(negate, V(1), divisor);
    V q = a / divisor;
    V r = a - q * divisor;
    return {select(negate, neg(a), q), r};
  } else {
    V q = a / divisor;
    return {q, a - q * divisor};
  }
}
template <class V>
  requires(!is_real<V>)
TFL_INLINE V truncate_div(V a, V b) {
  return int_truncate_divide(a, b).quotient;
}
template <class V>
  requires(!is_real<V>)
TFL_INLINE V truncate_mod(V a, V b) {
  return int_truncate_divide(a, b).remainder;
}
template <class V>
  requires(!is_real<V>)
TFL_INLINE V floor_div(V a, V b) {
  Quotient<V> d = int_truncate_divide(a, b);
  if constexpr (std::is_signed_v<elem_of<V>>) {
    return select((d.remainder != 0) & ((d.remainder < 0) ^ (b < 0)), d.quotient - 1, d.quotient);
  } else {
    return d.quotient;
  }
}
template <class V>
  requires(!is_real<V>)
TFL_INLINE V floor_mod(V a, V b) {
  Quotient<V> d = int_truncate_divide(a, b);
  if constexpr (std::is_signed_v<elem_of<V>>) {
    return select((d.remainder != 0) & ((d.remainder < 0) ^ (b < 0)), d.remainder + b, d.remainder);
  } else {
    return d.remainder;
  }
}

// Counts below 0 count as 0, above width - 1 as width - 1.
template <class V>
TFL_INLINE V clamp_shift(V count) {
  using T = elem_of<V>;
  constexpr T kMost = static_cast<T>(8 * sizeof(T) - 1);
  V c = select(count > kMost, V(kMost), count);
  if constexpr (std::is_signed_v<T>) {
    return select(c < 0, V(0), c);
  } else {
    return c;
  }
}
template <class V>
TFL_INLINE V left_shift(V a, V count) {
  return shl(a, clamp_shift(count));
}
template <class V>
TFL_INLINE V right_shift(V a, V count) {
  return shr(a, clamp_shift(count));
}

// base^exponent modulo 2^width by squaring; a negative exponent counts as 0.
template <class V>
TFL_INLINE V int_pow(V base, V exponent) {
  using T = elem_of<V>;
  auto active = exponent > 0;
  std::tuple<V, V, V> state(V(1), base, select(active, exponent, V(0)));
  iterate(static_cast<int>(8 * sizeof(T)), active, state, [](std::tuple<V, V, V>& s) {
    auto& [result, power, left] = s;
    result = select((left & V(1)) != 0, result * power, result);
    power = power * power;
    left = shr(left, 1);
    return left != 0;
  });
  return std::get<0>(state);
}

// The number of ones in the two's complement representation.
template <class V>
TFL_INLINE V population_count(V a) {
  using T = elem_of<V>;
  using U = unsigned_of<T>;
  using W = uint_of<V>;
  constexpr U k1 = static_cast<U>(0x5555555555555555u), k2 = static_cast<U>(0x3333333333333333u),
              k4 = static_cast<U>(0x0f0f0f0f0f0f0f0fu);
  W x = bitcast<U>(a);
  x = x - (shr(x, 1) & k1);
  x = (x & k2) + (shr(x, 2) & k2);
  x = (x + shr(x, 4)) & k4;
  if constexpr (sizeof(T) > 1) x = x + shr(x, 8);
  if constexpr (sizeof(T) > 2) x = x + shr(x, 16);
  if constexpr (sizeof(T) > 4) x = x + shr(x, 32);
  return bitcast<T>(x & static_cast<U>(0x7f));
}

template <class V>
TFL_INLINE V invert(V a) {
  return ~a;
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
