// Loops whose gradient keeps what the variables were every k iterations and computes the rest again. This header must not know how a
// body is differentiated.
#pragma once

#include "ir/gradient/regions.h"

namespace tfl::gradient {

/// How many iterations lie between the states that the gradient of a loop keeps; 0: it keeps what it reads of each (nobody asked for
/// anything else, or running an iteration twice would be seen).
int64_t checkpoint_steps(const ir::Node& loop, const Adjoint& a);

/// A loop and its differentiated body.
struct LoopGradient {
  RuleCall& c;
  ir::Node& loop;  // as it was; its body pushes what the gradient reads
  RegionAdjoint& a;
  std::unique_ptr<ir::Block> plain;   // the body as it was
  std::unique_ptr<ir::Block> back;    // the gradient of the body, without a stack among its results
  size_t n, m;                        // variables, values that do not change
  std::vector<ir::Ref> back_results;  // iterations left, gradients of variables, sums of gradients of what does not change
  ir::Ref counter;
  std::vector<ir::Ref> carried_params;  // of `back`: the gradients, and whether they are there
  std::vector<ir::Ref> fixed_params;    // of `back`: what else goes in and does not change
};

/// Makes the forward loop keep its states, and the loop over segments that is its gradient:
///
///   %gv = while_loop(%n, %gv, states) cond { n > 0 } body {
///     first = (n - 1) / k * k; v = pop(states)
///     v', kept = while_loop(v, [], first) { ... the body, which pushes ... }      until n
///     gv' = while_loop(n, gv, kept) { ... the gradient's body, which pops ... }   until first
///     yield first, gv', states }
///
/// `operands`: the gradients that go in, as carried_params; `fixed`: as fixed_params. Gives the number of iterations and the gradients that
/// come out.
bool checkpointed(LoopGradient& l, const std::vector<V>& operands, const std::vector<V>& fixed, V& count,
                  std::vector<V>& results);

/// Puts a variable behind the first `variables` of a loop's regions: parameter `in` of the body, which becomes `out`.
void add_variable(ir::Block& condition, ir::Block& body, size_t variables, const ir::Type& type, ir::Node* in, ir::Ref out);
Result<ir::Ref> int_constant(Context& context, ir::Block& block, int32_t value);

}  // namespace tfl::gradient
