// The program's standard streams: stdout is buffered and flushed before anything goes to stderr, so that both appear in
// program order.
#pragma once

#include <string>
#include <string_view>

namespace tfl {

class Streams {
 public:
  void out(std::string_view text);  // standard output
  void err(std::string_view text);  // standard error; flushes standard output first
  void flush();
  /// While set, standard output (and error) is appended to these strings instead: captured output of tests.
  std::string* capture_out = nullptr;
  std::string* capture_err = nullptr;
  ~Streams() { flush(); }

 private:
  std::string buffer_;
};

}  // namespace tfl
