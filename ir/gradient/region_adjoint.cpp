#include "ir/gradient/region_adjoint.h"

#include <algorithm>

#include "ir/gradient/recursion.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

// Everything but `first` goes on with what it made of a stack.
void go_on_with(ir::Block& block, ir::Ref before, ir::Ref after, const ir::Node& first) {
  for (auto& node : block.nodes) {
    if (node.get() == &first) continue;
    for (ir::Ref& r : node->operands) {
      if (r == before) r = after;
    }
  }
}

}  // namespace

ir::Ref origin_of(const ir::Node& node) {
  if (node.op != Op::where || node.operands[1].node->op != Op::array_pop || node.operands[1].index != 1) return {};
  const ir::Node& always = *node.operands[0].node;
  bool marks = always.op == Op::constant && always.constant.rank() == 0 && *always.constant.data<uint8_t>() != 0;
  return marks && node.operands[2].node->op == Op::parameter ? node.operands[2] : ir::Ref();
}

size_t RegionAdjoint::param_index(const ir::Node* node) const {
  ir::Block& block = const_cast<RegionAdjoint*>(this)->forward_block();
  for (size_t i = 0; i < block.params.size(); ++i) {
    if (block.params[i].get() == node) return i;
  }
  return block.params.size();
}

Stack& RegionAdjoint::new_stack(ir::Type type, int number) {
  Stack stack;
  stack.number = number;
  stack.forward_in = forward_block().add_param(type, "stack");
  stack.backward_in = backward_block().add_param(type, "stack");
  stack.forward_out = stack.forward_in;
  stack.backward_out = stack.backward_in;
  stack.type = std::move(type);
  stacks_.push_back(std::move(stack));
  return stacks_.back();
}

bool RegionAdjoint::recomputable(ir::Ref value, int& budget) const {
  if (--budget < 0) return false;
  const ir::Node& node = *value.node;
  if (node.op == Op::constant) return true;
  if (node.op == Op::parameter) {
    for (const Stack& s : stacks_) {
      if (s.forward_in.node == &node) return false;
    }
    // Where a gradient may flow, the value read must be the one computed: a copy would split the sum of what flows into it.
    return param_index(&node) >= first_passed_ && !differentiable(value.type());
  }
  OpKind kind = op_info(node.op).kind;
  if (kind != OpKind::Elementwise && kind != OpKind::View && kind != OpKind::Create && kind != OpKind::Move) return false;
  if (node.op == Op::range || node.op == Op::linspace) return false;
  for (ir::Ref r : node.operands) {
    if (!recomputable(r, budget)) return false;
  }
  return true;
}

Result<ir::Ref> RegionAdjoint::recompute(ir::Ref value) {
  ir::Node& node = *value.node;
  std::vector<ir::Ref> operands;
  for (ir::Ref r : node.operands) operands.push_back(ref(TFL_TRY(forward(r))));
  ir::Node* copy = TFL_TRY(ir::append(context_, backward_block(), node.op, std::move(operands), node.attrs));
  return ir::Ref{copy, value.index};
}

Result<ir::Ref> RegionAdjoint::carry(ir::Ref value) {
  if (value.node->op == Op::parameter) {
    size_t i = param_index(value.node);
    if (i >= first_passed_) {
      ir::Ref backward = backward_block().add_param(value.type(), value.node->name);
      passed_.push_back({i, backward});
      return backward;
    }
  }
  for (size_t k = 0; k < forward_block().results.size() && value.node->op != Op::parameter && value.type().is_tensor(); ++k) {
    if (!(forward_block().results[k] == value)) continue;
    ReadResult read{k, {}, {}};
    if (loop_) read.next = ref(TFL_TRY(forward(forward_block().param(k))));
    read.backward = backward_block().add_param(value.type(), "result");
    results_read_.push_back(read);
    return read.backward;
  }
  int budget = 16;
  if (value.node->op != Op::parameter && recomputable(value, budget)) return recompute(value);
  if (value.type().kind != ir::TypeKind::Tensor) {
    return fail(ErrorKind::InternalError, "the gradient of a region reads {} of each run", ir::type_text(value.type()));
  }
  ir::Type type = ir::Type::array(value.type().tensor);
  int number = recursion ? recursion->new_number(type) : kUnnumbered;
  Stack& stack = stack_of(std::move(type), number);
  // What calls of the function itself push comes before in this block, and is popped after.
  ir::Node* push = TFL_TRY(ir::append(context_, forward_block(), Op::array_push, {stack.forward_out, value}));
  stack.forward_out = {push, 0};
  ir::Node* pop = TFL_TRY(ir::append(context_, backward_block(), Op::array_pop, {stack.backward_in}));
  if (number != kUnnumbered) {
    go_on_with(backward_block(), stack.backward_in, {pop, 0}, *pop);
    auto& nodes = backward_block().nodes;
    std::rotate(nodes.begin(), nodes.end() - 1, nodes.end());
  }
  if (stack.backward_out == stack.backward_in) stack.backward_out = {pop, 0};
  if (size_t i = param_index(value.node); number == kUnnumbered && i < begins_.size() && begins_[i])
    return with_origin({pop, 1}, i);
  return ir::Ref{pop, 1};
}

Result<ir::Ref> RegionAdjoint::with_origin(ir::Ref popped, size_t param) {
  ir::Ref origin = backward_block().add_param(popped.type(), "origin");
  passed_.push_back({param, origin});
  ir::Ref always = ir::append_constant(backward_block(), TFL_TRY(scalar<uint8_t>(context_, DType::Bool, 1)));
  return ir::Ref{TFL_TRY(ir::append(context_, backward_block(), Op::where, {always, popped, origin})), 0};
}

Stack& RegionAdjoint::stack_of(ir::Type type, int number) {
  for (Stack& s : stacks_) {
    if (number != kUnnumbered && s.number == number) return s;
  }
  return new_stack(std::move(type), number);
}

Result<ir::Ref> RegionAdjoint::open_stack(const ir::Type& stack, ir::Node&, int number) {
  return stack_of(stack, number).forward_in;
}

Result<V> RegionAdjoint::enter_stack(ir::Ref before, ir::Ref after) {
  for (Stack& s : stacks_) {
    if (!(s.forward_in == before)) continue;
    // Nodes are differentiated last first: those that had the stack before come later in the block.
    if (s.number != kUnnumbered) go_on_with(forward_block(), before, after, *after.node);
    if (s.forward_out == before) s.forward_out = after;
    return add(s.backward_out);
  }
  return fail(ErrorKind::InternalError, "a stack of gradients is unknown");
}

void RegionAdjoint::leave_stack(ir::Ref before, V rest) {
  for (Stack& s : stacks_) {
    if (s.forward_in == before) s.backward_out = ref(rest);
  }
}

}  // namespace tfl::gradient
