// StringIO and BytesIO of the module `_memory_io`. Text lies in a string of the language, so that places in it are found as there; what
// getvalue() has given away is copied before the next write.
#include <algorithm>

#include "frontend/core/buffer.h"
#include "frontend/core/exception.h"
#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"
#include "frontend/core/str.h"
#include "frontend/text/utf8.h"

namespace tfl::streams_in_memory {

namespace {

enum class Lines : uint8_t { Newline, Any, Return, Both };  // what ends a line: \n, any of the three, \r, \r\n

struct Stream : Object {
  Value content;      // Str or Bytes
  int64_t place = 0;  // characters or bytes; may lie behind the end
  size_t at = 0;      // bytes, of a place within
  Lines lines = Lines::Newline;
  bool translate = false;  // \r\n and \r become \n when they are written
  bool text = false;
  bool closed = false;
};

Stream& of(const Value& v) { return *v.as<Stream>(); }
const std::string& bytes_of(const Stream& s) { return s.text ? s.content.as<Str>()->text : s.content.as<Bytes>()->data; }
int64_t size_of(const Stream& s) { return s.text ? str_length(s.content.as<Str>()) : static_cast<int64_t>(bytes_of(s).size()); }

Result<void> check_open(const Stream& s) {
  if (!s.closed) return {};
  return fail(ErrorKind::ValueError, "I/O operation on closed file{}", s.text ? "" : ".");
}

void go_to(Stream& s, int64_t place) {
  s.place = place;
  if (place > size_of(s))
    s.at = bytes_of(s).size();
  else
    s.at = s.text ? str_offset(s.content.as<Str>(), place) : static_cast<size_t>(place);
}

Value piece_of(Interp& interp, const Stream& s, std::string_view piece) {
  return s.text ? interp.str(std::string(piece)) : interp.bytes(std::string(piece));
}

/// The content to write into: nobody else sees it.
std::string& own(Interp& interp, Stream& s) {
  if (s.content.counted()->refs != 1 || (s.text && s.content.as<Str>()->interned)) {
    int64_t length = size_of(s);
    s.content = piece_of(interp, s, bytes_of(s));
    if (s.text) s.content.as<Str>()->length = length;
  }
  if (s.text) s.content.as<Str>()->hash = 0;
  return s.text ? s.content.as<Str>()->text : s.content.as<Bytes>()->data;
}

/// Writes `count` characters (or bytes) at the place in hand.
Result<void> put(Interp& interp, Stream& s, std::string_view piece, int64_t count) {
  if (piece.empty()) return {};
  int64_t length = size_of(s);
  auto room = static_cast<size_t>(std::max<int64_t>(0, s.place - length));
  TFL_TRY(guard_memory(interp, piece.size() + room >= bytes_of(s).capacity() - bytes_of(s).size()
                                   ? bytes_of(s).size() * 2 + piece.size() + room
                                   : 0));
  std::string& data = own(interp, s);
  if (room > 0) {
    data.append(room, '\0');
    length = s.place;
    s.at = data.size();
  }
  size_t replaced = 0;
  if (s.place < length) {
    std::string_view rest = std::string_view(data).substr(s.at);
    int64_t over = std::min(count, length - s.place);
    replaced = !s.text ? static_cast<size_t>(over) : utf8::offset(rest, over);
  }
  data.replace(s.at, replaced, piece);
  s.place += count;
  s.at += piece.size();
  if (s.text) {
    s.content.as<Str>()->length = std::max(length, s.place);
    if (replaced > 0) s.content.as<Str>()->places.reset();
  }
  return {};
}

std::string replaced_all(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  for (size_t at = 0;;) {
    size_t found = text.find(what, at);
    out += text.substr(at, found - at);
    if (found == std::string_view::npos) return out;
    out += with;
    at = found + what.size();
  }
}

Result<void> write_text(Interp& interp, Stream& s, const Value& v) {
  Str* piece = v.as<Str>();
  const bool returns = s.translate && piece->text.find('\r') != std::string::npos;
  const bool lines = (s.lines == Lines::Return || s.lines == Lines::Both) && piece->text.find('\n') != std::string::npos;
  if (!returns && !lines) return put(interp, s, piece->text, str_length(piece));
  std::string text = returns ? replaced_all(replaced_all(piece->text, "\r\n", "\n"), "\r", "\n")
                             : replaced_all(piece->text, "\n", s.lines == Lines::Return ? "\r" : "\r\n");
  return put(interp, s, text, utf8::count(text));
}

// --------------------------------------------------------------------------------------------------- construction

Result<void> begin_text(Interp& interp, Stream& s, const Value& initial, const Value& newline) {
  s.text = true;
  s.content = interp.str(std::string());
  s.content.as<Str>()->length = 0;
  s.place = 0;
  s.at = 0;
  s.closed = false;
  if (!initial.is_empty() && !initial.is_none() && !initial.is_str()) {
    return fail(ErrorKind::TypeError, "initial_value must be str or None, not {}", interp.type_name(initial));
  }
  std::string mode = newline.is_empty() ? "\n" : "";
  if (newline.is_none())
    s.translate = true;
  else if (newline.is_str())
    mode = text_of(newline);
  else if (!newline.is_empty())
    return fail(ErrorKind::TypeError, "newline must be str or None, not {}", interp.type_name(newline));
  if (mode != "" && mode != "\n" && mode != "\r" && mode != "\r\n") {
    std::string shown = TFL_TRY(repr_text(interp, newline));
    return fail(ErrorKind::ValueError, "illegal newline value: {}", shown);
  }
  s.lines = s.translate || mode == "\n" ? Lines::Newline : mode.empty() ? Lines::Any : mode == "\r" ? Lines::Return : Lines::Both;
  if (!initial.is_str()) return {};
  TFL_TRY(write_text(interp, s, initial));
  go_to(s, 0);
  return {};
}

Result<void> begin_bytes(Interp& interp, Stream& s, const Value& initial) {
  s.content = interp.bytes({});
  s.place = 0;
  s.at = 0;
  s.closed = false;
  if (initial.is_empty() || initial.is_none()) return {};
  Value given = TFL_TRY(bytes_like(interp, initial));
  s.content = given.is(Kind::Bytes) ? given : interp.bytes(given.as<Bytes>()->data);
  return {};
}

Result<Value> text_new(Interp& interp, Type* type, CallArgs& args) {
  Value out[2];
  if (!(type->script && has_script_init(interp, type)))
    TFL_TRY(take_arguments(interp, "StringIO", args, {"initial_value", "newline"}, 0, 0, out));
  auto* s = interp.allocate<Stream>(type);
  Value self = Value::adopt(s);
  TFL_TRY(begin_text(interp, *s, out[0], out[1]));
  return self;
}

Result<Value> bytes_new(Interp& interp, Type* type, CallArgs& args) {
  Value out[1];
  if (!(type->script && has_script_init(interp, type)))
    TFL_TRY(take_arguments(interp, "BytesIO", args, {"initial_bytes"}, 0, 0, out));
  auto* s = interp.allocate<Stream>(type);
  Value self = Value::adopt(s);
  TFL_TRY(begin_bytes(interp, *s, out[0]));
  return self;
}

Result<Value> text_init(Interp& interp, Value* a) {
  TFL_TRY(begin_text(interp, of(a[0]), a[1], a[2]));
  return Value::none();
}

Result<Value> bytes_init(Interp& interp, Value* a) {
  TFL_TRY(begin_bytes(interp, of(a[0]), a[1]));
  return Value::none();
}

// --------------------------------------------------------------------------------------------- reading and writing

Result<Value> write(Interp& interp, Value* a) {
  Stream& s = of(a[0]);
  if (s.text) {
    TFL_TRY(check_open(s));
    if (!a[1].is_str()) return fail(ErrorKind::TypeError, "string argument expected, got '{}'", interp.type_name(a[1]));
    TFL_TRY(write_text(interp, s, a[1]));
    return Value::integer(str_length(a[1].as<Str>()));
  }
  TFL_TRY(check_open(s));
  Value keep = TFL_TRY(bytes_like(interp, a[1]));
  const std::string& piece = keep.as<Bytes>()->data;
  TFL_TRY(put(interp, s, piece, static_cast<int64_t>(piece.size())));
  return Value::integer(static_cast<int64_t>(piece.size()));
}

/// A size that may be None or negative: everything.
Result<int64_t> amount(Interp& interp, const Value& v) {
  if (v.is_none()) return int64_t{-1};
  auto n = to_index(interp, v);
  if (!n && !n.error().payload && n.error().kind == ErrorKind::TypeError) {
    return fail(ErrorKind::TypeError, "argument should be integer or None, not '{}'", interp.type_name(v));
  }
  return n;
}

Value take(Interp& interp, Stream& s, size_t bytes, int64_t count) {
  const std::string& data = bytes_of(s);
  if (s.at == 0 && bytes == data.size() && bytes > 0) {
    s.at = bytes;
    s.place = count;
    return s.content;
  }
  Value piece = piece_of(interp, s, std::string_view(data).substr(s.at, bytes));
  s.at += bytes;
  s.place += count;
  return piece;
}

Result<Value> read(Interp& interp, Value* a) {
  Stream& s = of(a[0]);
  TFL_TRY(check_open(s));
  int64_t n = TFL_TRY(amount(interp, a[1]));
  int64_t left = std::max<int64_t>(0, size_of(s) - s.place);
  if (n < 0 || n >= left) return take(interp, s, left == 0 ? 0 : bytes_of(s).size() - s.at, left);
  return take(interp, s, s.text ? utf8::offset(std::string_view(bytes_of(s)).substr(s.at), n) : static_cast<size_t>(n), n);
}

/// Bytes of the line that begins at the place in hand.
size_t line_bytes(const Stream& s) {
  std::string_view rest = std::string_view(bytes_of(s)).substr(s.at);
  size_t end = s.lines == Lines::Any    ? rest.find_first_of("\r\n")
               : s.lines == Lines::Both ? rest.find("\r\n")
                                        : rest.find(s.lines == Lines::Return ? '\r' : '\n');
  if (end == std::string_view::npos) return rest.size();
  bool two =
      s.lines == Lines::Both || (s.lines == Lines::Any && rest[end] == '\r' && end + 1 < rest.size() && rest[end + 1] == '\n');
  return end + (two ? 2 : 1);
}

Value take_line(Interp& interp, Stream& s, int64_t most) {
  if (s.place >= size_of(s)) return s.text ? interp.str(std::string()) : interp.bytes({});
  size_t bytes = line_bytes(s);
  std::string_view line = std::string_view(bytes_of(s)).substr(s.at, bytes);
  int64_t count = s.text ? utf8::count(line) : static_cast<int64_t>(bytes);
  if (most >= 0 && most < count) {
    bytes = s.text ? utf8::offset(line, most) : static_cast<size_t>(most);
    count = most;
  }
  return take(interp, s, bytes, count);
}

Result<Value> readline(Interp& interp, Value* a) {
  TFL_TRY(check_open(of(a[0])));
  int64_t n = TFL_TRY(amount(interp, a[1]));
  return take_line(interp, of(a[0]), n);
}

Result<Value> next_line(Interp& interp, const Value& self) {
  Stream& s = of(self);
  if (self.object()->type->script) {
    Value line = TFL_TRY(interp.call_method(self, interp.intern("readline"), {}));
    bool more = TFL_TRY(truth(interp, line));
    return more ? line : Value();
  }
  TFL_TRY(check_open(s));
  if (s.place >= size_of(s)) return Value();
  return take_line(interp, s, -1);
}

Result<Value> iterate(Interp&, const Value& self) {
  if (of(self).closed) return fail(ErrorKind::ValueError, "I/O operation on closed file.");
  return self;
}

Result<Value> readlines(Interp& interp, Value* a) {
  TFL_TRY(check_open(of(a[0])));
  int64_t hint = TFL_TRY(amount(interp, a[1])), size = 0;
  std::vector<Value> lines;
  for (;;) {
    Value line = TFL_TRY(next_line(interp, a[0]));
    if (line.is_empty()) break;
    size += TFL_TRY(length(interp, line));
    lines.push_back(std::move(line));
    if (hint > 0 && size >= hint) break;
  }
  return interp.list(std::move(lines));
}

Result<Value> writelines(Interp& interp, Value* a) {
  TFL_TRY(check_open(of(a[0])));
  TFL_TRY(for_each(interp, a[1], [&](Value line) -> Result<bool> {
    TFL_TRY(interp.call_method(a[0], interp.intern("write"), {line}));
    return true;
  }));
  return Value::none();
}

Result<Value> getvalue(Interp&, Value* a) {
  TFL_TRY(check_open(of(a[0])));
  return of(a[0]).content;
}

Result<Value> seek(Interp& interp, Value* a) {
  Stream& s = of(a[0]);
  TFL_TRY(check_open(s));
  int64_t to = TFL_TRY(to_index(interp, a[1])), whence = TFL_TRY(to_index(interp, a[2]));
  if (whence < 0 || whence > 2)
    return fail(ErrorKind::ValueError, "{}nvalid whence ({}, should be 0, 1 or 2)", s.text ? "I" : "i", whence);
  if (whence == 0 && to < 0) {
    if (s.text) return fail(ErrorKind::ValueError, "Negative seek position {}", to);
    return fail(ErrorKind::ValueError, "negative seek value {}", to);
  }
  if (whence != 0) {
    if (s.text && to != 0) return fail(ErrorKind::OSError, "Can't do nonzero cur-relative seeks");
    int64_t from = whence == 1 ? s.place : size_of(s);
    if (__builtin_add_overflow(from, to, &to)) return fail(ErrorKind::OverflowError, "new position too large");
    to = std::max<int64_t>(0, to);
  }
  go_to(s, to);
  return Value::integer(to);
}

Result<Value> tell(Interp&, Value* a) {
  TFL_TRY(check_open(of(a[0])));
  return Value::integer(of(a[0]).place);
}

Result<Value> truncate(Interp& interp, Value* a) {
  Stream& s = of(a[0]);
  TFL_TRY(check_open(s));
  int64_t size = s.place;
  if (!a[1].is_none()) size = TFL_TRY(amount(interp, a[1]));
  if (size < 0) return fail(ErrorKind::ValueError, "{}egative size value {}", s.text ? "N" : "n", size);
  if (size >= size_of(s)) return Value::integer(size);
  std::string_view kept = bytes_of(s);
  kept = kept.substr(0, s.text ? str_offset(s.content.as<Str>(), size) : static_cast<size_t>(size));
  s.content = piece_of(interp, s, kept);
  go_to(s, s.place);
  return Value::integer(size);
}

Result<Value> close(Interp& interp, Value* a) {
  Stream& s = of(a[0]);
  s.closed = true;
  s.content = s.text ? interp.str(std::string()) : interp.bytes({});
  s.at = 0;
  return Value::none();
}

Result<Value> flush(Interp&, Value* a) {
  TFL_TRY(check_open(of(a[0])));
  return Value::none();
}

Result<Value> yes(Interp&, Value* a) {
  TFL_TRY(check_open(of(a[0])));
  return Value::boolean(true);
}

Result<Value> no(Interp&, Value* a) {
  TFL_TRY(check_open(of(a[0])));
  return Value::boolean(false);
}

Result<Value> fileno(Interp&, Value*) { return fail(ErrorKind::UnsupportedOperation, "fileno"); }
Result<Value> closed(Interp&, Value* a) { return Value::boolean(of(a[0]).closed); }
Result<Value> nothing(Interp&, Value*) { return Value::none(); }
Result<Value> not_buffered(Interp&, Value*) { return Value::boolean(false); }

Result<Value> enter(Interp&, Value* a) {
  if (of(a[0]).closed) return fail(ErrorKind::ValueError, "I/O operation on closed file.");
  return a[0];
}

Result<Value> leave(Interp& interp, Value* a) { return interp.call_method(a[0], interp.intern("close"), {}); }

#define TFL_STREAM_METHODS                                                                                                     \
  method("write", "self, s, /", write), method("read", "self, size=-1, /", read),                                              \
      method("readline", "self, size=-1, /", readline), method("readlines", "self, hint=None, /", readlines),                  \
      method("writelines", "self, lines, /", writelines), method("getvalue", "self, /", getvalue),                             \
      method("seek", "self, pos, whence=0, /", seek), method("tell", "self, /", tell),                                         \
      method("truncate", "self, pos=None, /", truncate), method("close", "self, /", close), method("flush", "self, /", flush), \
      method("readable", "self, /", yes), method("writable", "self, /", yes), method("seekable", "self, /", yes),              \
      method("isatty", "self, /", no), method("fileno", "self, /", fileno), method("__enter__", "self, /", enter),             \
      method("__exit__", "self, *exc_info", leave), getter("closed", closed)

/// readinto(buffer): how many bytes it now holds.
Result<Value> readinto(Interp& interp, Value* a) {
  std::span<char> to = TFL_TRY(writable_buffer(interp, a[1], "readinto() argument must be read-write bytes-like object"));
  Value args[2] = {a[0], Value::integer(static_cast<int64_t>(to.size()))};
  Value read_in = TFL_TRY(read(interp, args));
  const std::string& data = read_in.as<Bytes>()->data;
  std::copy(data.begin(), data.end(), to.begin());
  return Value::integer(static_cast<int64_t>(data.size()));
}

/// getbuffer(): a view of the content as it is now.
Result<Value> getbuffer(Interp& interp, Value* a) {
  Value content = TFL_TRY(getvalue(interp, a));
  return interp.call(Value::share(interp.types.memory_view), {content});
}

constexpr NativeDef kTextMethods[] = {method("__init__", "self, initial_value=..., newline=...", text_init),
                                      TFL_STREAM_METHODS,
                                      getter("line_buffering", not_buffered),
                                      getter("encoding", nothing),
                                      getter("errors", nothing),
                                      getter("newlines", nothing)};
constexpr NativeDef kBytesMethods[] = {method("__init__", "self, initial_bytes=...", bytes_init), TFL_STREAM_METHODS,
                                       method("read1", "self, size=-1, /", read), method("readinto", "self, buffer, /", readinto),
                                       method("getbuffer", "self, /", getbuffer)};
#undef TFL_STREAM_METHODS

const Slots kText = {.kind = Kind::Native,
                     .destroy = destroy_object<Stream>,
                     .construct = text_new,
                     .iter = iterate,
                     .next = next_line,
                     .has_dict = true};
const Slots kBytes = {.kind = Kind::Native,
                      .destroy = destroy_object<Stream>,
                      .construct = bytes_new,
                      .iter = iterate,
                      .next = next_line,
                      .has_dict = true};

}  // namespace

}  // namespace tfl::streams_in_memory

namespace tfl {

Result<void> init_memory_io(Interp& interp, Module& module) {
  using namespace streams_in_memory;
  define_native_type(interp, module, "StringIO", kText, kTextMethods, "_io");
  define_native_type(interp, module, "BytesIO", kBytes, kBytesMethods, "_io");
  return {};
}

}  // namespace tfl
