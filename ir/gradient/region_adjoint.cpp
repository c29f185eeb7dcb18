#include "ir/gradient/region_adjoint.h"

#include <algorithm>

#include "ir/gradient/checkpoints.h"
#include "ir/gradient/recursion.h"
#include "ir/gradient/rules.h"
#include "runtime/ops/facts.h"

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
    return (param_index(&node) >= first_passed_ && !differentiable(value.type())) || step_of(value);
  }
  // Of what only the sizes are taken, nothing flows back.
  if (op_facts(node.op).follows == Follows::types && node.operands[0].node->op == Op::parameter &&
      param_index(node.operands[0].node) >= first_passed_ && node.operands[0].type().is_tensor())
    return true;
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

ir::Ref RegionAdjoint::step_of(ir::Ref value) const {
  const ir::Type& type = value.type();
  if (!left_ || value.node->op != Op::parameter || !type.is_tensor() || !type.tensor.ranked || !type.tensor.dims.empty() ||
      (type.tensor.dtype != DType::I32 && type.tensor.dtype != DType::I64))
    return {};
  const ir::Block& block = const_cast<RegionAdjoint*>(this)->forward_block();
  const size_t i = param_index(value.node);
  if (i >= first_passed_) return {};
  const ir::Node& next = *block.results[i].node;
  if (next.op != Op::add && next.op != Op::subtract) return {};
  const size_t old = next.op == Op::add && next.operands[1] == value ? 1 : 0;
  ir::Ref step = next.operands[1 - old];
  const bool fixed = step.node->op == Op::constant || (step.node->op == Op::parameter && param_index(step.node) >= first_passed_);
  return next.operands[old] == value && fixed && step.type().tensor.ranked && step.type().tensor.dims.empty() ? step : ir::Ref();
}

Result<ir::Ref> RegionAdjoint::counted(ir::Ref variable, ir::Ref step) {
  ir::Block& block = backward_block();
  ir::Ref first = block.add_param(variable.type(), variable.node->name);
  passed_.push_back({param_index(variable.node), first});
  ir::Ref times = ref(TFL_TRY(forward(step)));
  ir::Ref one = TFL_TRY(int_constant(context_, block, 1));
  ir::Ref before{TFL_TRY(ir::append(context_, block, Op::subtract, {left_, one})), 0};
  if (variable.type().tensor.dtype != DType::I32) {
    Attrs wide = Attrs().set_dtype(Attr::dtype, variable.type().tensor.dtype);
    before = {TFL_TRY(ir::append(context_, block, Op::cast, {before}, wide)), 0};
  }
  ir::Ref all{TFL_TRY(ir::append(context_, block, Op::multiply, {before, times})), 0};
  const Op op = forward_block().results[param_index(variable.node)].node->op;
  return ir::Ref{TFL_TRY(ir::append(context_, block, op, {first, all})), 0};
}

Result<ir::Ref> RegionAdjoint::carry(ir::Ref value) {
  if (value.node->op == Op::parameter) {
    if (ir::Ref step = step_of(value)) return counted(value, step);
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
