#include "frontend/tensors/numpy/stored.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "frontend/core/native.h"
#include "frontend/interpreter/object/file.h"
#include "frontend/tensors/numpy/array.h"

namespace tfl {

namespace {

constexpr size_t kPiece = 256 * 1024;
constexpr int64_t kDeflated = 8, kMostDeflated = 1040;  // the method; bytes of one, at most

/// Bytes that lie in memory, or in a file that is not.
class StoredBytes {
 public:
  static Result<StoredBytes> of(Interp& interp, const Value& v) {
    StoredBytes out(interp);
    if (v.is(Kind::Bytes)) {
      out.data_ = &v.as<Bytes>()->data;
      out.size_ = static_cast<int64_t>(out.data_->size());
      return out;
    }
    if (!v.is(Kind::File))
      return fail(ErrorKind::TypeError, "a file or a bytes-like object is required, not '{}'", interp.type_name(v));
    const File* f = v.as<File>();
    if (f->closed || !f->can_read || !f->binary || f->role != File::Role::Disk)
      return fail(ErrorKind::ValueError, "I/O operation on closed file.");
    out.file_ = f;
    struct stat st{};
    if (::fstat(f->fd, &st) != 0) return os_error(interp, errno, f->name);
    out.size_ = st.st_size;
    return out;
  }
  int64_t size() const { return size_; }

  /// As many bytes at `at` as there are, n at most.
  Result<size_t> read(int64_t at, char* to, size_t n) const {
    n = at < 0 || at >= size_ ? 0 : std::min(n, static_cast<size_t>(size_ - at));
    if (data_) {
      if (n) std::memcpy(to, data_->data() + at, n);
      return n;
    }
    for (size_t done = 0; done < n;) {
      ssize_t got = ::pread(file_->fd, to + done, n - done, at + static_cast<int64_t>(done));
      if (got < 0 && errno != EINTR) return os_error(interp_, errno, file_->name);
      TFL_TRY(interp_.check_interrupt());
      if (got == 0) return done;
      if (got > 0) done += static_cast<size_t>(got);
    }
    return n;
  }

 private:
  explicit StoredBytes(Interp& interp) : interp_(interp) {}

