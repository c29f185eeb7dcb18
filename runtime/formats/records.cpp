#include "runtime/formats/records.h"

#include <array>
#include <cstring>

namespace tfl {

namespace {

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0x82f63b78u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = make_table();

template <class T>
T load(std::string_view file, size_t at) {
  T v;
  std::memcpy(&v, file.data() + at, sizeof v);
  return v;
}

template <class T>
void append(std::string& out, T v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

}  // namespace

uint32_t masked_crc32c(std::string_view data) {
  uint32_t c = 0xffffffffu;
  for (unsigned char byte : data) c = kTable[(c ^ byte) & 0xff] ^ (c >> 8);
  c = ~c;
  return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}

std::string framed_record(std::string_view data) {
  std::string out;
  out.reserve(data.size() + 16);
  append(out, static_cast<uint64_t>(data.size()));
  append(out, masked_crc32c(out));
  out += data;
  append(out, masked_crc32c(data));
  return out;
}

RecordEnd next_record(std::string_view file, size_t& at, std::string_view& record) {
  if (at >= file.size()) return RecordEnd::End;
  if (file.size() - at < 12) return RecordEnd::Truncated;
  if (masked_crc32c(file.substr(at, 8)) != load<uint32_t>(file, at + 8)) return RecordEnd::Corrupted;
  uint64_t size = load<uint64_t>(file, at);
  size_t rest = file.size() - at - 12;
  if (rest < 4 || size > rest - 4) return RecordEnd::Truncated;
  record = file.substr(at + 12, size);
  if (masked_crc32c(record) != load<uint32_t>(file, at + 12 + size)) {
    at += 12;
    return RecordEnd::Corrupted;
  }
  at += 16 + size;
  return RecordEnd::Record;
}

}  // namespace tfl
