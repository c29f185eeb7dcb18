// The module `_process`: other programs, for stdlib/python/subprocess.tfl. They run with the rights of the user, so that a script may only
// start them where the user has said so.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "frontend/core/buffer.h"
#include "frontend/core/exception.h"
#include "frontend/core/native_module.h"
#include "frontend/core/programs.h"
#include "frontend/interpreter/object/file.h"

namespace tfl::processes {

namespace {

constexpr int kInherit = -1, kPipe = -2, kNothing = -3, kOutput = -4;

Result<void> check_allowed(Interp& interp) {
  Value module = interp.find_module("_process");
  if (module.is(Kind::Module) && !dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern("allowed")).is_empty())
    return {};
  return fail(ErrorKind::PermissionError, "this script may not run other programs").with_hint("--allow-run allows it");
}

Result<std::vector<std::string>> texts(Interp& interp, const Value& v) {
  std::vector<std::string> out;
  std::vector<Value> items = TFL_TRY(to_vector(interp, v));
  for (const Value& item : items) {
    if (!item.is_str() && !item.is(Kind::Bytes))
      return fail(ErrorKind::TypeError, "expected str, bytes or os.PathLike object, not {}", interp.type_name(item));
    std::string text = item.is_str() ? text_of(item) : item.as<Bytes>()->data;
    if (text.find('\0') != std::string::npos) return fail(ErrorKind::ValueError, "embedded null byte");
    out.push_back(std::move(text));
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& s : texts) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

/// The two ends of a stream of the child: what it gets (-1: as we have it) and what stays here (-1: nothing).
struct Ends {
  int theirs = -1, ours = -1;
};

Result<Ends> ends_of(Interp& interp, int what, bool input) {
  Ends ends;
  if (what == kInherit) return ends;
  if (what == kNothing) {
    ends.theirs = ::open("/dev/null", (input ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
    if (ends.theirs < 0) return os_error(interp, errno, "/dev/null");
  } else if (what == kPipe) {
    int both[2];
    if (::pipe2(both, O_CLOEXEC) != 0) return os_error(interp, errno, {});
    ends.theirs = both[input ? 0 : 1];
    ends.ours = both[input ? 1 : 0];
  } else if (what >= 0) {
    ends.theirs = ::fcntl(what, F_DUPFD_CLOEXEC, 3);
    if (ends.theirs < 0) return os_error(interp, errno, {});
  }
  return ends;
}

void close_ends(std::initializer_list<Ends> all, bool ours) {
  for (const Ends& e : all) {
    if (e.theirs >= 0) ::close(e.theirs);
    if (ours && e.ours >= 0) ::close(e.ours);
  }
}

/// Between fork and exec: nothing but system calls.
[[noreturn]] void become(const char* file, char* const* args, char* const* environment, const char* folder, const Ends& in,
                         const Ends& out, const Ends& err, bool err_as_out, bool session, int report) {
  auto failed = [&](int step) {
    int said[2] = {errno, step};
    (void)!::write(report, said, sizeof said);
    ::_exit(127);
  };
  if (in.theirs >= 0 && ::dup2(in.theirs, 0) < 0) failed(0);
  if (out.theirs >= 0 && ::dup2(out.theirs, 1) < 0) failed(0);
  if (err_as_out ? ::dup2(1, 2) < 0 : err.theirs >= 0 && ::dup2(err.theirs, 2) < 0) failed(0);
  if (*folder && ::chdir(folder) != 0) failed(1);
  if (session) ::setsid();
  for (int number : {SIGINT, SIGALRM, SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (environment)
    ::execvpe(file, args, environment);
  else
    ::execvp(file, args);
  failed(2);
  ::_exit(127);
}

/// spawn(args, executable, folder, environment, stdin, stdout, stderr, session): (pid, stdin, stdout, stderr), of pipes our ends, else -1.
Result<Value> spawn(Interp& interp, Value* a) {
  TFL_TRY(check_allowed(interp));
  std::vector<std::string> args = TFL_TRY(texts(interp, a[0]));
  if (args.empty()) return fail(ErrorKind::IndexError, "list index out of range");
  std::string file = a[1].is_str() ? text_of(a[1]) : args[0], folder = a[2].is_str() ? text_of(a[2]) : std::string();
  std::vector<std::string> environment;
  const bool own = !a[3].is_none();
  if (own) environment = TFL_TRY(texts(interp, a[3]));
  int what[3];
  for (int i = 0; i < 3; ++i) what[i] = static_cast<int>(TFL_TRY(to_index(interp, a[4 + i])));
  const bool session = TFL_TRY(truth(interp, a[7]));
  interp.write_files();
  Ends in = TFL_TRY(ends_of(interp, what[0], true));
  auto out = ends_of(interp, what[1], false);
  auto err = out ? ends_of(interp, what[2], false) : Result<Ends>(Ends{});
  int report[2];
  if (!out || !err || ::pipe2(report, O_CLOEXEC) != 0) {
    const int error = errno;
    close_ends({in, out ? *out : Ends{}, err ? *err : Ends{}}, true);
    if (!out) return out.failure();
    if (!err) return err.failure();
    return os_error(interp, error, {});
  }
  std::vector<char*> arg_pointers = pointers(args), environment_pointers = pointers(environment);
  const pid_t pid = ::fork();
  if (pid == 0) {
    become(file.c_str(), arg_pointers.data(), own ? environment_pointers.data() : nullptr, folder.c_str(), in, *out, *err,
           what[2] == kOutput, session, report[1]);
  }
  const int fork_error = errno;
  ::close(report[1]);
  int said[2] = {0, 0};
  const bool failed = pid > 0 && ::read(report[0], said, sizeof said) == static_cast<ssize_t>(sizeof said);
  ::close(report[0]);
  close_ends({in, *out, *err}, pid < 0 || failed);
  if (pid < 0) return os_error(interp, fork_error, {});
  if (failed) {
    ::waitpid(pid, nullptr, 0);
    return os_error(interp, said[0], said[1] == 1 ? folder : file);
  }
  return interp.tuple({Value::integer(pid), Value::integer(in.ours), Value::integer(out->ours), Value::integer(err->ours)});
}

double seconds_now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// wait(pid, timeout): what the program ended with, minus a signal's number; None: it runs on after that time. A timeout of None waits.
Result<Value> wait(Interp& interp, Value* a) {
  TFL_TRY(check_allowed(interp));
  const auto pid = static_cast<pid_t>(TFL_TRY(to_index(interp, a[0])));
  const double end = a[1].is_none() ? -1 : seconds_now() + TFL_TRY(to_double(interp, a[1]));
  for (long pause = 50'000;; pause = std::min(pause * 2, 10'000'000L)) {
    int status = 0;
    const pid_t found = ::waitpid(pid, &status, WNOHANG);
    if (found < 0 && errno != EINTR) return errno == ECHILD ? Result<Value>(Value::integer(0)) : os_error(interp, errno, {});
    if (found == pid) return Value::integer(WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
    if (!a[1].is_none() && seconds_now() >= end) return Value::none();
    const timespec step{0, pause};
    ::nanosleep(&step, nullptr);
    TFL_TRY(interp.check_interrupt(true));
  }
}

Result<Value> kill(Interp& interp, Value* a) {
  TFL_TRY(check_allowed(interp));
  const auto pid = static_cast<pid_t>(TFL_TRY(to_index(interp, a[0])));
  const auto number = static_cast<int>(TFL_TRY(to_index(interp, a[1])));
  if (::kill(pid, number) != 0) return os_error(interp, errno, {});
  return Value::none();
}

/// read(fd, n): at most n bytes, b'' at the end.
Result<Value> read(Interp& interp, Value* a) {
  TFL_TRY(check_allowed(interp));
  const auto fd = static_cast<int>(TFL_TRY(to_index(interp, a[0])));
  const int64_t n = TFL_TRY(to_index(interp, a[1]));
  if (n < 0 || n > (int64_t{1} << 20)) return fail(ErrorKind::ValueError, "at most a mebibyte is read at once");
  std::string data(static_cast<size_t>(n), '\0');
  for (;;) {
    const ssize_t got = ::read(fd, data.data(), data.size());
    if (got >= 0) {
      data.resize(static_cast<size_t>(got));
      return interp.bytes(std::move(data));
    }
    if (errno != EINTR) return os_error(interp, errno, {});
    TFL_TRY(interp.check_interrupt(true));
  }
}

Result<Value> write(Interp& interp, Value* a) {
  TFL_TRY(check_allowed(interp));
  const auto fd = static_cast<int>(TFL_TRY(to_index(interp, a[0])));
  Value held = TFL_TRY(bytes_like(interp, a[1]));
  const std::string& data = held.as<Bytes>()->data;
  for (size_t done = 0; done < data.size();) {
    const ssize_t put = ::write(fd, data.data() + done, data.size() - done);
    if (put >= 0) {
      done += static_cast<size_t>(put);
    } else if (errno != EINTR) {
      return os_error(interp, errno, {});
    } else {
      TFL_TRY(interp.check_interrupt(true));
    }
  }
  return Value::integer(static_cast<int64_t>(data.size()));
}

Result<Value> close(Interp& interp, Value* a) {
  TFL_TRY(check_allowed(interp));
  ::close(static_cast<int>(TFL_TRY(to_index(interp, a[0]))));
  return Value::none();
}

/// exchange(stdin, data, stdout, stderr, timeout): writes the data and reads both to their ends, all at once, and closes them:
/// (read from stdout, from stderr, how much of the data was written, whether all was done in time). -1: there is no such pipe.
Result<Value> exchange(Interp& interp, Value* a) {
  TFL_TRY(check_allowed(interp));
  int fds[3] = {static_cast<int>(TFL_TRY(to_index(interp, a[0]))), static_cast<int>(TFL_TRY(to_index(interp, a[2]))),
                static_cast<int>(TFL_TRY(to_index(interp, a[3])))};
  Value held = TFL_TRY(bytes_like(interp, a[1]));
  const std::string& data = held.as<Bytes>()->data;
  const double end = a[4].is_none() ? -1 : seconds_now() + TFL_TRY(to_double(interp, a[4]));
  std::string read_in[2];
  size_t written = 0;
  auto finish = [&](int i) {
    ::close(fds[i]);
    fds[i] = -1;
  };
  if (fds[0] >= 0) ::fcntl(fds[0], F_SETFL, ::fcntl(fds[0], F_GETFL) | O_NONBLOCK);
  for (;;) {
    if (fds[0] >= 0 && written == data.size()) finish(0);
    if (fds[0] < 0 && fds[1] < 0 && fds[2] < 0) break;
    pollfd ready[3] = {{fds[0], POLLOUT, 0}, {fds[1], POLLIN, 0}, {fds[2], POLLIN, 0}};
    int patience = 100;
    if (end >= 0) {
      const double left = end - seconds_now();
      if (left <= 0)
        return interp.tuple({interp.bytes(read_in[0]), interp.bytes(read_in[1]), Value::integer(static_cast<int64_t>(written)),
                             Value::boolean(false)});
      patience = std::min(patience, static_cast<int>(left * 1000) + 1);
    }
    ::poll(ready, 3, patience);
    TFL_TRY(interp.check_interrupt(true));
    if (fds[0] >= 0 && ready[0].revents) {
      const ssize_t put = ::write(fds[0], data.data() + written, data.size() - written);
      if (put > 0)
        written += static_cast<size_t>(put);
      else if (put < 0 && errno != EAGAIN && errno != EINTR)
        finish(0);  // the program does not want it
    }
    for (int i : {1, 2}) {
      if (fds[i] < 0 || !ready[i].revents) continue;
      char part[65536];
      const ssize_t got = ::read(fds[i], part, sizeof part);
      if (got > 0) {
        TFL_TRY(guard_memory(interp, read_in[i - 1].size() + sizeof part));
        read_in[i - 1].append(part, static_cast<size_t>(got));
      } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        finish(i);
      }
    }
  }
  return interp.tuple({interp.bytes(std::move(read_in[0])), interp.bytes(std::move(read_in[1])),
                       Value::integer(static_cast<int64_t>(written)), Value::boolean(true)});
}

constexpr NativeDef kFunctions[] = {
    function("spawn", "args, executable, folder, environment, stdin, stdout, stderr, session, /", spawn),
    function("wait", "pid, timeout, /", wait),
    function("kill", "pid, number, /", kill),
    function("read", "fd, n, /", read),
    function("write", "fd, data, /", write),
    function("close", "fd, /", close),
    function("exchange", "stdin, data, stdout, stderr, timeout, /", exchange),
};

}  // namespace

}  // namespace tfl::processes

namespace tfl {

Result<void> allow_programs(Interp& interp) {
  Value module = TFL_TRY(interp.import_module("_process"));
  define(interp, *module.as<Module>(), "allowed", Value::boolean(true));
  return {};
}

Result<void> init_process(Interp& interp, Module& module) {
  define_all(interp, module, processes::kFunctions);
  return {};
}

}  // namespace tfl
