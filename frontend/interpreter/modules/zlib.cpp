// The module `_zlib`: streams that compress and decompress, for stdlib/python/zlib.tfl and what stands on it (gzip, zipfile, tarfile). The class of
// the errors is put into it by zlib.tfl.
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "frontend/core/buffer.h"
#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"

namespace tfl::compression {

namespace {

constexpr size_t kPiece = size_t{1} << 20;  // how much of a large operand goes through before memory and interrupts are looked at

struct Stream : Object {
  z_stream z{};
  bool open = false, packs = false, ended = false;
  std::string dictionary;
  std::string unused, rest;  // bytes behind the end of the stream; bytes that a limit has left
  ~Stream() {
    if (open) (packs ? deflateEnd : inflateEnd)(&z);
  }
};

Stream& of(const Value& v) { return *v.as<Stream>(); }

extern const Slots kStream;

/// zlib's own words for a status, as Python's module gives them.
Failure wrong(Interp& interp, const z_stream& z, int status, const char* doing) {
  const char* why = status == Z_BUF_ERROR       ? "incomplete or truncated stream"
                    : status == Z_VERSION_ERROR ? "library version mismatch"
                    : z.msg                     ? z.msg
                    : status == Z_STREAM_ERROR  ? "inconsistent stream state"
                    : status == Z_DATA_ERROR    ? "invalid input data"
                                                : nullptr;
  if (status == Z_MEM_ERROR) return fail(ErrorKind::MemoryError, "Out of memory while {}", doing);
  return module_error(
      interp, "_zlib", "error",
      why ? fmt::format("Error {} while {}: {}", status, doing, why) : fmt::format("Error {} while {}", status, doing));
}

Result<int> number(Interp& interp, const Value& v) {
  int64_t n = TFL_TRY(to_index(interp, v));
  if (n < std::numeric_limits<int>::min() || n > std::numeric_limits<int>::max())
    return fail(ErrorKind::OverflowError, "Python int too large to convert to C int");
  return static_cast<int>(n);
}

Result<Value> made(Interp& interp) {
  Type* type = TFL_TRY(module_type(interp, "_zlib", "Stream", kStream));
  return Value::adopt(interp.allocate<Stream>(type));
}

/// compressor(level, method, wbits, memory level, strategy, dictionary)
Result<Value> make_compressor(Interp& interp, Value* a) {
  int numbers[5];
  for (int i = 0; i < 5; ++i) numbers[i] = TFL_TRY(number(interp, a[i]));
  Value held_dictionary = TFL_TRY(bytes_like(interp, a[5]));
  const std::string& dictionary = held_dictionary.as<Bytes>()->data;
  Value v = TFL_TRY(made(interp));
  Stream& s = of(v);
  s.packs = true;
  int status = deflateInit2(&s.z, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
  if (status == Z_STREAM_ERROR) return fail(ErrorKind::ValueError, "Invalid initialization option");
  if (status != Z_OK) return wrong(interp, s.z, status, "creating compression object");
  s.open = true;
  if (!dictionary.empty() && deflateSetDictionary(&s.z, reinterpret_cast<const Bytef*>(dictionary.data()),
                                                  static_cast<uInt>(dictionary.size())) != Z_OK) {
    return fail(ErrorKind::ValueError, "Invalid dictionary");
  }
  return v;
}

/// decompressor(wbits, dictionary)
Result<Value> make_decompressor(Interp& interp, Value* a) {
  int wbits = TFL_TRY(number(interp, a[0]));
  Value held_dictionary = TFL_TRY(bytes_like(interp, a[1]));
  const std::string& dictionary = held_dictionary.as<Bytes>()->data;
  Value v = TFL_TRY(made(interp));
  Stream& s = of(v);
  int status = inflateInit2(&s.z, wbits);
  if (status == Z_STREAM_ERROR) return fail(ErrorKind::ValueError, "Invalid initialization option");
  if (status != Z_OK) return wrong(interp, s.z, status, "creating decompression object");
  s.open = true;
  s.dictionary = dictionary;
  if (wbits < 0 && !dictionary.empty())
    inflateSetDictionary(&s.z, reinterpret_cast<const Bytef*>(dictionary.data()), static_cast<uInt>(dictionary.size()));
  return v;
}

/// Room for more output, which grows with what is there.
Result<void> make_room(Interp& interp, std::string& out, size_t used, size_t most) {
  size_t more = std::min(std::clamp<size_t>(used, 4096, kPiece), most - used);
  TFL_TRY(guard_memory(interp, more));
  out.resize(used + more);
  return {};
}

Result<void> hear_interrupts(Interp& interp) {
  if (interp.context.interrupt.load(std::memory_order_relaxed)) [[unlikely]]
    return interp.check_interrupt();
  return {};
}

/// deflate(data, flush): what comes out when data goes in.
Result<Value> pack(Interp& interp, Value* a) {
  Stream& s = of(a[0]);
  Value held_data = TFL_TRY(bytes_like(interp, a[1]));
  const std::string& data = held_data.as<Bytes>()->data;
  int flush = TFL_TRY(number(interp, a[2]));
  if (!s.packs || !s.open) return wrong(interp, s.z, Z_STREAM_ERROR, "compressing data");
  std::string out;
  size_t used = 0, at = 0;
  int status = Z_OK;
  do {
    size_t piece = std::min(kPiece, data.size() - at);
    s.z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data() + at));
    s.z.avail_in = static_cast<uInt>(piece);
    at += piece;
    int mode = at == data.size() ? flush : Z_NO_FLUSH;
    do {
      if (used == out.size()) TFL_TRY(make_room(interp, out, used, std::numeric_limits<size_t>::max()));
      s.z.next_out = reinterpret_cast<Bytef*>(out.data() + used);
      s.z.avail_out = static_cast<uInt>(out.size() - used);
      status = deflate(&s.z, mode);
      used = out.size() - s.z.avail_out;
      if (status == Z_STREAM_ERROR) return wrong(interp, s.z, status, "compressing data");
    } while (s.z.avail_out == 0);
    TFL_TRY(hear_interrupts(interp));
  } while (at < data.size());
  if (flush == Z_FINISH && status == Z_STREAM_END) {
    deflateEnd(&s.z);
    s.open = false;
  }
  out.resize(used);
  return interp.bytes(std::move(out));
}

/// inflate(data, limit): at most limit bytes of what data stands for; limit 0: all of it.
Result<Value> unpack(Interp& interp, Value* a) {
  Stream& s = of(a[0]);
  Value held_given = TFL_TRY(bytes_like(interp, a[1]));
  const std::string& given = held_given.as<Bytes>()->data;
  int64_t limit = TFL_TRY(to_index(interp, a[2]));
  if (limit < 0) return fail(ErrorKind::ValueError, "max_length must be non-negative");
  const size_t most = limit == 0 ? std::numeric_limits<size_t>::max() : static_cast<size_t>(limit);
  s.rest.clear();
  if (s.ended) {
    s.unused += given;
    return interp.bytes({});
  }
  std::string out;
  size_t used = 0, at = 0;
  int status = Z_OK;
  for (;;) {
    size_t piece = std::min(kPiece, given.size() - at);
    s.z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(given.data() + at));
    s.z.avail_in = static_cast<uInt>(piece);
    do {
      if (used == out.size()) {
        if (used == most) break;
        TFL_TRY(make_room(interp, out, used, most));
      }
      s.z.next_out = reinterpret_cast<Bytef*>(out.data() + used);
      s.z.avail_out = static_cast<uInt>(out.size() - used);
      status = inflate(&s.z, Z_SYNC_FLUSH);
      used = out.size() - s.z.avail_out;
      if (status == Z_NEED_DICT && !s.dictionary.empty()) {
        status = inflateSetDictionary(&s.z, reinterpret_cast<const Bytef*>(s.dictionary.data()),
                                      static_cast<uInt>(s.dictionary.size()));
        if (status != Z_OK) return wrong(interp, s.z, status, "setting zdict");
        continue;
      }
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return wrong(interp, s.z, status, "decompressing data");
    } while (status != Z_STREAM_END && (s.z.avail_in > 0 || s.z.avail_out == 0));
    at += piece - s.z.avail_in;
    if (status == Z_STREAM_END) {
      s.ended = true;
      s.unused = given.substr(at);
      break;
    }
    if (at >= given.size() || used == most) break;
    TFL_TRY(hear_interrupts(interp));
  }
  s.rest = given.substr(at);
  out.resize(used);
  return interp.bytes(std::move(out));
}

