// Files: what open() gives, and the program's standard streams as objects. A file that is read is in memory as a whole from the
// first read on; what is written gathers and goes to the system when it is much, flushed or closed.
// This header must not know which files a script may open (builtins/file_access.h).
#pragma once

#include <memory>

#include "frontend/core/protocol.h"
#include "runtime/files/whole_file.h"

namespace tfl {

struct File : Object {
  enum class Role : uint8_t { Disk, In, Out, Err };
  Role role = Role::Disk;
  int fd = -1;
  bool can_read = false, can_write = false;
  bool binary = false;
  bool append = false;   // writes go to the end, wherever the position is
  bool whole = false;    // the content lies in `data` as a whole: files that are read
  bool loaded = false;   // ... and is there
  bool changed = false;  // ... and must be written back
  bool closed = false;
  bool universal = true;  // "\r\n" and "\r" read as "\n"
  std::string name, mode, encoding, errors;
  std::string newline;  // what "\n" is written as; empty: as it is
  std::string data;     // the content, or what waits to be written
  size_t position = 0;
  int64_t written = 0;                // bytes that went to the system
  bool records = false;               // what one call writes is in the file as a whole or not at all
  std::unique_ptr<WholeFile> target;  // the file appears when this one is closed
  ~File();
};

/// sys.stdin, sys.stdout, sys.stderr: `number` 0, 1, 2.
Value standard_stream(Interp& interp, int number);
/// A line with its end; empty at the end of the input.
/// What a file that is read holds, brought into `data` at its first use.
Result<void> file_load(Interp& interp, File* f);
/// One more piece of standard input; false at its end.
Result<bool> file_read_more(Interp& interp, File* f);
Result<std::string> file_read_line(Interp& interp, File* f);
Result<void> file_write(Interp& interp, File* f, std::string_view text);
Result<void> file_flush(Interp& interp, File* f);
/// OSError of the class that fits `error` (an errno), about `path`.
Failure os_error(Interp& interp, int error, std::string_view path, std::string_view second = {});
/// The same for what standard output could not take.
Result<void> check_output(Interp& interp);
/// The end of a file that nobody closed; what goes wrong is told on standard error.
void end_dropped(Interp& interp, File* f);
Failure os_error_with_hint(Interp& interp, int error, std::string_view path, std::string hint);

}  // namespace tfl
