#include "frontend/vm/streams.h"

#include <unistd.h>

#include <cerrno>

namespace tfl {

namespace {

constexpr size_t kBufferSize = 64 * 1024;

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return;  // a closed pipe: there is nobody to tell
    }
    text.remove_prefix(static_cast<size_t>(n));
  }
}

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
  write_all(STDERR_FILENO, text);
}

void Streams::flush() {
  if (buffer_.empty()) return;
  write_all(STDOUT_FILENO, buffer_);
  buffer_.clear();
}

bool Streams::line_buffered() {
  if (terminal_ < 0) terminal_ = ::isatty(STDOUT_FILENO) ? 1 : 0;
  return terminal_ == 1;
}

}  // namespace tfl