/// copy(): a stream that goes on from here.
Result<Value> copy(Interp& interp, Value* a) {
  Stream& s = of(a[0]);
  if (!s.open) return fail(ErrorKind::ValueError, "Inconsistent stream state");
  Value v = TFL_TRY(made(interp));
  Stream& to = of(v);
  to.packs = s.packs;
  int status = (s.packs ? deflateCopy : inflateCopy)(&to.z, &s.z);
  if (status != Z_OK) return wrong(interp, s.z, status, "copying a stream");
  to.open = true;
  to.ended = s.ended, to.dictionary = s.dictionary, to.unused = s.unused, to.rest = s.rest;
  return v;
}

Result<Value> ended(Interp&, Value* a) { return Value::boolean(of(a[0]).ended); }
Result<Value> unused(Interp& interp, Value* a) { return interp.bytes(of(a[0]).unused); }
Result<Value> rest(Interp& interp, Value* a) { return interp.bytes(of(a[0]).rest); }

/// adler32(data, value)
Result<Value> adler(Interp& interp, Value* a) {
  Value held_data = TFL_TRY(bytes_like(interp, a[0]));
  const std::string& data = held_data.as<Bytes>()->data;
  auto sum = static_cast<uint32_t>(TFL_TRY(to_index(interp, a[1])));
  return Value::integer(static_cast<int64_t>(adler32_z(sum, reinterpret_cast<const Bytef*>(data.data()), data.size())));
}

const Slots kStream = {.kind = Kind::Native, .destroy = destroy_object<Stream>};

constexpr NativeDef kMethods[] = {
    method("deflate", "self, data, flush, /", pack),
    method("inflate", "self, data, limit, /", unpack),
    method("copy", "self, /", copy),
    getter("ended", ended),
    getter("unused", unused),
    getter("rest", rest),
};
constexpr NativeDef kFunctions[] = {
    function("compressor", "level, method, wbits, memory_level, strategy, dictionary, /", make_compressor),
    function("decompressor", "wbits, dictionary, /", make_decompressor),
    function("adler32", "data, value, /", adler),
};

}  // namespace

}  // namespace tfl::compression

namespace tfl {

Result<void> init_zlib(Interp& interp, Module& module) {
  define_all(interp, module, compression::kFunctions);
  define_native_type(interp, module, "Stream", compression::kStream, compression::kMethods, "zlib");
  return {};
}

}  // namespace tfl
