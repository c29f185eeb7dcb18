// From a cluster to its plan: which operations share a loop, what is computed again and what is kept, where values lie.
// This header must not know LLVM or a processor.
#pragma once

#include <optional>

#include "codegen/plan/plan.h"
#include "ir/graph.h"

namespace tfl::plan {

/// None when the cluster cannot be planned (sizes that only the run knows): the graph is then run as it is.
std::optional<Plan> build_plan(Context& context, const ir::Function& cluster);

}  // namespace tfl::plan
