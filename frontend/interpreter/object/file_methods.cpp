// What scripts call on files.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "frontend/core/buffer.h"
#include "frontend/core/exception.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/file.h"
#include "frontend/text/codec.h"
#include "frontend/text/quote.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

File* self_file(Value* a) { return a[0].as<File>(); }

Result<void> need_open(File* f) {
  if (f->closed)
    return fail(ErrorKind::ValueError,
                f->binary && f->can_write && !f->can_read ? "write to closed file" : "I/O operation on closed file.");
  return {};
}
Result<void> need_readable(File* f) {
  TFL_TRY(need_open(f));
  if (!f->can_read) return fail(ErrorKind::UnsupportedOperation, f->binary ? "read" : "not readable");
  return {};
}
Result<void> need_writable(File* f) {
  TFL_TRY(need_open(f));
  if (!f->can_write) return fail(ErrorKind::UnsupportedOperation, f->binary ? "write" : "not writable");
  return {};
}

Value make(Interp& interp, File* f, std::string data) {
  return f->binary ? interp.bytes(std::move(data)) : interp.str(std::move(data));
}

Result<Value> read(Interp& interp, Value* a) {
  File* f = self_file(a);
  TFL_TRY(need_readable(f));
  int64_t size = -1;
  if (!a[1].is_none()) size = TFL_TRY(to_index(interp, a[1]));
  TFL_TRY(file_load(interp, f));
  if (f->role == File::Role::In) {
    while (size < 0 || static_cast<int64_t>(f->data.size() - f->position) < size * (f->binary ? 1 : 4)) {
      bool more = TFL_TRY(file_read_more(interp, f));
      if (!more) break;
    }
  }
  std::string_view rest = f->position < f->data.size() ? std::string_view(f->data).substr(f->position) : std::string_view();
  size_t n = rest.size();
  if (size >= 0) {
    if (f->binary)
      n = std::min(n, static_cast<size_t>(size));
    else if (size < utf8::count(rest))
      n = utf8::offset(rest, size);
  }
  TFL_TRY(guard_memory(interp, n));
  std::string out(rest.substr(0, n));
  f->position += n;
  if (f->role == File::Role::In && !f->binary) out = TFL_TRY(decode_text(out, f->encoding, f->errors));
  return make(interp, f, std::move(out));
}

/// readinto(buffer): how many bytes it now holds.
Result<Value> readinto(Interp& interp, Value* a) {
  constexpr std::string_view kWanted = "readinto() argument must be read-write bytes-like object";
  std::span<char> to = TFL_TRY(writable_buffer(interp, a[1], kWanted));
  if (!self_file(a)->binary) return fail(ErrorKind::UnsupportedOperation, "readinto");
  Value args[2] = {a[0], Value::integer(static_cast<int64_t>(to.size()))};
  Value read_in = TFL_TRY(read(interp, args));
  const std::string& data = read_in.as<Bytes>()->data;
  std::copy(data.begin(), data.end(), to.begin());
  return Value::integer(static_cast<int64_t>(data.size()));
}

Result<Value> readline(Interp& interp, Value* a) {
  File* f = self_file(a);
  TFL_TRY(need_readable(f));
  int64_t size = TFL_TRY(to_index(interp, a[1]));
  std::string line = TFL_TRY(file_read_line(interp, f));
  if (size >= 0) {
    size_t n = f->binary                  ? std::min(line.size(), static_cast<size_t>(size))
               : size < utf8::count(line) ? utf8::offset(line, size)
                                          : line.size();
    f->position -= line.size() - n;
    line.resize(n);
  }
  return make(interp, f, std::move(line));
}

Result<Value> next_line(Interp& interp, const Value& self) {
  File* f = self.as<File>();
  TFL_TRY(need_readable(f));
  std::string line = TFL_TRY(file_read_line(interp, f));
  if (line.empty()) return Value();
  return make(interp, f, std::move(line));
}

Result<Value> readlines(Interp& interp, Value* a) {
  std::vector<Value> lines;
  int64_t hint = -1;
  if (!a[1].is_none()) hint = TFL_TRY(to_index(interp, a[1]));
  int64_t total = 0;
  for (;;) {
    Value line = TFL_TRY(next_line(interp, a[0]));
    if (line.is_empty()) break;
    total += static_cast<int64_t>(line.is_str() ? text_of(line).size() : line.as<Bytes>()->data.size());
    lines.push_back(std::move(line));
    if (hint > 0 && total >= hint) break;
  }
  return interp.list(std::move(lines));
}

