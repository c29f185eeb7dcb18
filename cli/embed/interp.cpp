// Interpreters of tfl.h: making them, who is in them, when they are stopped and when they go.
#include "cli/embed/interp.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <thread>

#include "cli/embed/standard_streams.h"
#include "codegen/llvm/compile.h"
#include "runtime/core/growth.h"
#include "runtime/files/cache_files.h"

namespace tfl::embed {

namespace {

std::vector<std::string> texts(const char* const* list) {
  std::vector<std::string> out;
  for (; list && *list; ++list) out.emplace_back(*list);
  return out;
}

ContextOptions context_options(const tfl_interp_options& o) { return {o.memory_limit, o.threads}; }

codegen::JitOptions jit_options(const tfl_interp_options& o) {
  codegen::JitOptions jit;
  const IsaLevel best = best_isa_level();
  jit.enabled = o.jit != TFL_JIT_OFF && best != IsaLevel::base;
  jit.wait = o.jit == TFL_JIT_WAIT;
  if (!o.no_cache) jit.cache_folder = cache_folder("native");
  jit.cpu = codegen::this_cpu();
  return jit;
}

InterpOptions interp_options(const tfl_interp_options& o) {
  InterpOptions out;
  if (o.depth > 0) out.max_depth = o.depth;
  if (o.folder) out.script_folder = o.folder;
  out.allow_read = texts(o.allow_read);
  out.allow_write = texts(o.allow_write);
  out.allow_all = o.allow_all != 0;
  out.use_cache = o.no_cache == 0;
  out.argv = {""};
  return out;
}

/// How far down natives may recurse on this thread; asked for once a thread, because the system reads a file to tell.
const char* lowest_address() {
  constexpr size_t kReserve = 256 * 1024, kMost = 64 * 1024 * 1024;
  thread_local const char* lowest = nullptr;
  if (lowest) return lowest;
  pthread_attr_t attributes;
  void* bottom = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &bottom, &size);
    pthread_attr_destroy(&attributes);
  }
  const char* here = static_cast<const char*>(__builtin_frame_address(0));
  const char* end = static_cast<const char*>(bottom);
  if (!end || end > here) end = here - 1024 * 1024;
  lowest = std::max(end, here - kMost) + kReserve;
  return lowest;
}

}  // namespace

