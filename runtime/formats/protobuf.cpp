#include "runtime/formats/protobuf.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tfl {

namespace {

static_assert(std::endian::native == std::endian::little, "fixed numbers are little-endian, as in the message");

constexpr int kMaxGroups = 100;  // one in the other

bool read_varint(const char*& at, const char* end, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 70 && at != end; shift += 7) {
    auto byte = static_cast<uint8_t>(*at++);
    if (shift == 63 && byte > 1) return false;
    value |= uint64_t{byte & 127U} << shift;
    if (byte < 128) return true;
  }
  return false;
}

bool read_fixed(const char*& at, const char* end, size_t size, uint64_t& value) {
  if (static_cast<size_t>(end - at) < size) return false;
  value = 0;
  std::memcpy(&value, at, size);
  at += size;
  return true;
}

bool read_length(const char*& at, const char* end, std::string_view& bytes) {
  uint64_t length = 0;
  if (!read_varint(at, end, length) || length > static_cast<uint64_t>(end - at)) return false;
  bytes = std::string_view(at, length);
  at += length;
  return true;
}

size_t element_size(Wire wire) { return wire == Wire::Fixed64 ? 8 : 4; }

}  // namespace

bool WireReader::fail() {
  damaged_ = true;
  at_ = end_;
  return false;
}

/// The rest of a group, which ends with its own number.
bool WireReader::skip_group(uint32_t number) {
  uint32_t open[kMaxGroups] = {number};
  for (int depth = 1; depth > 0;) {
    uint64_t key = 0, value = 0;
    std::string_view bytes;
    if (!read_varint(at_, end_, key) || key >> 3 == 0 || key >> 32 != 0) return false;
    switch (key & 7) {
      case 0:
        if (!read_varint(at_, end_, value)) return false;
        break;
      case 1:
      case 5:
        if (!read_fixed(at_, end_, (key & 7) == 1 ? 8 : 4, value)) return false;
        break;
      case 2:
        if (!read_length(at_, end_, bytes)) return false;
        break;
      case 3:
        if (depth == kMaxGroups) return false;
        open[depth++] = static_cast<uint32_t>(key >> 3);
        break;
      case 4:
        if (open[--depth] != key >> 3) return false;
        break;
      default: return false;
    }
  }
  return true;
}

bool WireReader::next(WireField& field) {
  while (at_ != end_) {
    uint64_t key = 0;
    if (!read_varint(at_, end_, key) || key >> 3 == 0 || key >> 32 != 0) return fail();
    field.number = static_cast<uint32_t>(key >> 3);
    field.value = 0;
    field.bytes = {};
    switch (key & 7) {
      case 0: field.wire = Wire::Varint; return read_varint(at_, end_, field.value) || fail();
      case 1: field.wire = Wire::Fixed64; return read_fixed(at_, end_, 8, field.value) || fail();
      case 2: field.wire = Wire::Bytes; return read_length(at_, end_, field.bytes) || fail();
      case 3:
        if (!skip_group(field.number)) return fail();
        break;
      case 5: field.wire = Wire::Fixed32; return read_fixed(at_, end_, 4, field.value) || fail();
      default: return fail();
    }
  }
  return false;
}

bool take_varint(std::string_view& bytes, uint64_t& value) {
  const char* at = bytes.data();
  const char* end = at + bytes.size();
  if (!read_varint(at, end, value)) return false;
  bytes.remove_prefix(static_cast<size_t>(at - bytes.data()));
  return true;
}

bool append_numbers(const WireField& field, Wire wire, std::vector<uint64_t>& numbers) {
  if (field.wire == wire && wire != Wire::Bytes) {
    numbers.push_back(field.value);
    return true;
  }
  size_t count = 0;
  if (!count_numbers(field, wire, count)) return false;
  const char* at = field.bytes.data();
  const char* end = at + field.bytes.size();
  while (at != end) {
    uint64_t value = 0;
    if (!(wire == Wire::Varint ? read_varint(at, end, value) : read_fixed(at, end, element_size(wire), value))) return false;
    numbers.push_back(value);
  }
  return true;
}

bool count_numbers(const WireField& field, Wire wire, size_t& count) {
  count = 1;
  if (field.wire == wire) return wire != Wire::Bytes;
  if (field.wire != Wire::Bytes || wire == Wire::Bytes) return false;
  if (wire != Wire::Varint) {
    count = field.bytes.size() / element_size(wire);
    return field.bytes.size() % element_size(wire) == 0;
  }
  count = static_cast<size_t>(
      std::count_if(field.bytes.begin(), field.bytes.end(), [](char c) { return static_cast<uint8_t>(c) < 128; }));
  return true;
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>((value & 127) | 128);
  out += static_cast<char>(value);
}

void put_varint_field(std::string& out, uint32_t number, uint64_t value) {
  put_varint(out, uint64_t{number} << 3);
  put_varint(out, value);
}

void put_fixed32_field(std::string& out, uint32_t number, uint32_t bits) {
  put_varint(out, uint64_t{number} << 3 | 5);
  out.append(reinterpret_cast<const char*>(&bits), 4);
}

void put_fixed64_field(std::string& out, uint32_t number, uint64_t bits) {
  put_varint(out, uint64_t{number} << 3 | 1);
  out.append(reinterpret_cast<const char*>(&bits), 8);
}

void put_bytes_field(std::string& out, uint32_t number, std::string_view bytes) {
  put_varint(out, uint64_t{number} << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

}  // namespace tfl
