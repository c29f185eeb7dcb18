// The program's standard streams: stdout is buffered and flushed before anything goes to stderr, so that both appear in
// program order.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tfl {

class Streams {
 public:
  void out(std::string_view text);  // standard output
  void err(std::string_view text);  // standard error; flushes standard output first
  void flush();
  /// What went wrong with standard output since the last question: 0 or an errno. What could not be written is dropped.
  int take_error() { return std::exchange(error_, 0); }
  /// While set, standard output (and error) is appended to these strings instead: captured output of tests.
  std::string* capture_out = nullptr;
  std::string* capture_err = nullptr;
  Streams() = default;
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() { flush(); }

 private:
  bool line_buffered();  // a terminal shows every line at once
  std::string buffer_;
  int error_ = 0;
  int terminal_ = -1;  // 1: standard output is one; -1: not asked yet
};

}  // namespace tfl
