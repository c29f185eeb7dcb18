// What the program writes to its standard output and error, taken by whoever serves a notebook or a debugger: also what libraries and
// other threads write.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace tfl::cli {

class OutputPipes {
 public:
  /// `take` is called on a thread of its own with whole UTF-8 characters; `error`: from standard error.
  using Take = std::function<void(std::string_view text, bool error)>;
  explicit OutputPipes(Take take);
  ~OutputPipes();
  OutputPipes(const OutputPipes&) = delete;
  OutputPipes& operator=(const OutputPipes&) = delete;

  bool ok() const { return thread_.joinable(); }
  /// Waits until all that has been written has been taken.
  void drain();
  /// The standard output that was there before.
  int real_output() const { return saved_[0]; }

 private:
  void run();
  Take take_;
  int saved_[2] = {-1, -1};
  int ends_[2] = {-1, -1};
  int wake_[2] = {-1, -1};
  std::mutex mutex_;
  std::condition_variable drained_;
  uint64_t asked_ = 0, answered_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

/// A text as JSON, in quotes.
std::string json_text(std::string_view text);

}  // namespace tfl::cli
