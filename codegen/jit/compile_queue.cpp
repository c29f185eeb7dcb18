#include "codegen/jit/compile_queue.h"

#include <fmt/core.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "runtime/core/growth.h"

namespace tfl::codegen {

namespace {

// At its end a program waits this long for what is being compiled: the object is found on disk the next time.
constexpr auto kPatience = std::chrono::milliseconds(200);

constexpr auto kPoll = std::chrono::milliseconds(20);  // for interrupts, while a program waits for code

// Whether a thread of this process was left alone with a compilation: an end that destroys what it uses would crash.
constinit std::atomic<bool> left_alone{false};

}  // namespace

/// What both threads use.
struct CompileQueue::Compiler {
  explicit Compiler(const JitOptions& o) : options(o), cache(o.cache_folder) {}
  const JitOptions options;
  const ObjectCache cache;
  mutable std::atomic<uint32_t> compiled{0}, loaded{0}, failed{0};
  mutable std::atomic<int64_t> nanoseconds{0};

  bool load(Unit& unit, std::string_view object) const {
    auto code = LoadedCode::load(object, options.listeners);
    if (!code) {
      unit.error = code.error().message;
      return false;
    }
    unit.code = code.take();
    return true;
  }

  // Nobody else touches a unit that is being compiled. Gives the object; empty when there is none.
  std::string make(Unit& unit) const {
    auto begin = std::chrono::steady_clock::now();
    CompileRequest request;
    request.plan = &unit.plan;
    if (options.listeners.debugger || options.listeners.profiler) request.lines = &unit.lines;
    request.cpu = options.cpu;
    request.probes = options.profile;
    CompileResult result;
    compile_plan(request, result);
    growth::measure();  // what LLVM maps itself, and what it leaves behind
    auto end = std::chrono::steady_clock::now();
    nanoseconds.fetch_add(std::chrono::nanoseconds(end - begin).count(), std::memory_order_relaxed);
    unit.error = std::move(result.error);
    bool good = unit.error.empty() && load(unit, result.bytes);
    if (options.verbose) {
      double ms = std::chrono::duration<double, std::milli>(end - begin).count();
      if (good)
        fmt::print(stderr, "tfl: {} compiled in {:.1f} ms, {} bytes\n", unit.plan.name, ms, result.bytes.size());
      else
        fmt::print(stderr, "tfl: {} was not compiled: {}\n", unit.plan.name, unit.error);
    }
    uint32_t before = (good ? compiled : failed).fetch_add(1, std::memory_order_relaxed);
    // Who asked for machine code shall know that there is none; the evaluator answers in any case.
    if (!good && options.wait && !options.verbose && before == 0)
      fmt::print(stderr, "tfl: warning: no machine code: {}\n", unit.error);
    unit.phase.store(good ? Unit::ready : Unit::failed, std::memory_order_release);
    return good ? std::move(result.bytes) : std::string();
  }
};

struct CompileQueue::Worker {
  std::mutex mutex;
  std::condition_variable wake, done;
  std::deque<std::weak_ptr<Unit>> units;  // of functions that may be gone when their turn comes
  bool stop = false, busy = false;
  std::thread thread;

  void run(const Compiler& compiler) {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return stop || !units.empty(); });
      if (stop) return;
      std::shared_ptr<Unit> unit = units.front().lock();
      units.pop_front();
      uint8_t queued = Unit::queued;
      if (!unit || !unit->phase.compare_exchange_strong(queued, Unit::compiling)) continue;
      busy = true;
      lock.unlock();
      std::string object = compiler.make(*unit);
      ObjectKey key = unit->key;
      unit.reset();
      lock.lock();
      done.notify_all();  // the disk can wait
      lock.unlock();
      if (!object.empty()) compiler.cache.store(key, object);
      lock.lock();
      busy = false;
      done.notify_all();
    }
  }
};

size_t CompileQueue::KeyHash::operator()(const ObjectKey& k) const {
  size_t h;
  std::memcpy(&h, k.data(), sizeof h);
  return h;
}

CompileQueue::CompileQueue(const JitOptions& options) : compiler_(std::make_shared<const Compiler>(options)) {}

CompileQueue::~CompileQueue() { stop(); }

void CompileQueue::stop() {
  if (!worker_) return;
  bool idle;
  {
    std::unique_lock lock(worker_->mutex);
    worker_->stop = true;
    worker_->wake.notify_all();
    idle = worker_->done.wait_for(lock, kPatience, [&] { return !worker_->busy; });
  }
  if (idle) {
    worker_->thread.join();
  } else {
    left_alone.store(true);
    worker_->thread.detach();  // it holds all that it uses
  }
  worker_.reset();
}

JitCounts CompileQueue::counts() const {
  const Compiler& c = *compiler_;
  return {c.compiled.load(), c.loaded.load(), c.failed.load(), 0, static_cast<double>(c.nanoseconds.load()) * 1e-9};
}

bool compiler_left_alone() { return left_alone.load(); }

std::shared_ptr<Unit> CompileQueue::unit(plan::Plan plan, std::string_view text) {
  ObjectKey key = object_key(text, cpu_name(compiler_->options.cpu));
  std::weak_ptr<Unit>& place = units_[key];
  if (std::shared_ptr<Unit> known = place.lock()) return known;
  auto made = std::make_shared<Unit>();
  made->plan = std::move(plan);
  made->key = key;
  place = made;
  if (units_.size() >= sweep_at_) {
    std::erase_if(units_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = 64 + 2 * units_.size();
  }
  if (std::string object; compiler_->cache.load(key, object) && compiler_->load(*made, object)) {
    if (compiler_->options.verbose) fmt::print(stderr, "tfl: {} loaded from the cache\n", made->plan.name);
    compiler_->loaded.fetch_add(1, std::memory_order_relaxed);
    made->phase.store(Unit::ready, std::memory_order_release);
  }
  return made;
}

void CompileQueue::enqueue(const std::shared_ptr<Unit>& unit, bool first) {
  uint8_t waiting = Unit::waiting;
  bool fresh = unit->phase.compare_exchange_strong(waiting, Unit::queued);
  if (!fresh && !(first && waiting == Unit::queued)) return;
  if (!worker_ && !start_worker()) {  // there can be no more threads
    std::string object = compiler_->make(*unit);
    if (!object.empty()) compiler_->cache.store(unit->key, object);
    return;
  }
  {
    std::lock_guard lock(worker_->mutex);
    if (first)
      worker_->units.push_front(unit);  // the thread passes over a second time
    else
      worker_->units.push_back(unit);
  }
  worker_->wake.notify_one();
}

void CompileQueue::compile_later(const std::shared_ptr<Unit>& unit) { enqueue(unit, false); }

void CompileQueue::compile_soon(const std::shared_ptr<Unit>& unit, const std::atomic<uint32_t>& interrupt, double seconds) {
  enqueue(unit, true);
  auto finished = [&] { return unit->phase.load(std::memory_order_acquire) >= Unit::ready; };
  if (finished() || !worker_) return;
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::unique_lock lock(worker_->mutex);
  while (!finished() && interrupt.load(std::memory_order_relaxed) == 0 && std::chrono::steady_clock::now() < end)
    worker_->done.wait_for(lock, kPoll);
}

bool CompileQueue::start_worker() {
  auto made = std::make_shared<Worker>();
  // Signals are for the thread that runs the script.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    made->thread = std::thread([made, compiler = compiler_] { made->run(*compiler); });
    worker_ = std::move(made);
  } catch (const std::system_error&) {  // the one thing here that throws
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return worker_ != nullptr;
}

}  // namespace tfl::codegen
