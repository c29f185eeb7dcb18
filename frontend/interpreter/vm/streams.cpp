#include "frontend/core/streams.h"

#include <unistd.h>

#include "runtime/files/whole_file.h"

namespace tfl {

namespace {

constexpr size_t kBufferSize = 64 * 1024;

}  // namespace

void Streams::out(std::string_view text) {
  if (capture_out) {
    capture_out->append(text);
    return;
  }
  buffer_.append(text);
  if (buffer_.size() >= kBufferSize || (line_buffered() && text.find('\n') != std::string_view::npos)) flush();
}

void Streams::err(std::string_view text) {
  if (capture_err) {
    capture_err->append(text);
    return;
  }
  flush();
  (void)write_all(STDERR_FILENO, text);  // there is nobody left to tell
}

void Streams::flush() {
  if (buffer_.empty()) return;
  if (int error = write_all(STDOUT_FILENO, buffer_)) error_ = error;
  buffer_.clear();
}

bool Streams::line_buffered() {
  if (terminal_ < 0) terminal_ = ::isatty(STDOUT_FILENO) ? 1 : 0;
  return terminal_ == 1;
}

}  // namespace tfl
