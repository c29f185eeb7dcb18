// What stands behind the types of tfl.h. Of the C interface alone.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "cli/embed/engine.h"
#include "cli/embed/tfl.h"
#include "runtime/tensor/borrowed.h"

namespace tfl::embed {

/// One interpreter. It lives as long as its handle, its values and its exported tensors do; all of them count.
class Core {
 public:
  explicit Core(const tfl_interp_options& options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void retain() { uses_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (uses_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// Only who has locked it may touch the interpreter and anything in it.
  void lock();
  bool try_lock();
  void unlock();

  /// Drops the reference of a value: now, or where another thread is in, when that comes out.
  void drop(Value value, Tensor tensor);
  /// Memory that somebody lent, to be given back once nothing here sees it.
  void lend(Borrowed* lent) { lent_.all.push_back(lent); }

  /// The time limit, if there is one, runs from the outermost call on.
  bool begin_call();
  void end_call();
  void cancel();

  /// What has been lent and not given back; what is left goes back when nothing of the interpreter is there any more.
  struct Lent {
    std::vector<Borrowed*> all;
    ~Lent();
  };

 private:
  Lent lent_;

 public:
  ProgramContext context;
  Interp interp;
  std::string out, err;  // of standard output and error, where they are kept
  const bool keeps_output;
  const double time_limit;
  std::vector<std::string> folders;  // of files that were loaded

 private:
  struct Watch;
  void entered();
  void drain();
  /// Takes out what nobody sees any more.
  std::vector<Borrowed*> returned();

  std::atomic<int64_t> uses_{1};
  std::recursive_mutex mutex_;
  int depth_ = 0;  // of locks
  int calls_ = 0;
  std::mutex dropped_mutex_;
  std::vector<std::pair<Value, Tensor>> dropped_;
  std::atomic<bool> any_dropped_{false};
  std::unique_ptr<Watch> watch_;
};

class Locked {
 public:
  explicit Locked(Core& core) : core_(core) { core.lock(); }
  ~Locked() { core_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Core& core_;
};

tfl_value* new_value(Core& core, Value value);
Core& core_of(tfl_interp* interp);

/// The error of a call; with `diagnostics` (rendered) that of a text that does not compile.
tfl_error* new_error(Core& core, Error& error);
tfl_error* new_error(std::string kind, std::string message, std::string traceback = {});
void add_place(tfl_error* error, std::string file, int32_t line, std::string function);

/// Does the work of a function of the interface, which gives Result<void>, or a tfl_error already. Whatever a library throws becomes an error.
template <class F>
tfl_error* guarded(Core& core, F&& work) noexcept {
  try {
    Locked locked(core);
    if constexpr (std::is_same_v<decltype(work()), tfl_error*>) {
      return work();
    } else {
      Result<void> done = work();
      return done ? nullptr : new_error(core, done.error());
    }
  } catch (const std::bad_alloc&) {
    return new_error("MemoryError", "the system has no memory left");
  } catch (const std::exception& e) {
    return new_error("SystemError", e.what());
  } catch (...) {
    return new_error("SystemError", "an internal error");
  }
}

}  // namespace tfl::embed

struct tfl_interp {
  tfl::embed::Core* core;
};

struct tfl_value {
  tfl::embed::Core* core;
  tfl::Value value;
  tfl::Tensor seen;  // what tfl_to_view has shown: it stays while the value lives
};
