#include "cli/session.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/commands.h"
#include "frontend/core/advice.h"
#include "frontend/core/attributes.h"
#include "frontend/core/programs.h"
#include "frontend/core/protocol.h"
#include "frontend/core/tensor_api.h"
#include "frontend/interpreter/vm/exit.h"
#include "frontend/syntax/diagnostics/near_file.h"
#include "frontend/syntax/diagnostics/source.h"
#include "frontend/tensors/tensor/workers.h"
#include "runtime/core/growth.h"
#include "runtime/files/cache_files.h"
#include "runtime/formats/foreign.h"
#include "runtime/gpu/devices.h"
#include "runtime/support/launch.h"

namespace tfl::cli {

// Signal handlers have no parameters: what they need is reached through this one pointer. A Session owns what it points to while it lives.
struct Signalled {
  Context& context;
  const pthread_t thread = pthread_self();
  int64_t deadline = 0;  // of the time limit; 0: there is none
  volatile int64_t asked_at = 0;
};

namespace {

// What a script is given to come to a place where everything is whole, before work in progress is given up.
constexpr int64_t kPatience = 50'000'000;
// Ctrl-C that nobody has seen for so long: the next one ends the program.
constexpr int64_t kDeaf = 300'000'000;

constinit std::atomic<Signalled*> signalled{nullptr};

int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
}

/// Handlers run on the thread of the context, so that they come before or after what it does and not beside it.
Signalled* signalled_here(int signal_number) {
  Signalled* s = signalled.load();
  if (!s || pthread_equal(s->thread, pthread_self())) return s;
  pthread_kill(s->thread, signal_number);
  return nullptr;
}

/// SIGALRM after `first` nanoseconds and then again and again: a system call may be entered just after one. 0: no more.
void set_alarm(int64_t first) {
  constexpr int64_t kAgain = 20'000'000, kSecond = 1'000'000'000;
  if (first) first = std::max<int64_t>(first, 1000);
  itimerval when{};
  when.it_value.tv_sec = first / kSecond;
  when.it_value.tv_usec = static_cast<suseconds_t>(first % kSecond / 1000);
  when.it_interval.tv_usec = first ? static_cast<suseconds_t>(kAgain / 1000) : 0;
  setitimer(ITIMER_REAL, &when, nullptr);
}

void ask(Signalled& s, uint32_t bit, int64_t at) {
  s.asked_at = at;
  s.context.interrupt_request.fetch_or(bit);
  set_alarm(kPatience);
}

void on_interrupt(int signal_number) {
  if (!signalled.load()) _exit(kExitInterrupted);
  Signalled* s = signalled_here(signal_number);
  if (!s) return;
  int before = errno;
  const int64_t at = now();
  if (!(s->context.interrupt_request.load() & kInterruptKeyboard))
    ask(*s, kInterruptKeyboard, at);
  else if (at - s->asked_at > kDeaf)
    _exit(kExitInterrupted);
  errno = before;
}

void on_alarm(int signal_number) {
  Signalled* s = signalled_here(signal_number);
  if (!s) return;
  int before = errno;
  const int64_t at = now();
  const uint32_t asked = s->context.interrupt_request.load();
  if (s->deadline && at >= s->deadline && !(asked & kInterruptTimeout))
    ask(*s, kInterruptTimeout, at);
  else if (asked == 0)
    set_alarm(s->deadline > at ? s->deadline - at : 0);
  else if (at - s->asked_at >= kPatience)
    s->context.urge_interrupt();
  errno = before;
}

void install(int signal_number, void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal_number, &action, nullptr);
}

InterpOptions interp_options(const Arguments& a, const std::string& file) {
  InterpOptions o;
  o.max_depth = a.limits.depth;
  o.argv = a.script;
  if (size_t slash = file.rfind('/'); slash != std::string::npos) o.script_folder = slash == 0 ? "/" : file.substr(0, slash);
  o.allow_read = a.allow_read;
  o.allow_write = a.allow_write;
  o.allow_all = a.allow_all;
  o.use_cache = a.use_cache;
  o.rewrite_asserts = a.command == Command::Test;
  o.color = use_color(a);
  return o;
}

ContextOptions context_options(const Arguments& a) {
  ContextOptions o{a.limits.memory, a.limits.threads};
  if (a.cpu == "x86-64-v3") o.max_isa = IsaLevel::v3;
  return o;
}

/// TFL_JIT_DEBUG: "log" says what is compiled, "gdb" and "perf" tell them of the code; several with commas.
bool debugging(std::string_view what) {
  const char* wanted = std::getenv("TFL_JIT_DEBUG");
  return wanted && (',' + std::string(wanted) + ',').find(',' + std::string(what) + ',') != std::string::npos;
}