Result<Value> write(Interp& interp, Value* a) {
  File* f = self_file(a);
  TFL_TRY(need_writable(f));
  if (f->binary) {
    Value held = TFL_TRY(bytes_like(interp, a[1]));
    TFL_TRY(file_write(interp, f, held.as<Bytes>()->data));
    return Value::integer(static_cast<int64_t>(held.as<Bytes>()->data.size()));
  }
  if (!a[1].is_str()) return fail(ErrorKind::TypeError, "write() argument must be str, not {}", interp.type_name(a[1]));
  TFL_TRY(file_write(interp, f, text_of(a[1])));
  return Value::integer(str_length(a[1].as<Str>()));
}

Result<Value> writelines(Interp& interp, Value* a) {
  TFL_TRY(for_each(interp, a[1], [&](Value line) -> Result<bool> {
    Value args[2] = {a[0], std::move(line)};
    TFL_TRY(write(interp, args));
    return true;
  }));
  return Value::none();
}

Result<Value> flush(Interp& interp, Value* a) {
  TFL_TRY(need_open(self_file(a)));
  TFL_TRY(file_flush(interp, self_file(a)));
  return Value::none();
}

Result<Value> close(Interp& interp, Value* a) {
  File* f = self_file(a);
  if (f->closed) return Value::none();
  f->closed = true;
  auto flushed = file_flush(interp, f);
  int error = 0;
  if (f->target) {
    if (flushed) error = f->target->commit();
    f->target = nullptr;
    f->fd = -1;
  } else if (f->role == File::Role::Disk) {
    ::close(f->fd);
    f->fd = -1;
  }
  f->data.clear();
  if (!flushed) return flushed.failure();
  if (error) return os_error(interp, error, f->name);
  return Value::none();
}

Result<Value> enter(Interp&, Value* a) {
  TFL_TRY(need_open(self_file(a)));
  return a[0];
}
Result<Value> exit(Interp& interp, Value* a) {
  File* f = self_file(a);
  Value& kind = a[1].as<Tuple>()->size > 0 ? a[1].as<Tuple>()->items[0] : a[1];
  if (f->target && kind.is(Kind::Type)) {
    // Something has gone wrong before all was written.
    f->target = nullptr;
    f->fd = -1;
    f->data.clear();
    f->closed = true;
  }
  return close(interp, a);
}

Result<Value> tell(Interp&, Value* a) {
  File* f = self_file(a);
  TFL_TRY(need_open(f));
  if (f->whole) return Value::integer(static_cast<int64_t>(f->position));
  return Value::integer(f->written + static_cast<int64_t>(f->data.size()));
}

Result<Value> seek(Interp& interp, Value* a) {
  File* f = self_file(a);
  TFL_TRY(need_open(f));
  int64_t offset = TFL_TRY(to_index(interp, a[1]));
  int64_t whence = TFL_TRY(to_index(interp, a[2]));
  if (f->role != File::Role::Disk) return fail(ErrorKind::UnsupportedOperation, "underlying stream is not seekable");
  if (whence < 0 || whence > 2) return fail(ErrorKind::ValueError, "invalid whence ({}, should be 0, 1 or 2)", whence);
  if (!f->binary && whence != 0 && offset != 0) {
    return fail(ErrorKind::UnsupportedOperation,
                whence == 1 ? "can't do nonzero cur-relative seeks" : "can't do nonzero end-relative seeks");
  }
  if (f->whole) {
    TFL_TRY(file_load(interp, f));
    int64_t base = whence == 0 ? 0 : whence == 1 ? static_cast<int64_t>(f->position) : static_cast<int64_t>(f->data.size());
    if (base + offset < 0) {
      if (whence == 0) return fail(ErrorKind::ValueError, "negative seek position {}", offset);
      return os_error(interp, EINVAL, f->name);
    }
    f->position = static_cast<size_t>(base + offset);
    return Value::integer(base + offset);
  }
  TFL_TRY(file_flush(interp, f));
  off_t at = ::lseek(f->fd, offset, whence == 0 ? SEEK_SET : whence == 1 ? SEEK_CUR : SEEK_END);
  if (at < 0) return os_error(interp, errno, f->name);
  f->written = at;
  return Value::integer(at);
}

