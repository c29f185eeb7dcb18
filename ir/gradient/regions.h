// What the rules of control flow share.
#pragma once

#include "ir/gradient/function.h"
#include "ir/gradient/region_adjoint.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

void branch_rule(RuleCall& c);  // cond, switch_case
void loop_rule(RuleCall& c);    // while_loop
void call_rule(RuleCall& c);    // call

/// The body of a function differentiated: `backward` gets parameters for the gradients of results and for sums so far, as told above
/// Derivative::backward, and gives these sums gone on with. Fills in all of `d` but its functions and `reads`.
Result<void> differentiate_body(BlockAdjoint& a, ir::Block& body, ir::Block& backward, const std::vector<bool>& wanted,
                                const std::vector<Reach>& seeded, Derivative& d);

/// What says whether a value of this type has a gradient.
ir::Type presence_type(const ir::Type& type);

/// Whether what the regions of `c`'s gradient compute means anything; empty: it always does.
X run_condition(RuleCall& c);

/// A constant int32 in front of `node`, in its block.
Result<ir::Ref> constant_before(Context& context, ir::Node& node, int32_t value);
/// A new empty stack at the end of `block`; in front of `node`, in its block.
Result<ir::Ref> empty_stack(Context& context, ir::Block& block, const ir::Type& stack);
Result<ir::Ref> stack_before(Context& context, ir::Node& node, const ir::Type& stack);

/// A new region, closed, not yet owned by a node.
inline std::unique_ptr<ir::Block> new_region(ir::Node& beside) {
  auto block = std::make_unique<ir::Block>();
  block->function = beside.block->function;
  return block;
}

/// True when `r` holds a value; else the call fails with its error.
template <class T>
bool check(RuleCall& c, Result<T>& r) {
  if (r) return true;
  c.a.fail_with(r.failure());
  return false;
}

}  // namespace tfl::gradient
