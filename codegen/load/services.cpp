#include "codegen/load/services.h"

#include <algorithm>
#include <cstring>

#include "codegen/plan/parallel_loops.h"
#include "runtime/kernels/fourier/fourier_loops.h"
#include "runtime/kernels/linalg/matrix_loops.h"
#include "runtime/kernels/product/product.h"
#include "runtime/kernels/random/random_loops.h"
#include "runtime/kernels/random/sample_loops.h"
#include "runtime/kernels/reduce/arg_loops.h"
#include "runtime/kernels/reduce/reduce.h"
#include "runtime/kernels/routine_levels.h"
#include "runtime/tensor/dtype.h"

namespace tfl::codegen {

namespace {

constexpr int64_t kPollEvery = 32;  // parts on one thread, between two looks for an interrupt

Run& run_of(const Frame* f) { return *static_cast<Run*>(f->self); }

void parallel(Frame* frame, KernelFunction kernel, int64_t units, int64_t grain) {
  const Workers& workers = run_of(frame).workers;
  grain = std::max<int64_t>(grain, 1);
  if (units <= grain) {
    if (units > 0) kernel(frame, 0, units);
    return;
  }
  if (workers.threads == 1) {
    int64_t part = grain > INT64_MAX / kPollEvery ? units : grain * kPollEvery;
    for (int64_t first = 0; first < units && !workers.interrupted(); first += part) {
      kernel(frame, first, units - first > part ? first + part : units);
      if (units - first <= part) break;
    }
    return;
  }
  workers.parallel_for(units, grain, [&](int64_t first, int64_t last) {
    if (workers.interrupted()) return;
    FloatEnvironment environment;
    kernel(frame, first, last);
  });
}

struct Epilogue {
  Frame* frame;
  KernelFunction kernel;
};

template <class T>
size_t scratch_of(int threads, const ProductTiles<T>& tiles, const ProductCall& c) {
  if (c.batch <= 0 || c.m <= 0 || c.n <= 0) return 0;
  size_t elements = products_scratch(batch_of<T>(c), tiles, threads), bytes;
  return __builtin_mul_overflow(elements, sizeof(T), &bytes) ? SIZE_MAX : bytes;
}

template <class T>
void multiply(Frame* frame, const ProductTiles<T>& tiles, const ProductCall& c) {
  Run& run = run_of(frame);
  if (c.batch <= 0 || c.m <= 0 || c.n <= 0) return;
  ProductBatch<T> batch = batch_of<T>(c);
  Epilogue epilogue{frame, c.epilogue};
  if (c.epilogue && c.batch == 1) {
    batch.one.finisher = &epilogue;
    batch.one.finish = [](void* self, int64_t first, int64_t last) {
      const auto& e = *static_cast<const Epilogue*>(self);
      FloatEnvironment environment;
      e.kernel(e.frame, first, last);
    };
  }
  int threads = run.workers.threads;
  size_t bytes = scratch_of<T>(threads, tiles, c);
  if (bytes <= run.scratch_bytes)
    return run_products(run.workers, batch, tiles, threads, bytes ? reinterpret_cast<T*>(run.scratch) : nullptr);
  void* memory = more_scratch(frame, bytes);
  if (!memory) return;
  run_products(run.workers, batch, tiles, threads, static_cast<T*>(memory));
  run.context.memory.release(memory, bytes);
}

/// visit(tiles) with the tiles of the call's element type; `otherwise` for types that have none.
template <class R, class F>
R with_tiles(Context& context, const ProductCall& c, const F& visit, const R& otherwise) {
  const ProductKernels& kernels = product_kernels(context.isa());
  switch (static_cast<DType>(c.dtype)) {
    case DType::F32: return visit(*kernels.f32);
    case DType::F64: return visit(*kernels.f64);
    case DType::I32:
    case DType::U32: return visit(*kernels.i32);
    case DType::I64:
    case DType::U64: return visit(*kernels.i64);
    default: return otherwise;
  }
}

void product(Frame* frame, const ProductCall* call) {
  if (call->window) return window_product(frame, *call);
  bool done = with_tiles(
      run_of(frame).context, *call,
      [&](const auto& tiles) {
        multiply(frame, tiles, *call);
        return true;
      },
      false);
  if (!done) frame->failed = 1;
}

template <bool (*run)(const Workers&, const RoutineCall&)>
void routine(Frame* frame, const RoutineCall* call) {
  if (!run(run_of(frame).workers, *call)) frame->failed = call->location + 1;
}

// With the loops of this processor.
bool find_largest(const Workers& workers, const RoutineCall& call) {
  const auto& context = *static_cast<const Context*>(workers.self);
  const ArgLoop& loop = arg_loops(context.isa()).of[call.flags & 1][call.dtype];
  int64_t n = call.sizes[1], inner = call.sizes[2],
          step = n * inner * static_cast<int64_t>(dtype_size(static_cast<DType>(call.dtype)));
  bool wide = static_cast<DType>(call.index_dtype) == DType::I64;
  if (inner != 1 && !wide) return args::run(workers, call);
  in_parts(workers, call.sizes[0], std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, n * inner)), n * inner,
           [&](int64_t first, int64_t last) {
             for (int64_t i = first; i < last; ++i) {
               const auto* x = static_cast<const std::byte*>(call.at[0]) + i * step;
               if (inner != 1) {
                 loop.columns(x, inner, n, inner, static_cast<int64_t*>(call.at[1]) + i * inner);
               } else {
                 int64_t at = loop.sequence(x, n);
                 if (wide)
                   static_cast<int64_t*>(call.at[1])[i] = at;
                 else
                   static_cast<int32_t*>(call.at[1])[i] = static_cast<int32_t>(at);
               }
             }
           });
  return true;
}

