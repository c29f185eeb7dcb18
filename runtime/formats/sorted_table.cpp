#include "runtime/formats/sorted_table.h"

#include <cstdint>
#include <cstring>

#include "runtime/formats/crc32c.h"

namespace tfl {

namespace {

constexpr uint64_t kMagic = 0xdb4775248b80fb57u;
constexpr size_t kFooter = 48, kTrailer = 5;  // a trailer is the kind of compression and a checksum
constexpr size_t kBlock = 256 << 10;          // a block ends where it is as large
constexpr size_t kRestart = 16;               // every so many entries a key stands whole

template <class... Args>
Failure broken(fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorKind::DataLossError, fmt::format(format, std::forward<Args>(args)...));
}

/// Bytes that are taken from the front; `ok` is false when there were too few.
struct Reader {
  std::string_view rest;
  bool ok = true;

  uint64_t varint(int most_bits) {
    uint64_t value = 0;
    for (int shift = 0; shift < most_bits; shift += 7) {
      if (rest.empty()) break;
      auto byte = static_cast<unsigned char>(rest.front());
      rest.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    ok = false;
    return 0;
  }
  std::string_view bytes(uint64_t n) {
    if (n > rest.size()) {
      ok = false;
      return {};
    }
    std::string_view taken = rest.substr(0, n);
    rest.remove_prefix(n);
    return taken;
  }
};

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

template <class T>
void put_fixed(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T fixed(std::string_view data, size_t at) {
  T value;
  std::memcpy(&value, data.data() + at, sizeof value);
  return value;
}

struct Handle {
  uint64_t offset = 0, size = 0;
};

Handle take_handle(Reader& r) {
  Handle h;
  h.offset = r.varint(64);
  h.size = r.varint(64);
  return h;
}

/// The bytes of a block: of the file, or in `held` where they were compressed.
Result<std::string_view> block_at(std::string_view file, const Handle& h, std::string& held) {
  if (h.offset > file.size() || h.size > file.size() - h.offset || file.size() - h.offset - h.size < kTrailer)
    return broken("a block of {} bytes at {} reaches beyond the end of the table", h.size, h.offset);
  std::string_view data = file.substr(h.offset, h.size);
  if (masked_crc32c(file.substr(h.offset, h.size + 1)) != fixed<uint32_t>(file, h.offset + h.size + 1))
    return broken("the checksum of the block at {} is wrong", h.offset);
  switch (file[h.offset + h.size]) {
    case 0: return data;
    case 1: held = TFL_TRY(snappy_inflated(data)); return std::string_view(held);
    default: return broken("the block at {} is compressed in an unknown way", h.offset);
  }
}

/// Calls take(key, value) for each entry of a block.
template <class Take>
Result<void> each_entry(std::string_view block, const Take& take) {
  if (block.size() < 4) return broken("a block has only {} bytes", block.size());
  uint64_t restarts = fixed<uint32_t>(block, block.size() - 4);
  if (restarts > (block.size() - 4) / 4) return broken("a block tells of {} places and has {} bytes", restarts, block.size());
  Reader r{block.substr(0, block.size() - 4 - restarts * 4)};
  std::string key;
  while (!r.rest.empty()) {
    uint64_t shared = r.varint(35), more = r.varint(35), size = r.varint(35);
    std::string_view end = r.bytes(more), value = r.bytes(size);
    if (!r.ok || shared > key.size()) return broken("an entry of a block is cut off");
    key.resize(shared);
    key += end;
    TFL_TRY(take(key, value));
  }
  return {};
}

struct BlockWriter {
  std::string data, last;
  std::vector<uint32_t> restarts;
  size_t since = 0;

  void add(const std::string& key, std::string_view value) {
    size_t shared = 0;
    if (since == 0) {
      restarts.push_back(static_cast<uint32_t>(data.size()));
    } else {
      while (shared < key.size() && shared < last.size() && key[shared] == last[shared]) ++shared;
    }
    since = (since + 1) % kRestart;
    put_varint(data, shared);
    put_varint(data, key.size() - shared);
    put_varint(data, value.size());
    data.append(key, shared);
    data += value;
    last = key;
  }
  /// Appends the block to a file: where it lies there.
  std::string finish(std::string& file) {
    if (restarts.empty()) restarts.push_back(0);
    for (uint32_t at : restarts) put_fixed(data, at);
    put_fixed(data, static_cast<uint32_t>(restarts.size()));
    std::string handle;
    put_varint(handle, file.size());
    put_varint(handle, data.size());
    data += '\0';
    file += data;
    put_fixed(file, masked_crc32c(data));
    *this = {};
    return handle;
  }
};

}  // namespace

Result<TableEntries> read_sorted_table(std::string_view file) {
  if (file.size() < kFooter) return broken("it has only {} bytes and is no table", file.size());
  std::string_view footer = file.substr(file.size() - kFooter);
  if (fixed<uint64_t>(footer, kFooter - 8) != kMagic) return broken("it does not end as a table does");
  Reader r{footer.substr(0, kFooter - 8)};
  take_handle(r);  // of a block that tells of filters
  Handle index = take_handle(r);
  if (!r.ok) return broken("its footer is damaged");

  TableEntries entries;
  // Keys share their beginnings, so that few bytes may tell of many: names take at most so much.
  size_t left = (size_t{16} << 20) + file.size() * 64;
  std::string held_index, held;
  std::string_view index_block = TFL_TRY(block_at(file, index, held_index));
  TFL_TRY(each_entry(index_block, [&](const std::string&, std::string_view value) -> Result<void> {
    Reader place{value};
    Handle h = take_handle(place);
    if (!place.ok) return broken("its index is damaged");
    std::string_view block = TFL_TRY(block_at(file, h, held));
    return each_entry(block, [&](const std::string& key, std::string_view entry) -> Result<void> {
      size_t size = key.size() + entry.size() + sizeof(TableEntries::value_type);
      if (size > left) return broken("its names are larger than a file of {} bytes can mean", file.size());
      left -= size;
      if (!entries.empty() && key <= entries.back().first) return broken("its keys are not in order");
      entries.emplace_back(key, entry);
      return {};
    });
  }));
  return entries;
}

std::string write_sorted_table(const TableEntries& entries) {
  std::string file;
  BlockWriter block, index;
  for (size_t i = 0; i < entries.size(); ++i) {
    block.add(entries[i].first, entries[i].second);
    if (block.data.size() >= kBlock || i + 1 == entries.size()) index.add(entries[i].first, block.finish(file));
  }
  std::string footer = BlockWriter{}.finish(file);
  footer += index.finish(file);
  footer.resize(kFooter - 8);
  put_fixed(footer, kMagic);
  return file + footer;
}

Result<std::string> snappy_inflated(std::string_view data) {
  Reader r{data};
  uint64_t size = r.varint(35);
  // The most that three bytes can mean is 64.
  if (!r.ok || size > data.size() * 32) return broken("compressed bytes tell of a wrong size");
  std::string out;
  out.reserve(size);
  while (!r.rest.empty()) {
    auto tag = static_cast<unsigned char>(r.bytes(1)[0]);
    uint64_t length = tag >> 2, offset = 0;
    auto number = [&](unsigned bytes) {
      uint64_t value = 0;
      std::string_view taken = r.bytes(bytes);
      for (size_t i = 0; i < taken.size(); ++i) value |= static_cast<uint64_t>(static_cast<unsigned char>(taken[i])) << (8 * i);
      return value;
    };
    if ((tag & 3) == 0) {
      if (length >= 60) length = number(static_cast<unsigned>(length - 59));
      std::string_view taken = r.bytes(++length);
      if (!r.ok || taken.size() > size - out.size()) return broken("compressed bytes are cut off");
      out += taken;
      continue;
    }
    if ((tag & 3) == 1) {
      length = (length & 7) + 4;
      offset = static_cast<uint64_t>(tag >> 5) << 8 | number(1);
    } else {
      ++length;
      offset = number((tag & 3) == 2 ? 2 : 4);
    }
    if (!r.ok || offset == 0 || offset > out.size() || length > size - out.size()) return broken("compressed bytes are damaged");
    for (uint64_t i = 0; i < length; ++i) out += out[out.size() - offset];  // what is copied may be what was just written
  }
  if (out.size() != size) return broken("compressed bytes are cut off");
  return out;
}

}  // namespace tfl
