// One pool of worker threads for a Context. Work is split into fixed chunks that depend only on the work, never on the
// number of threads, so that results cannot depend on it either.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace tfl {

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
    run(n, grain, [](void* f, int64_t first, int64_t last) { (*static_cast<Body*>(f))(first, last); }, const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  void run(int64_t n, int64_t grain, void (*call)(void*, int64_t, int64_t), void* body);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tfl
