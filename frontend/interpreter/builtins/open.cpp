// open().
#include "frontend/interpreter/builtins/open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "frontend/core/file_access.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/file.h"
#include "frontend/text/codec.h"
#include "frontend/text/quote.h"
#include "runtime/files/whole_file.h"

namespace tfl {

namespace {

struct Mode {
  char kind = 0;  // r, w, a, x
  bool plus = false, binary = false;
};

Result<Mode> parse_mode(const std::string& text) {
  Mode m;
  int kinds = 0;
  bool is_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (std::string_view("rwaxbt+").find(c) == std::string_view::npos || text.find(c, i + 1) != std::string::npos) {
      return fail(ErrorKind::ValueError, "invalid mode: {}", quote_text(text));
    }
    if (c == '+')
      m.plus = true;
    else if (c == 'b')
      m.binary = true;
    else if (c == 't')
      is_text = true;
    else {
      m.kind = c;
      ++kinds;
    }
  }
  if (is_text && m.binary) return fail(ErrorKind::ValueError, "can't have text and binary mode at once");
  if (kinds > 1) return fail(ErrorKind::ValueError, "must have exactly one of create/read/write/append mode");
  if (kinds == 0)
    return fail(ErrorKind::ValueError, "Must have exactly one of create/read/write/append mode and at most one plus");
  return m;
}

Result<std::string> text_argument(Interp& interp, const Value& v, const char* name, const char* otherwise) {
  if (v.is_none()) return std::string(otherwise);
  if (v.is_str()) return text_of(v);
  return fail(ErrorKind::TypeError, "open() argument '{}' must be str or None, not {}", name, interp.type_name(v));
}

Failure not_regular(Interp& interp, const std::string& path) {
  return os_error_with_hint(interp, EACCES, path, "only regular files can be opened");
}

}  // namespace

Result<Value> builtin_open(Interp& interp, Value* a) {
  // file, mode, buffering, encoding, errors, newline, closefd, opener
  if (!a[1].is_str()) return fail(ErrorKind::TypeError, "open() argument 'mode' must be str, not {}", interp.type_name(a[1]));
  Mode m = TFL_TRY(parse_mode(text_of(a[1])));
  if (m.binary) {
    if (!a[3].is_none()) return fail(ErrorKind::ValueError, "binary mode doesn't take an encoding argument");
    if (!a[4].is_none()) return fail(ErrorKind::ValueError, "binary mode doesn't take an errors argument");
    if (!a[5].is_none()) return fail(ErrorKind::ValueError, "binary mode doesn't take a newline argument");
  }
  std::string encoding = TFL_TRY(text_argument(interp, a[3], "encoding", "UTF-8"));
  std::string errors = TFL_TRY(text_argument(interp, a[4], "errors", "strict"));
  std::string newline = TFL_TRY(text_argument(interp, a[5], "newline", ""));
  if (newline != "" && newline != "\n" && newline != "\r" && newline != "\r\n") {
    return fail(ErrorKind::ValueError, "illegal newline value: {}", newline);
  }
  if (!m.binary) TFL_TRY(encode_text("", encoding, errors));
  std::string path = TFL_TRY(path_argument(interp, a[0]));
  bool writing = m.kind != 'r' || m.plus;
  FilePlace place = TFL_TRY(find_file(interp, path, writing ? Access::Write : Access::Read));
  if (place.exists && S_ISDIR(place.status.st_mode)) return os_error(interp, EISDIR, path);
  if (place.as_folder && m.kind != 'r') return os_error(interp, EISDIR, path);
  if (place.exists && !S_ISREG(place.status.st_mode)) return not_regular(interp, path);
  int flags = m.kind == 'r' ? (m.plus ? O_RDWR : O_RDONLY) : m.plus ? O_RDWR : O_WRONLY;
  if (m.kind == 'w') flags |= O_CREAT | O_TRUNC;
  if (m.kind == 'x') flags |= O_CREAT | O_EXCL;
  if (m.kind == 'a') flags |= O_CREAT | (m.plus ? 0 : O_APPEND);
  Descriptor fd(::openat(place.folder.get(), place.name.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666));
  if (!fd) return os_error(interp, errno, path);
  struct stat st{};
  if (::fstat(fd.get(), &st) == 0 && !S_ISREG(st.st_mode)) return not_regular(interp, path);
  Type* type = interp.types.file;
  if (m.binary)
    type = m.plus ? interp.types.buffered_random : writing ? interp.types.buffered_writer : interp.types.buffered_reader;
  File* f = interp.allocate<File>(type);
  Value self = Value::adopt(f);
  f->fd = fd.release();
  f->can_read = m.kind == 'r' || m.plus;
  f->can_write = writing;
  f->binary = m.binary;
  f->append = m.kind == 'a';
  f->whole = f->can_read;
  f->universal = a[5].is_none();
  f->name = path;
  f->mode = text_of(a[1]);
  if (m.binary) f->mode = std::string(1, m.kind) + "b" + (m.plus ? "+" : "");
  f->encoding = encoding;
  f->errors = errors;
  f->newline = newline == "\n" ? "" : newline;
  if (m.kind == 'a') f->written = st.st_size;
  return self;
}

Result<Value> open_whole(Interp& interp, Value* a) {
  std::string path = TFL_TRY(path_argument(interp, a[0]));
  bool binary = text_of(a[1]) == "b";
  const std::string& encoding = text_of(a[2]);
  TFL_TRY(encode_text("", encoding, "strict"));
  FilePlace place = TFL_TRY(find_file(interp, path, Access::Write));
  if (place.exists && S_ISDIR(place.status.st_mode)) return os_error(interp, EISDIR, path);
  if (place.exists && !S_ISREG(place.status.st_mode)) return not_regular(interp, path);
  if (interp.sandbox.first_in_folder(place)) remove_left_parts(place.folder.get());
  auto target = std::make_unique<WholeFile>();
  if (int error = target->open(std::move(place))) return os_error(interp, error, path);
  File* f = interp.allocate<File>(binary ? interp.types.buffered_writer : interp.types.file);
  Value self = Value::adopt(f);
  f->fd = target->fd();
  f->target = std::move(target);
  f->can_write = true;
  f->binary = binary;
  f->name = path;
  f->mode = binary ? "wb" : "w";
  f->encoding = encoding;
  f->errors = "strict";
  return self;
}

Result<Value> open_records(Interp& interp, Value* a) {
  Value args[8] = {a[0],          a[1],          Value::integer(-1),   Value::none(),
                   Value::none(), Value::none(), Value::boolean(true), Value::none()};
  Value file = TFL_TRY(builtin_open(interp, args));
  file.as<File>()->records = true;
  return file;
}

}  // namespace tfl
