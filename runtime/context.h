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
namespace gpu {
class Devices;
}

/// The instruction sets that kernels are compiled for: portable, x86-64-v3 (AVX2, FMA), x86-64-v4 (AVX-512).
enum class IsaLevel : uint8_t { base, v3, v4 };
inline constexpr int kIsaLevels = 3;
/// The best level that this program has kernels for and this processor runs.
IsaLevel best_isa_level();

struct ContextOptions {
  size_t memory_limit = 0;              // bytes; 0: MemoryPool::default_limit()
  int threads = 0;                      // 0: the processors this process may use
  IsaLevel max_isa = IsaLevel::v4;      // tests run kernels of lower levels
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
  /// Which of the compiled kernels to use.
  IsaLevel isa() const { return isa_; }

  /// Set by a signal handler or a timer; long-running kernels look at it between blocks and the VM between statements.
  std::atomic<uint32_t> interrupt{0};

  /// The GPUs that this process may use; nothing is looked for before somebody asks it.
  gpu::Devices& devices();

  /// Called with TensorRep::host when a tensor that has one goes away; the front end's.
  void (*release_host)(Context&, void*) = nullptr;

 private:
  IsaLevel isa_;
  int thread_count_;
  std::unique_ptr<ThreadPool> threads_;
  std::unique_ptr<gpu::Devices> devices_;
};

}  // namespace tfl
