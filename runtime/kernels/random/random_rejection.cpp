// Samples by rejection: sample_loops.h over tensors.
#include <algorithm>

#include "runtime/kernels/context_workers.h"
#include "runtime/kernels/random/sample_flags.h"
#include "runtime/kernels/random/sample_loops.h"
#include "runtime/shapes/rules.h"

namespace tfl {

namespace {

Result<void> sampled(RunCall& call) {
  Tensor out = TFL_TRY(call.allocate()), seed = TFL_TRY(contiguous(call.context, call.operands[1]));
  if (out.size() == 0) return call.give(std::move(out));
  RoutineCall c{};
  c.flags = *sample_flags(call.op, call.operands[2].dtype());
  c.dtype = static_cast<int64_t>(out.dtype());
  c.index_dtype = static_cast<int64_t>(seed.dtype());
  c.at[0] = seed.raw();
  c.at[1] = out.raw();
  c.sizes[0] = out.size();
  c.sizes[1] = seed.dim(0);
  SmallVec<Tensor, 4> parameters;
  for (size_t i = 2; i < call.operands.size(); ++i) {
    parameters.push_back(TFL_TRY(contiguous(call.context, call.operands[i])));
    // Their sizes must be the last ones of the result.
    std::span<const int64_t> sizes = out.dims(), own = parameters.back().dims();
    bool ends =
        own.size() <= sizes.size() && std::equal(own.begin(), own.end(), sizes.end() - static_cast<ptrdiff_t>(own.size()));
    if (!ends) return shape_rules::invalid(call.op, "Shape passed in must end with broadcasted shape.");
    c.at[i] = parameters.back().raw();
    c.sizes[i] = parameters.back().size();
  }
  switch (samples::sample(workers_of(call.context), c)) {
    case samples::Outcome::bad_parameters: return shape_rules::invalid(call.op, "Invalid parameters");
    case samples::Outcome::nothing_accepted:
      return shape_rules::invalid(call.op, "TruncatedNormal rejection sampler failed to accept a sample.");
    case samples::Outcome::done: break;
  }
  return call.give(std::move(out));
}

}  // namespace

Result<void> run_stateless_gamma(RunCall& call) { return sampled(call); }
Result<void> run_stateless_poisson(RunCall& call) { return sampled(call); }
Result<void> run_stateless_binomial(RunCall& call) { return sampled(call); }
Result<void> run_stateless_truncated(RunCall& call) { return sampled(call); }

}  // namespace tfl
