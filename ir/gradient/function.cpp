#include "ir/gradient/function.h"

#include "ir/gradient/recursion.h"
#include "ir/gradient/regions.h"
#include "ir/inlined.h"

namespace tfl::gradient {

namespace {

// What the gradient of a function body reads of the forward side is handed out as one more result and taken as one more parameter.
class FunctionAdjoint : public BlockAdjoint {
 public:
  FunctionAdjoint(Context& context, ir::Function& forward, ir::Function& backward)
      : BlockAdjoint(context, forward.body, backward.body) {}

  Result<ir::Ref> open_stack(const ir::Type& stack, ir::Node& node, int) override { return stack_before(context_, node, stack); }
  Result<V> enter_stack(ir::Ref, ir::Ref after) override { return forward(after); }
  void leave_stack(ir::Ref, V) override {}
  const std::vector<ir::Ref>& reads() const { return reads_; }

 protected:
  Result<ir::Ref> carry(ir::Ref value) override {
    reads_.push_back(value);
    return backward_block().add_param(value.type(), "kept");
  }

 private:
  std::vector<ir::Ref> reads_;
};

}  // namespace

namespace {

// One parameter for each value that a region takes in.
void merge_inputs(ir::Block& block) {
  for (auto& node : block.nodes) {
    if (node->regions.empty()) continue;
    size_t first = node->op == Op::while_loop ? static_cast<size_t>(node->attrs.get_int(Attr::num)) : 1;
    size_t shift = node->op == Op::while_loop ? 0 : 1;
    for (size_t i = first; i < node->operands.size(); ++i) {
      for (size_t j = i + 1; j < node->operands.size(); ++j) {
        if (!(node->operands[i] == node->operands[j])) continue;
        for (auto& region : node->regions) ir::replace_uses(*region, region->param(j - shift), region->param(i - shift));
      }
    }
    for (auto& region : node->regions) merge_inputs(*region);
  }
}

void inline_all(ir::Block& block) {
  for (size_t i = 0; i < block.nodes.size();) {
    ir::Node& node = *block.nodes[i];
    for (auto& region : node.regions) inline_all(*region);
    if (node.op != Op::call || !node.callee || calls_itself(*node.callee)) {
      ++i;
      continue;
    }
    std::vector<std::unique_ptr<ir::Node>> tail;
    for (size_t k = i + 1; k < block.nodes.size(); ++k) tail.push_back(std::move(block.nodes[k]));
    std::unique_ptr<ir::Node> call = std::move(block.nodes[i]);
    block.nodes.resize(i);
    std::vector<ir::Ref> results =
        ir::inline_block(call->callee->body, block, std::vector<ir::Ref>(call->operands.begin(), call->operands.end()));
    ir::set_call_place(block, i, block.nodes.size(), call->location);
    if (!call->callee->symbols.empty()) ir::set_sizes(block, i, block.nodes.size(), ir::sizes_at_call(*call->callee, call->operands));
    for (size_t k = i; k < block.nodes.size(); ++k) {
      std::string& name = block.nodes[k]->name;
      name = name.empty() || call->name.empty() ? std::string() : call->name + "/" + name;
    }
    for (auto& t : tail) block.nodes.push_back(std::move(t));
    for (uint32_t k = 0; k < results.size(); ++k) ir::replace_uses(block, {call.get(), k}, results[k]);
    // What was put in may call in turn: it is looked at next.
  }
}

}  // namespace

void inline_calls(ir::Block& block) {
  inline_all(block);
  merge_inputs(block);
}

Result<std::shared_ptr<const Derivative>> differentiate(Context& context, const ir::Function& f, std::vector<bool> wanted,
                                                        const std::vector<bool>& seeded, const std::vector<size_t>& first_of) {
  if (calls_itself(f)) return differentiate_recursive(context, f, wanted, seeded);
  auto d = std::make_shared<Derivative>();
  d->forward = ir::clone(f);
  for (size_t i = 0; i < first_of.size(); ++i) {
    if (first_of[i] == i) continue;
    ir::replace_uses(d->forward->body, d->forward->body.param(i), d->forward->body.param(first_of[i]));
    wanted[i] = false;
  }
  inline_calls(d->forward->body);
  d->backward = std::make_shared<ir::Function>();
  d->backward->name = f.name + "_gradient";
  d->backward->locations = d->forward->locations;
  d->backward->symbols = f.symbols;
  ir::Block& body = d->forward->body;
  FunctionAdjoint a(context, *d->forward, *d->backward);
  TFL_TRY(differentiate_body(a, body, d->backward->body, wanted, seeded, *d));
  for (ir::Ref r : a.reads()) {
    if (r.node->op == Op::parameter) {
      size_t i = 0;
      while (!(body.param(i) == r)) ++i;
      d->reads.push_back({true, i});
    } else {
      d->reads.push_back({false, body.results.size()});
      body.results.push_back(r);
    }
  }
  return std::shared_ptr<const Derivative>(std::move(d));
}

Result<void> differentiate_body(BlockAdjoint& a, ir::Block& body, ir::Block& backward, const std::vector<bool>& wanted,
                                const std::vector<bool>& seeded, Derivative& d) {
  std::vector<ir::Ref> from;
  for (size_t i = 0; i < body.params.size(); ++i) {
    if (wanted[i]) from.push_back(body.param(i));
  }
  ActiveSet active = dependents(body, from);
  Gradients gradients;
  std::vector<ir::Ref> to;
  for (size_t k = 0; k < body.results.size(); ++k) {
    if (!seeded[k] || !differentiable(body.results[k].type())) continue;
    d.seeds.push_back(k);
    to.push_back(body.results[k]);
  }
  std::vector<ir::Ref> seed_params;
  for (size_t k : d.seeds) seed_params.push_back(backward.add_param(body.results[k].type(), "gradient"));
  size_t parameters = body.params.size();  // stacks may be added
  std::vector<bool> reached = reached_params(body, to, active);
  d.gradient_of.assign(parameters, -1);
  int gradient_count = 0;
  for (size_t i = 0; i < parameters; ++i) {
    if (!wanted[i] || !reached[i]) continue;
    ir::Type type = body.param(i).type();
    if (type.kind == ir::TypeKind::Resource) type = ir::Type::of(type.tensor);
    gradients[body.param(i)] = a.add(backward.add_param(std::move(type), "sum"));
    d.gradient_of[i] = gradient_count++;
  }
  for (size_t s = 0; s < d.seeds.size(); ++s) {
    ir::Ref result = body.results[d.seeds[s]];
    if (!active.count(result)) continue;
    X g(&a, a.add(seed_params[s]));
    auto found = gradients.find(result);
    if (found != gradients.end()) g = sum_of(X(&a, found->second), g);
    if (!g) return a.take_failure();
    gradients[result] = g.id();
  }
  TFL_TRY(backpropagate(a, body, active, gradients));

  d.untouched.assign(parameters, true);
  for (const auto& node : body.nodes) {
    bool gives = false;
    for (uint32_t k = 0; k < node->types.size(); ++k) gives |= gradients.count({node.get(), k}) > 0;
    if (!gives || !node->regions.empty() || node->target()) continue;
    for (ir::Ref r : node->operands) {
      for (size_t i = 0; i < parameters; ++i) {
        if (body.param(i) == r) d.untouched[i] = false;
      }
    }
  }
  for (size_t i = 0; i < parameters; ++i) {
    if (d.gradient_of[i] >= 0) backward.results.push_back(a.ref(gradients[body.param(i)]));
  }
  return {};
}

std::vector<bool> may_have_gradient(const Derivative& d) {
  std::vector<bool> out(d.forward->body.results.size(), true);
  const ir::Block& block = d.backward->body;
  std::vector<ir::Ref> params;
  for (size_t i = 0; i < block.params.size(); ++i) params.push_back(block.param(i));
  std::vector<bool> reached = reached_params(block, block.results, dependents(block, params));
  size_t first = block.params.size() - d.reads.size();
  for (size_t i = 0; i < d.reads.size(); ++i) {
    if (!d.reads[i].parameter) out[d.reads[i].index] = reached[first + i];
  }
  return out;
}

X settled(const Derivative& d, size_t parameter, bool was_empty, X sum) {
  if (!was_empty || !d.untouched[parameter] || !sum || sum.adjoint()->type(sum.id()).kind != ir::TypeKind::Tensor) return sum;
  return sum + X(0.0);
}

void call_rule(RuleCall& c) {
  ir::Node& node = *c.node();
  if (!node.callee || calls_itself(*node.callee)) return recursive_call_rule(c);
  std::vector<bool> wanted, seeded;
  std::vector<size_t> first_of;
  for (size_t i = 0; i < c.operand_count(); ++i) {
    wanted.push_back(c.wanted(i));
    size_t first = 0;
    while (!c.same_operand(first, i)) ++first;
    first_of.push_back(first);
  }
  for (size_t k = 0; k < c.result_count(); ++k) seeded.push_back(static_cast<bool>(c.g(k)));
  Result<std::shared_ptr<const Derivative>> derived = differentiate(c.a.context(), *node.callee, wanted, seeded, first_of);
  if (!check(c, derived)) return;
  const Derivative& d = **derived;
  uint32_t first_kept = static_cast<uint32_t>(c.result_count());
  node.callee = d.forward;
  node.types.resize(first_kept);
  for (size_t k = first_kept; k < d.forward->body.results.size(); ++k) node.types.push_back(d.forward->body.results[k].type());
  std::vector<V> operands;
  std::vector<bool> empty;
  for (size_t i = 0; i < c.operand_count(); ++i) empty.push_back(!c.gathered(i));
  for (size_t k : d.seeds) operands.push_back(c.g(k).id());
  for (size_t i = 0; i < d.gradient_of.size(); ++i) {
    if (d.gradient_of[i] < 0) continue;
    X sum = c.sum_so_far(i);
    if (!sum) return;
    operands.push_back(sum.id());
  }
  for (const Derivative::Read& read : d.reads) {
    if (read.parameter) {
      X x = c.x(read.index);
      if (!x) return;
      operands.push_back(x.id());
      continue;
    }
    Result<V> v = c.a.forward({&node, static_cast<uint32_t>(read.index)});
    if (!check(c, v)) return;
    operands.push_back(*v);
  }
  std::vector<V> results;
  Result<void> done = c.a.apply_node(Op::call, operands, Attrs(), {}, d.backward, results);
  if (!done) return c.a.fail_with(done.failure());
  for (size_t i = 0; i < d.gradient_of.size(); ++i) {
    if (d.gradient_of[i] >= 0) c.put_sum(i, settled(d, i, empty[i], X(&c.a, results[static_cast<size_t>(d.gradient_of[i])])));
  }
}

}  // namespace tfl::gradient
