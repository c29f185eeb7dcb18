#include "cli/output_pipes.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace tfl::cli {

namespace {

/// Bytes at the end that begin a character and do not finish it.
size_t unfinished(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    auto c = static_cast<unsigned char>(text[text.size() - back]);
    if (c < 0x80) return 0;
    if (c < 0xC0) continue;
    size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    return back < length ? back : 0;
  }
  return 0;
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
          out += c;
    }
  }
  return out + '"';
}

OutputPipes::OutputPipes(Take take) : take_(std::move(take)) {
  int out[2], err[2];
  if (pipe2(wake_, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) return;
  std::fflush(nullptr);
  for (int i = 0; i < 2; ++i) {
    int* ends = i == 0 ? out : err;
    saved_[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
    dup2(ends[1], i + 1);
    close(ends[1]);
    ends_[i] = ends[0];
    fcntl(ends_[i], F_SETFL, O_NONBLOCK);
  }
  // Signals are for the script's thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

OutputPipes::~OutputPipes() {
  if (!ok()) return;
  drain();
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  (void)!write(wake_[1], "x", 1);
  thread_.join();
  for (int i = 0; i < 2; ++i) {
    dup2(saved_[i], i + 1);
    close(saved_[i]);
    close(ends_[i]);
    close(wake_[i]);
  }
}

void OutputPipes::drain() {
  if (!ok()) return;
  std::fflush(nullptr);
  std::unique_lock lock(mutex_);
  uint64_t mine = ++asked_;
  (void)!write(wake_[1], "x", 1);
  drained_.wait(lock, [&] { return answered_ >= mine; });
}

void OutputPipes::run() {
  std::string left[2];
  char buffer[65536];
  for (;;) {
    pollfd files[3] = {{ends_[0], POLLIN, 0}, {ends_[1], POLLIN, 0}, {wake_[0], POLLIN, 0}};
    if (poll(files, 3, -1) < 0 && errno != EINTR) return;
    uint64_t asked;
    bool stop;
    {
      // What was written before somebody asked is in the pipes by now.
      std::lock_guard lock(mutex_);
      asked = asked_;
      stop = stop_;
    }
    if (files[2].revents & POLLIN) (void)!read(wake_[0], buffer, 64);
    for (int i = 0; i < 2; ++i) {
      std::string text = std::move(left[i]);
      left[i].clear();
      for (ssize_t n; (n = read(ends_[i], buffer, sizeof buffer)) > 0 && text.size() < (1u << 20);)
        text.append(buffer, static_cast<size_t>(n));
      size_t rest = unfinished(text);
      left[i] = text.substr(text.size() - rest);
      text.resize(text.size() - rest);
      if (!text.empty()) take_(text, i == 1);
    }
    {
      std::lock_guard lock(mutex_);
      answered_ = asked;
    }
    drained_.notify_all();
    if (stop) return;
  }
}

}  // namespace tfl::cli
