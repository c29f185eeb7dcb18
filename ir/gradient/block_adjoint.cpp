#include "ir/gradient/block_adjoint.h"

#include "ir/gradient/custom.h"
#include "ir/gradient/phases.h"
#include "ir/gradient/region_adjoint.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

Result<void> BlockAdjoint::apply(Op op, std::span<const V> operands, const Attrs& attrs, SmallVec<V, 2>& results) {
  std::vector<ir::Ref> refs(operands.size());
  // The last one first: gradients of this gradient come back to the first operand first, as if there were no gates.
  for (size_t i = operands.size(); i-- > 0;) refs[i] = TFL_TRY(gated(operands[i]));
  ir::Node* node = TFL_TRY(ir::append(context_, backward_block_, op, std::move(refs), attrs));
  for (uint32_t i = 0; i < node->types.size(); ++i) results.push_back(add({node, i}));
  return {};
}

// Each use has a gate of its own, so that what flows back through them is added up one by one.
Result<ir::Ref> BlockAdjoint::gated(V operand) {
  ir::Ref value = ref(operand);
  if (gate == kNone || !is_forward_[operand] || !value.type().is_tensor() || !differentiable(value.type())) return value;
  Tensor one = TFL_TRY(scalar(context_, DType::F64, 1.0));
  one = TFL_TRY(apply1(context_, Op::cast, {std::move(one)}, Attrs().set_dtype(Attr::dtype, value.type().tensor.dtype)));
  ir::Ref other = ir::append_constant(backward_block_, std::move(one));
  return ir::Ref{TFL_TRY(ir::append(context_, backward_block_, Op::where, {ref(gate), value, other})), 0};
}

Result<void> BlockAdjoint::apply_node(Op op, std::span<const V> operands, const Attrs& attrs, std::vector<std::unique_ptr<ir::Block>> regions,
                                      std::shared_ptr<ir::Function> callee, std::vector<V>& results) {
  std::vector<ir::Ref> refs;
  for (V v : operands) refs.push_back(ref(v));
  ir::Node* node = TFL_TRY(ir::append(context_, backward_block_, op, std::move(refs), attrs, std::move(regions), std::move(callee)));
  for (uint32_t i = 0; i < node->types.size(); ++i) results.push_back(add({node, i}));
  return {};
}

std::vector<V> BlockAdjoint::call_recursive(ir::Function& f, std::span<const V> operands, std::vector<ir::Type> types) {
  std::vector<ir::Ref> refs;
  for (V v : operands) refs.push_back(ref(v));
  ir::Node* node = backward_block_.add(Op::call, std::move(refs), Attrs(), std::move(types));
  node->recursive = &f;
  std::vector<V> results;
  for (uint32_t i = 0; i < node->types.size(); ++i) results.push_back(add({node, i}));
  return results;
}

Result<V> BlockAdjoint::forward(ir::Ref value) {
  auto found = carried_.find(value);
  if (found != carried_.end()) return found->second;
  V v = kNone;
  if (value.node->op == Op::constant) {
    v = constant(value.node->constant);
  } else {
    v = add(TFL_TRY(carry(value)));
    is_forward_[v] = true;
  }
  carried_[value] = v;
  return v;
}

Result<ir::Ref> BlockAdjoint::derive(Op op, ir::Ref value) {
  RefMap<ir::Ref>& made = op == Op::shape ? shapes_ : sizes_;
  auto found = made.find(value);
  if (found != made.end()) return found->second;
  ir::Node* node = TFL_TRY(ir::append(context_, forward_block_, op, {value}));
  return made[value] = {node, 0};
}

namespace {

// One node of a block, as a rule sees it.
class NodeCall : public RuleCall {
 public:
  NodeCall(Adjoint& a, ir::Node& node, const ActiveSet& active, Gradients& gradients)
      : RuleCall(a, node.op, node.attrs), node_(node), active_(active), gradients_(gradients), operands_(node.operands), types_(node.types) {
    if (!a.phases) return;
    mask_ = 0;
    for (uint32_t i = 0; i < types_.size(); ++i) {
      if (gradients.count({&node, i})) mask_ |= a.phases->mask({&node, i});
    }
  }
  Phases::Mask mask() const { return mask_; }