/// A thread that looks at the clock while a call with a time limit runs.
struct Core::Watch {
  explicit Watch(Core& core) : thread([this, &core] { run(core); }) {}
  ~Watch() {
    {
      std::lock_guard<std::mutex> guard(mutex);
      ended = true;
    }
    changed.notify_all();
    thread.join();
  }
  void set(double seconds) {
    {
      std::lock_guard<std::mutex> guard(mutex);
      armed = seconds > 0;
      if (armed) deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    changed.notify_all();
  }

 private:
  using Clock = std::chrono::steady_clock;
  void run(Core& core) {
    constexpr auto kPatience = std::chrono::milliseconds(50);  // for a script to come to a place where everything is whole
    std::unique_lock<std::mutex> guard(mutex);
    while (!ended) {
      if (!armed) {
        changed.wait(guard);
      } else if (Clock::now() < deadline) {
        changed.wait_until(guard, deadline);
      } else if (!(core.context.interrupt_request.load() & kInterruptTimeout)) {
        core.context.interrupt_request.fetch_or(kInterruptTimeout);
        changed.wait_for(guard, kPatience);
      } else {
        core.context.urge_interrupt();
        changed.wait_for(guard, kPatience);
      }
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  Clock::time_point deadline;
  bool armed = false, ended = false;
  std::thread thread;
};

Core::Core(const tfl_interp_options& o)
    : context(context_options(o), jit_options(o)),
      interp(context, interp_options(o)),
      keeps_output(o.keep_output != 0),
      time_limit(o.time_limit) {
  complete(interp, context);
  if (keeps_output) {
    interp.streams.capture_out = &out;
    interp.streams.capture_err = &err;
  }
}

Core::~Core() {
  watch_.reset();
  interp.stack_limit = lowest_address();
  dropped_.clear();
  interp.write_files();
  interp.streams.flush();
  interp.streams.capture_out = interp.streams.capture_err = nullptr;
  context.jit.stop();
}

Core::Lent::~Lent() {
  for (Borrowed* lent : all) {
    if (lent->give_back) lent->give_back(lent->user);
    delete lent;
  }
}

void Core::entered() {
  if (depth_++ > 0) return;
  interp.stack_limit = lowest_address();
  if (any_dropped_.load(std::memory_order_acquire)) drain();
}

void Core::lock() {
  mutex_.lock();
  entered();
}

bool Core::try_lock() {
  if (!mutex_.try_lock()) return false;
  entered();
  return true;
}

void Core::unlock() {
  std::vector<Borrowed*> back;
  if (depth_ == 1) {
    if (any_dropped_.load(std::memory_order_acquire)) drain();
    if (!lent_.all.empty()) back = returned();
  }
  --depth_;
  mutex_.unlock();
  // Whoever lent it may wait for locks of his own: not in ours.
  for (Borrowed* lent : back) {
    if (lent->give_back) lent->give_back(lent->user);
    delete lent;
  }
}

void Core::drain() {
  for (;;) {
    std::vector<std::pair<Value, Tensor>> gone;
    {
      std::lock_guard<std::mutex> guard(dropped_mutex_);
      gone.swap(dropped_);
      any_dropped_.store(false, std::memory_order_release);
    }
    if (gone.empty()) return;
  }
}

std::vector<Borrowed*> Core::returned() {
  std::vector<Borrowed*> back;
  std::vector<Borrowed*>& all = lent_.all;
  for (size_t i = 0; i < all.size();) {
    if (all[i]->unused()) {
      back.push_back(all[i]);
      all[i] = all.back();
      all.pop_back();
    } else {
      ++i;
    }
  }
  return back;
}

void Core::drop(Value value, Tensor tensor) {
  if (try_lock()) {
    tensor = Tensor();
    value = Value();
    unlock();
    return;
  }
  std::lock_guard<std::mutex> guard(dropped_mutex_);
  dropped_.emplace_back(std::move(value), std::move(tensor));
  any_dropped_.store(true, std::memory_order_release);
}

bool Core::begin_call() {
  if (calls_++ > 0) return false;
  context.interrupt_request.store(0);
  context.interrupt.store(0);
  interp.stopped = false;
  if (time_limit > 0) {
    if (!watch_) watch_ = std::make_unique<Watch>(*this);
    watch_->set(time_limit);
  }
  return true;
}

void Core::end_call() {
  if (--calls_ > 0) return;
  if (watch_) watch_->set(0);
  interp.streams.flush();
}

void Core::cancel() {
  // A second time it is urgent.
  if (context.interrupt_request.fetch_or(kInterruptKeyboard) & kInterruptKeyboard) context.urge_interrupt();
}

tfl_value* new_value(Core& core, Value value) {
  core.retain();
  return new tfl_value{&core, std::move(value), {}};
}

Core& core_of(tfl_interp* interp) { return *interp->core; }

}  // namespace tfl::embed

using namespace tfl;
using namespace tfl::embed;

extern "C" {

uint32_t tfl_abi_version(void) { return TFL_ABI_VERSION; }

tfl_error* tfl_interp_new(const tfl_interp_options* options, tfl_interp** out) {
  growth::be_a_guest();
  *out = nullptr;
  tfl_interp_options own{};
  if (options) {
    constexpr size_t kFirst = offsetof(tfl_interp_options, memory_limit) + sizeof(size_t);
    if (options->struct_size < kFirst || options->struct_size > 4096)
      return new_error("ValueError", "tfl_interp_options.struct_size is not the size of the options");
    std::memcpy(&own, options, std::min(options->struct_size, sizeof own));
  }
  if (own.threads < 0 || own.depth < 0 || own.time_limit < 0 || own.jit < TFL_JIT_AUTO || own.jit > TFL_JIT_OFF)
    return new_error("ValueError", "an option of tfl_interp_options is out of its range");
  find_standard_streams();
  try {
    *out = new tfl_interp{new Core(own)};
    return nullptr;
  } catch (const std::exception& e) {
    return new_error("MemoryError", e.what());
  }
}

void tfl_interp_free(tfl_interp* interp) {
  if (!interp) return;
  interp->core->release();
  delete interp;
}

void tfl_interp_cancel(tfl_interp* interp) { interp->core->cancel(); }

tfl_value* tfl_interp_output(tfl_interp* interp, int32_t stream) {
  Core& core = core_of(interp);
  Locked locked(core);
  return new_value(core, core.interp.str(std::exchange(stream == 2 ? core.err : core.out, {})));
}

void tfl_lock(tfl_interp* interp) { interp->core->lock(); }
int32_t tfl_try_lock(tfl_interp* interp) { return interp->core->try_lock(); }
void tfl_unlock(tfl_interp* interp) { interp->core->unlock(); }

}  // extern "C"