codegen::JitOptions jit_options(const Arguments& a) {
  codegen::JitOptions o;
  // Other commands show graphs and do not run them.
  bool runs = a.command == Command::Run || a.command == Command::Repl || a.command == Command::Test ||
              a.command == Command::Explain || a.command == Command::Profile || a.command == Command::Tool;
  IsaLevel best = best_isa_level();
  o.enabled = runs && a.jit != "off" && best != IsaLevel::base;
  o.wait = a.jit == "wait";
  o.in_advance = a.jit == "advance";
  if (a.use_cache) o.cache_folder = cache_folder("native");
  o.cpu = a.cpu == "x86-64-v3" || best < IsaLevel::v4 ? codegen::Cpu::x86_64_v3 : codegen::Cpu::x86_64_v4;
  o.listeners = {debugging("gdb"), debugging("perf")};
  o.profile = a.command == Command::Profile;
  o.verbose = debugging("log");
  return o;
}

}  // namespace

void print(std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

void say_error(std::string_view text) { std::fprintf(stderr, "tfl: error: %.*s\n", static_cast<int>(text.size()), text.data()); }

bool use_color(const Arguments& a) {
  if (a.color != "auto") return a.color == "always";
  const char* no = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return !(no && *no) && isatty(2) && !(term && std::strcmp(term, "dumb") == 0);
}

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

bool read_source(const std::string& path, std::string& text, const std::vector<std::string>& fixed) {
  if (is_model_file(path)) {
    text = embed::keras_script(path);
    return true;
  }
  std::FILE* f = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (!f) {
    int reason = errno;
    if (reason == ENOENT && access((path + ".index").c_str(), R_OK) == 0) {
      std::fprintf(stderr, "tfl: can't run '%s': it is a checkpoint, which holds values and no functions\n", path.c_str());
      return false;
    }
    std::string near = reason == ENOENT ? nearest_file(path) : std::string();
    if (!near.empty()) near = "; did you mean '" + near + "'?";
    std::fprintf(stderr, "tfl: can't open file '%s': [Errno %d] %s%s\n", path.c_str(), reason, std::strerror(reason),
                 near.c_str());
    return false;
  }
  struct stat s{};
  if (fstat(fileno(f), &s) == 0 && S_ISDIR(s.st_mode)) {
    if (f != stdin) std::fclose(f);
    if (access((path + "/saved_model.pb").c_str(), R_OK) == 0 || access((path + "/saved_model.json").c_str(), R_OK) == 0) {
      text = embed::saved_model_script(path);
      return true;
    }
    std::fprintf(stderr, "tfl: can't run '%s': it is a folder\n", path.c_str());
    return false;
  }
  if (is_onnx(path)) {
    if (f != stdin) std::fclose(f);
    text = embed::onnx_script(path, fixed);
    return true;
  }
  char buffer[65536];
  size_t n;
  while ((n = std::fread(buffer, 1, sizeof buffer, f)) > 0 && text.size() <= kMaxSourceBytes) text.append(buffer, n);
  bool failed = std::ferror(f) != 0;
  int error = errno;
  if (f != stdin) std::fclose(f);
  if (failed)
    std::fprintf(stderr, "tfl: can't read '%s': [Errno %d] %s\n", path.c_str(), error, std::strerror(error));
  else if (std::string_view what = foreign_format(text); !what.empty())
    return std::fprintf(stderr, "tfl: can't run '%s': it is %.*s, not a script\n", path.c_str(), static_cast<int>(what.size()),
                        what.data()),
           false;
  else if (text.size() > kMaxSourceBytes)
    std::fprintf(stderr, "tfl: '%s' is too large for a script (more than %zu bytes)\n", path.c_str(), kMaxSourceBytes);
  return !failed && text.size() <= kMaxSourceBytes;
}

Session::Session(const Arguments& arguments, const std::string& file)
    : context(context_options(arguments), jit_options(arguments)),
      interp(context, interp_options(arguments, file)),
      arguments_(arguments) {
  embed::complete(interp, context);
  if (arguments.passes != "usual") {
    auto passes = optimizer::parse_pipeline(arguments.passes == "none" ? "" : arguments.passes);
    if (passes) context.passes = std::make_unique<const std::vector<const optimizer::PassInfo*>>(std::move(*passes));
  }
  if (interp.tensors) interp.tensors->strict = arguments.strict;
  if (arguments.allow_run) (void)allow_programs(interp);
  gpu::Devices& devices = context.devices();
  if (arguments.device == "gpu") {
    if (devices.count())
      devices.place(0);
    else
      interp.streams.err(
          fmt::format("tfl: warning: a GPU was asked for, and there is none: the CPU does its work. {}\n", devices.missing()));
  }
  signalled_.reset(new Signalled{context});
  signalled.store(signalled_.get());
  growth::watch(&context);
  install(SIGALRM, on_alarm, 0);
  install(SIGINT, on_interrupt, 0);
  install(SIGPIPE, SIG_IGN, 0);
  install(SIGXFSZ, SIG_IGN, 0);
  if (arguments.limits.timeout > 0) {
    signalled_->deadline = now() + static_cast<int64_t>(arguments.limits.timeout * 1e9);
    set_alarm(signalled_->deadline - now());
  }
}

Session::~Session() {
  (void)finish(0);
  set_alarm(0);
  growth::watch(nullptr);
  signalled.store(nullptr);
}

int Session::leave(int code) {
  if (code != kExitInterrupted && code != kExitTimeout) code = leave_others(code);
#ifndef TFL_SANITIZED
  const codegen::CodeListeners told = jit_options(arguments_).listeners;
  if (!told.debugger && !told.profiler && !context.devices().any()) {
    interp.write_files();
    code = finish(code);
    context.jit.stop();
    std::fflush(nullptr);
    _exit(code);
  }
#endif
  return finish(code);
}

void Session::tell_others(const std::string& text, int code) {
  interp.streams.flush();
  tell_workers(text, code);
  // A script may fail before it has asked for the others: they end with it, and rank 0 tells what all have met.
  Launch& l = launch();
  if (l.told_on == 2) return;
  timespec patience{1, 0};
  nanosleep(&patience, nullptr);
  if (write(l.told_on, text.data(), text.size()) < 0) return;
}

int Session::leave_others(int code) {
  interp.streams.flush();
  const std::string why = leave_workers();
  if (why.empty()) return code;
  const std::string text = "tfl: error: " + why + "\n";
  tell_workers(text, kExitUncaught);
  interp.streams.err(text);
  return kExitUncaught;
}

int Session::finish(int code) {
  interp.streams.flush();
  if (int error = interp.streams.take_error()) {
    // Who reads no more wants to hear no more.
    if (error != EPIPE) say_error(fmt::format("standard output: {}", std::strerror(error)));
    if (code == 0) code = kExitUncaught;
  }
  if (jit_options(arguments_).verbose) {
    if (std::string work = context.devices().work_text(); !work.empty()) std::fprintf(stderr, "tfl: %s\n", work.c_str());
  }
  return code;
}

Value Session::main_module(const std::string& name, const std::string& file) {
  Value module = interp.module(name);
  Dict* names = module.as<Module>()->dict.as<Dict>();
  if (!file.empty()) {
    module.as<Module>()->file = interp.str(file);
    dict_set_str(names, interp.sym.__file__, interp.str(file));
  }
  dict_set_str(interp.modules.as<Dict>(), interp.intern(name), module);
  return module;
}

int Session::report(Error& error) {
  Value e = interp.exception_of(error);
  if (interp.stopped) {
    std::string place;
    Exception* x = e.as<Exception>();
    for (const TraceEntry& entry : x->trace) {
      if (entry.code->source && is_shown(entry)) {
        place = fmt::format(", at {}:{}", entry.code->source->name, entry.span.line);
        break;
      }
    }
    interp.streams.err(fmt::format("tfl: the time limit of {:g} s was reached{}\n", arguments_.limits.timeout, place));
    return kExitTimeout;
  }
  if (interp.is_instance(e, interp.exception_type(ErrorKind::SystemExit))) {
    auto code = get_attr(interp, e, interp.sym.code);
    if (!code || code->is_none()) return 0;
    if (code->is_int() || code->is_bool()) return static_cast<int>(code->as_int() & 0xFF);
    auto text = str_text(interp, *code);
    interp.streams.err((text ? *text : std::string()) + "\n");
    return kExitUncaught;
  }
  bool interrupted = interp.is_instance(e, interp.exception_type(ErrorKind::KeyboardInterrupt));
  const std::string traceback = interp.format_traceback(e);
  if (!interrupted) tell_others(traceback, kExitUncaught);
  interp.streams.err(traceback);
  return interrupted ? kExitInterrupted : kExitUncaught;
}

int Session::run_exit_functions(int code) {
  auto interrupted = tfl::run_exit_functions(interp);
  if (!interrupted) return report(interrupted.error());
  return *interrupted ? kExitInterrupted : code;
}

}  // namespace tfl::cli
