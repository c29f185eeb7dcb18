// How operations of one tensor work on a tensor whose axes lie in another order. A value is transpose(stored, perm): its axis i is the
// stored axis perm[i]. This header must not know why they lie so.
#pragma once

#include "optimizer/rewrite.h"
#include "runtime/core/context.h"

namespace tfl::optimizer::layouts {

/// Whether an operation is among those that are known here.
bool moves(const Node& n);
/// The order of the result where the operand has `perm`; empty where the operation must have the value itself, or for a scalar.
Dims after(const Node& n, const Dims& perm);
/// The same operation over the stored operand; nothing where it cannot be made.
Ref moved(Context& context, Block& block, const Node& n, Ref stored, const Dims& perm);
/// int64 numbers as a tensor.
Result<Tensor> numbers(Context& context, const Dims& values);

}  // namespace tfl::optimizer::layouts
