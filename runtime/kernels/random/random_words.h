// What random samples are made of: the stream that a seed begins, words as uniform numbers in [0, 1), words as normal ones.
// This header must not know which operation draws them.
#pragma once

#include <cmath>

#include "runtime/kernels/random/philox.h"
#include "runtime/math/log.h"
#include "runtime/math/trig.h"

namespace tfl {

/// Of two integers, or of three words that are the state of a generator: the counter and the key as they stand.
inline Philox stream_of(const uint64_t* words, int64_t count) {
  if (count == 2) return Philox::from_seed(words[0], words[1]);
  auto low = [&](int i) { return static_cast<uint32_t>(words[i]); };
  auto high = [&](int i) { return static_cast<uint32_t>(words[i] >> 32); };
  return Philox({low(0), high(0), low(1), high(1)}, {low(2), high(2)});
}

inline float unit_float(uint32_t x) { return __builtin_bit_cast(float, (127u << 23) | (x & 0x7fffffu)) - 1.0f; }
inline double unit_double(uint32_t x0, uint32_t x1) {
  uint64_t mantissa = (static_cast<uint64_t>(x0 & 0xfffffu) << 32) | x1;
  return __builtin_bit_cast(double, (uint64_t{1023} << 52) | mantissa) - 1.0;
}

/// The two normals of two uniform words (Box and Muller). The angle is a product of doubles, as TensorFlow's is; the functions are
/// taken in doubles and rounded, which agrees with its results nearly everywhere.
inline void normal_pair(uint32_t x0, uint32_t x1, float& a, float& b) {
  constexpr double kTwoPi = 6.2831853071795864769;
  float u = unit_float(x0);
  if (u < 1.0e-7f) u = 1.0e-7f;
  using V = Vec<double, 2>;
  auto angle = static_cast<float>(kTwoPi * unit_float(x1));
  float length = std::sqrt(-2.0f * static_cast<float>(math::log(V(u)).get()));
  a = static_cast<float>(math::sin(V(angle)).get()) * length;
  b = static_cast<float>(math::cos(V(angle)).get()) * length;
}
inline void normal_pair(uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3, double& a, double& b) {
  constexpr double kTwoPi = 6.2831853071795864769;
  double u = unit_double(x0, x1);
  if (u < 1.0e-7) u = 1.0e-7;
  using V = Vec<double, 2>;
  double angle = kTwoPi * unit_double(x2, x3), length = std::sqrt(-2.0 * math::log(V(u)).get());
  a = math::sin(V(angle)).get() * length;
  b = math::cos(V(angle)).get() * length;
}

}  // namespace tfl
