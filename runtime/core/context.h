// Everything one running TFL owns: heap, element memory, threads, random state, configuration. Passed by reference to
// whatever needs it; two of them live in one process without knowing of each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/core/heap.h"
#include "runtime/core/memory_pool.h"

namespace tfl {

class FourierPlans;
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
  size_t memory_limit = 0;          // bytes; 0: MemoryPool::default_limit()
  int threads = 0;                  // 0: the processors this process may use
  IsaLevel max_isa = IsaLevel::v4;  // tests run kernels of lower levels
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

  /// Why the script is to be stopped. Set by a signal handler or a timer on the thread of the context; a script looks at it between its
  /// own statements, where whatever they do is whole.
  std::atomic<uint32_t> interrupt_request{0};
  /// The same, for all who have not come to such a place in time: kernels look at it between blocks and give up. Their result is then no
  /// value, and the operation fails.
  std::atomic<uint32_t> interrupt{0};
  /// What is asked for becomes urgent, unless memory is just being overwritten that others see. For signal handlers.
  void urge_interrupt() {
    if (!overwriting_.load(std::memory_order_relaxed)) interrupt.fetch_or(interrupt_request.load());
  }
  /// While one lives, kernels finish what they have begun: it writes over elements that somebody holds. Not `ok`: it must not begin.
  class Overwriting {
   public:
    explicit Overwriting(Context& context) : context_(context), before_(context.overwriting_.exchange(true)) {}
    ~Overwriting() { context_.overwriting_.store(before_); }
    Overwriting(const Overwriting&) = delete;
    Overwriting& operator=(const Overwriting&) = delete;
    bool ok() const { return context_.interrupt.load() == 0; }

   private:
    Context& context_;
    bool before_;
  };

  /// Of Fourier transforms that have been asked for; any thread may.
  FourierPlans& fourier_plans() { return *fourier_plans_; }

  /// The GPUs that this process may use; nothing is looked for before somebody asks it.
  gpu::Devices& devices();

  /// Called with TensorRep::host when a tensor that has one goes away; the front end's.
  void (*release_host)(Context&, void*) = nullptr;

 private:
  std::atomic<bool> overwriting_{false};
  IsaLevel isa_;
  int thread_count_;
  std::unique_ptr<FourierPlans> fourier_plans_;
  std::unique_ptr<ThreadPool> threads_;
  std::unique_ptr<gpu::Devices> devices_;
};

}  // namespace tfl
