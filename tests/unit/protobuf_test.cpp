// The wire format of protocol buffers: fields as they lie, and damaged messages.
#include "runtime/formats/protobuf.h"

#include <random>

#include "tests/catch.h"

using namespace tfl;

TEST_CASE("protobuf: fields in their order") {
  std::string message;
  put_varint_field(message, 1, 150);
  put_bytes_field(message, 2, "text");
  put_fixed32_field(message, 3, 0x3F800000);
  put_fixed64_field(message, 536870911, 7);
  put_varint_field(message, 1, static_cast<uint64_t>(-1));
  WireReader reader(message);
  WireField f;
  REQUIRE(reader.next(f));
  CHECK((f.number == 1 && f.wire == Wire::Varint && f.value == 150));
  REQUIRE(reader.next(f));
  CHECK((f.number == 2 && f.wire == Wire::Bytes && f.bytes == "text"));
  CHECK(f.bytes.data() > message.data());  // where it lies
  REQUIRE(reader.next(f));
  CHECK((f.number == 3 && f.wire == Wire::Fixed32 && f.value == 0x3F800000));
  REQUIRE(reader.next(f));
  CHECK((f.number == 536870911 && f.wire == Wire::Fixed64 && f.value == 7));
  REQUIRE(reader.next(f));
  CHECK(f.value == UINT64_MAX);
  CHECK(!reader.next(f));
  CHECK(!reader.damaged());
}

TEST_CASE("protobuf: groups are skipped") {
  // field 1 as a group with a number and a group inside, then field 2
  std::string message("\x0b\x10\x05\x1b\x1c\x0c\x10\x07", 8);
  WireReader reader(message);
  WireField f;
  REQUIRE(reader.next(f));
  CHECK((f.number == 2 && f.value == 7));
  CHECK(!reader.next(f));
  CHECK(!reader.damaged());
}

TEST_CASE("protobuf: damaged messages") {
  const std::string damaged[] = {
      std::string("\x08", 1),                                           // no number
      std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11),  // more than 64 bits
      std::string("\x12\x05"
                  "abcd",
                  6),                                                   // longer than what is left
      std::string("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),  // a length of 2^64 - 1
      std::string("\x0d\x01\x02\x03", 4),                               // half a fixed number
      std::string("\x00\x01", 2),                                       // field 0
      std::string("\x0e", 1),                                           // a kind that there is not
      std::string("\x0c", 1),                                           // the end of a group that did not begin
      std::string("\x0b\x14", 2),                                       // ... of another one
      std::string(1000, '\x0b'),                                        // groups without end
  };
  for (const std::string& message : damaged) {
    WireReader reader(message);
    WireField f;
    while (reader.next(f)) {
    }
    CHECK(reader.damaged());
  }
}

TEST_CASE("protobuf: packed numbers") {
  std::vector<uint64_t> numbers;
  std::string packed;
  for (uint64_t n : {uint64_t{3}, uint64_t{270}, uint64_t{86942}, UINT64_MAX}) put_varint(packed, n);
  size_t count = 0;
  CHECK((count_numbers({1, Wire::Bytes, 0, packed}, Wire::Varint, count) && count == 4));
  CHECK(append_numbers({1, Wire::Bytes, 0, packed}, Wire::Varint, numbers));
  CHECK(append_numbers({1, Wire::Varint, 9, {}}, Wire::Varint, numbers));
  CHECK(numbers == std::vector<uint64_t>{3, 270, 86942, UINT64_MAX, 9});
  CHECK(!append_numbers({1, Wire::Bytes, 0, "\xff"}, Wire::Varint, numbers));
  CHECK(!append_numbers({1, Wire::Fixed32, 9, {}}, Wire::Varint, numbers));
  numbers.clear();
  CHECK(append_numbers({1, Wire::Bytes, 0, "abcdefgh"}, Wire::Fixed32, numbers));
  CHECK(numbers == std::vector<uint64_t>{0x64636261, 0x68676665});
  CHECK(!append_numbers({1, Wire::Bytes, 0, "abcdefg"}, Wire::Fixed32, numbers));
}

TEST_CASE("protobuf: any bytes end") {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string message(random() % 40, '\0');
    for (char& c : message) c = static_cast<char>(random());
    WireReader reader(message);
    WireField f;
    while (reader.next(f)) {
      if (f.wire == Wire::Bytes)
        CHECK((f.bytes.empty() ||
               (f.bytes.data() >= message.data() && f.bytes.data() + f.bytes.size() <= message.data() + message.size())));
    }
  }
}
