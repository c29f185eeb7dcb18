// Gradients of branches (cond, switch_case): the node is extended to hand out what its gradient reads, and another one after it runs
// the gradients of the branches, of which again one is chosen.
#include <algorithm>

#include "ir/custom_gradient.h"
#include "ir/gradient/custom.h"
#include "ir/gradient/function.h"
#include "ir/gradient/presence.h"
#include "ir/gradient/region_adjoint.h"
#include "ir/gradient/regions.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

// Zeros for the gradient of a parameter of the forward region.
X zeros_of_param(RegionAdjoint& a, ir::Ref param) {
  const ir::Type& type = param.type();
  // Of an array only the size is kept: there are no stacks of arrays.
  if (type.kind == ir::TypeKind::Array) return zero_array(type.tensor, size_of(a, param));
  if (known(type.tensor)) return zeros_of_type(a, type, X());
  if (type.kind == ir::TypeKind::Resource) {
    a.fail_with(fail(ErrorKind::ValueError, "the gradient of a variable of unknown shape through a branch is not defined"));
    return {};
  }
  Result<V> v = a.forward(param);
  if (v) return zeros_of_type(a, type, X(&a, *v));
  a.fail_with(v.failure());
  return {};
}

// The conditions under which sums that go into the regions are there: operands, and in each region a parameter.
class Conditions {
 public:
  /// As the regions see it, which run where `own` holds.
  Presence within(const Presence& p, const Presence& own) {
    if (implies(own, p)) return Presence::always();
    if (p.is_never()) return p;
    if (std::find(values_.begin(), values_.end(), p.condition().id()) == values_.end()) values_.push_back(p.condition().id());
    return p;
  }
  const std::vector<V>& values() const { return values_; }
  Presence inside(RegionAdjoint& a, const Presence& p, const std::vector<ir::Ref>& params) const {
    if (p.is_always() || p.is_never()) return p;
    auto place = std::find(values_.begin(), values_.end(), p.condition().id()) - values_.begin();
    return Presence::when(X(&a, a.add(params[static_cast<size_t>(place)])));
  }

 private:
  std::vector<V> values_;
};

// What all branches leave where a gradient is not there.
Fill common_fill(const std::vector<Sum>& sums) {
  bool zero = true, empty = true;
  for (const Sum& s : sums) {
    if (s.present.is_always()) continue;
    zero = zero && s.fill == Fill::Zero;
    empty = empty && s.fill == Fill::EmptySum;
  }
  return zero ? Fill::Zero : empty ? Fill::EmptySum : Fill::Unknown;
}

}  // namespace

