// Clusters: the parts of a graph that become machine code. Each is moved into a function of its own, which the graph then calls;
// it remains a graph, so that the evaluator can run it too: while the code is being made, where a guard does not hold, and to
// find out what a failed check has to say. This header must not know how code is made.
#pragma once

#include <functional>
#include <string>

#include "ir/graph.h"

namespace tfl::plan {

/// Whether plans can express this node: its operation, its types (no strings, no unknown ranks), and all of its regions.
bool is_native(Context& context, const ir::Node& node);

/// Moves clusters of native nodes into functions and calls them. Order of effects and of what may fail is kept. A cluster holds
/// at least two operations, unless it is all that `f` does. `made` is told each new function, which takes tensors and variables,
/// gives tensors only, contains no calls, and has no effects but those on its variables.
/// `values_as_sizes`: integers that an earlier cluster or another node computes may be sizes (native_ops.h: SizeValues).
void outline(Context& context, ir::Function& f, const std::function<void(const std::shared_ptr<ir::Function>&)>& made,
             bool values_as_sizes = false);

/// After outline(): the nodes that the evaluator runs, one line each with the reason.
std::string outside_text(Context& context, const ir::Function& f);

}  // namespace tfl::plan
