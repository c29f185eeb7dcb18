// One pool of worker threads for a Context. Work is split into fixed chunks that depend only on the work, never on the
// number of threads, so that results cannot depend on it either. Workers that no job wants do tasks, which the owner hands in and
// does not wait for until it needs what they make.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace tfl {

/// A piece of work for one thread, whichever comes first.
struct Task {
  enum Phase : uint32_t { waiting, running, done };
  virtual ~Task() = default;
  /// On a worker's thread: must not throw, touch host values or ask the pool for anything.
  virtual void run() = 0;
  /// Whoever claims a task, and nobody else, runs it.
  bool claim() {
    uint32_t expected = waiting;
    return phase.compare_exchange_strong(expected, running, std::memory_order_acq_rel);
  }
  bool is_done() const { return phase.load(std::memory_order_acquire) == done; }
  std::atomic<uint32_t> phase{waiting};
};

class ThreadPool {
 public:
  /// `threads` counts the caller: 1 means no worker at all.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;
  /// Calls body(first, last) for chunks [first, last) of [0, n), each at most `grain` long, on all threads; returns when
  /// all are done. The body must not throw or touch host values. Nested calls run on the calling thread.
  template <class F>
  void parallel_for(int64_t n, int64_t grain, F&& body) {
    using Body = std::remove_reference_t<F>;
    run(
        n, grain, [](void* f, int64_t first, int64_t last) { (*static_cast<Body*>(f))(first, last); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

  /// A worker runs the task when it finds time, unless somebody else has claimed it before. A pool without workers forgets it.
  void start(std::shared_ptr<Task> task);
  /// Waits some milliseconds at most for a task that a worker runs; true when it is done.
  bool wait_a_little(const Task& task);

 private:
  void run(int64_t n, int64_t grain, void (*call)(void*, int64_t, int64_t), void* body);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tfl
