#include "ir/gradient/function.h"

#include <algorithm>

#include "ir/gradient/presence.h"
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
    if (!call->callee->symbols.empty())
      ir::set_sizes(block, i, block.nodes.size(), ir::sizes_at_call(*call->callee, call->operands));
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
                                                        const std::vector<Reach>& seeded, const std::vector<size_t>& first_of) {
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

namespace {

bool is_array(ir::Ref r) { return r.type().kind == ir::TypeKind::Array; }

}  // namespace

ir::Type presence_type(const ir::Type& type) {
  const TensorType flag{DType::Bool, true, {}};
  return type.kind == ir::TypeKind::Array ? ir::Type::array(flag) : ir::Type::of(flag);
}

Result<void> differentiate_body(BlockAdjoint& a, ir::Block& body, ir::Block& backward, const std::vector<bool>& wanted,
                                const std::vector<Reach>& seeded, Derivative& d) {
  std::vector<ir::Ref> from;
  for (size_t i = 0; i < body.params.size(); ++i) {
    if (wanted[i]) from.push_back(body.param(i));
  }
  ActiveSet active = dependents(body, from);
  Gradients gradients;
  std::vector<Reached> to;
  for (size_t k = 0; k < body.results.size(); ++k) {
    if (seeded[k] == Reach::None || !differentiable(body.results[k].type())) continue;
    d.seeds.push_back(k);
    // Of arrays it is told always, and so is all that goes through calls of the function itself.
    bool is_told = seeded[k] == Reach::Maybe || is_array(body.results[k]) || a.recursion;
    if (is_told) d.told.push_back(k);
    to.push_back({body.results[k], is_told ? Reach::Maybe : Reach::Always});
  }
  std::vector<Sum> seeds;
  auto take_in = [&](ir::Type type, const char* name) { return X(&a, a.add(backward.add_param(std::move(type), name))); };
  auto say = [&](Sum& sum, ir::Ref r) { sum = told(sum.value, take_in(presence_type(r.type()), "present"), sum.fill); };
  for (size_t k : d.seeds) seeds.push_back({take_in(body.results[k].type(), "gradient")});
  for (size_t s = 0, t = 0; s < d.seeds.size() && t < d.told.size(); ++s) {
    if (d.seeds[s] == d.told[t]) say(seeds[s], body.results[d.told[t++]]);
  }
  size_t parameters = body.params.size();  // stacks may be added
  std::vector<Reach> reached = reached_params(body, to, active);
  d.gradient_of.assign(parameters, -1);
  d.presence_of.assign(parameters, -1);
  int result_count = 0;
  for (size_t i = 0; i < parameters; ++i) {
    if (!wanted[i] || reached[i] == Reach::None) continue;
    d.gradient_of[i] = result_count++;
    if (is_array(body.param(i)) && (reached[i] == Reach::Maybe || a.recursion)) continue;
    ir::Type type = body.param(i).type();
    if (type.kind == ir::TypeKind::Resource) type = ir::Type::of(type.tensor);
    gradients[body.param(i)] = {take_in(std::move(type), "sum"), Presence::always(), Fill::EmptySum};
  }
  for (size_t i = 0; i < parameters; ++i) {
    if (d.gradient_of[i] < 0 || (reached[i] == Reach::Always && !a.recursion)) continue;
    d.presence_of[i] = result_count++;
    if (!is_array(body.param(i))) say(gradients[body.param(i)], body.param(i));
  }
  for (size_t s = 0; s < d.seeds.size(); ++s) {
    ir::Ref result = body.results[d.seeds[s]];
    if (!active.count(result)) continue;
    Sum& sum = gradients[result];
    sum = merged(sum, seeds[s]);
    if (!sum.value) return a.take_failure();
  }
  d.gradient_inputs = backward.params.size();
  TFL_TRY(backpropagate(a, body, active, gradients));

  std::vector<ir::Ref> presences;
  for (size_t i = 0; i < parameters; ++i) {
    if (d.gradient_of[i] < 0) continue;
    Sum& sum = gradients[body.param(i)];
    if (!sum.value) sum = {zero_array(body.param(i).type().tensor, size_of(a, body.param(i))), Presence::never(), Fill::Unknown};
    X value = d.presence_of[i] >= 0 ? sum.value : filled(sum, Presence::always(), Fill::EmptySum);
    X present = d.presence_of[i] >= 0 ? telling(sum, Presence::always()) : X();
    if (a.failed()) return a.take_failure();
    backward.results.push_back(a.ref(value.id()));
    if (present) presences.push_back(a.ref(present.id()));
  }
  backward.results.insert(backward.results.end(), presences.begin(), presences.end());
  return {};
}

std::vector<Reach> may_have_gradient(const Derivative& d, size_t own) {
  std::vector<Reach> out(d.forward->body.results.size(), Reach::Always);
  const ir::Block& block = d.backward->body;
  std::vector<ir::Ref> params;
  for (size_t i = 0; i < block.params.size(); ++i) params.push_back(block.param(i));
  std::vector<Reached> to;
  for (ir::Ref r : block.results) to.push_back({r});
  std::vector<Reach> reached = reached_params(block, to, dependents(block, params));
  size_t first = block.params.size() - d.reads.size();
  for (size_t i = 0; i < d.reads.size(); ++i) {
    if (!d.reads[i].parameter && d.reads[i].index >= own)
      out[d.reads[i].index] = reached[first + i] == Reach::None ? Reach::None : Reach::Maybe;
  }
  return out;
}

std::shared_ptr<const Derivative> without_repeats(const Derivative& d, size_t own) {
  auto out = std::make_shared<Derivative>(d);
  out->forward = ir::clone(*d.forward);
  std::vector<ir::Ref>& results = out->forward->body.results;
  std::vector<ir::Ref> kept(results.begin(), results.begin() + static_cast<ptrdiff_t>(own));
  for (Derivative::Read& read : out->reads) {
    if (read.parameter) continue;
    ir::Ref r = results[read.index];
    read.index = static_cast<size_t>(std::find(kept.begin(), kept.end(), r) - kept.begin());
    if (read.index == kept.size()) kept.push_back(r);
  }
  results = std::move(kept);
  return out;
}

std::vector<Reach> reach_of_results(const RuleCall& c) {
  std::vector<Reach> out;
  for (size_t k = 0; k < c.result_count(); ++k) {
    const Sum& seed = c.flowing(k);
    out.push_back(!seed.value ? Reach::None : !seed.elements && implies(c.own(), seed.present) ? Reach::Always : Reach::Maybe);
  }
  return out;
}

bool sums_before(RuleCall& c, const Derivative& d, std::vector<V>& operands) {
  auto put = [&](const X& x) {
    if (x) operands.push_back(x.id());
    return static_cast<bool>(x);
  };
  for (size_t k : d.seeds) {
    if (!put(g_or_zeros(c, k))) return false;
  }
  auto put_telling = [&](const Sum& sum, bool array, const auto& size) {
    return put(sum.value ? telling(sum, c.own()) : array ? presences(size(), Presence::never()) : scalar(c.a, Presence::never()));
  };
  for (size_t k : d.told) {
    if (!put_telling(c.flowing(k), c.result_type(k).kind == ir::TypeKind::Array, [&] { return c.r_size(k); })) return false;
  }
  auto told_array = [&](size_t i) { return d.presence_of[i] >= 0 && c.operand_type(i).kind == ir::TypeKind::Array; };
  for (size_t i = 0; i < d.gradient_of.size(); ++i) {
    if (d.gradient_of[i] >= 0 && !told_array(i) && !put(c.sum_so_far(i))) return false;
  }
  for (size_t i = 0; i < d.presence_of.size(); ++i) {
    if (d.presence_of[i] < 0 || told_array(i)) continue;
    if (!put_telling(c.repeated(i) ? Sum() : c.gathered(i), false, [] { return X(); })) return false;
  }
  return true;
}

namespace {

// An array that a function gave where the call has a gradient; elsewhere what was there before, or one of which no element is there. There
// is no choosing between arrays but by a branch.
Sum array_where_own(RuleCall& c, const Sum& before, const Sum& after) {
  Presence own = c.own().is_always() ? c.own() : c.a.known(c.own().condition());
  if (own.is_always()) return after;
  if (!c.node()) return before;  // it has run: there is no gradient
  std::vector<V> operands = {scalar(c.a, own).id(), after.value.id()};
  if (after.elements) operands.push_back(after.elements.id());
  if (before.value) operands.push_back(before.value.id());
  std::vector<std::unique_ptr<ir::Block>> regions;
  for (bool here : {true, false}) {
    regions.push_back(new_region(*c.node()));
    ir::Block& region = *regions.back();
    std::vector<ir::Ref> params;
    for (size_t i = 1; i < operands.size(); ++i) params.push_back(region.add_param(c.a.type(operands[i]), "array"));
    for (size_t i = 0; i < (after.elements ? 2 : 1); ++i) {
      ir::Ref out = params[i];
      if (!here && i == 0 && before.value) {
        out = params.back();
      } else if (!here) {
        Result<ir::Node*> none = ir::append(c.a.context(), region, Op::array_zeros_like, {params[i]});
        if (!check(c, none)) return {};
        out = {*none, 0};
      }
      region.results.push_back(out);
    }
  }
  std::vector<V> results;
  Result<void> done = c.a.apply_node(Op::cond, operands, Attrs(), std::move(regions), nullptr, results);
  if (!done) c.a.fail_with(done.failure());
  if (!done) return {};
  return told(X(&c.a, results[0]), after.elements ? X(&c.a, results[1]) : X(), Fill::Unknown);
}

}  // namespace

void put_sums(RuleCall& c, const Derivative& d, const std::vector<X>& results) {
  for (size_t i = 0; i < d.gradient_of.size(); ++i) {
    if (d.gradient_of[i] < 0) continue;
    Sum sum = {results[static_cast<size_t>(d.gradient_of[i])]};
    X present = d.presence_of[i] < 0 ? X() : results[static_cast<size_t>(d.presence_of[i])];
    if (c.operand_type(i).kind != ir::TypeKind::Array) {
      if (present) sum.present = c.a.known(present);
      c.put_sum(i, sum);
    } else if (present) {
      sum.elements = present;
      sum = array_where_own(c, {}, sum);
      c.give_array(i, sum.value, sum.elements);
    } else {
      c.put_sum(i, array_where_own(c, c.repeated(i) ? Sum() : c.gathered(i), sum));
    }
  }
}

void call_rule(RuleCall& c) {
  ir::Node& node = *c.node();
  if (!node.callee || calls_itself(*node.callee)) return recursive_call_rule(c);
  std::vector<bool> wanted;
  std::vector<size_t> first_of;
  for (size_t i = 0; i < c.operand_count(); ++i) {
    wanted.push_back(c.wanted(i));
    size_t first = 0;
    while (!c.same_operand(first, i)) ++first;
    first_of.push_back(first);
  }
  Result<std::shared_ptr<const Derivative>> derived =
      differentiate(c.a.context(), *node.callee, wanted, reach_of_results(c), first_of);
  if (!check(c, derived)) return;
  const Derivative& d = **derived;
  uint32_t first_kept = static_cast<uint32_t>(c.result_count());
  node.callee = d.forward;
  node.types.resize(first_kept);
  for (size_t k = first_kept; k < d.forward->body.results.size(); ++k) node.types.push_back(d.forward->body.results[k].type());
  std::vector<V> operands;
  if (!sums_before(c, d, operands)) return;
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
  std::vector<X> sums;
  for (V v : results) sums.push_back(X(&c.a, v));
  put_sums(c, d, sums);
}

}  // namespace tfl::gradient