Result<Value> truncate(Interp& interp, Value* a) {
  File* f = self_file(a);
  TFL_TRY(need_writable(f));
  if (f->role != File::Role::Disk) return fail(ErrorKind::UnsupportedOperation, "truncate");
  TFL_TRY(file_load(interp, f));
  int64_t size = f->whole ? static_cast<int64_t>(f->position) : f->written + static_cast<int64_t>(f->data.size());
  if (!a[1].is_none()) size = TFL_TRY(to_index(interp, a[1]));
  if (size < 0) return os_error(interp, EINVAL, f->name);
  if (f->whole) {
    TFL_TRY(guard_memory(interp, static_cast<size_t>(size)));
    f->data.resize(static_cast<size_t>(size), '\0');
    f->changed = true;
  } else {
    TFL_TRY(file_flush(interp, f));
    if (::ftruncate(f->fd, size) != 0) return os_error(interp, errno, f->name);
  }
  return Value::integer(size);
}

Result<Value> readable(Interp&, Value* a) { return Value::boolean(self_file(a)->can_read); }
Result<Value> writable(Interp&, Value* a) { return Value::boolean(self_file(a)->can_write); }
Result<Value> seekable(Interp&, Value* a) { return Value::boolean(self_file(a)->role == File::Role::Disk); }
Result<Value> isatty(Interp&, Value* a) { return Value::boolean(self_file(a)->fd >= 0 && ::isatty(self_file(a)->fd) != 0); }
Result<Value> fileno(Interp&, Value* a) {
  TFL_TRY(need_open(self_file(a)));
  return Value::integer(self_file(a)->fd);
}
Result<Value> get_name(Interp& interp, Value* a) { return interp.str(self_file(a)->name); }
Result<Value> get_mode(Interp& interp, Value* a) { return interp.str(self_file(a)->mode); }
Result<Value> get_closed(Interp&, Value* a) { return Value::boolean(self_file(a)->closed); }
Result<Value> get_encoding(Interp& interp, Value* a) { return interp.str(self_file(a)->encoding); }
Result<Value> get_errors(Interp& interp, Value* a) { return interp.str(self_file(a)->errors); }

/// sys.stdout.buffer: the same stream, for bytes.
Result<Value> get_buffer(Interp& interp, Value* a) {
  File* f = self_file(a);
  if (f->role == File::Role::Disk)
    return fail(ErrorKind::UnsupportedOperation, "a text file has no buffer of its own here: open it in binary mode");
  File* b = interp.allocate<File>(f->can_read ? interp.types.buffered_reader : interp.types.buffered_writer);
  b->role = f->role;
  b->fd = f->fd;
  b->can_read = f->can_read;
  b->can_write = f->can_write;
  b->binary = true;
  b->name = f->name;
  b->mode = f->can_read ? "rb" : "wb";
  b->data = f->data.substr(f->position);
  return Value::adopt(b);
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  File* f = self.as<File>();
  if (f->binary) return interp.strf("<_io.{} name={}>", f->type->name->text, quote_text(f->name));
  return interp.strf("<_io.TextIOWrapper name={} mode='{}' encoding='{}'>", quote_text(f->name), f->mode, f->encoding);
}
Result<Value> iter_slot(Interp&, const Value& self) {
  TFL_TRY(need_open(self.as<File>()));
  return self;
}
Result<uint64_t> hash_slot(Interp&, const Value& self) { return reinterpret_cast<uintptr_t>(self.counted()) >> 4; }

constexpr NativeDef kMethods[] = {
    method("read", "self, size=-1, /", read),
    method("readinto", "self, buffer, /", readinto),
    method("readline", "self, size=-1, /", readline),
    method("readlines", "self, hint=-1, /", readlines),
    method("write", "self, text, /", write),
    method("writelines", "self, lines, /", writelines),
    method("flush", "self, /", flush),
    method("close", "self, /", close),
    method("seek", "self, cookie, whence=0, /", seek),
    method("tell", "self, /", tell),
    method("truncate", "self, pos=None, /", truncate),
    method("readable", "self, /", readable),
    method("writable", "self, /", writable),
    method("seekable", "self, /", seekable),
    method("isatty", "self, /", isatty),
    method("fileno", "self, /", fileno),
    method("__enter__", "self, /", enter),
    method("__exit__", "self, /, *args", exit),
    getter("name", get_name),
    getter("mode", get_mode),
    getter("closed", get_closed),
    getter("encoding", get_encoding),
    getter("errors", get_errors),
    getter("buffer", get_buffer),
};

}  // namespace

extern const Slots file_slots;

const Slots file_slots = {.kind = Kind::File,
                          .destroy = destroy_object<File>,
                          .repr = repr_slot,
                          .hash = hash_slot,
                          .iter = iter_slot,
                          .next = next_line};

std::span<const NativeDef> file_methods() { return kMethods; }

}  // namespace tfl
