#include "runtime/kernels/window/window.h"

#include "runtime/kernels/context_workers.h"
#include "runtime/kernels/window/window_kernels.h"
#include "runtime/kernels/window/window_loops.h"

namespace tfl {

template <class T>
int64_t window_scratch(Context& context, int threads, const WindowJob<T>& job) {
  return window_loops::run_window(workers_of(context), job, loops_for<T>(window_kernels(context.isa())), threads, nullptr);
}

template <class T>
void run_window(Context& context, const Workers& workers, const WindowJob<T>& job, std::byte* scratch) {
  window_loops::run_window(workers, job, loops_for<T>(window_kernels(context.isa())), workers.threads, scratch);
}

template <class T>
Result<void> run_window(Context& context, const WindowJob<T>& job) {
  const int64_t bytes = window_scratch(context, context.thread_count(), job);
  if (bytes == 0) return {};
  void* memory = TFL_TRY(context.memory.allocate(static_cast<size_t>(bytes)));
  run_window(context, workers_of(context), job, static_cast<std::byte*>(memory));
  context.memory.release(memory, static_cast<size_t>(bytes));
  return {};
}

#define TFL_INSTANTIATE(T)                                                                \
  template int64_t window_scratch<T>(Context&, int, const WindowJob<T>&);                 \
  template void run_window<T>(Context&, const Workers&, const WindowJob<T>&, std::byte*); \
  template Result<void> run_window<T>(Context&, const WindowJob<T>&);
TFL_INSTANTIATE(float)
TFL_INSTANTIATE(double)
TFL_INSTANTIATE(int32_t)
TFL_INSTANTIATE(int64_t)
#undef TFL_INSTANTIATE

}  // namespace tfl
