#include "ir/gradient/block_adjoint.h"

#include "ir/custom_gradient.h"
#include "ir/gradient/presence.h"
#include "ir/gradient/region_adjoint.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

Result<void> BlockAdjoint::apply(Op op, std::span<const V> operands, const Attrs& attrs, SmallVec<V, 2>& results) {
  std::vector<ir::Ref> refs;
  for (V v : operands) refs.push_back(ref(v));
  ir::Node* node = TFL_TRY(ir::append(context_, backward_block_, op, std::move(refs), attrs));
  for (uint32_t i = 0; i < node->types.size(); ++i) results.push_back(add({node, i}));
  return {};
}

Result<void> BlockAdjoint::apply_node(Op op, std::span<const V> operands, const Attrs& attrs,
                                      std::vector<std::unique_ptr<ir::Block>> regions, std::shared_ptr<ir::Function> callee,
                                      std::vector<V>& results) {
  std::vector<ir::Ref> refs;
  for (V v : operands) refs.push_back(ref(v));
  ir::Node* node =
      TFL_TRY(ir::append(context_, backward_block_, op, std::move(refs), attrs, std::move(regions), std::move(callee)));
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
      : RuleCall(a, node.op, node.attrs),
        node_(node),
        active_(active),
        gradients_(gradients),
        operands_(node.operands),
        types_(node.types) {
    find_own();
  }

  size_t operand_count() const override { return operands_.size(); }
  size_t result_count() const override { return types_.size(); }
  const ir::Type& operand_type(size_t i) const override { return operands_[i].type(); }
  const ir::Type& result_type(size_t i) const override { return types_[i]; }
  bool same_operand(size_t i, size_t j) const override { return operands_[i] == operands_[j]; }
  bool wanted(size_t i) const override { return active_.count(operands_[i]) > 0; }
  const Sum& flowing(size_t i) const override {
    static const Sum kNothing;
    auto it = gradients_.find({&node_, static_cast<uint32_t>(i)});
    return it == gradients_.end() ? kNothing : it->second;
  }
  X x(size_t i) override { return read(operands_[i]); }
  X r(size_t i) override { return read({&node_, static_cast<uint32_t>(i)}); }
  X x_shape(size_t i) override { return shape_of(operands_[i]); }
  X r_shape(size_t i) override { return shape_of({&node_, static_cast<uint32_t>(i)}); }
  X x_size(size_t i) override { return derived(Op::array_size, operands_[i]); }
  X r_size(size_t i) override { return derived(Op::array_size, {&node_, static_cast<uint32_t>(i)}); }
  Sum gathered(size_t i) const override {
    auto it = gradients_.find(operands_[i]);
    return it == gradients_.end() ? Sum() : it->second;
  }
  void put(size_t i, Sum sum) override {
    if (sum.value) gradients_[operands_[i]] = std::move(sum);
  }
  void give_rows(size_t i, X values, X indices) override { give(i, rows_to_tensor(values, indices, x_shape(i))); }
  ir::Node* node() const override { return &node_; }

 private:
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
};

}  // namespace

X size_of(Adjoint& a, ir::Ref array) {
  Result<ir::Ref> size = a.derive(Op::array_size, array);
  Result<V> v = size ? a.forward(*size) : Result<V>(size.failure());
  if (v) return X(&a, *v);
  a.fail_with(v.failure());
  return {};
}

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
bool flows(const ir::Node& node, size_t i) { return ir::flows_to(node, i) && !(i == 2 && origin_of(node)); }

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

// The operands of control flow that get a gradient when the results in `needed` have one. To say more than that would cost: a zero that
// flows into what is infinite is no zero.
std::vector<Reach> reached_operands(const ir::Node& node, std::vector<Reach> needed) {
  std::vector<Reach> out(node.operands.size(), Reach::None);
  auto reached = [&](const ir::Block& region, const ActiveSet& active) {
    std::vector<Reached> to;
    for (size_t k = 0; k < needed.size(); ++k) to.push_back({region.results[k], needed[k]});
    return reached_params(region, to, active);
  };
  if (node.op != Op::while_loop) {
    for (size_t b = 0; b < node.regions.size(); ++b) {
      std::vector<Reach> here = reached(*node.regions[b], all_dependents(*node.regions[b]));
      for (size_t i = 0; i < here.size(); ++i)
        out[i + 1] = b == 0 ? here[i] : one_of(out[i + 1], here[i], node.operands[i + 1].type());
    }
    return out;
  }
  const ir::Block& body = *node.regions[1];
  ActiveSet active = all_dependents(body);
  std::vector<Reach> here = reached_through_loop(body, active, std::vector<bool>(needed.size(), true), needed);
  for (size_t k = 0; k < needed.size(); ++k) out[k] = needed[k];
  // A loop may run no iteration.
  for (size_t i = needed.size(); i < out.size(); ++i) {
    bool array = node.operands[i].type().kind == ir::TypeKind::Array;
    if (here[i] != Reach::None) out[i] = array ? here[i] : Reach::Maybe;
  }
  return out;
}

}  // namespace

std::vector<Reach> reached_through_loop(const ir::Block& body, const ActiveSet& active, const std::vector<bool>& wanted,
                                        std::vector<Reach>& variables) {
  while (true) {
    std::vector<Reached> to;
    for (size_t k = 0; k < variables.size(); ++k) to.push_back({body.results[k], variables[k]});
    std::vector<Reach> reached = reached_params(body, to, active);
    bool again = false;
    for (size_t k = 0; k < variables.size(); ++k) {
      Reach now = wanted[k] ? one_of(variables[k], reached[k], body.param(k).type()) : variables[k];
      again |= now != variables[k];
      variables[k] = now;
    }
    if (!again) return reached;
  }
}

std::vector<Reach> reached_params(const ir::Block& block, const std::vector<Reached>& to, const ActiveSet& active) {
  RefMap<Reach> needed;
  auto add = [&](ir::Ref r, Reach reach) {
    if (reach == Reach::None || !active.count(r)) return;
    Reach& known = needed[r];
    known = std::max(known, reach);
  };
  auto of = [&](ir::Ref r) {
    auto found = needed.find(r);
    return found == needed.end() ? Reach::None : found->second;
  };
  for (const Reached& r : to) add(r.value, r.reach);
  for (size_t i = block.nodes.size(); i-- > 0;) {
    ir::Node* node = block.nodes[i].get();
    std::vector<Reach> results;
    for (uint32_t k = 0; k < node->types.size(); ++k) results.push_back(of({node, k}));
    Reach any = Reach::None;
    for (Reach r : results) any = std::max(any, r);
    if (any == Reach::None) continue;
    // Of what goes through calls of the function itself it is told whether it is there.
    std::vector<Reach> reached(node->operands.size(),
                               chooses(node->op, node->attrs) || node->op == Op::call ? Reach::Maybe : any);
    if (node->op == Op::array_pop) {
      reached[0] = results[0] != Reach::None ? results[0] : results[1];
    }
    if (!node->regions.empty() && !ir::is_custom(*node)) reached = reached_operands(*node, std::move(results));
    for (size_t k = 0; k < node->operands.size(); ++k) {
      if (flows(*node, k)) add(node->operands[k], reached[k]);
    }
  }
  std::vector<Reach> out;
  for (size_t i = 0; i < block.params.size(); ++i) out.push_back(of(block.param(i)));
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
    if (Rule rule = rule_of(node.op)) rule(call);
    if (adjoint.failed()) return adjoint.take_failure();
  }
  return {};
}

}  // namespace tfl::gradient
