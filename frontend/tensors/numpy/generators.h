// NumPy's bit generators and what is drawn from them directly: MT19937 with its legacy seeding (Matsumoto, Nishimura 1998), and
// PCG64 seeded through SeedSequence (O'Neill 2014). Words, bounded integers and uniforms are NumPy's, bit for bit.
#pragma once

#include <cstdint>
#include <span>

namespace tfl {

/// State as it lies in an array of 626 uint32: key, position, unused.
struct Mt19937 {
  uint32_t* key;
  uint32_t& position;
  void seed(uint32_t s);
  /// From a number of any length, as 32-bit words, least significant first: Python's random.Random.
  void seed(std::span<const uint32_t> words);
  uint32_t next32();
  double next_double();
  /// Uniform in [0, range] by masked rejection, as the legacy functions draw it; no word is drawn for a range of 0.
  uint64_t bounded(uint64_t range);
};

/// State as it lies in an array of 6 uint64: state high, low, increment high, low, has a kept half, the kept half.
struct Pcg64 {
  uint64_t* words;
  /// From SeedSequence(entropy).generate_state(4): `entropy` as 32-bit words, least significant first.
  void seed(std::span<const uint32_t> entropy);
  uint64_t next64();
  uint32_t next32();
  double next_double() { return static_cast<double>(next64() >> 11) * (1.0 / 9007199254740992.0); }
  /// Uniform in [0, range], Lemire's method as NumPy applies it.
  uint64_t bounded(uint64_t range);
  /// Ziggurat (Marsaglia, Tsang 2000) with 256 layers, tables of normal_layers() and exponential_layers().
  double normal(const struct Ziggurat& z);
  double exponential(const struct Ziggurat& z);
};

struct Ziggurat {
  uint64_t k[256];
  double w[256], f[256];
};
/// The tables of normal and of exponential numbers, computed once.
const Ziggurat& normal_layers();
const Ziggurat& exponential_layers();

}  // namespace tfl
