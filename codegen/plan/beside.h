// Which loops are worth running at the same time: long ones whose steps are too small for several threads. This header must not know threads.
#pragma once

#include "codegen/plan/plan.h"

namespace tfl::plan {

inline constexpr int kMostBeside = 16;  // loops that run at the same time

/// What a kernel, a product or a routine of a loop does: `cost` cheap operations for each of so many elements. With `most` of them and more
/// it uses all threads by itself.
struct StepWork {
  Sizes sizes;
  int64_t cost = 1, most = 0;
};
void add_work(const Plan& plan, const Block& block, std::vector<StepWork>& out);

}  // namespace tfl::plan