  size_t operand_count() const override { return operands_.size(); }
  size_t result_count() const override { return types_.size(); }
  const ir::Type& operand_type(size_t i) const override { return operands_[i].type(); }
  const ir::Type& result_type(size_t i) const override { return types_[i]; }
  bool same_operand(size_t i, size_t j) const override { return operands_[i] == operands_[j]; }
  bool wanted(size_t i) const override { return active_.count(operands_[i]) > 0; }
  X g(size_t i) const override {
    ir::Ref result = {&node_, static_cast<uint32_t>(i)};
    auto it = gradients_.find(result);
    if (it == gradients_.end()) return {};
    X g(&a, it->second);
    return a.phases ? a.phases->filled(result, g, mask_, 0.0) : g;
  }
  X x(size_t i) override { return read(operands_[i]); }
  X r(size_t i) override { return read({&node_, static_cast<uint32_t>(i)}); }
  X x_shape(size_t i) override { return shape_of(operands_[i]); }
  X r_shape(size_t i) override { return shape_of({&node_, static_cast<uint32_t>(i)}); }
  X x_size(size_t i) override { return derived(Op::array_size, operands_[i]); }
  X r_size(size_t i) override { return derived(Op::array_size, {&node_, static_cast<uint32_t>(i)}); }
  void give(size_t i, X gradient) override {
    if (!gradient || !wanted(i)) return;
    X before = found(i);
    X sum = a.phases ? a.phases->sum(operands_[i], before, gradient, mask_) : before ? sum_of(before, gradient) : first_of_sum(gradient);
    if (sum) gradients_[operands_[i]] = sum.id();
  }
  X gathered(size_t i) const override {
    X sum = found(i);
    return sum && a.phases ? a.phases->filled(operands_[i], sum, mask_, kEmptySum) : sum;
  }
  void replace(size_t i, X gradient) override {
    if (!gradient || !wanted(i)) return;
    if (a.phases) gradient = a.phases->replaced(operands_[i], found(i), gradient, mask_);
    if (gradient) gradients_[operands_[i]] = gradient.id();
  }
  void give_rows(size_t i, X values, X indices) override {
    give(i, rows_to_tensor(values, indices, x_shape(i)));
  }
  ir::Node* node() const override { return &node_; }

 private:
  X found(size_t i) const {
    auto it = gradients_.find(operands_[i]);
    return it == gradients_.end() ? X() : X(&a, it->second);
  }
  X read(ir::Ref r) {
    Result<V> v = a.forward(r);
    if (v) return X(&a, *v);
    a.fail_with(v.failure());
    return {};
  }
  X derived(Op op, ir::Ref r) {
    Result<ir::Ref> d = a.derive(op, r);
    if (d) return read(*d);
    a.fail_with(d.failure());
    return {};
  }
  X shape_of(ir::Ref r) {
    const TensorType& t = r.type().tensor;
    return known(t) ? int_vector(a, t.dims) : derived(Op::shape, r);
  }

  ir::Node& node_;
  const ActiveSet& active_;
  Gradients& gradients_;
  SmallVec<ir::Ref, 2> operands_;  // the node may grow while it is differentiated
  std::vector<ir::Type> types_;
  Phases::Mask mask_ = 0;
};

}  // namespace

X first_of_sum(const X& g) { return g.adjoint()->type(g.id()).is_tensor() ? emit(Op::identity, {g}) : g; }

X sum_of(const X& a, const X& b) {
  if (!a) return b;
  if (!b) return a;
  return emit(a.adjoint()->type(a.id()).kind == ir::TypeKind::Array ? Op::array_sum : Op::add, {a, b});
}

X rows_to_tensor(const X& values, const X& indices, const X& shape) {
  if (!shape) return {};
  Adjoint& a = *shape.adjoint();
  int64_t zero = 0, one = 1;
  X rows = emit(Op::reshape, {emit(Op::slice, {shape, int_vector(a, {&zero, 1}), int_vector(a, {&one, 1})}), int_vector(a, {})});
  return emit(Op::unsorted_segment_sum, {values, indices, rows});
}

namespace {

// Nothing flows from a value to what is only named as its origin.
bool flows(const ir::Node& node, size_t i) { return flows_to(node, i) && !(i == 2 && origin_of(node)); }

}  // namespace

