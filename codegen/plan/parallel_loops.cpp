#include "codegen/plan/parallel_loops.h"

#include <algorithm>

#include "codegen/abi.h"
#include "codegen/plan/builder.h"
#include "runtime/kernels/product/product_batch.h"

namespace tfl::plan {

void add_work(const Plan& plan, const Block& block, std::vector<StepWork>& out) {
  for (const Step& s : block.steps) {
    if (s.kind == Step::Kind::kernel)
      out.push_back({plan.kernels[s.index].axes, plan.kernels[s.index].cost, codegen::kParallelWork});
    if (s.kind == Step::Kind::routine) out.push_back({plan.routines[s.index].sizes, 1, codegen::kParallelWork});
    if (s.kind == Step::Kind::product) {
      const Product& p = plan.products[s.index];
      out.push_back({{p.batch, p.m, p.n, p.k}, 1, kThreadedProduct});
    }
    for (const Block& inner : s.blocks) add_work(plan, inner, out);
  }
}

bool is_long_loop(const Plan& plan, const Step& step) {
  constexpr int64_t kUsualSize = 32, kUsualTimes = 16;  // where nobody knows
  constexpr int64_t kLong = 1 << 16;                    // cheap operations
  if (step.kind != Step::Kind::loop) return false;
  std::vector<StepWork> steps;
  for (const Block& block : step.blocks) add_work(plan, block, steps);
  int64_t all = 0;
  for (const StepWork& w : steps) {
    int64_t work = w.cost;
    bool known = true;
    for (Size s : w.sizes) {
      known = known && is_known(s);
      if (__builtin_mul_overflow(work, is_known(s) ? s : kUsualSize, &work)) work = w.most;
    }
    if (known && work >= w.most) return false;
    all += std::min(work, w.most);
  }
  int64_t times = step.limit >= 0 ? step.limit : kUsualTimes;
  return all > 0 && times >= kLong / all;
}

}  // namespace tfl::plan