  Interp& interp_;
  const std::string* data_ = nullptr;
  const File* file_ = nullptr;
  int64_t size_ = 0;
};

struct Inflater {
  z_stream z{};
  bool open = inflateInit2(&z, -15) == Z_OK;
  ~Inflater() {
    if (open) inflateEnd(&z);
  }
};

/// What is stored at `at`, piece by piece to take(bytes, n), which says whether to go on.
template <class F>
Result<void> unpack(const StoredBytes& source, int64_t at, int64_t packed, int64_t method, const F& take) {
  std::string piece(kPiece, 0), plain(method == kDeflated ? kPiece : 0, 0);
  Inflater inflater;
  if (method == kDeflated && !inflater.open) return fail(ErrorKind::MemoryError, "no memory to read compressed data");
  int status = Z_OK;
  while (packed > 0 && status == Z_OK) {
    size_t n = TFL_TRY(source.read(at, piece.data(), static_cast<size_t>(std::min<int64_t>(packed, kPiece))));
    if (n == 0) return fail(ErrorKind::ValueError, "the file ends too early");
    at += static_cast<int64_t>(n);
    packed -= static_cast<int64_t>(n);
    if (method != kDeflated) {
      if (!take(piece.data(), n)) return {};
      continue;
    }
    z_stream& z = inflater.z;
    z.next_in = reinterpret_cast<Bytef*>(piece.data());
    z.avail_in = static_cast<uInt>(n);
    do {
      z.next_out = reinterpret_cast<Bytef*>(plain.data());
      z.avail_out = static_cast<uInt>(kPiece);
      status = ::inflate(&z, Z_NO_FLUSH);
      if (status == Z_BUF_ERROR) status = Z_OK;  // it wants more
      if (!take(plain.data(), kPiece - z.avail_out)) return {};
    } while (status == Z_OK && z.avail_out == 0);
  }
  if (method == kDeflated && status != Z_STREAM_END)
    return fail(ErrorKind::ValueError, "compressed data are damaged or end too early");
  return {};
}

}  // namespace

Result<Value> np_stored_size(Interp& interp, Value* args) {
  return Value::integer(TFL_TRY(StoredBytes::of(interp, args[0])).size());
}

Result<Value> np_stored_bytes(Interp& interp, Value* args) {
  StoredBytes source = TFL_TRY(StoredBytes::of(interp, args[0]));
  int64_t at = TFL_TRY(to_index(interp, args[1])), n = TFL_TRY(to_index(interp, args[2]));
  n = std::clamp<int64_t>(n, 0, std::max<int64_t>(source.size() - std::max<int64_t>(at, 0), 0));
  TFL_TRY(guard_memory(interp, static_cast<size_t>(n)));
  std::string out(static_cast<size_t>(n), 0);
  out.resize(TFL_TRY(source.read(at, out.data(), out.size())));
  return interp.bytes(std::move(out));
}

Result<Value> np_stored_head(Interp& interp, Value* args) {
  StoredBytes source = TFL_TRY(StoredBytes::of(interp, args[0]));
  int64_t at = TFL_TRY(to_index(interp, args[1])), packed = TFL_TRY(to_index(interp, args[2])),
          method = TFL_TRY(to_index(interp, args[3]));
  auto n = static_cast<size_t>(std::max<int64_t>(TFL_TRY(to_index(interp, args[4])), 0));
  std::string out;
  TFL_TRY(unpack(source, at, packed, method, [&](const char* data, size_t size) {
    out.append(data, std::min(size, n - out.size()));
    return out.size() < n;
  }));
  return interp.bytes(std::move(out));
}

Result<Value> np_stored_elements(Interp& interp, Value* args) {
  StoredBytes source = TFL_TRY(StoredBytes::of(interp, args[0]));
  int64_t at = TFL_TRY(to_index(interp, args[1])), packed = TFL_TRY(to_index(interp, args[2])),
          method = TFL_TRY(to_index(interp, args[3]));
  int64_t full = TFL_TRY(to_index(interp, args[4])), skip = TFL_TRY(to_index(interp, args[6]));
  bool checked = !args[5].is_none();
  int64_t crc = checked ? TFL_TRY(to_index(interp, args[5])) : 0;
  DType dtype = TFL_TRY(to_numpy_dtype(interp, args[7]));
  Dims dims = TFL_TRY(to_dims(interp, args[8]));
  int64_t elements = TFL_TRY(element_count(dims)), bytes;
  if (dtype == DType::String || packed < 0 || packed > source.size() || at < 0 || at > source.size() - packed || skip < 0 ||
      full < skip || (method == kDeflated ? full / kMostDeflated > packed : full != packed) ||
      __builtin_mul_overflow(elements, static_cast<int64_t>(dtype_size(dtype)), &bytes) || bytes > full - skip)
    return fail(ErrorKind::ValueError, "the file ends too early");
  Tensor t = TFL_TRY(Tensor::empty(interp.context, dtype, dims));
  auto* to = reinterpret_cast<char*>(t.raw());
  int64_t total = 0;  // bytes so far
  uLong sum = ::crc32(0, nullptr, 0);
  TFL_TRY(unpack(source, at, packed, method, [&](const char* data, size_t size) {
    auto n = static_cast<int64_t>(size), first = std::clamp<int64_t>(skip - total, 0, n),
         last = std::clamp<int64_t>(skip + bytes - total, first, n);
    if (last > first) std::memcpy(to + (total + first - skip), data + first, static_cast<size_t>(last - first));
    if (checked) sum = ::crc32(sum, reinterpret_cast<const Bytef*>(data), static_cast<uInt>(size));
    total += n;
    return total <= full;
  }));
  if (total != full || (checked && static_cast<int64_t>(sum) != crc))
    return fail(ErrorKind::ValueError, "the .npz file is damaged: a checksum is wrong");
  if (dtype == DType::Bool) {
    for (int64_t i = 0; i < elements; ++i) t.data<uint8_t>()[i] = t.data<uint8_t>()[i] != 0;
  }
  return ndarray_value(interp, t);
}

}  // namespace tfl
