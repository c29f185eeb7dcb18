// Type rules of runtime/ops/control.def. This header must not know operations that have kernels.
#pragma once

#include "ir/graph.h"

namespace tfl::ir {

/// As infer_node, for the rows of control.def. The types of a host call are what its maker says: `types` is left as it is.
Result<void> infer_control(Op op, std::span<const Ref> operands, const Attrs& attrs,
                           std::span<const std::unique_ptr<Block>> regions, const Function* callee, std::vector<Type>& types);

}  // namespace tfl::ir
