// The routines of a library: the loops of runtime/kernels on the context's threads. Each is a function of its own, so that a library holds
// those that it calls.
#include <new>

#include "runtime/kernels/fourier/fourier_loops.h"
#include "runtime/kernels/linalg/matrix_loops.h"
#include "runtime/kernels/random/random_loops.h"
#include "runtime/kernels/random/sample_loops.h"
#include "runtime/kernels/reduce/arg_loops.h"
#include "runtime/kernels/routine_levels.h"
#include "runtime/standalone/workers.h"

namespace tfl {

// Of runtime/tensor/dtype.h what the loops ask for.
size_t dtype_size(DType dtype) {
  constexpr uint8_t kSizes[] = {
#define TFL_DTYPE(id, name, short_name, tf_name, size, group, type) size,
#include "runtime/tensor/dtypes.def"
#undef TFL_DTYPE
  };
  return kSizes[static_cast<size_t>(dtype)];
}
DTypeGroup dtype_group(DType dtype) {
  constexpr DTypeGroup kGroups[] = {
#define TFL_DTYPE(id, name, short_name, tf_name, size, group, type) DTypeGroup::group,
#include "runtime/tensor/dtypes.def"
#undef TFL_DTYPE
  };
  return kGroups[static_cast<size_t>(dtype)];
}

}  // namespace tfl

namespace tfl {
inline namespace v3 {
extern const RandomKernels kRandomKernels;
extern const RoutineFunction kScan, kScatter, kSegment, kSort;
extern const MatrixLevel kMatrixLevel;
extern const FourierLevel kFourierLevel;
}  // namespace v3
inline namespace v4 {
extern const RandomKernels kRandomKernels;
extern const RoutineFunction kScan, kScatter, kSegment, kSort;
extern const MatrixLevel kMatrixLevel;
extern const FourierLevel kFourierLevel;
}  // namespace v4
}  // namespace tfl

namespace {

template <bool (*run)(const tfl::Workers&, const tfl::RoutineCall&)>
void routine(tfls_frame* frame, const void* call) {
  const auto& c = *static_cast<const tfl::RoutineCall*>(call);
  if (!run(tfl::workers_of(frame), c)) frame->failed = c.location + 1;
}

template <const tfl::RoutineFunction& narrow, const tfl::RoutineFunction& wide>
void level_routine(tfls_frame* frame, const void* call) {
  const auto& c = *static_cast<const tfl::RoutineCall*>(call);
  const auto* context = static_cast<const tfl_context*>(frame->self);
  if (!(context->library.wide ? wide : narrow)(tfl::workers_of(frame), c)) frame->failed = c.location + 1;
}

template <bool (*run)(const tfl::Workers&, const tfl::MatrixLevel&, const tfl::RoutineCall&)>
void matrix_routine(tfls_frame* frame, const void* call) {
  const auto& c = *static_cast<const tfl::RoutineCall*>(call);
  const auto* context = static_cast<const tfl_context*>(frame->self);
  if (!run(tfl::workers_of(frame), context->library.wide ? tfl::v4::kMatrixLevel : tfl::v3::kMatrixLevel, c))
    frame->failed = c.location + 1;
}

}  // namespace

extern "C" {
void tfls_scan(tfls_frame* frame, const void* call) { level_routine<tfl::v3::kScan, tfl::v4::kScan>(frame, call); }
void tfls_arg(tfls_frame* frame, const void* call) { routine<tfl::args::run>(frame, call); }
void tfls_scatter(tfls_frame* frame, const void* call) { level_routine<tfl::v3::kScatter, tfl::v4::kScatter>(frame, call); }
void tfls_segment(tfls_frame* frame, const void* call) { level_routine<tfl::v3::kSegment, tfl::v4::kSegment>(frame, call); }
void tfls_sort(tfls_frame* frame, const void* call) { level_routine<tfl::v3::kSort, tfl::v4::kSort>(frame, call); }
void tfls_random(tfls_frame* frame, const void* call) {
  const auto& c = *static_cast<const tfl::RoutineCall*>(call);
  const auto* context = static_cast<const tfl_context*>(frame->self);
  const tfl::RandomKernels& kernels = context->library.wide ? tfl::v4::kRandomKernels : tfl::v3::kRandomKernels;
  if (!tfl::randoms::run(tfl::workers_of(frame), kernels, c)) frame->failed = c.location + 1;
}
void tfls_solve(tfls_frame* frame, const void* call) { matrix_routine<tfl::matrices::solve>(frame, call); }
void tfls_factor(tfls_frame* frame, const void* call) { matrix_routine<tfl::matrices::factor>(frame, call); }
void tfls_sample(tfls_frame* frame, const void* call) { routine<tfl::samples::run>(frame, call); }
void tfls_fourier(tfls_frame* frame, const void* call) {
  const auto& c = *static_cast<const tfl::RoutineCall*>(call);
  auto* context = static_cast<tfl_context*>(frame->self);
  if (!context->fourier_plans) {
    void* memory = malloc(sizeof(tfl::FourierPlans));
    if (!memory) {
      frame->failed = -1;
      return;
    }
    context->fourier_plans = new (memory) tfl::FourierPlans;
    context->release_fourier_plans = [](void* plans) {
      static_cast<tfl::FourierPlans*>(plans)->~FourierPlans();
      free(plans);
    };
  }
  const tfl::FourierLevel& level = context->library.wide ? tfl::v4::kFourierLevel : tfl::v3::kFourierLevel;
  if (!tfl::fourier::run(tfl::workers_of(frame), *static_cast<tfl::FourierPlans*>(context->fourier_plans), level, c))
    frame->failed = -1;
}
}
