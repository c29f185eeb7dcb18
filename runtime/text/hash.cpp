#include "runtime/text/hash.h"

#include <bit>
#include <cstring>
#include <utility>

namespace tfl {

namespace {

constexpr uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

uint64_t word(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
uint64_t half_word(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
uint64_t turn(uint64_t v, int right) { return std::rotr(v, right); }
uint64_t mix(uint64_t v) { return v ^ (v >> 47); }
uint64_t join(uint64_t u, uint64_t v, uint64_t factor) {
  uint64_t a = mix((u ^ v) * factor);
  uint64_t b = mix((v ^ a) * factor);
  return b * factor;
}

uint64_t up_to_16(const char* s, size_t n) {
  if (n >= 8) {
    uint64_t factor = k2 + n * 2, a = word(s) + k2, b = word(s + n - 8);
    return join(turn(b, 37) * factor + a, (turn(a, 25) + b) * factor, factor);
  }
  if (n >= 4) return join(n + (half_word(s) << 3), half_word(s + n - 4), k2 + n * 2);
  if (n == 0) return k2;
  auto at = [s](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(s[i])); };
  uint32_t y = at(0) + (at(n >> 1) << 8), z = static_cast<uint32_t>(n) + (at(n - 1) << 2);
  return mix(y * k2 ^ z * k0) * k2;
}

uint64_t up_to_32(const char* s, size_t n) {
  uint64_t factor = k2 + n * 2, a = word(s) * k1, b = word(s + 8), c = word(s + n - 8) * factor, d = word(s + n - 16) * k2;
  return join(turn(a + b, 43) + turn(c, 30) + d, a + turn(b + k2, 18) + c, factor);
}

uint64_t up_to_64(const char* s, size_t n) {
  uint64_t factor = k2 + n * 2, a = word(s) * k2, b = word(s + 8), c = word(s + n - 8) * factor, d = word(s + n - 16) * k2;
  uint64_t y = turn(a + b, 43) + turn(c, 30) + d, z = join(y, a + turn(b + k2, 18) + c, factor);
  uint64_t e = word(s + 16) * factor, f = word(s + 24), g = (y + word(s + n - 32)) * factor, h = (z + word(s + n - 24)) * factor;
  return join(turn(e + f, 43) + turn(g, 30) + h, e + turn(f + a, 18) + g, factor);
}

using Pair = std::pair<uint64_t, uint64_t>;
Pair weak(const char* s, uint64_t a, uint64_t b) {
  uint64_t w = word(s), x = word(s + 8), y = word(s + 16), z = word(s + 24);
  a += w;
  b = turn(b + a + z, 21);
  uint64_t c = a;
  a += x + y;
  b += turn(a, 44);
  return {a + z, b + c};
}

}  // namespace

uint64_t farm_fingerprint(std::string_view text) {
  const char* s = text.data();
  size_t n = text.size();
  if (n <= 16) return up_to_16(s, n);
  if (n <= 32) return up_to_32(s, n);
  if (n <= 64) return up_to_64(s, n);
  constexpr uint64_t kSeed = 81;
  uint64_t x = kSeed, y = kSeed * k1 + 113, z = mix(y * k2 + 113) * k2;
  Pair v{0, 0}, w{0, 0};
  x = x * k2 + word(s);
  const char* end = s + (n - 1) / 64 * 64;
  const char* last = end + ((n - 1) & 63) - 63;
  auto round = [&](uint64_t factor, uint64_t nine) {
    x = turn(x + y + v.first + word(s + 8), 37) * factor;
    y = turn(y + v.second + word(s + 48), 42) * factor;
    x ^= w.second * nine;
    y += v.first * nine + word(s + 40);
    z = turn(z + w.first, 33) * factor;
    v = weak(s, v.second * factor, x + w.first);
    w = weak(s + 32, z + w.second, y + word(s + 16));
    std::swap(z, x);
  };
  do {
    round(k1, 1);
    s += 64;
  } while (s != end);
  uint64_t factor = k1 + ((z & 0xff) << 1);
  s = last;
  w.first += (n - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  round(factor, 9);
  return join(join(v.first, w.first, factor) + mix(y) * k0 + z, join(v.second, w.second, factor) + x, factor);
}

uint64_t sip_hash(std::string_view text, uint64_t key0, uint64_t key1) {
  uint64_t v[4] = {key0 ^ 0x736f6d6570736575, key1 ^ 0x646f72616e646f6d, key0 ^ 0x6c7967656e657261, key1 ^ 0x7465646279746573};
  auto round = [&v] {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = std::rotl(v[1], 13) ^ v[0];
    v[3] = std::rotl(v[3], 16) ^ v[2];
    v[0] = std::rotl(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = std::rotl(v[1], 17) ^ v[2];
    v[3] = std::rotl(v[3], 21) ^ v[0];
    v[2] = std::rotl(v[2], 32);
  };
  auto take = [&](uint64_t m) {
    v[3] ^= m;
    round();
    round();
    v[0] ^= m;
  };
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) take(word(text.data() + i));
  uint64_t rest = static_cast<uint64_t>(text.size()) << 56;
  for (size_t k = 0; i + k < text.size(); ++k) rest |= static_cast<uint64_t>(static_cast<unsigned char>(text[i + k])) << (8 * k);
  take(rest);
  v[2] ^= 0xff;
  for (int k = 0; k < 4; ++k) round();
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t murmur_hash(std::string_view text) {
  constexpr uint64_t kFactor = 0xc6a4a7935bd1e995, kSeed = 0xDECAFCAFFE;
  uint64_t h = kSeed ^ (text.size() * kFactor);
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t k = mix(word(text.data() + i) * kFactor) * kFactor;
    h = (h ^ k) * kFactor;
  }
  if (i < text.size()) {
    for (size_t k = 0; i + k < text.size(); ++k) h ^= static_cast<uint64_t>(static_cast<unsigned char>(text[i + k])) << (8 * k);
    h *= kFactor;
  }
  return mix(mix(h) * kFactor);
}

}  // namespace tfl