ActiveSet dependents(const ir::Block& block, const std::vector<ir::Ref>& from) {
  ActiveSet out;
  for (ir::Ref r : from) {
    if (differentiable(r.type())) out.insert(r);
  }
  for (const auto& node : block.nodes) {
    bool any = false;
    for (size_t i = 0; i < node->operands.size() && !any; ++i) any = out.count(node->operands[i]) > 0 && flows(*node, i);
    if (!any || !rule_of(node->op)) continue;
    for (uint32_t i = 0; i < node->types.size(); ++i) {
      if (differentiable(node->types[i])) out.insert({node.get(), i});
    }
  }
  return out;
}

namespace {

ActiveSet all_dependents(const ir::Block& region) {
  std::vector<ir::Ref> from;
  for (size_t i = 0; i < region.params.size(); ++i) from.push_back(region.param(i));
  return dependents(region, from);
}

std::vector<ir::Ref> chosen(const std::vector<ir::Ref>& values, const std::vector<bool>& which) {
  std::vector<ir::Ref> out;
  for (size_t i = 0; i < which.size(); ++i) {
    if (which[i]) out.push_back(values[i]);
  }
  return out;
}

// The operands of control flow that get a gradient when the results in `needed` have one. To say more than that would cost: a zero that
// flows into what is infinite is no zero.
std::vector<bool> reached_operands(const ir::Node& node, std::vector<bool> needed) {
  std::vector<bool> out(node.operands.size(), false);
  if (node.op != Op::while_loop) {
    for (const auto& region : node.regions) {
      std::vector<bool> reached = reached_params(*region, chosen(region->results, needed), all_dependents(*region));
      for (size_t i = 0; i < reached.size(); ++i) out[i + 1] = out[i + 1] || reached[i];
    }
    return out;
  }
  const ir::Block& body = *node.regions[1];
  ActiveSet active = all_dependents(body);
  for (bool again = true; again;) {
    again = false;
    out = reached_params(body, chosen(body.results, needed), active);
    for (size_t k = 0; k < needed.size(); ++k) {
      if (out[k] && !needed[k]) needed[k] = again = true;
    }
  }
  for (size_t k = 0; k < needed.size(); ++k) out[k] = out[k] || needed[k];
  return out;
}

}  // namespace

std::vector<bool> reached_params(const ir::Block& block, const std::vector<ir::Ref>& to, const ActiveSet& active) {
  ActiveSet needed;
  for (ir::Ref r : to) {
    if (active.count(r)) needed.insert(r);
  }
  for (size_t i = block.nodes.size(); i-- > 0;) {
    ir::Node* node = block.nodes[i].get();
    bool any = false;
    std::vector<bool> results;
    for (uint32_t k = 0; k < node->types.size(); ++k) results.push_back(needed.count({node, k}) > 0);
    for (bool r : results) any |= r;
    if (!any) continue;
    std::vector<bool> reached(node->operands.size(), true);
    if (!node->regions.empty() && !is_custom(*node)) reached = reached_operands(*node, std::move(results));
    for (size_t k = 0; k < node->operands.size(); ++k) {
      if (reached[k] && active.count(node->operands[k]) && flows(*node, k)) needed.insert(node->operands[k]);
    }
  }
  std::vector<bool> out;
  for (size_t i = 0; i < block.params.size(); ++i) out.push_back(needed.count(block.param(i)) > 0);
  return out;
}

Result<void> backpropagate(Adjoint& adjoint, ir::Block& block, const ActiveSet& active, Gradients& gradients) {
  std::vector<ir::Node*> nodes;
  for (const auto& node : block.nodes) nodes.push_back(node.get());
  for (size_t i = nodes.size(); i-- > 0;) {
    ir::Node& node = *nodes[i];
    bool flows = false, wanted = false;
    for (uint32_t k = 0; k < node.types.size(); ++k) flows |= gradients.count({&node, k}) > 0;
    if (!flows) continue;
    for (ir::Ref r : node.operands) wanted |= active.count(r) > 0;
    if (!wanted) continue;
    NodeCall call(adjoint, node, active, gradients);
    V gate = adjoint.gate;
    if (adjoint.phases) adjoint.gate = adjoint.phases->when(call.mask()).id();
    if (Rule rule = rule_of(node.op)) rule(call);
    adjoint.gate = gate;
    if (adjoint.failed()) return adjoint.take_failure();
  }
  return {};
}

}  // namespace tfl::gradient