bool draw(const Workers& workers, const RoutineCall& call) {
  return randoms::run(workers, random_kernels(static_cast<const Context*>(workers.self)->isa()), call);
}

template <RoutineFunction (*of_level)(IsaLevel)>
bool at_level(const Workers& workers, const RoutineCall& call) {
  return of_level(static_cast<const Context*>(workers.self)->isa())(workers, call);
}

const MatrixLevel& level_of(const Workers& workers) { return matrix_level(static_cast<const Context*>(workers.self)->isa()); }
bool solve(const Workers& workers, const RoutineCall& call) { return matrices::solve(workers, level_of(workers), call); }
bool factor(const Workers& workers, const RoutineCall& call) { return matrices::factor(workers, level_of(workers), call); }
bool transform(const Workers& workers, const RoutineCall& call) {
  auto& context = *static_cast<Context*>(workers.self);
  return fourier::run(workers, context.fourier_plans(), fourier_level(context.isa()), call);
}

// Each on a frame of its own: words that several threads write side by side would go from one cache to the other all the time.
int64_t beside(Frame* frame, const EntryFunction* functions, int64_t count) {
  Run& run = run_of(frame);
  int64_t status = kDone;
  if (!run.copies) {
    for (int64_t i = 0; i < count && status == kDone; ++i) status = functions[i](frame);
    return status;
  }
  auto copy = [&](int64_t i) {
    return reinterpret_cast<Frame*>(run.copies + static_cast<size_t>(i) * (run.frame_bytes + run.scratch_bytes));
  };
  int64_t statuses[plan::kMostBeside];
  run.workers.parallel_for(count, 1, [&](int64_t first, int64_t last) {
    FloatEnvironment environment;
    for (int64_t i = first; i < last; ++i) {
      Frame* own = copy(i);
      std::memcpy(static_cast<void*>(own), frame, run.frame_bytes);
      Run part{run.context, run.workers, reinterpret_cast<std::byte*>(own) + run.frame_bytes, run.scratch_bytes, false};
      own->self = &part;
      statuses[i] = functions[i](own);
    }
  });
  // No word is written by two of them.
  const size_t words = (run.frame_bytes - offsetof(Frame, words)) / sizeof(int64_t);
  for (int64_t i = 0; i < count; ++i) {
    if (status == kDone) status = statuses[i];
    if (copy(i)->failed != 0) frame->failed = copy(i)->failed;
  }
  for (size_t w = 0; w < words; ++w) {
    const int64_t before = frame->words[w];
    for (int64_t i = 0; i < count && frame->words[w] == before; ++i) frame->words[w] = copy(i)->words[w];
  }
  return status;
}

constexpr void (*kRoutineTable[kRoutines])(Frame*, const RoutineCall*) = {routine<at_level<scan_routine>>,
                                                                          routine<find_largest>,
                                                                          routine<at_level<scatter_routine>>,
                                                                          routine<at_level<segment_routine>>,
                                                                          routine<at_level<sort_routine>>,
                                                                          routine<draw>,
                                                                          routine<solve>,
                                                                          routine<factor>,
                                                                          routine<samples::run>,
                                                                          routine<transform>};

}  // namespace

constexpr Services kServices = {parallel, product, kRoutineTable, beside};

size_t product_scratch_bytes(Context& context, int threads, const ProductCall& call) {
  if (call.window) return window_scratch_bytes(context, threads, call);
  return with_tiles(context, call, [&](const auto& tiles) { return scratch_of(threads, tiles, call); }, size_t{0});
}

void* more_scratch(Frame* frame, size_t bytes) {
  Run& run = run_of(frame);
  if (run.owner) {
    if (Result<void*> memory = run.context.memory.allocate(bytes)) return *memory;
  }
  frame->failed = 1;
  return nullptr;
}

}  // namespace tfl::codegen
