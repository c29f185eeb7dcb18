#include "runtime/formats/records.h"

#include <cstring>

#include "runtime/formats/crc32c.h"

namespace tfl {

namespace {

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
