// Philox 4x32-10 (Salmon et al., 2011): random words as a function of a key and a counter, so that any part of a stream can be
// made on its own. This header must not know distributions.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/kernels/random/random_kernels.h"

namespace tfl {

class Philox {
 public:
  using Words = std::array<uint32_t, 4>;
  using Key = std::array<uint32_t, 2>;
  Philox(Words counter, Key key) : counter_(counter), key_(key) {}

  /// The stream of TensorFlow's stateless operations for a seed: the seed itself is mixed first.
  static Philox from_seed(uint64_t seed0, uint64_t seed1) {
    Words counter = {static_cast<uint32_t>(seed0), static_cast<uint32_t>(seed0 >> 32), static_cast<uint32_t>(seed1),
                     static_cast<uint32_t>(seed1 >> 32)};
    Words mixed = Philox(counter, {0x3ec8f720u, 0x02461e29u}).next();
    return Philox({0, 0, mixed[2], mixed[3]}, {mixed[0], mixed[1]});
  }

  /// The next four words.
  Words next() {
    Words c = counter_;
    Key k = key_;
    for (int round = 0; round < 10; ++round) {
      uint64_t p0 = uint64_t{0xD2511F53u} * c[0], p1 = uint64_t{0xCD9E8D57u} * c[2];
      c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p0)};
      k[0] += 0x9E3779B9u;
      k[1] += 0xBB67AE85u;
    }
    skip(1);
    return c;
  }

  /// Where it stands, for loops over many groups.
  PhiloxState state() const {
    return {counter_[0] | static_cast<uint64_t>(counter_[1]) << 32,
            counter_[2] | static_cast<uint64_t>(counter_[3]) << 32,
            {key_[0], key_[1]}};
  }

  /// Goes on `n` groups of four words.
  void skip(uint64_t n) {
    auto low = static_cast<uint32_t>(n), high = static_cast<uint32_t>(n >> 32);
    counter_[0] += low;
    if (counter_[0] < low) ++high;
    counter_[1] += high;
    if (counter_[1] < high) {
      if (++counter_[2] == 0) ++counter_[3];
    }
  }

 private:
  Words counter_;
  Key key_;
};

}  // namespace tfl
