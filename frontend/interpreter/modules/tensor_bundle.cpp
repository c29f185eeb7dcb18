// The module `_bundle`: what files of TensorFlow's checkpoints need done fast: the tables of their names, and the elements of tensors
// with their checksums. What the names and values of a table mean is TFL source in stdlib/tensorflow/_checkpoint/bundle.tfl.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "frontend/core/file_access.h"
#include "frontend/core/native_module.h"
#include "frontend/core/tensor_api.h"
#include "frontend/interpreter/object/file.h"
#include "runtime/formats/crc32c.h"
#include "runtime/formats/sorted_table.h"

namespace tfl {

namespace {

Result<const std::string*> bundle_bytes(const Value& v) {
  if (v.is(Kind::Bytes)) return &v.as<Bytes>()->data;
  return fail(ErrorKind::TypeError, "bytes are needed");
}

/// entries(bytes): a list of (key, value) of a table.
Result<Value> table_entries(Interp& interp, Value* args) {
  TableEntries entries = TFL_TRY(read_sorted_table(*TFL_TRY(bundle_bytes(args[0]))));
  std::vector<Value> found;
  found.reserve(entries.size());
  for (auto& [key, value] : entries)
    found.push_back(interp.tuple({interp.bytes(std::move(key)), interp.bytes(std::move(value))}));
  return interp.list(std::move(found));
}

/// table(keys, values): the bytes of a table; the keys are sorted.
Result<Value> table_bytes(Interp& interp, Value* args) {
  std::vector<Value> keys = TFL_TRY(to_vector(interp, args[0])), values = TFL_TRY(to_vector(interp, args[1]));
  if (keys.size() != values.size()) return fail(ErrorKind::ValueError, "as many keys as values are needed");
  TableEntries entries;
  for (size_t i = 0; i < keys.size(); ++i) {
    entries.emplace_back(*TFL_TRY(bundle_bytes(keys[i])), *TFL_TRY(bundle_bytes(values[i])));
    if (i > 0 && entries[i].first <= entries[i - 1].first) return fail(ErrorKind::ValueError, "the keys are not in order");
  }
  return interp.bytes(write_sorted_table(entries));
}

Result<void> read_exactly(Interp& interp, int fd, const std::string& path, int64_t offset, char* to, size_t size) {
  while (size > 0) {
    ssize_t n = ::pread(fd, to, std::min(size, size_t{1} << 30), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return os_error(interp, errno, path);
    if (n == 0) return fail(ErrorKind::DataLossError, "{} ended while it was read", path);
    to += n;
    offset += n;
    size -= static_cast<size_t>(n);
  }
  return {};
}

/// Texts stand as their lengths, a checksum of these, and their bytes.
Result<Tensor> texts_of(Interp& interp, std::string_view data, const Dims& dims, uint32_t& checksum) {
  int64_t count = TFL_TRY(element_count(dims));
  if (static_cast<uint64_t>(count) > data.size())
    return fail(ErrorKind::DataLossError, "{} bytes hold no {} texts", data.size(), count);
  Crc32c sum;
  std::vector<uint64_t> lengths;
  lengths.reserve(static_cast<size_t>(count));
  uint64_t total = 0;
  size_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t length = 0;
    int shift = 0;
    for (bool more = true; more; shift += 7) {
      if (at >= data.size() || shift > 56) return fail(ErrorKind::DataLossError, "the length of a text is damaged");
      auto byte = static_cast<unsigned char>(data[at++]);
      length |= static_cast<uint64_t>(byte & 127) << shift;
      more = byte >= 128;
    }
    bool wide = length > UINT32_MAX;
    sum.update({reinterpret_cast<const char*>(&length), wide ? size_t{8} : size_t{4}});
    if (length > data.size()) return fail(ErrorKind::DataLossError, "a text reaches beyond the end of its file");
    total += length;
    lengths.push_back(length);
  }
  if (data.size() - at < 4 || total != data.size() - at - 4)
    return fail(ErrorKind::DataLossError, "the texts have other lengths than are told");
  uint32_t told;
  std::memcpy(&told, data.data() + at, sizeof told);
  if (told != sum.masked()) return fail(ErrorKind::DataLossError, "the checksum of the lengths of texts is wrong");
  sum.update(data.substr(at));
  checksum = sum.masked();
  at += 4;
  Tensor t = TFL_TRY(Tensor::empty(interp.context, DType::String, dims));
  auto* out = t.data<std::string>();
  for (uint64_t length : lengths) {
    *out++ = data.substr(at, length);
    at += length;
  }
  return t;
}

/// read(path, offset, size, checksum, dtype, shape): the tensor whose elements lie there.
Result<Value> read_elements(Interp& interp, Value* args) {
  std::string path = TFL_TRY(path_argument(interp, args[0]));
  int64_t offset = TFL_TRY(to_index(interp, args[1])), size = TFL_TRY(to_index(interp, args[2]));
  int64_t told = TFL_TRY(to_index(interp, args[3]));
  DType dtype = TFL_TRY(to_dtype(interp, args[4]));
  Dims dims = TFL_TRY(to_dims(interp, args[5]));
  Descriptor fd = TFL_TRY(open_for_reading(interp, path));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return os_error(interp, errno, path);
  if (offset < 0 || size < 0 || offset > status.st_size || size > status.st_size - offset)
    return fail(ErrorKind::DataLossError, "{} has {} bytes, and {} at {} are needed", path, static_cast<int64_t>(status.st_size),
                size, offset);
  uint32_t checksum = 0;
  Tensor t;
  if (dtype == DType::String) {
    std::string data(static_cast<size_t>(size), '\0');
    TFL_TRY(read_exactly(interp, fd.get(), path, offset, data.data(), data.size()));
    t = TFL_TRY(texts_of(interp, data, dims, checksum));
  } else {
    int64_t count = TFL_TRY(element_count(dims)), width = static_cast<int64_t>(dtype_size(dtype));
    if (count != size / width || size % width != 0)
      return fail(ErrorKind::DataLossError, "{} bytes are no {}{}", size, dtype_name(dtype), shape_text(dims));
    t = TFL_TRY(Tensor::empty(interp.context, dtype, dims));
    TFL_TRY(read_exactly(interp, fd.get(), path, offset, reinterpret_cast<char*>(t.raw()), t.bytes()));
    checksum = masked_crc32c({reinterpret_cast<const char*>(t.raw()), t.bytes()});
    if (dtype == DType::Bool) {
      // Another value than 0 and 1 would be none of a bool's.
      auto* bytes = reinterpret_cast<uint8_t*>(t.raw());
      for (int64_t i = 0; i < t.size(); ++i) bytes[i] = bytes[i] != 0;
    }
  }
  if (checksum != static_cast<uint32_t>(told)) {
    return fail(ErrorKind::DataLossError, "Checksum does not match: stored {} vs. calculated on the restored bytes {}",
                static_cast<uint32_t>(told), checksum);
  }
  return Value::of(std::move(t));
}

/// elements(tensor): its bytes as they stand in a file, and their checksum.
Result<Value> element_bytes(Interp& interp, Value* args) {
  Tensor t = TFL_TRY(contiguous(interp.context, TFL_TRY(to_concrete(interp, args[0]))));
  std::string out;
  Crc32c sum;
  if (t.dtype() == DType::String) {
    const auto* texts = t.data<std::string>();
    for (int64_t i = 0; i < t.size(); ++i) {
      uint64_t length = texts[i].size();
      sum.update({reinterpret_cast<const char*>(&length), length > UINT32_MAX ? size_t{8} : size_t{4}});
      for (; length >= 128; length >>= 7) out += static_cast<char>(length | 128);
      out += static_cast<char>(length);
    }
    uint32_t lengths = sum.masked();
    size_t at = out.size();
    out.append(reinterpret_cast<const char*>(&lengths), sizeof lengths);
    for (int64_t i = 0; i < t.size(); ++i) out += texts[i];
    sum.update(std::string_view(out).substr(at));
  } else {
    out.assign(reinterpret_cast<const char*>(t.raw()), t.bytes());
    sum.update(out);
  }
  return interp.tuple({interp.bytes(std::move(out)), Value::integer(sum.masked())});
}

constexpr NativeDef kBundleNatives[] = {
    function("entries", "data, /", table_entries),
    function("table", "keys, values, /", table_bytes),
    function("read", "path, offset, size, checksum, dtype, shape, /", read_elements),
    function("elements", "tensor, /", element_bytes),
};

}  // namespace

Result<void> init_bundle(Interp& interp, Module& module) {
  define_all(interp, module, kBundleNatives);
  return {};
}

}  // namespace tfl