void branch_rule(RuleCall& c) {
  ir::Node& node = *c.node();
  if (ir::is_custom(node)) return custom_rule(c);
  size_t inputs = c.operand_count() - 1, branch_count = node.regions.size();
  for (auto& region : node.regions) inline_calls(*region);
  Conditions conditions;
  auto entering = [&](Sum sum) {
    if (sum.value) sum.present = conditions.within(sum.present, c.own());
    return sum;
  };
  std::vector<Sum> seeds;
  for (size_t k = 0; k < c.result_count(); ++k) seeds.push_back(entering(c.flowing(k)));

  // The inputs that get a gradient from some branch. Sums go on where they stand, as if the branch had been written without one.
  std::vector<ActiveSet> active(branch_count);
  std::vector<bool> reached(inputs, false);
  for (size_t b = 0; b < branch_count; ++b) {
    ir::Block& forward = *node.regions[b];
    std::vector<ir::Ref> from;
    std::vector<Reached> to;
    for (size_t i = 0; i < inputs; ++i) {
      if (c.wanted(i + 1)) from.push_back(forward.param(i));
    }
    active[b] = dependents(forward, from);
    for (size_t k = 0; k < seeds.size(); ++k) {
      if (seeds[k].value) to.push_back({forward.results[k]});
    }
    std::vector<Reach> here = reached_params(forward, to, active[b]);
    for (size_t i = 0; i < inputs; ++i) reached[i] = reached[i] || here[i] != Reach::None;
  }
  std::vector<size_t> targets;
  std::vector<Sum> sums;  // one a target; empty: none so far
  for (size_t i = 0; i < inputs; ++i) {
    if (!reached[i]) continue;
    targets.push_back(i);
    sums.push_back(c.repeated(i + 1, 1) ? Sum() : entering(c.gathered(i + 1)));
  }
  if (targets.empty()) return;

  X runs = run_condition(c);
  std::vector<std::unique_ptr<ir::Block>> regions;
  std::vector<std::unique_ptr<RegionAdjoint>> adjoints;
  std::vector<Gradients> gradients(branch_count);
  std::vector<std::vector<ir::Ref>> seed_params(branch_count);
  for (size_t b = 0; b < branch_count; ++b) {
    ir::Block& forward = *node.regions[b];
    regions.push_back(new_region(node));
    adjoints.push_back(std::make_unique<RegionAdjoint>(c.a.context(), forward, *regions[b]));
    RegionAdjoint& a = *adjoints[b];
    a.recursion = c.a.recursion;
    auto take_in = [&](V v, const char* name) {
      seed_params[b].push_back(regions[b]->add_param(c.a.type(v), name));
      return seed_params[b].back();
    };
    if (runs) a.runs = a.add(take_in(runs.id(), "runs"));
    std::vector<ir::Ref> told;
    for (V v : conditions.values()) told.push_back(take_in(v, "present"));
    auto inside = [&](const Sum& s, const char* name) {
      X value(&a, a.add(take_in(s.value.id(), name)));
      return Sum{value, conditions.inside(a, s.present, told), s.fill,
                 s.elements ? X(&a, a.add(take_in(s.elements.id(), "present"))) : X()};
    };
    for (size_t t = 0; t < targets.size(); ++t) {
      if (sums[t].value) gradients[b][forward.param(targets[t])] = inside(sums[t], "sum");
    }
    for (size_t k = 0; k < seeds.size(); ++k) {
      if (!seeds[k].value) continue;
      Sum seed = inside(seeds[k], "gradient");
      ir::Ref result = forward.results[k];
      if (!active[b].count(result)) continue;
      Sum& sum = gradients[b][result];
      sum = merged(sum, seed);
    }
    Result<void> done = backpropagate(a, forward, active[b], gradients[b]);
    if (!done) return c.a.fail_with(done.failure());
  }
  std::vector<bool> flagged;  // targets whose gradient only some branches have
  std::vector<Fill> fills;
  for (size_t i : targets) {
    std::vector<Sum> ways;
    bool always = true, all_told = true, is_array = node.regions[0]->param(i).type().kind == ir::TypeKind::Array;
    for (size_t b = 0; b < branch_count; ++b) {
      RegionAdjoint& a = *adjoints[b];
      ir::Ref param = node.regions[b]->param(i);
      Sum& sum = gradients[b][param];
      if (!sum.value)
        sum = {zeros_of_param(a, param), Presence::never(), Fill::Zero,
               is_array ? presences(size_of(a, param), Presence::never()) : X()};
      if (a.failed()) return c.a.fail_with(a.take_failure());
      always = always && sum.present.is_always();
      all_told = all_told && sum.elements;
      ways.push_back(sum);
    }
    flagged.push_back(is_array ? all_told : !always);
    fills.push_back(common_fill(ways));
  }

  // Both sides of every region take the same inputs: all forward inputs that some gradient reads, the gradients of the results, and
  // the stacks of all branches.
  std::vector<bool> read(inputs, false), results_read(seeds.size(), false);
  for (auto& a : adjoints) {
    for (const auto& p : a->passed()) read[p.param] = true;
    for (const auto& r : a->results_read()) results_read[r.index] = true;
  }
  std::vector<V> operands;
  X predicate = c.x(0);
  if (!predicate) return;
  operands.push_back(predicate.id());
  for (size_t i = 0; i < inputs; ++i) {
    if (!read[i]) continue;
    X x = c.x(i + 1);
    if (!x) return;
    operands.push_back(x.id());
  }
  for (size_t k = 0; k < results_read.size(); ++k) {
    if (!results_read[k]) continue;
    X r = c.r(k);
    if (!r) return;
    operands.push_back(r.id());
  }
  if (runs) operands.push_back(runs.id());
  operands.insert(operands.end(), conditions.values().begin(), conditions.values().end());
  for (const std::vector<Sum>* list : {&sums, &seeds}) {
    for (const Sum& s : *list) {
      if (s.value) operands.push_back(s.value.id());
      if (s.elements) operands.push_back(s.elements.id());
    }
  }

  // The forward node: stacks go in behind its inputs and come out behind its results.
  struct Threaded {
    ir::Type type;
    int number;
    ir::Ref before;
    std::vector<size_t> index;  // among the stacks of each branch; kThrough: it only passes through
  };
  constexpr size_t kThrough = ~size_t{0};
  std::vector<Threaded> threaded;
  for (size_t b = 0; b < branch_count; ++b) {
    for (size_t s = 0; s < adjoints[b]->stacks().size(); ++s) {
      const Stack& stack = adjoints[b]->stacks()[s];
      size_t t = 0;
      while (t < threaded.size() && (stack.number == kUnnumbered || threaded[t].number != stack.number)) ++t;
      if (t == threaded.size()) {
        Result<ir::Ref> before = c.a.open_stack(stack.type, node, stack.number);
        if (!check(c, before)) return;
        threaded.push_back({stack.type, stack.number, *before, std::vector<size_t>(branch_count, kThrough)});
        node.operands.push_back(*before);
      }
      threaded[t].index[b] = s;
    }
  }
  for (size_t b = 0; b < branch_count; ++b) {
    ir::Block& forward = *node.regions[b];
    // The stacks of this branch are its last parameters; those of the others come between.
    std::vector<std::unique_ptr<ir::Node>> own;
    size_t first_own = forward.params.size() - adjoints[b]->stacks().size();
    for (size_t p = first_own; p < forward.params.size(); ++p) own.push_back(std::move(forward.params[p]));
    forward.params.resize(first_own);
    for (const Threaded& t : threaded) {
      if (t.index[b] != kThrough) {
        forward.params.push_back(std::move(own[t.index[b]]));
        forward.results.push_back(adjoints[b]->stacks()[t.index[b]].forward_out);
      } else {
        ir::Ref through = forward.add_param(t.type, "stack");
        forward.results.push_back(through);
      }
    }
  }
  std::vector<V> stack_values;
  for (const Threaded& t : threaded) {
    node.types.push_back(t.type);
    Result<V> v = c.a.enter_stack(t.before, {&node, static_cast<uint32_t>(node.types.size() - 1)});
    if (!check(c, v)) return;
    stack_values.push_back(*v);
    operands.push_back(*v);
  }

  // The gradient's regions, with parameters in the order of the operands.
  for (size_t b = 0; b < branch_count; ++b) {
    ir::Block& block = *regions[b];
    RegionAdjoint& a = *adjoints[b];
    std::vector<std::unique_ptr<ir::Node>> old = std::move(block.params);
    block.params.clear();
    auto take = [&](ir::Ref param) {
      for (auto& p : old) {
        if (p && p.get() == param.node) {
          block.params.push_back(std::move(p));
          return;
        }
      }
    };
    for (size_t i = 0; i < inputs; ++i) {
      if (!read[i]) continue;
      ir::Ref own;
      for (const auto& p : a.passed()) {
        if (p.param == i) own = p.backward;
      }
      if (own)
        take(own);
      else
        block.add_param(node.regions[b]->param(i).type(), "input");
    }
    for (size_t k = 0; k < results_read.size(); ++k) {
      if (!results_read[k]) continue;
      ir::Ref own;
      for (const auto& r : a.results_read()) {
        if (r.index == k) own = r.backward;
      }
      if (own)
        take(own);
      else
        block.add_param(node.regions[b]->results[k].type(), "result");
    }
    for (ir::Ref r : seed_params[b]) take(r);
    for (const Threaded& t : threaded) {
      if (t.index[b] != kThrough)
        take(a.stacks()[t.index[b]].backward_in);
      else
        block.add_param(t.type, "stack");
    }
    for (size_t i : targets) block.results.push_back(a.ref(gradients[b].at(node.regions[b]->param(i)).value.id()));
    for (size_t t = 0; t < targets.size(); ++t) {
      if (!flagged[t]) continue;
      X present = telling(gradients[b].at(node.regions[b]->param(targets[t])), Presence::always());
      if (!present) return c.a.fail_with(a.take_failure());
      block.results.push_back(a.ref(present.id()));
    }
    size_t first_stack = block.params.size() - threaded.size();
    for (size_t t = 0; t < threaded.size(); ++t) {
      size_t s = threaded[t].index[b];
      block.results.push_back(s != kThrough ? a.stacks()[s].backward_out : block.param(first_stack + t));
    }
  }
  std::vector<V> results;
  Result<void> done = c.a.apply_node(node.op, operands, Attrs(), std::move(regions), nullptr, results);
  if (!done) return c.a.fail_with(done.failure());
  size_t r = targets.size();
  for (size_t t = 0; t < targets.size(); ++t) {
    c.put_sum(targets[t] + 1, told(X(&c.a, results[t]), flagged[t] ? X(&c.a, results[r++]) : X(), fills[t]), 1);
  }
  for (const Threaded& t : threaded) c.a.leave_stack(t.before, results[r++]);
}

}  // namespace tfl::gradient
