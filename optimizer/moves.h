// Laws of operations that only move elements: reshapes, transposes, slices that undo each other or do nothing.
// This header must not know passes.
#pragma once

#include "optimizer/rewrite.h"
#include "runtime/core/context.h"

namespace tfl::optimizer {

/// A value that `n` always gives, or nothing. Nodes that it needs are appended to `block`.
Ref moved_value(Context& context, Block& block, const Node& n);
/// The axes that a transpose of known rank permutes by; false when they are not known.
bool permutation(const Node& n, Dims& perm);
/// 0, 1, 2 ...
bool is_identity(const Dims& perm);

}  // namespace tfl::optimizer
