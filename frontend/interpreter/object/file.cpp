#include "frontend/interpreter/object/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "frontend/core/exception.h"
#include "frontend/core/native.h"
#include "frontend/text/codec.h"
#include "frontend/text/quote.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

constexpr size_t kChunk = 64 * 1024;

/// After a failure: what a call could write in part goes again.
void cut_torn(File* f) {
  struct stat st{};
  if (::fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > f->written) (void)!::ftruncate(f->fd, f->written);
  (void)::lseek(f->fd, f->written, SEEK_SET);
}

/// Writes what waits; the file keeps its state when that fails.
int push(File* f) {
  if (f->fd < 0 || f->role != File::Role::Disk) return 0;
  if (f->whole) {
    if (!f->changed) return 0;
    f->changed = false;
    if (::lseek(f->fd, 0, SEEK_SET) < 0 || ::ftruncate(f->fd, 0) < 0) return errno;
    if (f->binary) return write_all(f->fd, f->data);
    auto encoded = encode_text(f->data, f->encoding, f->errors);
    return encoded ? write_all(f->fd, *encoded) : EILSEQ;
  }
  int error = write_all(f->fd, f->data);
  if (error == 0)
    f->written += static_cast<int64_t>(f->data.size());
  else if (f->records)
    cut_torn(f);
  f->data.clear();
  return error;
}

std::string universal_newlines(std::string s) {
  if (s.find('\r') == std::string::npos) return s;
  std::string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\r') {
      out += s[i];
      continue;
    }
    out += '\n';
    if (i + 1 < s.size() && s[i + 1] == '\n') ++i;
  }
  return out;
}

/// What is said of a file that was dropped and whose last bytes found no place.
std::string lost_text(const File* f, int error) {
  char buffer[256];
  std::string shown =
      f->binary ? fmt::format("<_io.{} name={}>", f->type->name->text, quote_text(f->name))
                : fmt::format("<_io.TextIOWrapper name={} mode='{}' encoding='{}'>", quote_text(f->name), f->mode, f->encoding);
  return fmt::format("Exception ignored in: {}\nOSError: [Errno {}] {}\n", shown, error,
                     ::strerror_r(error, buffer, sizeof buffer));
}

}  // namespace

Result<bool> file_read_more(Interp& interp, File* f) {
  char buffer[kChunk];
  for (;;) {
    interp.streams.flush();
    ssize_t n = ::read(f->fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) {
      TFL_TRY(interp.check_interrupt());
      continue;
    }
    if (n < 0) return os_error(interp, errno, f->name);
    if (n == 0) return false;
    TFL_TRY(guard_memory(interp, f->data.size() + static_cast<size_t>(n)));
    f->data.erase(0, f->position);
    f->position = 0;
    f->data.append(buffer, static_cast<size_t>(n));
    return true;
  }
}

Result<void> file_load(Interp& interp, File* f) {
  if (f->loaded || f->role != File::Role::Disk) return {};
  struct stat st{};
  if (::fstat(f->fd, &st) == 0 && st.st_size > 0) TFL_TRY(guard_memory(interp, static_cast<size_t>(st.st_size)));
  std::string raw;
  char buffer[kChunk];
  for (;;) {
    ssize_t n = ::read(f->fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) {
      TFL_TRY(interp.check_interrupt());
      continue;
    }
    if (n < 0) return os_error(interp, errno, f->name);
    if (n == 0) break;
    raw.append(buffer, static_cast<size_t>(n));
    if (raw.size() % (kChunk * 16) == 0) TFL_TRY(guard_memory(interp, raw.size()));
  }
  if (!f->binary) {
    CodecFault fault;
    auto text = decode_text(raw, f->encoding, f->errors, &fault);
    if (!text) return codec_failure(interp, text.failure(), fault, interp.bytes(std::move(raw)));
    raw = text.take();
    if (f->universal) raw = universal_newlines(std::move(raw));
  }
  f->data = std::move(raw);
  f->loaded = true;
  return {};
}

File::~File() {
  if (role == Role::Disk && fd >= 0) end_dropped(Interp::of(this), this);
}

void end_dropped(Interp& interp, File* f) {
  if (f->target) {
    f->target = nullptr;  // what was there stays
  } else {
    if (int error = push(f)) interp.streams.err(lost_text(f, error));
    ::close(f->fd);
  }
  f->fd = -1;
}

Value standard_stream(Interp& interp, int number) {
  Value& slot = interp.standard_streams[number];
  if (slot.is_empty()) {
    File* f = interp.allocate<File>(interp.types.file);
    f->role = number == 0 ? File::Role::In : number == 1 ? File::Role::Out : File::Role::Err;
    f->fd = number;
    f->can_read = number == 0;
    f->can_write = number != 0;
    f->name = number == 0 ? "<stdin>" : number == 1 ? "<stdout>" : "<stderr>";
    f->mode = number == 0 ? "r" : "w";
    f->encoding = "utf-8";
    f->errors = number == 2 ? "backslashreplace" : "strict";
    slot = Value::adopt(f);
  }
  return slot;
}

Result<std::string> file_read_line(Interp& interp, File* f) {
  TFL_TRY(file_load(interp, f));
  for (;;) {
    size_t end = f->data.find('\n', f->position);
    bool more = false;
    if (end == std::string::npos && f->role == File::Role::In) more = TFL_TRY(file_read_more(interp, f));
    if (more) continue;
    end = end == std::string::npos ? f->data.size() : end + 1;
    size_t start = std::min(f->position, end);
    f->position = end;
    std::string line = f->data.substr(start, end - start);
    if (f->role == File::Role::In && !f->binary) line = TFL_TRY(decode_text(line, f->encoding, f->errors));
    return line;
  }
}

Result<void> file_flush(Interp& interp, File* f) {
  if (f->role == File::Role::Out) {
    interp.streams.flush();
    TFL_TRY(check_output(interp));
  }
  if (int error = push(f)) return os_error(interp, error, f->name);
  return {};
}

Result<void> file_write(Interp& interp, File* f, std::string_view text) {
  if (f->role == File::Role::Out) {
    interp.streams.out(text);
    return check_output(interp);
  }
  if (f->role == File::Role::Err) {
    interp.streams.err(text);
    return {};
  }
  std::string bytes;
  if (f->whole) {
    TFL_TRY(file_load(interp, f));
    size_t at = f->append ? f->data.size() : f->position;
    if (at > f->data.size()) f->data.resize(at, '\0');
    TFL_TRY(guard_memory(interp, text.size()));
    f->data.replace(at, std::min(text.size(), f->data.size() - at), text);
    f->position = at + text.size();
    f->changed = true;
    return {};
  }
  TFL_TRY(guard_memory(interp, text.size()));
  if (f->binary) {
    f->data += text;
  } else {
    CodecFault fault;
    auto encoded = encode_text(text, f->encoding, f->errors, &fault);
    if (!encoded) return codec_failure(interp, encoded.failure(), fault, interp.str(std::string(text)));
    bytes = encoded.take();
    if (f->newline.empty()) {
      f->data += bytes;
    } else {
      for (char c : bytes) {
        if (c == '\n')
          f->data += f->newline;
        else
          f->data += c;
      }
    }
  }
  if (f->data.size() >= kChunk) return file_flush(interp, f);
  return {};
}

}  // namespace tfl
