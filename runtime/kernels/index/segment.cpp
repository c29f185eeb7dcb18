// Rows combined by id: segment_loops.h over tensors.
#include "runtime/kernels/context_workers.h"
#include "runtime/kernels/routine_levels.h"
#include "runtime/ops/structural.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl {

namespace {

Result<void> run_segment(RunCall& call, SegmentFold fold) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0])), ids = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor out = TFL_TRY(call.allocate()), sums = out;
  if (x.dtype() == DType::F16 || x.dtype() == DType::BF16) sums = TFL_TRY(Tensor::empty(call.context, DType::F32, out.dims()));
  RoutineCall fold_call{};
  fold_call.dtype = static_cast<int64_t>(x.dtype());
  fold_call.index_dtype = static_cast<int64_t>(ids.dtype());
  fold_call.flags = static_cast<int64_t>(fold);
  fold_call.at[0] = x.raw();
  fold_call.at[1] = ids.raw();
  fold_call.at[2] = out.raw();
  fold_call.at[3] = sums.raw();
  const int64_t segments = out.dim(0);
  fold_call.sizes[0] = ids.size();
  fold_call.sizes[1] = segments;
  fold_call.sizes[2] = 1;
  for (int i = 1; i < out.rank(); ++i) fold_call.sizes[2] *= out.dim(i);
  if (!segment_routine(call.context.isa())(workers_of(call.context), fold_call)) {
    int64_t refused = 0;
    while (index_at(ids.dtype(), ids.raw(), refused) < segments) ++refused;
    return shape_rules::invalid(call.op, "segment_ids[{}] = {} is out of range [0, {})", refused,
                                index_at(ids.dtype(), ids.raw(), refused), segments);
  }
  return call.give(std::move(out));
}

}  // namespace

Result<void> run_unsorted_segment_sum(RunCall& call) { return run_segment(call, SegmentFold::sum); }
Result<void> run_unsorted_segment_prod(RunCall& call) { return run_segment(call, SegmentFold::product); }
Result<void> run_unsorted_segment_max(RunCall& call) { return run_segment(call, SegmentFold::most); }
Result<void> run_unsorted_segment_min(RunCall& call) { return run_segment(call, SegmentFold::least); }

}  // namespace tfl
