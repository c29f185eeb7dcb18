// Everything one running TFL owns: heap, element memory, threads, random state, configuration. Passed by reference to
// whatever needs it; two of them live in one process without knowing of each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/memory/heap.h"
#include "runtime/memory/memory_pool.h"

namespace tfl {

class ThreadPool;

struct ContextOptions {
  size_t memory_limit = 0;  // bytes; 0: MemoryPool::default_limit()
  int threads = 0;          // 0: the processors this process may use
};

class Context {
 public:
  explicit Context(const ContextOptions& options = {});
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Heap heap;
  MemoryPool memory;
  /// Started on first use.
  ThreadPool& threads();
  int thread_count() const { return thread_count_; }
  void set_thread_count(int n);

  /// Set by a signal handler or a timer; long-running kernels look at it between blocks and the VM between statements.
  std::atomic<uint32_t> interrupt{0};

 private:
  int thread_count_;
  std::unique_ptr<ThreadPool> threads_;
};

}  // namespace tfl
