#include "frontend/core/hashing.h"

namespace tfl {

uint64_t hash_double(double v) {
  if (!std::isfinite(v)) {
    if (std::isinf(v)) return v > 0 ? 314159 : uint64_t{0} - 314159;
    return 0x5bd1e995;  // NaN: any number, equal to nothing
  }
  int e;
  double m = std::frexp(v, &e);
  bool negative = m < 0;
  if (negative) m = -m;
  constexpr int kBits = 61;
  uint64_t x = 0;
  while (m != 0) {
    x = ((x << 28) & kHashModulus) | x >> (kBits - 28);
    m *= 268435456.0;
    e -= 28;
    auto y = static_cast<uint64_t>(m);
    m -= static_cast<double>(y);
    x += y;
    if (x >= kHashModulus) x -= kHashModulus;
  }
  e = e >= 0 ? e % kBits : kBits - 1 - ((-1 - e) % kBits);
  x = ((x << e) & kHashModulus) | x >> (kBits - e);
  if (negative) x = uint64_t{0} - x;
  return x == ~uint64_t{0} ? ~uint64_t{1} : x;
}

uint64_t hash_text(std::string_view s) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
  uint64_t h = s.size() * kMultiplier;
  size_t i = 0;
  auto mix = [&](uint64_t w) {
    unsigned __int128 p = static_cast<unsigned __int128>(h ^ w) * (kMultiplier ^ 0x2545F4914F6CDD1Du);
    h = static_cast<uint64_t>(p) ^ static_cast<uint64_t>(p >> 64);
    h += kMultiplier;
  };
  for (; i + 8 <= s.size(); i += 8) {
    uint64_t w;
    std::memcpy(&w, s.data() + i, 8);
    mix(w);
  }
  uint64_t tail = 0;
  if (i < s.size()) std::memcpy(&tail, s.data() + i, s.size() - i);
  mix(tail);
  return h == 0 ? 1 : h == ~uint64_t{0} ? 2 : h;
}

}  // namespace tfl
