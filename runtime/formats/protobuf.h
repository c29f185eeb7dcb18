// The wire format of protocol buffers, read where it lies: fields are views of the message, and every length is checked against what is
// left of it. Nothing here knows a message's schema; what the fields mean is for who reads them.
// This header must not know about files, host values or tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tfl {

/// How a field lies in the message (groups, which are 3 and 4, are skipped whole).
enum class Wire : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct WireField {
  uint32_t number = 0;
  Wire wire = Wire::Varint;
  uint64_t value = 0;      // of Varint, Fixed64 and Fixed32: the bits
  std::string_view bytes;  // of Bytes: a string, a message, packed numbers
};

/// The fields of one message in their order:
///   WireReader reader(message); WireField f; while (reader.next(f)) …; if (reader.damaged()) …
class WireReader {
 public:
  explicit WireReader(std::string_view message) : at_(message.data()), end_(message.data() + message.size()) {}

  /// False at the end, and where the message is damaged.
  bool next(WireField& field);
  bool damaged() const { return damaged_; }

 private:
  bool fail();
  bool skip_group(uint32_t number);

  const char* at_;
  const char* end_;
  bool damaged_ = false;
};

/// Takes one varint from the front of `bytes`; false when there is none.
bool take_varint(std::string_view& bytes, uint64_t& value);

/// Appends the numbers of a repeated field, packed or one by one, as 64 bits each. False: damaged, or of another kind than `wire`, which
/// says how an element lies.
bool append_numbers(const WireField& field, Wire wire, std::vector<uint64_t>& numbers);

/// Number of elements that a field holds: 1 unless it is packed. False as above.
bool count_numbers(const WireField& field, Wire wire, size_t& count);

// Writing: a field at the end of `out`.
void put_varint(std::string& out, uint64_t value);
void put_varint_field(std::string& out, uint32_t number, uint64_t value);
void put_fixed32_field(std::string& out, uint32_t number, uint32_t bits);
void put_fixed64_field(std::string& out, uint32_t number, uint64_t bits);
void put_bytes_field(std::string& out, uint32_t number, std::string_view bytes);

}  // namespace tfl
