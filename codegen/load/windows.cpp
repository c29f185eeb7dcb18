// Convolutions and pooling for machine code: the loops of runtime/kernels on the context's threads.
#include "codegen/load/services.h"
#include "runtime/kernels/window/window.h"
#include "runtime/tensor/dtype.h"

namespace tfl::codegen {

namespace {

/// visit(0 of the call's element type).
template <class F>
void with_window_type(const ProductCall& call, const F& visit) {
  switch (static_cast<DType>(call.dtype)) {
    case DType::F32: return visit(float());
    case DType::F64: return visit(double());
    case DType::I32: return visit(int32_t());
    default: return visit(int64_t());
  }
}

struct RowEpilogue {
  Frame* frame;
  KernelFunction kernel;
};

}  // namespace

size_t window_scratch_bytes(Context& context, int threads, const ProductCall& call) {
  int64_t bytes = 0;
  with_window_type(call, [&](auto zero) {
    bytes = window_scratch(context, threads, job_of<decltype(zero)>(*call.window, nullptr, nullptr, nullptr));
  });
  return static_cast<size_t>(bytes);
}

void window_product(Frame* frame, const ProductCall& call) {
  Run& run = *static_cast<Run*>(frame->self);
  const size_t bytes = window_scratch_bytes(run.context, run.workers.threads, call);
  if (bytes == 0) return;
  std::byte* scratch = run.scratch;
  if (bytes > run.scratch_bytes) {
    scratch = static_cast<std::byte*>(more_scratch(frame, bytes));
    if (!scratch) return;
  }
  RowEpilogue epilogue{frame, call.epilogue};
  with_window_type(call, [&](auto zero) {
    auto job = job_of<decltype(zero)>(*call.window, call.a, call.b, call.result);
    if (call.epilogue) {
      job.finisher = &epilogue;
      job.finish = [](void* self, int64_t first, int64_t last) {
        const auto& e = *static_cast<const RowEpilogue*>(self);
        FloatEnvironment environment;
        e.kernel(e.frame, first, last);
      };
    }
    run_window(run.context, run.workers, job, scratch);
  });
  if (scratch != run.scratch) run.context.memory.release(scratch, bytes);
}

}  // namespace tfl::codegen
