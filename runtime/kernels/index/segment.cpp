// Rows combined by id: segment_loops.h over tensors.
#include "runtime/kernels/index/segment_loops.h"
#include "runtime/shapes/rules.h"

namespace tfl {

namespace {

Result<void> run_segment(RunCall& call, SegmentFold fold) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0])), ids = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor out = TFL_TRY(call.allocate()), sums = out;
  if (x.dtype() == DType::F16 || x.dtype() == DType::BF16) sums = TFL_TRY(Tensor::empty(call.context, DType::F32, out.dims()));
  int64_t segments = out.dim(0), width = 1;
  for (int i = 1; i < out.rank(); ++i) width *= out.dim(i);
  int64_t refused = segments::with_number_type(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* held = reinterpret_cast<segments::Working<T>*>(sums.raw());
    return segments::fold_rows<T>(fold, reinterpret_cast<const T*>(x.raw()), ids.dtype(), ids.raw(), ids.size(), segments, width,
                                  reinterpret_cast<T*>(out.raw()), held);
  });
  if (refused >= 0)
    return shape_rules::invalid(call.op, "segment_ids[{}] = {} is out of range [0, {})", refused,
                                index_at(ids.dtype(), ids.raw(), refused), segments);
  return call.give(std::move(out));
}

}  // namespace

Result<void> run_unsorted_segment_sum(RunCall& call) { return run_segment(call, SegmentFold::sum); }
Result<void> run_unsorted_segment_prod(RunCall& call) { return run_segment(call, SegmentFold::product); }
Result<void> run_unsorted_segment_max(RunCall& call) { return run_segment(call, SegmentFold::most); }
Result<void> run_unsorted_segment_min(RunCall& call) { return run_segment(call, SegmentFold::least); }

}  // namespace tfl
