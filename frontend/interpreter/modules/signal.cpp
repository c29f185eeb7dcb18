// The native half of signal: which signals a script hears, and timers. A signal only leaves a mark; its handler runs between two steps of the
// script, where Ctrl-C is heard, too.
#include <csignal>
#include <ctime>

#include <atomic>
#include <cerrno>

#include "frontend/core/exception.h"
#include "frontend/core/native_module.h"
#include "frontend/core/signals.h"
#include "frontend/interpreter/object/file.h"

namespace tfl {

namespace {

// A handler of signals can be told nothing: it finds the context that hears them here.
std::atomic<Context*> hearing_context{nullptr};
std::atomic<uint64_t> signals_come{0};
constexpr int kMostSignals = 64;

int alarm_signal() { return SIGRTMIN + 3; }  // SIGALRM itself belongs to limits of time

void mark_signal(int number) {
  signals_come.fetch_or(uint64_t{1} << (number - 1));
  if (Context* context = hearing_context.load()) context->interrupt_request.fetch_or(kInterruptSignal);
}
void on_signal(int number) { mark_signal(number); }
void on_timer(int) { mark_signal(SIGALRM); }

Result<int> signal_number(Interp& interp, const Value& v) {
  const int64_t n = TFL_TRY(to_index(interp, v));
  if (n < 1 || n > kMostSignals) return fail(ErrorKind::ValueError, "signal number out of range");
  return static_cast<int>(n);
}

/// What the script does on signals, by number: in the module itself, where it was imported. Null: it was not.
Dict* handlers_of(Interp& interp) {
  Value module = interp.find_module("_signal");
  if (!module.is(Kind::Module)) return nullptr;
  Value handlers = dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern("handlers"));
  return handlers.is(Kind::Dict) ? handlers.as<Dict>() : nullptr;
}

void act_on(int number, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

/// handle(number, what): 0 as by itself, 1 not at all, else a function.
Result<Value> signal_handle(Interp& interp, Value* a) {
  const int number = TFL_TRY(signal_number(interp, a[0]));
  if (number == SIGKILL || number == SIGSTOP) return os_error(interp, EINVAL, {});
  const bool function = !a[1].is_int();
  Dict* handlers = handlers_of(interp);
  if (!handlers) return fail(ErrorKind::RuntimeError, "the module _signal is gone");
  TFL_TRY(dict_set(interp, handlers, Value::integer(number), a[1]));
  hearing_context.store(&interp.context);
  // Ctrl-C and limits of time are the program's own: what they do to the script is decided where they are heard.
  if (number == SIGINT || number == SIGALRM) return Value::none();
  act_on(number, function ? on_signal : a[1].as_int() == 1 ? SIG_IGN : SIG_DFL);
  return Value::none();
}

/// raise_(number): as if the signal came now.
Result<Value> signal_raise(Interp& interp, Value* a) {
  const int number = TFL_TRY(signal_number(interp, a[0]));
  if (handles_signal(interp, number)) {
    TFL_TRY(call_signal_handler(interp, number));
    return Value::none();
  }
  if (number == SIGINT) return fail(ErrorKind::KeyboardInterrupt, "");
  act_on(number, SIG_DFL);
  ::raise(number);
  return Value::none();
}

/// timer(seconds, interval): SIGALRM after so long, and then again and again; what was left of the timer before, as (seconds, interval).
Result<Value> signal_timer(Interp& interp, Value* a) {
  const double seconds = TFL_TRY(to_double(interp, a[0])), interval = TFL_TRY(to_double(interp, a[1]));
  constexpr double kMost = 1e9;
  if (!(seconds >= 0 && seconds < kMost && interval >= 0 && interval < kMost)) return os_error(interp, EINVAL, {});
  hearing_context.store(&interp.context);
  static timer_t timer{};
  static bool made = false;
  if (!made) {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = alarm_signal();
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return os_error(interp, errno, {});
    act_on(alarm_signal(), on_timer);
    made = true;
  }
  auto parts = [](double s) {
    timespec t{};
    t.tv_sec = static_cast<time_t>(s);
    t.tv_nsec = static_cast<long>((s - static_cast<double>(t.tv_sec)) * 1e9);
    return t;
  };
  itimerspec next{}, before{};
  next.it_value = parts(seconds);
  next.it_interval = parts(interval);
  if (::timer_settime(timer, 0, &next, &before) != 0) return os_error(interp, errno, {});
  auto whole = [](const timespec& t) {
    return Value::real(static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9);
  };
  return interp.tuple({whole(before.it_value), whole(before.it_interval)});
}

/// pause(): until a signal comes.
Result<Value> signal_pause(Interp& interp, Value*) {
  while (!interp.asked_to_stop()) {
    const timespec step{0, 10'000'000};
    ::nanosleep(&step, nullptr);
  }
  TFL_TRY(interp.check_interrupt(true));
  return Value::none();
}

constexpr NativeDef kSignalFunctions[] = {
    function("handle", "number, what, /", signal_handle),
    function("raise_", "number, /", signal_raise),
    function("timer", "seconds, interval, /", signal_timer),
    function("pause", "", signal_pause),
};

}  // namespace

bool handles_signal(Interp& interp, int number) {
  Dict* handlers = handlers_of(interp);
  if (!handlers) return false;
  auto known = dict_get(interp, handlers, Value::integer(number));
  return known && !known->is_empty() && (!known->is_int() || known->as_int() == 1);
}

Result<void> call_signal_handler(Interp& interp, int number) {
  Dict* handlers = handlers_of(interp);
  if (!handlers) return {};
  const Value handler = TFL_TRY(dict_get(interp, handlers, Value::integer(number)));
  if (handler.is_empty() || handler.is_int()) return {};  // not heard
  TFL_TRY(interp.call(handler, {Value::integer(number), Value::none()}));
  return {};
}

Result<void> call_signal_handlers(Interp& interp) {
  uint64_t come = signals_come.exchange(0);
  for (int number = 1; number <= kMostSignals; ++number) {
    if (!(come >> (number - 1) & 1)) continue;
    if (number == SIGALRM && !handles_signal(interp, number)) {
      act_on(SIGALRM, SIG_DFL);
      ::raise(SIGALRM);
    }
    TFL_TRY(call_signal_handler(interp, number));
  }
  return {};
}

Result<void> init_signal(Interp& interp, Module& module) {
  define_all(interp, module, kSignalFunctions);
  define(interp, module, "handlers", interp.dict());
  return {};
}

}  // namespace tfl
