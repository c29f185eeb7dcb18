// Random tensors from a seed: random_loops.h over tensors.
#include "runtime/kernels/context_workers.h"
#include "runtime/kernels/random/random_loops.h"
#include "runtime/kernels/random/random_seed.h"
#include "runtime/shapes/rules.h"

namespace tfl {

namespace {

Result<void> give_floats(RunCall& call, bool normal) {
  Tensor out = TFL_TRY(call.allocate());
  randoms::give_floats(workers_of(call.context), random_kernels(call.context.isa()), stream_of(call.operands[1]), out.dtype(),
                       out.size(), normal, out.raw());
  return call.give(std::move(out));
}

Result<void> give_integers(RunCall& call, bool full, uint64_t low, uint64_t range) {
  Tensor out = TFL_TRY(call.allocate());
  randoms::give_integers(workers_of(call.context), random_kernels(call.context.isa()), stream_of(call.operands[1]),
                         dtype_size(out.dtype()), out.size(), full, low, range, out.raw());
  return call.give(std::move(out));
}

}  // namespace

Result<void> run_stateless_uniform(RunCall& call) { return give_floats(call, false); }
Result<void> run_stateless_normal(RunCall& call) { return give_floats(call, true); }

Result<void> run_stateless_uniform_int(RunCall& call) {
  DType d = call.operands[2].dtype();
  auto low = static_cast<uint64_t>(load_int(d, call.operands[2].raw())),
       high = static_cast<uint64_t>(load_int(d, call.operands[3].raw()));
  uint64_t range = randoms::range_of(d, low, high);
  if (range == 0 && !is_unsigned(d))
    return shape_rules::invalid(call.op, "Need minval < maxval, got {} >= {}", static_cast<int64_t>(low),
                                static_cast<int64_t>(high));
  if (range == 0) return shape_rules::invalid(call.op, "Need minval < maxval, got {} >= {}", low, high);
  return give_integers(call, false, low, range);
}

Result<void> run_stateless_uniform_full_int(RunCall& call) { return give_integers(call, true, 0, 1); }

Result<void> run_stateless_permutation(RunCall& call) {
  Tensor out = TFL_TRY(call.allocate());
  randoms::give_permutation(workers_of(call.context), random_kernels(call.context.isa()), stream_of(call.operands[1]), out.size(),
                            out.data<int64_t>());
  return call.give(std::move(out));
}

Result<void> run_stateless_truncated_normal(RunCall& call) {
  Tensor out = TFL_TRY(call.allocate());
  randoms::give_truncated(workers_of(call.context), random_kernels(call.context.isa()), stream_of(call.operands[1]), out.dtype(),
                          out.size(), out.raw());
  return call.give(std::move(out));
}

}  // namespace tfl
