// Gradients of branches (cond, switch_case): the node is extended to hand out what its gradient reads, and another one after it runs
// the gradients of the branches, of which again one is chosen.
#include "ir/gradient/region_adjoint.h"
#include "ir/gradient/custom.h"
#include "ir/gradient/function.h"
#include "ir/gradient/regions.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

// Zeros for the gradient of a parameter of the forward region.
X zeros_of_param(RegionAdjoint& a, ir::Ref param) {
  const ir::Type& type = param.type();
  if (type.kind != ir::TypeKind::Array && known(type.tensor)) return zeros_of_type(a, type, X());
  if (type.kind == ir::TypeKind::Resource) {
    a.fail_with(fail(ErrorKind::ValueError, "the gradient of a variable of unknown shape through a branch is not defined"));
    return {};
  }
  // Of an array only the size is kept: there are no stacks of arrays.
  Result<ir::Ref> read = type.kind == ir::TypeKind::Array ? a.derive(Op::array_size, param) : param;
  Result<V> v = read ? a.forward(*read) : Result<V>(read.failure());
  if (v) return type.kind == ir::TypeKind::Array ? zero_array(type.tensor, X(&a, *v)) : zeros_of_type(a, type, X(&a, *v));
  a.fail_with(v.failure());
  return {};
}

}  // namespace

void branch_rule(RuleCall& c) {
  ir::Node& node = *c.node();
  if (is_custom(node)) return custom_rule(c);
  size_t inputs = c.operand_count() - 1, branch_count = node.regions.size();
  for (auto& region : node.regions) inline_calls(*region);
  std::vector<X> seeds;
  for (size_t k = 0; k < c.result_count(); ++k) seeds.push_back(c.g(k));

  // The inputs that get a gradient from some branch. Sums go on where they stand, as if the branch had been written without one.
  std::vector<ActiveSet> active(branch_count);
  std::vector<bool> reached(inputs, false);
  for (size_t b = 0; b < branch_count; ++b) {
    ir::Block& forward = *node.regions[b];
    std::vector<ir::Ref> from, to;
    for (size_t i = 0; i < inputs; ++i) {
      if (c.wanted(i + 1)) from.push_back(forward.param(i));
    }
    active[b] = dependents(forward, from);
    for (size_t k = 0; k < seeds.size(); ++k) {
      if (seeds[k]) to.push_back(forward.results[k]);
    }
    std::vector<bool> here = reached_params(forward, to, active[b]);
    for (size_t i = 0; i < inputs; ++i) reached[i] = reached[i] || here[i];
  }
  std::vector<size_t> targets;
  std::vector<X> sums;  // one a target; empty: none so far
  for (size_t i = 0; i < inputs; ++i) {
    if (!reached[i]) continue;
    targets.push_back(i);
    sums.push_back(c.repeated(i + 1, 1) ? X() : c.gathered(i + 1));
  }
  if (targets.empty()) return;

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
    if (c.a.gate != kNone) {
      seed_params[b].push_back(regions[b]->add_param(c.a.type(c.a.gate), "when"));
      a.gate = a.add(seed_params[b].back());
    }
    for (size_t t = 0; t < targets.size(); ++t) {
      if (!sums[t]) continue;
      seed_params[b].push_back(regions[b]->add_param(c.a.type(sums[t].id()), "sum"));
      gradients[b][forward.param(targets[t])] = a.add(seed_params[b].back());
    }
    for (size_t k = 0; k < seeds.size(); ++k) {
      if (!seeds[k]) continue;
      ir::Ref seed = regions[b]->add_param(c.a.type(seeds[k].id()), "gradient");
      seed_params[b].push_back(seed);
      ir::Ref result = forward.results[k];
      if (!active[b].count(result)) continue;
      X g(&a, a.add(seed));
      auto found = gradients[b].find(result);
      if (found != gradients[b].end()) g = sum_of(X(&a, found->second), g);
      gradients[b][result] = g.id();
    }
    Result<void> done = backpropagate(a, forward, active[b], gradients[b]);
    if (!done) return c.a.fail_with(done.failure());
  }
  for (size_t b = 0; b < branch_count; ++b) {
    RegionAdjoint& a = *adjoints[b];
    for (size_t i : targets) {
      ir::Ref param = node.regions[b]->param(i);
      if (gradients[b].count(param)) continue;
      X zero = zeros_of_param(a, param);
      if (a.failed()) return c.a.fail_with(a.take_failure());
      gradients[b][param] = zero.id();
    }
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
  if (c.a.gate != kNone) operands.push_back(c.a.gate);
  for (const X& s : sums) {
    if (s) operands.push_back(s.id());
  }
  for (const X& s : seeds) {
    if (s) operands.push_back(s.id());
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
      if (own) take(own);
      else block.add_param(node.regions[b]->param(i).type(), "input");
    }
    for (size_t k = 0; k < results_read.size(); ++k) {
      if (!results_read[k]) continue;
      ir::Ref own;
      for (const auto& r : a.results_read()) {
        if (r.index == k) own = r.backward;
      }
      if (own) take(own);
      else block.add_param(node.regions[b]->results[k].type(), "result");
    }
    for (ir::Ref r : seed_params[b]) take(r);
    for (const Threaded& t : threaded) {
      if (t.index[b] != kThrough) take(a.stacks()[t.index[b]].backward_in);
      else block.add_param(t.type, "stack");
    }
    for (size_t i : targets) block.results.push_back(a.ref(gradients[b].at(node.regions[b]->param(i))));
    size_t first_stack = block.params.size() - threaded.size();
    for (size_t t = 0; t < threaded.size(); ++t) {
      size_t s = threaded[t].index[b];
      block.results.push_back(s != kThrough ? a.stacks()[s].backward_out : block.param(first_stack + t));
    }
  }
  std::vector<V> results;
  Result<void> done = c.a.apply_node(node.op, operands, Attrs(), std::move(regions), nullptr, results);
  if (!done) return c.a.fail_with(done.failure());
  for (size_t t = 0; t < targets.size(); ++t) c.put_sum(targets[t] + 1, X(&c.a, results[t]), 1);
  for (size_t t = 0; t < threaded.size(); ++t) c.a.leave_stack(threaded[t].before, results[targets.size() + t]);
}

}  // namespace tfl::gradient
