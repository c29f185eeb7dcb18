// From a cluster to its plan: which operations share a loop, what is computed again and what is kept, where values lie.
// This header must not know LLVM or a processor.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "codegen/plan/plan.h"
#include "ir/graph.h"

namespace tfl::plan {

/// The cluster over tensors alone: variables are what they hold (ir/state.h), arrays have rows (arrays.h). Itself when it has
/// neither, null when that is not possible. `growing`: arrays may grow, and be results; whoever runs the plan gives them room (Plan::room).
std::shared_ptr<const ir::Function> of_tensors(Context& context, const ir::Function& cluster, bool growing = false);

/// None when the cluster cannot be planned (sizes that only the run knows): the graph is then run as it is.
std::optional<Plan> build_plan(Context& context, const ir::Function& cluster, bool growing = false);

/// What is wrong with a plan; empty when it is sound. `build_plan` gives none that is not.
std::string verify_plan(const Plan& plan);

/// Kernels that are equal but for the memory they work on become one, which runs several times.
void share_kernels(Plan& plan);

}  // namespace tfl::plan
