// Convolutions and pooling of a library: the loops of runtime/kernels on the context's threads.
#include "runtime/kernels/window/window_loops.h"
#include "runtime/standalone/workers.h"

namespace tfl {

inline namespace v3 {
extern const WindowKernels kWindowKernels;
}  // namespace v3
inline namespace v4 {
extern const WindowKernels kWindowKernels;
}  // namespace v4

namespace {

struct RowEpilogue {
  tfls_frame* frame;
  tfls_kernel kernel;
};

template <class T>
void compute_window(tfls_frame* frame, const tfls_product_call& call, const WindowLoops<T>& loops) {
  auto* context = static_cast<tfl_context*>(frame->self);
  WindowJob<T> job = job_of<T>(*static_cast<const WindowCall*>(call.window), call.a, call.b, call.result);
  RowEpilogue epilogue{frame, call.epilogue};
  if (call.epilogue) {
    job.finisher = &epilogue;
    job.finish = [](void* self, int64_t first, int64_t last) {
      const auto& e = *static_cast<const RowEpilogue*>(self);
      e.kernel(e.frame, first, last);
    };
  }
  const Workers workers = workers_of(frame);
  const int64_t bytes = run_window(workers, job, loops, workers.threads, nullptr);
  if (bytes == 0) return;
  auto* scratch = static_cast<std::byte*>(tfls_product_memory(context, static_cast<size_t>(bytes)));
  if (!scratch) {
    frame->failed = -1;  // no memory
    return;
  }
  run_window(workers, job, loops, workers.threads, scratch);
}

void window_product(tfls_frame* frame, const tfls_product_call& call, const WindowKernels& kernels) {
  switch (call.dtype) {
    case TFLS_F32: return compute_window(frame, call, *kernels.f32);
    case TFLS_F64: return compute_window(frame, call, *kernels.f64);
    case TFLS_I32: return compute_window(frame, call, *kernels.i32);
    default: return compute_window(frame, call, *kernels.i64);
  }
}

}  // namespace
}  // namespace tfl

extern "C" {
void tfls_product_x86_64_v3_windows(tfls_frame* frame, const tfls_product_call* call) {
  if (call->window) return tfl::window_product(frame, *call, tfl::v3::kWindowKernels);
  tfls_product_x86_64_v3(frame, call);
}
void tfls_product_x86_64_v4_windows(tfls_frame* frame, const tfls_product_call* call) {
  if (call->window) return tfl::window_product(frame, *call, tfl::v4::kWindowKernels);
  tfls_product_x86_64_v4(frame, call);
}
}
