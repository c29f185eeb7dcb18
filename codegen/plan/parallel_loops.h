// Which loops are worth running at the same time: long ones whose steps are too small for several threads. This header must not know threads.
#pragma once

#include "codegen/plan/plan.h"

namespace tfl::plan {

inline constexpr int kMostBeside = 16;  // loops that run at the same time

/// Behind the last of the steps that may run at the same time, of which `first` is the first: first + 1 when it runs alone.
inline size_t beside_end(const Block& block, size_t first) {
  size_t end = first + 1;
  while (end < block.steps.size() && block.steps[end].beside) ++end;
  return end;
}

/// What a kernel, a product or a routine of a loop does: `cost` cheap operations for each of so many elements. With `most` of them and more
/// it uses all threads by itself.
struct StepWork {
  Sizes sizes;
  int64_t cost = 1, most = 0;
};
void add_work(const Plan& plan, const Block& block, std::vector<StepWork>& out);

/// A loop that takes long, though none of its steps has enough work for several threads: its worth is told by what is known of its sizes.
bool is_long_loop(const Plan& plan, const Step& step);

}  // namespace tfl::plan
