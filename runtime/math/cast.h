// Conversions between element types, defined for every value.
//
//   float -> i32, i64     truncates; out of range or NaN gives the minimum.
//   float -> i8 i16 u8 u16  through i32, then wraps.   float -> u32  through i64, then wraps.
//   float -> u64          truncates within (-2^63, 2^64), negative values wrap; out of range or NaN gives 2^63.
//   int -> int            wraps or extends.   int -> float  rounds to nearest even.
//   anything -> bool      x != 0 (NaN is true); bool -> anything  0 or 1.
//   halves                read as f32; written from f32 or f64 with one rounding, from integers through f32.
// bool arrays are u8 lanes of 0 and 1. Nothing here knows tensors.
#pragma once

#include "runtime/math/basic.h"
#include "runtime/math/half.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

template <class V>
TFL_INLINE with_elem<V, std::int32_t> float_to_i32(V x) {
  using I = with_elem<V, std::int32_t>;
  // In f32 the largest value below 2^31 is 2^31 - 128, in f64 the bounds are -2^31 - 1 and 2^31, exclusive.
  if constexpr (is_f32<V>) {
    auto fits = (x >= -0x1p31f) & (x < 0x1p31f);
    return select(fits, convert<std::int32_t>(select(fits, x, V(0))), I(INT32_MIN));
  } else {
    auto fits = (x > -2147483649.0) & (x < 0x1p31);
    return select(convert_mask<std::int32_t>(fits), convert<std::int32_t>(select(fits, x, V(0))), I(INT32_MIN));
  }
}
template <class V>
TFL_INLINE with_elem<V, std::int64_t> float_to_i64(V x) {
  using L = with_elem<V, std::int64_t>;
  auto fits = (x >= by_type<V>(-0x1p63f, -0x1p63)) & (x < by_type<V>(0x1p63f, 0x1p63));
  return select(convert_mask<std::int64_t>(fits), convert<std::int64_t>(select(fits, x, V(0))), L(INT64_MIN));
}
template <class V>
TFL_INLINE with_elem<V, std::uint64_t> float_to_u64(V x) {
  const V two63 = by_type<V>(0x1p63f, 0x1p63), two64 = by_type<V>(0x1p64f, 0x1p64);
  auto high = (x >= two63) & (x < two64);
  auto low = float_to_i64(select(high, x - two63, x));
  auto bits = bitcast<std::uint64_t>(low);
  return select(convert_mask<std::uint64_t>(high), bits ^ (std::uint64_t{1} << 63), bits);
}

// From compute lanes of From (halves are f32 lanes here, bool u8 lanes) to lanes that store<To> takes.
// f64 -> f16 goes through the odd rounding of half.h, after which store<f16> rounds correctly.
template <class To, class From, class V>
TFL_INLINE with_elem<V, compute_type<To>> cast(const V& x) {
  using C = compute_type<From>;
  static_assert(std::is_same_v<C, elem_of<V>>);
  if constexpr (std::is_same_v<To, bool>) {
    return convert<std::uint8_t>(select(x != 0, int_of<V>(1), int_of<V>(0)));
  } else if constexpr (std::is_same_v<To, C>) {
    return x;
  } else if constexpr (is_half<To>) {
    if constexpr (std::is_same_v<C, double>) {
      return f64_to_f32_odd(x);
    } else {
      return convert<float>(x);
    }
  } else if constexpr (std::is_floating_point_v<To>) {
    return convert<To>(x);
  } else if constexpr (!std::is_floating_point_v<C>) {
    return convert<To>(x);
  } else if constexpr (std::is_same_v<To, std::uint64_t>) {
    return float_to_u64(x);
  } else if constexpr (std::is_same_v<To, std::int64_t> || std::is_same_v<To, std::uint32_t>) {
    return convert<To>(float_to_i64(x));
  } else {
    return convert<To>(float_to_i32(x));
  }
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
