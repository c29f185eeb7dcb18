#include "runtime/core/context.h"

#include <sched.h>

#include <algorithm>

#include "runtime/gpu/devices.h"
#include "runtime/kernels/fourier/fourier_plan.h"
#include "runtime/tensor/tensor.h"
#include "runtime/threads/thread_pool.h"

namespace tfl {

namespace {

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return 1;
}

}  // namespace

IsaLevel best_isa_level() {
#if TFL_HAVE_ISA_V4
  if (__builtin_cpu_supports("x86-64-v4")) return IsaLevel::v4;
#endif
#if TFL_HAVE_ISA_V3
  if (__builtin_cpu_supports("x86-64-v3")) return IsaLevel::v3;
#endif
  return IsaLevel::base;
}

Context::Context(const ContextOptions& options)
    : memory(options.memory_limit ? options.memory_limit : MemoryPool::default_limit()),
      isa_(std::min(options.max_isa, best_isa_level())),
      thread_count_(options.threads > 0 ? options.threads : available_processors()),
      fourier_plans_(std::make_unique<FourierPlans>()) {
  heap.owner = this;
}

// The front end has destroyed its objects by now. Tensors that a cycle of them held are still there.
Context::~Context() {
  if (devices_) devices_->drop_copies(true);
  heap.tearing_down = true;
  heap.for_each_live([](Counted* object) {
    if (object->kind == kTensorKind) Tensor::destroy(static_cast<TensorRep*>(object));
  });
}

ThreadPool& Context::threads() {
  if (!threads_) threads_ = std::make_unique<ThreadPool>(thread_count_);
  return *threads_;
}

gpu::Devices& Context::devices() {
  if (!devices_) devices_ = std::make_unique<gpu::Devices>(*this);
  return *devices_;
}

void Context::set_thread_count(int n) {
  thread_count_ = std::max(1, n);
  threads_.reset();
}

}  // namespace tfl
