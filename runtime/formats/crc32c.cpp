#include "runtime/formats/crc32c.h"

#include <array>
#include <cstring>

namespace tfl {

namespace {

using Table = std::array<std::array<uint32_t, 256>, 8>;

// Table k is what a byte does to the sum when k bytes follow it, so that eight are taken at once.
constexpr Table make_tables() {
  Table t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0x82f63b78u ^ (c >> 1) : c >> 1;
    t[0][i] = c;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t i = 0; i < 256; ++i) t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 0xff];
  }
  return t;
}

constexpr Table kTables = make_tables();

}  // namespace

void Crc32c::update(std::string_view data) {
  uint32_t c = state_;
  while (data.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, data.data(), sizeof word);
    word ^= c;
    c = 0;
    for (size_t k = 0; k < 8; ++k) c ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
    data.remove_prefix(8);
  }
  for (unsigned char byte : data) c = kTables[0][(c ^ byte) & 0xff] ^ (c >> 8);
  state_ = c;
}

uint32_t Crc32c::masked() const {
  uint32_t c = ~state_;
  return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}

uint32_t masked_crc32c(std::string_view data) {
  Crc32c c;
  c.update(data);
  return c.masked();
}

}  // namespace tfl
