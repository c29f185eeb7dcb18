// cumsum and cumprod: scan_loops.h over tensors.
#include "runtime/kernels/context_workers.h"
#include "runtime/kernels/routine_levels.h"
#include "runtime/ops/structural.h"

namespace tfl {

namespace {

Result<void> run_scan(RunCall& call, bool product) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  int64_t axis = call.attrs.get_int(Attr::axis);
  if (axis < 0) axis += x.rank();
  RoutineCall scan{};
  scan.dtype = static_cast<int64_t>(x.dtype());
  scan.flags = (product ? kScanProduct : 0) | (call.attrs.get_bool(Attr::exclusive) ? kScanExclusive : 0) |
               (call.attrs.get_bool(Attr::reverse) ? kScanReverse : 0);
  scan.at[0] = x.raw();
  scan.at[1] = out.raw();
  scan.sizes[0] = scan.sizes[2] = 1;
  scan.sizes[1] = x.dim(static_cast<int>(axis));
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) scan.sizes[i < axis ? 0 : 2] *= x.dim(i);
  }
  scan_routine(call.context.isa())(workers_of(call.context), scan);
  return call.give(std::move(out));
}

}  // namespace

Result<void> run_cumsum(RunCall& call) { return run_scan(call, false); }
Result<void> run_cumprod(RunCall& call) { return run_scan(call, true); }

}  // namespace tfl
