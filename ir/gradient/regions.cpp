#include "ir/gradient/regions.h"

#include <algorithm>

#include "ir/gradient/presence.h"

namespace tfl::gradient {

namespace {

// Moves the nodes that were appended since the block had `size` nodes in front of `node`.
void move_before(ir::Block& block, size_t size, const ir::Node& node) {
  size_t place = 0;
  while (place < size && block.nodes[place].get() != &node) ++place;
  std::rotate(block.nodes.begin() + static_cast<std::ptrdiff_t>(place), block.nodes.begin() + static_cast<std::ptrdiff_t>(size),
              block.nodes.end());
}

}  // namespace

X run_condition(RuleCall& c) {
  Presence around = c.a.runs == kNone ? Presence::always() : Presence::when(X(&c.a, c.a.runs));
  Presence out = both(around, c.own());
  return out.is_always() ? X() : out.condition();
}

Result<ir::Ref> constant_before(Context& context, ir::Node& node, int32_t value) {
  ir::Block& block = *node.block;
  size_t size = block.nodes.size();
  ir::Ref out = ir::append_constant(block, TFL_TRY(scalar(context, DType::I32, value)));
  move_before(block, size, node);
  return out;
}

Result<ir::Ref> empty_stack(Context& context, ir::Block& block, const ir::Type& stack) {
  ir::Ref zero = ir::append_constant(block, TFL_TRY(scalar(context, DType::I32, int32_t{0})));
  Attrs attrs;
  attrs.set_dtype(Attr::dtype, stack.tensor.dtype).set_bool(Attr::grows, true);
  if (stack.tensor.ranked) attrs.set_ints(Attr::shape, stack.tensor.dims);
  ir::Node* made = TFL_TRY(ir::append(context, block, Op::array_new, {zero}, attrs));
  return ir::Ref{made, 0};
}

Result<ir::Ref> stack_before(Context& context, ir::Node& node, const ir::Type& stack) {
  ir::Block& block = *node.block;
  size_t size = block.nodes.size();
  ir::Ref made = TFL_TRY(empty_stack(context, block, stack));
  move_before(block, size, node);
  return made;
}

namespace {

void read_variable(RuleCall& c) { c.give(0, c.g(0)); }

constexpr RuleRow kControlRules[] = {
    {Op::read_variable, read_variable}, {Op::cond, branch_rule}, {Op::switch_case, branch_rule},
    {Op::while_loop, loop_rule},        {Op::call, call_rule},
};

}  // namespace

std::span<const RuleRow> control_rules() { return kControlRules; }

}  // namespace tfl::gradient
