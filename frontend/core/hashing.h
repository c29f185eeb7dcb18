// Hashes of the unboxed values and of text: the one definition that containers and hash() share. Numbers hash as CPython's
// (modulo 2^61 - 1), so that equal numbers of different types are one key and sets of ints iterate in CPython's order.
// This header must not know about protocols.
#pragma once

#include <cmath>
#include <cstring>

#include "frontend/core/object.h"

namespace tfl {

inline constexpr uint64_t kHashModulus = (uint64_t{1} << 61) - 1;

inline uint64_t hash_int(int64_t v) {
  uint64_t magnitude = v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  magnitude %= kHashModulus;
  uint64_t h = v < 0 ? uint64_t{0} - magnitude : magnitude;
  return h == ~uint64_t{0} ? ~uint64_t{1} : h;
}

uint64_t hash_double(double v);  // hashing.cpp
/// Never 0.
uint64_t hash_text(std::string_view text);

inline uint64_t str_hash(Str* s) {
  if (s->hash == 0) s->hash = hash_text(s->text);
  return s->hash;
}

/// CPython's hash of a tuple from the hashes of its items: begin, add each, finish.
struct TupleHash {
  uint64_t acc = 2870177450012600261u;
  uint64_t count = 0;
  void add(uint64_t lane) {
    acc += lane * 14029467366897019727u;
    acc = (acc << 31) | (acc >> 33);
    acc *= 11400714785074694791u;
    ++count;
  }
  uint64_t finish() const {
    uint64_t h = acc + (count ^ (2870177450012600261u ^ 3527539u));
    return h == ~uint64_t{0} ? 1546275796 : h;
  }
};

}  // namespace tfl
