// Tables of sorted keys and what Snappy compressed: what is written is read, what is damaged is refused.
#include "runtime/formats/sorted_table.h"

#include "tests/catch.h"

using namespace tfl;

TEST_CASE("a table of several blocks is read as it was written") {
  TableEntries entries{{"", "header"}};
  for (int i = 0; i < 20000; ++i)
    entries.emplace_back(fmt::format("layer/{:06}/kernel", i), std::string(static_cast<size_t>(i % 50), 'v'));
  std::string file = write_sorted_table(entries);
  REQUIRE(file.size() > size_t{1} << 19);
  auto read = read_sorted_table(file);
  REQUIRE(read);
  CHECK(*read == entries);
  CHECK(read_sorted_table(write_sorted_table({}))->empty());
}

TEST_CASE("every bit of a table is believed only when its checksum is right") {
  const TableEntries entries{{"a", "1"}, {"ab", "2"}, {"b", ""}};
  const std::string file = write_sorted_table(entries);
  size_t refused = 0;
  for (size_t i = 0; i < file.size(); ++i) {
    std::string bad = file;
    bad[i] = static_cast<char>(bad[i] ^ 16);
    auto read = read_sorted_table(bad);
    refused += !read;
    if (read) CHECK(*read == entries);  // the footer's end and the place of the block for filters mean nothing here
  }
  CHECK(refused > file.size() / 2);
  for (size_t n = 0; n < file.size(); ++n) CHECK(!read_sorted_table(std::string_view(file).substr(0, n)));
}

TEST_CASE("Snappy's literals and copies") {
  using namespace std::string_literals;
  CHECK(*snappy_inflated("\x05\x10hello"s) == "hello");
  CHECK(*snappy_inflated("\x09\x04"
                         "ab"
                         "\x0d\x02"s) == "ababababa");  // seven bytes from two before
  CHECK(*snappy_inflated("\x06\x04"
                         "ab"
                         "\x0e\x02\x00"s) == "ababab");  // four, with an offset of two bytes
  for (const std::string& bad : {""s, "\x05\x10hell"s, "\x05\x10hello!"s, "\x06\x10hello"s,
                                 "\x04\x04"
                                 "ab"
                                 "\x0d\x03"s,
                                 "\xff\xff\xff\xff\x0f"s,
                                 "\x02\x04"
                                 "ab"
                                 "\x0d\x02"s})
    CHECK(!snappy_inflated(bad));
}
