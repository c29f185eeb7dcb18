#include "frontend/tensors/numpy/generators.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tfl {

void Mt19937::seed(uint32_t s) {
  key[0] = s;
  for (uint32_t i = 1; i < 624; ++i) key[i] = 1812433253u * (key[i - 1] ^ (key[i - 1] >> 30)) + i;
  position = 624;
}

// init_by_array of the reference implementation (Matsumoto, Nishimura 2002).
void Mt19937::seed(std::span<const uint32_t> words) {
  seed(19650218u);
  auto scrambled = [&](uint32_t i, uint32_t factor) { return key[i] ^ ((key[i - 1] ^ (key[i - 1] >> 30)) * factor); };
  uint32_t i = 1;
  size_t j = 0;
  auto advance = [&] {
    if (++i < 624) return;
    key[0] = key[623];
    i = 1;
  };
  for (size_t k = std::max<size_t>(624, words.size()); k > 0; --k) {
    key[i] = scrambled(i, 1664525u) + words[j] + static_cast<uint32_t>(j);
    advance();
    if (++j >= words.size()) j = 0;
  }
  for (uint32_t k = 623; k > 0; --k) {
    key[i] = scrambled(i, 1566083941u) - i;
    advance();
  }
  key[0] = 0x80000000u;
}

uint32_t Mt19937::next32() {
  if (position >= 624) {
    auto mix = [](uint32_t a, uint32_t b) {
      return (((a & 0x80000000u) | (b & 0x7fffffffu)) >> 1) ^ ((b & 1u) ? 0x9908b0dfu : 0u);
    };
    for (int i = 0; i < 227; ++i) key[i] = key[i + 397] ^ mix(key[i], key[i + 1]);
    for (int i = 227; i < 623; ++i) key[i] = key[i - 227] ^ mix(key[i], key[i + 1]);
    key[623] = key[396] ^ mix(key[623], key[0]);
    position = 0;
  }
  uint32_t y = key[position++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

double Mt19937::next_double() {
  uint32_t a = next32() >> 5, b = next32() >> 6;
  return (a * 67108864.0 + b) / 9007199254740992.0;
}

uint64_t Mt19937::bounded(uint64_t range) {
  if (range == 0) return 0;
  uint64_t mask = range;
  for (int s = 1; s < 64; s *= 2) mask |= mask >> s;
  uint64_t v;
  do {
    v = next32();
    if (range > 0xFFFFFFFFu) v = v << 32 | next32();
    v &= mask;
  } while (v > range);
  return v;
}

namespace {

using U128 = unsigned __int128;

U128 load(const uint64_t* w) { return static_cast<U128>(w[0]) << 64 | w[1]; }
void store(uint64_t* w, U128 v) {
  w[0] = static_cast<uint64_t>(v >> 64);
  w[1] = static_cast<uint64_t>(v);
}
constexpr U128 kMultiplier = static_cast<U128>(2549297995355413924ull) << 64 | 4865540595714422341ull;

/// NumPy's SeedSequence with a pool of four words.
struct SeedSequence {
  uint32_t pool[4] = {};
  uint32_t hash_a = 0x43b0d7e5u;

  uint32_t hash(uint32_t value) {
    value ^= hash_a;
    hash_a *= 0x931e8875u;
    value *= hash_a;
    return value ^ (value >> 16);
  }
  static uint32_t mix(uint32_t x, uint32_t y) {
    uint32_t r = 0xca01f9ddu * x - 0x4973f715u * y;
    return r ^ (r >> 16);
  }
  explicit SeedSequence(std::span<const uint32_t> entropy) {
    for (size_t i = 0; i < 4; ++i) pool[i] = hash(i < entropy.size() ? entropy[i] : 0);
    for (size_t from = 0; from < 4; ++from) {
      for (size_t to = 0; to < 4; ++to) {
        if (from != to) pool[to] = mix(pool[to], hash(pool[from]));
      }
    }
    for (size_t from = 4; from < entropy.size(); ++from) {
      for (size_t to = 0; to < 4; ++to) pool[to] = mix(pool[to], hash(entropy[from]));
    }
  }
  void generate(uint32_t* out, size_t n) const {
    uint32_t constant = 0x8b51f9ddu;
    for (size_t i = 0; i < n; ++i) {
      uint32_t value = pool[i % 4] ^ constant;
      constant *= 0x58f38dedu;
      value *= constant;
      out[i] = value ^ (value >> 16);
    }
  }
};

}  // namespace

void Pcg64::seed(std::span<const uint32_t> entropy) {
  uint32_t words32[8];
  SeedSequence(entropy).generate(words32, 8);
  uint64_t v[4];
  for (int i = 0; i < 4; ++i) v[i] = static_cast<uint64_t>(words32[2 * i + 1]) << 32 | words32[2 * i];
  U128 increment = load(v + 2) << 1 | 1;
  U128 state = increment;  // one step from 0
  state += load(v);
  state = state * kMultiplier + increment;
  store(words, state);
  store(words + 2, increment);
  words[4] = words[5] = 0;
}

uint64_t Pcg64::next64() {
  U128 state = load(words) * kMultiplier + load(words + 2);
  store(words, state);
  uint64_t folded = words[0] ^ words[1];
  auto turn = static_cast<unsigned>(state >> 122);
  return folded >> turn | folded << ((64 - turn) & 63);
}

uint32_t Pcg64::next32() {
  if (words[4]) {
    words[4] = 0;
    return static_cast<uint32_t>(words[5]);
  }
  uint64_t v = next64();
  words[4] = 1;
  words[5] = v >> 32;
  return static_cast<uint32_t>(v);
}

uint64_t Pcg64::bounded(uint64_t range) {
  if (range == 0) return 0;
  if (range <= 0xFFFFFFFFu) {
    auto r = static_cast<uint32_t>(range);
    if (r == 0xFFFFFFFFu) return next32();
    uint32_t exclusive = r + 1;
    uint64_t m = static_cast<uint64_t>(next32()) * exclusive;
    auto left = static_cast<uint32_t>(m);
    if (left < exclusive) {
      uint32_t threshold = (0xFFFFFFFFu - r) % exclusive;
      while (left < threshold) {
        m = static_cast<uint64_t>(next32()) * exclusive;
        left = static_cast<uint32_t>(m);
      }
    }
    return m >> 32;
  }
  if (range == ~uint64_t{0}) return next64();
  uint64_t exclusive = range + 1;
  U128 m = static_cast<U128>(next64()) * exclusive;
  auto left = static_cast<uint64_t>(m);
  if (left < exclusive) {
    uint64_t threshold = (~uint64_t{0} - range) % exclusive;
    while (left < threshold) {
      m = static_cast<U128>(next64()) * exclusive;
      left = static_cast<uint64_t>(m);
    }
  }
  return static_cast<uint64_t>(m >> 64);
}

namespace {

constexpr double kRight = 3.6541528853610087963519472518;
constexpr double kExponentialRight = 7.6971174701310497140446280481;

/// Equal areas: layer i ends at x[i]; the lowest layer takes the tail in, so that it is wider than r = x[255].
template <class Density, class Inverse>
Ziggurat layers_of(long double r, long double area, long double scale, Density density, Inverse inverse) {
  long double x[257];
  x[256] = area / density(r);
  x[255] = r;
  for (int i = 254; i > 0; --i) x[i] = inverse(area / x[i + 1] + density(x[i + 1]));
  x[0] = 0;
  // Index 0 is the base layer, 1 the top one and 255 the one above the base, as NumPy numbers them.
  Ziggurat z;
  z.k[0] = static_cast<uint64_t>(r / x[256] * scale);
  z.w[0] = static_cast<double>(x[256] / scale);
  z.f[0] = 1.0;
  for (int i = 1; i < 256; ++i) {
    z.k[i] = i == 1 ? 0 : static_cast<uint64_t>(x[i - 1] / x[i] * scale);
    z.w[i] = static_cast<double>(x[i] / scale);
    z.f[i] = static_cast<double>(density(x[i]));
  }
  return z;
}

}  // namespace

const Ziggurat& normal_layers() {
  static const Ziggurat layers = [] {
    const long double r = 3.6541528853610087963519472518L;
    auto density = [](long double x) { return std::exp(-0.5L * x * x); };
    long double area = r * density(r) + std::sqrt(std::acos(-1.0L) / 2) * std::erfc(r / std::sqrt(2.0L));
    return layers_of(r, area, 4503599627370496.0L, density,
                     [](long double y) { return std::sqrt(-2.0L * std::log(y)); });  // 2^52
  }();
  return layers;
}

const Ziggurat& exponential_layers() {
  static const Ziggurat layers = [] {
    const long double r = 7.6971174701310497140446280481L;
    auto density = [](long double x) { return std::exp(-x); };
    return layers_of(r, (r + 1) * density(r), 9007199254740992.0L, density, [](long double y) { return -std::log(y); });  // 2^53
  }();
  return layers;
}

double Pcg64::exponential(const Ziggurat& z) {
  for (;;) {
    uint64_t r = next64() >> 3;
    auto layer = static_cast<size_t>(r & 0xff);
    r >>= 8;
    double x = static_cast<double>(r) * z.w[layer];
    if (r < z.k[layer]) return x;
    if (layer == 0) return kExponentialRight - std::log1p(-next_double());
    if ((z.f[layer - 1] - z.f[layer]) * next_double() + z.f[layer] < std::exp(-x)) return x;
  }
}

double Pcg64::normal(const Ziggurat& z) {
  for (;;) {
    uint64_t r = next64();
    auto layer = static_cast<size_t>(r & 0xff);
    r >>= 8;
    bool negative = r & 1;
    uint64_t magnitude = (r >> 1) & 0x000fffffffffffffull;
    double x = static_cast<double>(magnitude) * z.w[layer];
    if (negative) x = -x;
    if (magnitude < z.k[layer]) return x;
    if (layer == 0) {
      for (;;) {
        double a = -(1.0 / kRight) * std::log1p(-next_double());
        double b = -std::log1p(-next_double());
        if (b + b > a * a) return (magnitude >> 8) & 1 ? -(kRight + a) : kRight + a;
      }
    }
    if ((z.f[layer - 1] - z.f[layer]) * next_double() + z.f[layer] < std::exp(-0.5 * x * x)) return x;
  }
}

}  // namespace tfl
