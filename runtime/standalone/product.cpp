// Matrix products of a library: the loops of runtime/kernels on the context's threads.
#include "runtime/kernels/product/product_loops.h"
#include "runtime/standalone/workers.h"

namespace tfl {

inline namespace v3 {
extern const ProductTiles<float> kProductTilesF32;
extern const ProductKernels kProductKernels;
}  // namespace v3
inline namespace v4 {
extern const ProductTiles<float> kProductTilesF32;
extern const ProductKernels kProductKernels;
}  // namespace v4

namespace {

struct Epilogue {
  tfls_frame* frame;
  tfls_kernel kernel;
};

template <class T>
void multiply(tfls_frame* frame, const tfls_product_call& c, const ProductTiles<T>& tiles) {
  auto* context = static_cast<tfl_context*>(frame->self);
  if (c.batch <= 0 || c.m <= 0 || c.n <= 0) return;
  ProductBatch<T> batch = batch_of<T>(c);
  Epilogue epilogue{frame, c.epilogue};
  if (c.epilogue && c.batch == 1) {
    batch.one.finisher = &epilogue;
    batch.one.finish = [](void* self, int64_t first, int64_t last) {
      const auto& e = *static_cast<const Epilogue*>(self);
      e.kernel(e.frame, first, last);
    };
  }
  Workers workers = workers_of(frame);
  size_t elements = products_scratch(batch, tiles, workers.threads), bytes;
  if (__builtin_mul_overflow(elements, sizeof(T), &bytes)) bytes = SIZE_MAX;
  T* scratch = static_cast<T*>(tfls_product_memory(context, bytes));
  if (bytes && !scratch) {
    frame->failed = -1;  // no memory
    return;
  }
  run_products(workers, batch, tiles, workers.threads, scratch);
}

void dispatch(tfls_frame* frame, const tfls_product_call* call, const ProductKernels& kernels) {
  switch (call->dtype) {
    case TFLS_F32: return multiply(frame, *call, *kernels.f32);
    case TFLS_F64: return multiply(frame, *call, *kernels.f64);
    case TFLS_I32:
    case TFLS_U32: return multiply(frame, *call, *kernels.i32);
    default: return multiply(frame, *call, *kernels.i64);
  }
}

}  // namespace
}  // namespace tfl

extern "C" {
void tfls_product_x86_64_v3_f32(tfls_frame* frame, const tfls_product_call* call) {
  tfl::multiply(frame, *call, tfl::v3::kProductTilesF32);
}
void tfls_product_x86_64_v4_f32(tfls_frame* frame, const tfls_product_call* call) {
  tfl::multiply(frame, *call, tfl::v4::kProductTilesF32);
}
void tfls_product_x86_64_v3(tfls_frame* frame, const tfls_product_call* call) {
  tfl::dispatch(frame, call, tfl::v3::kProductKernels);
}
void tfls_product_x86_64_v4(tfls_frame* frame, const tfls_product_call* call) {
  tfl::dispatch(frame, call, tfl::v4::kProductKernels);
}
}
