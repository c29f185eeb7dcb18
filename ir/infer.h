// Types of a node's results: the operation table's shape rules, fed with what the graph knows of its operands (constants, and
// integers computed from shapes), and the rules of runtime/ops/control.def. Errors are those that eager execution raises.
#pragma once

#include "ir/graph.h"

namespace tfl::ir {

/// The value of `r` where it follows from constants and static sizes alone (shape(x) with known sizes, arithmetic on them, slices,
/// stack, concat, cast ... of small tensors), else an empty tensor. Looks through at most a few dozen nodes.
Tensor static_value(Context& context, Ref r);
/// `r` read as sizes, -1 where one does not follow: shape(x), stacks and slices of such, arithmetic. False: even the rank is unknown.
bool static_sizes(Context& context, Ref r, Dims& sizes);

/// The result types of `op` over `operands`; regions and callee for control flow. Checks as eager execution does.
Result<void> infer_node(Context& context, Op op, std::span<const Ref> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions, const Function* callee, std::vector<Type>& types);

/// Infers and appends. The one way by which the front end, gradients and passes make nodes of ops other than constants.
Result<Node*> append(Context& context, Block& block, Op op, std::vector<Ref> operands, Attrs attrs = {},
                     std::vector<std::unique_ptr<Block>> regions = {}, std::shared_ptr<Function> callee = nullptr);
Ref append_constant(Block& block, Tensor value);

/// Lists every broken invariant (empty: none): operands stand before their uses in the same block, counts, closed regions, types as
/// inference gives them, regions' types, unique names, effects only where allowed.
std::vector<std::string> verify(Context& context, const Function& f);

}  // namespace tfl::ir
