#include "cli/tool_commands.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/commands.h"
#include "cli/served_output.h"
#include "cli/session.h"
#include "frontend/core/native_module.h"
#include "frontend/core/protocol.h"

extern char** environ;

namespace tfl::cli {

namespace {

constexpr ToolCommand kTools[] = {
    {"new", "Make the folder of a new project: script, test, data, build file", "_new_project"},
    {"watch", "Run a script again whenever a file it needs changes", "_watch"},
    {"doc", "Write the pages of your own modules as HTML, from their docstrings", "_doc_pages"},
    {"bench", "Time the functions bench_... of bench_*.tfl files", "_bench"},
    {"debug", "Run a script line by line, at a prompt or for an editor", "_debugger_cli", debugger_module},
    {"kernel", "Run the cells of notebooks: a kernel for Jupyter", "_kernel", kernel_module},
    {"shapes", "Tell dtypes and shapes in traced functions without calling them", "_shapes", nullptr, "--json"},
    {"trace", "Draw the graph of a traced function, with the time of each operation", "_trace_picture"},
};

/// start(words, piped, program=None): this program or another one with these arguments, as (process, where its standard output is read or
/// -1).
Result<Value> process_start(Interp& interp, Value* args) {
  if (!args[0].is(Kind::List)) return fail(ErrorKind::TypeError, "start() needs a list of words");
  std::vector<std::string> words{"tfl"};
  for (const Value& w : args[0].as<List>()->items) {
    if (!w.is_str()) return fail(ErrorKind::TypeError, "start() needs a list of words");
    words.push_back(w.as<Str>()->text);
  }
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  interp.streams.flush();
  int ends[2] = {-1, -1};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const bool piped = TFL_TRY(truth(interp, args[1]));
  if (piped) {
    if (pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorKind::OSError, "[Errno {}] {}", errno, std::strerror(errno));
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  }
  pid_t pid = 0;
  const std::string program = args[2].is_str() ? text_of(args[2]) : "/proc/self/exe";
  int error = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (piped) close(ends[1]);
  if (error) {
    if (piped) close(ends[0]);
    return fail(ErrorKind::OSError, "[Errno {}] {}", error, std::strerror(error));
  }
  return interp.tuple({Value::integer(pid), Value::integer(ends[0])});
}

/// read(file): some of what has come, as text of bytes; empty at the end, which closes it.
Result<Value> process_read(Interp& interp, Value* args) {
  int file = static_cast<int>(TFL_TRY(to_index(interp, args[0])));
  char buffer[65536];
  ssize_t n;
  while ((n = read(file, buffer, sizeof buffer)) < 0 && errno == EINTR) TFL_TRY(interp.check_interrupt());
  if (n <= 0) close(file);
  return interp.bytes(std::string(buffer, static_cast<size_t>(std::max<ssize_t>(n, 0))));
}

/// poll(files, milliseconds): those of which something can be read now.
Result<Value> process_poll(Interp& interp, Value* args) {
  std::vector<pollfd> files;
  if (!args[0].is(Kind::List)) return fail(ErrorKind::TypeError, "poll() needs a list of files");
  for (const Value& f : args[0].as<List>()->items) files.push_back({static_cast<int>(TFL_TRY(to_index(interp, f))), POLLIN, 0});
  int64_t wait = TFL_TRY(to_index(interp, args[1]));
  poll(files.data(), files.size(), static_cast<int>(std::min<int64_t>(wait, 60000)));
  TFL_TRY(interp.check_interrupt());
  std::vector<Value> ready;
  for (const pollfd& f : files) {
    if (f.revents) ready.push_back(Value::integer(f.fd));
  }
  return interp.list(std::move(ready));
}

/// wait(process, block): its exit status, below 0 for the signal that ended it; None while it runs, where `block` is false.
Result<Value> process_wait(Interp& interp, Value* args) {
  auto pid = static_cast<pid_t>(TFL_TRY(to_index(interp, args[0])));
  const bool block = TFL_TRY(truth(interp, args[1]));
  int status = 0;
  pid_t got;
  while ((got = waitpid(pid, &status, block ? 0 : WNOHANG)) < 0 && errno == EINTR) TFL_TRY(interp.check_interrupt());
  if (got == 0) return Value::none();
  if (got < 0) return fail(ErrorKind::OSError, "[Errno {}] {}", errno, std::strerror(errno));
  return Value::integer(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

/// stop(process): ends it.
Result<Value> process_stop(Interp& interp, Value* args) {
  auto pid = static_cast<pid_t>(TFL_TRY(to_index(interp, args[0])));
  if (pid > 0) kill(pid, SIGTERM);
  return Value::none();
}

constexpr NativeDef kProcesses[] = {
    function("start", "words: list, piped, program=None, /", process_start),
    function("read", "file, /", process_read),
    function("poll", "files: list, milliseconds, /", process_poll),
    function("wait", "process, block, /", process_wait),
    function("stop", "process, /", process_stop),
};

}  // namespace

std::span<const ToolCommand> tool_commands() { return kTools; }

Value processes_module(Interp& interp) {
  Value module = interp.module("_processes");
  define_all(interp, *module.as<Module>(), kProcesses);
  return module;
}

int run_self(const std::vector<std::string>& words) {
  std::vector<std::string> all{"tfl"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& w : all) argv.push_back(w.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  pid_t pid = 0;
  int status = 0;
  if (posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv.data(), environ) != 0) return 70;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 70;
}

int run_tool(const Arguments& given) {
  Arguments a = given;
  for (const ToolCommand& tool : kTools) {
    if (tool.module != a.tool || !tool.closed_with) continue;
    if (std::find(a.script.begin(), a.script.end(), tool.closed_with) == a.script.end()) continue;
    a.limits.memory = size_t{2} << 30;
    a.limits.timeout = 10;
    a.use_cache = false;
    a.jit = "off";
    const rlimit none{0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
  }
  Session session(a, "");
  Interp& interp = session.interp;
  std::vector<Value> words;
  for (const std::string& w : a.script) words.push_back(interp.str(w));
  auto module = interp.import_module(a.tool);
  if (!module) return session.report(module.error());
  Value natives = processes_module(interp);
  for (const ToolCommand& tool : kTools) {
    if (tool.module == a.tool && tool.natives) natives = tool.natives(interp);
  }
  auto code = interp.call_method(*module, interp.intern("main"), {interp.list(std::move(words)), natives});
  interp.streams.flush();
  give_back_output();
  if (!code) return session.finish(session.report(code.error()));
  return session.finish(code->is_int() ? static_cast<int>(code->as_int()) : 0);
}

}  // namespace tfl::cli
