// The module `_thread`: the threads of stdlib/python/threading.tfl. A thread that waits asks again and again whether it may go on; between two questions
// the others run, and when a whole round of them only asked, all sleep until the first deadline.
#include "frontend/interpreter/modules/threads.h"

#include <ctime>

#include <algorithm>
#include <limits>

#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"
#include "runtime/support/fiber.h"

namespace tfl {

namespace threads {

namespace {

constexpr size_t kStack = size_t{2} << 20,
                 kReserve = size_t{128} << 10;  // bytes; the reserve is for what does not look at the limit
constexpr size_t kMost = 4096;                  // threads that live at once
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int64_t kNap = 20000000;  // ns: an interrupt is seen so soon

int64_t now_nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

/// What of the interpreter belongs to the thread that runs.
struct Running {
  Frame* frame = nullptr;
  int depth = 0, undivided = 0;
  FrameStack frames;
  std::unique_ptr<Error> missing_attribute;
  Ended ended;
  const char* stack_limit = nullptr;
  Sink* sink = nullptr;

  void exchange(Interp& i) {
    std::swap(frame, i.frame), std::swap(depth, i.depth), std::swap(undivided, i.undivided);
    frames.swap(i.frames);
    std::swap(missing_attribute, i.missing_attribute), std::swap(ended, i.ended);
    std::swap(stack_limit, i.stack_limit), std::swap(sink, i.sink);
  }
};

struct Thread {
  int64_t id = 0;
  std::unique_ptr<Fiber> fiber;
  Running running;  // while it does not run
  Value function;
  int64_t end = kNever;  // of what it waits for
};

struct Threads : Object {
  Interp* interp = nullptr;
  std::vector<std::unique_ptr<Thread>> all;   // the first is the one that was there
  std::vector<std::unique_ptr<Thread>> gone;  // whose stacks are still to be given back
  size_t now = 0;
  int64_t next_id = 1;
  uint64_t progress = 0;  // grows whenever a thread has done something

  Thread& current() { return *all[now]; }

  void go_to(size_t to, bool last = false) {
    Thread& from = current();
    Thread& other = *all[to];
    if (&from == &other) return;
    from.running.exchange(*interp);
    if (last) {
      gone.push_back(std::move(all[now]));
      all.erase(all.begin() + static_cast<ptrdiff_t>(now));
      if (to > now) --to;
    }
    now = to;
    other.running.exchange(*interp);
    from.fiber->switch_to(*other.fiber, last);
    // Here again, some time later: whoever ended meanwhile stands on no stack any more.
    gone.clear();
  }
};

extern const Slots kThreads;

Threads* found(Interp& interp) {
  Value module = interp.find_module("_thread");
  if (!module.is(Kind::Module)) return nullptr;
  Value v = dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern("_threads"));
  return v.is(Kind::Native) && v.object()->type->slots == &kThreads ? v.as<Threads>() : nullptr;
}

void run_thread(void* argument) {
  auto& threads = *static_cast<Threads*>(argument);
  threads.gone.clear();
  Interp& interp = *threads.interp;
  {
    Value function = std::move(threads.current().function);
    auto done = interp.call(function, {});
    // What the script's function raises has been told by then. An end of the whole run is for the one that was there.
    if (!done && interp.stopped) interp.context.interrupt.fetch_or(kInterruptTimeout);
  }
  ++threads.progress;
  threads.go_to(threads.now + 1 < threads.all.size() ? threads.now + 1 : 0, true);
}

/// start(function): a new thread's number. It begins when this one gives way.
Result<Value> start(Interp& interp, Value* a) {
  Threads* t = found(interp);
  if (!t) return fail(ErrorKind::RuntimeError, "can't start new thread");
  if (t->all.size() >= kMost) return fail(ErrorKind::RuntimeError, "can't start new thread: {} live already", t->all.size());
  TFL_TRY(guard_memory(interp, kReserve));
  auto made = std::make_unique<Thread>();
  made->fiber = Fiber::make(kStack, run_thread, t);
  if (!made->fiber) return fail(ErrorKind::MemoryError, "no memory for the stack of a thread");
  made->id = ++t->next_id;
  made->function = a[0];
  made->running.stack_limit = made->fiber->lowest() + kReserve;
  int64_t id = made->id;
  t->all.push_back(std::move(made));
  return Value::integer(id);
}

Result<void> give_way(Interp& interp, Threads& t, int64_t end, bool first) {
  TFL_TRY(interp.check_interrupt());
  t.current().end = end;
  if (first) ++t.progress;
  uint64_t seen = t.progress;
  if (interp.undivided == 0) t.go_to(t.now + 1 < t.all.size() ? t.now + 1 : 0);
  TFL_TRY(interp.check_interrupt());
  if (t.progress != seen) return {};
  // A whole round of questions: nobody has done anything.
  int64_t earliest = kNever;
  for (const auto& other : t.all) earliest = std::min(earliest, other->end);
  if (earliest == kNever && interp.undivided == 0 && t.now == 0)
    return fail(ErrorKind::RuntimeError, "every thread waits for another: none can go on");
  int64_t left = std::min(earliest - now_nanoseconds(), kNap);
  if (left > 0) {
    timespec nap{0, left};
    nanosleep(&nap, nullptr);
  }
  return interp.check_interrupt();
}

/// wait(first, end): lets the others run. first: this thread has done something since it last waited; end: seconds of the monotonic clock, or None.
Result<Value> wait(Interp& interp, Value* a) {
  Threads* t = found(interp);
  int64_t end = kNever;
  if (!a[1].is_none()) {
    double seconds = TFL_TRY(to_double(interp, a[1]));
    if (seconds < 9e9) end = static_cast<int64_t>(std::max(seconds, 0.0) * 1e9);
  }
  if (t) TFL_TRY(give_way(interp, *t, end, a[0].as_bool()));
  return Value::none();
}

Result<Value> ident(Interp& interp, Value*) {
  Threads* t = found(interp);
  return Value::integer(t ? t->current().id : 1);
}

/// interrupt_main(): KeyboardInterrupt, as by Ctrl-C, for whoever runs next.
Result<Value> interrupt_main(Interp& interp, Value*) {
  interp.context.interrupt.fetch_or(kInterruptKeyboard);
  return Value::none();
}

const Slots kThreads = {.kind = Kind::Native, .destroy = destroy_object<Threads>};

constexpr NativeDef kFunctions[] = {
    function("start", "function, /", start),
    function("wait", "first: bool, end, /", wait),
    function("ident", "", ident),
    function("interrupt_main", "", interrupt_main),
};

}  // namespace

}  // namespace threads

Result<bool> let_others_run(Interp& interp, int64_t end, bool first) {
  threads::Threads* t = threads::found(interp);
  if (!t || t->all.size() < 2) return false;
  TFL_TRY(threads::give_way(interp, *t, end, first));
  return true;
}

Result<void> init_thread(Interp& interp, Module& module) {
  define_all(interp, module, threads::kFunctions);
  Type* type = define_native_type(interp, module, "Threads", threads::kThreads, {}, "_thread");
  auto* t = interp.allocate<threads::Threads>(type);
  Value held = Value::adopt(t);
  t->interp = &interp;
  auto first = std::make_unique<threads::Thread>();
  first->id = 1;
  first->fiber = std::make_unique<Fiber>();
  t->all.push_back(std::move(first));
  define(interp, module, "_threads", held);
  return {};
}

}  // namespace tfl
