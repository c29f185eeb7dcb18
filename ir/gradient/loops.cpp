// The gradient of a loop is a loop that runs as often, backwards. The forward loop counts its iterations and pushes what its
// gradient reads and cannot cheaply compute again; the gradient's loop pops it.
//
//   %v = while_loop(%v0, %c) cond {...} body (v, c) { ... yield f(v, c) }
//   -->
//   %v, %n, %stack = while_loop(%v0, 0, [], %c) body (v, n, stack, c) { ... yield f(v, c), n + 1, push(stack, x) }
//   %gv0, %gc = while_loop(%n, %gv, 0, %stack) cond { n > 0 } body { x = pop(stack); yield n - 1, gv * df/dv, gc + gv * df/dc, stack }
#include "ir/gradient/checkpoints.h"
#include "ir/gradient/function.h"
#include "ir/gradient/phases.h"
#include "ir/gradient/regions.h"

namespace tfl::gradient {

namespace {

// Adds a loop variable to a forward loop that has `variables` of them; its parameter in the body is `in` (made already, somewhere
// among the body's parameters).
void add_variable(ir::Node& loop, size_t variables, ir::Ref initial, const ir::Type& type, ir::Node* in, ir::Ref out) {
  loop.operands.insert(variables, initial);
  gradient::add_variable(*loop.regions[0], *loop.regions[1], variables, type, in, out);
  loop.types.push_back(type);
}

// The values whose gradients the backward loop carries: variables that get one from the results or from each other's updates, and
// invariants that a body's gradient reaches.
struct Carried {
  std::vector<bool> variables, invariants;
  ActiveSet active;
  std::vector<std::vector<bool>> phases;  // the variables that have one when the gradient's first, second ... iteration begins
};

// What flows into the variables in `has` from behind flows on into these.
std::vector<bool> flows_on(ir::Block& body, const std::vector<bool>& has, const ActiveSet& active) {
  std::vector<ir::Ref> to;
  for (size_t k = 0; k < has.size(); ++k) {
    if (has[k]) to.push_back(body.results[k]);
  }
  return reached_params(body, to, active);
}

void find_phases(ir::Block& body, const std::vector<bool>& active, Carried& carried) {
  size_t n = active.size();
  auto add = [&](std::vector<bool> has) {
    // Arrays are taken to have one always: there is no choosing between them.
    for (size_t k = 0; k < n; ++k) has[k] = has[k] || (carried.variables[k] && !body.param(k).type().is_tensor());
    carried.phases.push_back(std::move(has));
  };
  std::vector<bool> has = std::move(carried.phases.back());
  carried.phases.clear();
  add(has);
  while (carried.phases.size() < Phases::kTold) {
    std::vector<bool> next = flows_on(body, carried.phases.back(), carried.active);
    next.resize(n);
    for (size_t k = 0; k < n; ++k) next[k] = next[k] && active[k];
    add(std::move(next));
    size_t last = carried.phases.size() - 1;
    if (carried.phases[last] == carried.phases[last - 1]) return carried.phases.pop_back();
  }
  carried.phases.back() = carried.variables;
}

Carried find_carried(RuleCall& c, ir::Block& body, size_t n, size_t m) {
  // Active: depends on what is wanted, in any iteration.
  std::vector<bool> active_var(n);
  for (size_t k = 0; k < n; ++k) active_var[k] = c.wanted(k);
  Carried out;
  for (bool again = true; again;) {
    again = false;
    std::vector<ir::Ref> from;
    for (size_t k = 0; k < n; ++k) {
      if (active_var[k]) from.push_back(body.param(k));
    }
    for (size_t j = 0; j < m; ++j) {
      if (c.wanted(n + j)) from.push_back(body.param(n + j));
    }
    out.active = dependents(body, from);
    for (size_t k = 0; k < n; ++k) {
      if (!active_var[k] && out.active.count(body.results[k])) active_var[k] = again = true;
    }
  }
  // Needed: something flows into it from behind.
  out.variables.assign(n, false);
  out.invariants.assign(m, false);
  for (size_t k = 0; k < n; ++k) out.variables[k] = active_var[k] && c.g(k);
  out.phases.push_back(out.variables);
  for (bool again = true; again;) {
    again = false;
    std::vector<bool> reached = flows_on(body, out.variables, out.active);
    for (size_t k = 0; k < n; ++k) {
      if (reached[k] && active_var[k] && !out.variables[k]) out.variables[k] = again = true;
    }
    for (size_t j = 0; j < m; ++j) out.invariants[j] = reached[n + j];
  }
  find_phases(body, active_var, out);
  return out;
}

// Whether what is added up for the value that variable k begins with may go on inside: not where the loop gets the value in two ways, or
// the variable may have other sizes later.
bool may_begin(RuleCall& c, const ir::Block& body, size_t k) {
  if (!known(body.param(k).type().tensor) || !c.operand_type(k).is_tensor() || !c.wanted(k)) return false;
  for (size_t i = 0; i < c.operand_count(); ++i) {
    if (i != k && c.same_operand(i, k)) return false;
  }
  return true;
}
// It goes on in the first iteration, which the gradient's loop runs last. Empty: nothing has been added.
X sum_before(RuleCall& c, ir::Block& body, size_t k) {
  X sum = may_begin(c, body, k) ? c.gathered(k) : X();
  return sum && sum.adjoint()->type(sum.id()).is_tensor() ? sum : X();
}
// `sum` where `iterations` of the gradient's loop are left, else nothing.
X sum_when_left(X sum, X iterations, X left) {
  return emit(Op::where, {emit(Op::equal, {iterations, left}), sum, X(kEmptySum)});
}

// A loop that is itself a gradient pops what the iterations of another began with. What has been added up for the value that the first
// of them began with goes on where that is popped: last, so that the gradient's loop begins with it.
struct Begun {
  ir::Node* value;  // in the body
  size_t operand;   // of the loop
  X sum;
};
std::vector<Begun> find_begun(RuleCall& c, ir::Block& body, size_t n, const Carried& carried) {
  std::vector<Begun> out;
  for (const auto& node : body.nodes) {
    ir::Ref origin = origin_of(*node);
    if (!origin || !carried.active.count(node->operands[1])) continue;
    ir::Ref stack = node->operands[1].node->operands[0];
    size_t operand = c.operand_count();
    bool popped = false;
    for (size_t i = 0; i < body.params.size(); ++i) {
      if (body.param(i) == origin && i >= n) operand = i;
      if (body.param(i) == stack && i < n) popped = carried.variables[i];
    }
    if (!popped || operand == c.operand_count()) continue;
    X sum = c.gathered(operand);
    for (size_t i = 0; i < c.operand_count(); ++i) {
      if (i != operand && c.same_operand(i, operand)) sum = X();
    }
    if (sum && sum.adjoint()->type(sum.id()).is_tensor()) out.push_back({node.get(), operand, sum});
  }
  return out;
}

}  // namespace

void loop_rule(RuleCall& c) {
  ir::Node& loop = *c.node();
  ir::Block& body = *loop.regions[1];
  inline_calls(body);
  size_t n = c.result_count(), m = c.operand_count() - n;
  Carried carried = find_carried(c, body, n, m);
  std::vector<size_t> vars, invs;
  for (size_t k = 0; k < n; ++k) {
    if (carried.variables[k]) vars.push_back(k);
  }
  for (size_t j = 0; j < m; ++j) {
    if (carried.invariants[j]) invs.push_back(j);
  }
  if (vars.empty()) return;
  Context& context = c.a.context();
  bool segments = checkpoint_steps(loop, c.a) > 0;
  std::unique_ptr<ir::Block> plain = segments ? ir::clone_region(body, &loop, loop.block->function) : nullptr;

  // The gradient's body: counter, gradients of variables, sums for invariants so far; then stacks, then what passes as it is.
  std::unique_ptr<ir::Block> back = new_region(loop);
  RegionAdjoint a(context, body, *back);
  a.pass_from(n);
  std::vector<bool> begins(n);
  for (size_t k = 0; k < n && !segments; ++k) begins[k] = may_begin(c, body, k);
  a.set_loop(std::move(begins));
  a.recursion = c.a.recursion;
  ir::Ref counter = back->add_param(ir::Type::of({DType::I32, true, {}}), "iterations");
  Gradients gradients;
  std::vector<ir::Ref> var_params, inv_params;
  auto gradient_type = [&](const ir::Type& t) { return t.kind == ir::TypeKind::Resource ? ir::Type::of(t.tensor) : t; };
  std::vector<X> sums;  // one a variable; those that are not empty are invariants of the gradient's loop
  std::vector<ir::Ref> sum_params;
  for (size_t k : vars) {
    sums.push_back(sum_before(c, body, k));
    if (!sums.back()) continue;
    sum_params.push_back(back->add_param(c.a.type(sums.back().id()), "sum"));
    X sum = sum_when_left(X(&a, a.add(sum_params.back())), X(&a, a.add(counter)), 1.0);
    if (!sum) return c.a.fail_with(a.take_failure());
    gradients[body.param(k)] = sum.id();
  }
  ir::Ref total, when;
  std::vector<Begun> begun = segments ? std::vector<Begun>() : find_begun(c, body, n, carried);
  Phases phases(carried.phases);
  bool phased = !segments && !phases.always();
  if (!begun.empty() || phased) total = back->add_param(counter.type(), "total");
  if (c.a.gate != kNone && !segments) {
    when = back->add_param(c.a.type(c.a.gate), "when");
    a.gate = a.add(when);
    phases.within(X(&a, a.gate));
  }
  if (phased) {
    a.phases = &phases;
    phases.count(X(&a, a.add(counter)), X(&a, a.add(total)));
  }
  for (const Begun& b : begun) {
    sum_params.push_back(back->add_param(c.a.type(b.sum.id()), "sum"));
    X sum = sum_when_left(X(&a, a.add(sum_params.back())), X(&a, a.add(counter)), X(&a, a.add(total)));
    if (!sum) return c.a.fail_with(a.take_failure());
    gradients[{b.value, 0}] = sum.id();
  }
  for (size_t k : vars) {
    ir::Ref p = back->add_param(gradient_type(body.param(k).type()), "gradient");
    var_params.push_back(p);
    ir::Ref result = body.results[k];
    if (!carried.active.count(result)) continue;
    X g(&a, a.add(p));
    auto found = gradients.find(result);
    Phases::Mask mask = phases.of_variable(k);
    if (found != gradients.end()) g = sum_of(X(&a, found->second), g), mask |= phases.mask(result);
    phases.set(result, mask, true);
    gradients[result] = g.id();
  }
  // Sums go on where they stand: what is added, and in which order, is the same as if the loop had been unrolled.
  for (size_t j : invs) {
    inv_params.push_back(back->add_param(gradient_type(body.param(n + j).type()), "gradient"));
    X sum(&a, a.add(inv_params.back()));
    auto found = gradients.find(body.param(n + j));
    if (found != gradients.end()) sum = sum_of(sum, X(&a, found->second));
    gradients[body.param(n + j)] = sum.id();
  }
  Result<void> done = backpropagate(a, body, carried.active, gradients);
  if (!done) return c.a.fail_with(done.failure());

  std::vector<ir::Ref> back_results;
  Result<ir::Ref> one = int_constant(context, *back, 1);
  if (!check(c, one)) return;
  Result<ir::Node*> next = ir::append(context, *back, Op::subtract, {counter, *one});
  if (!check(c, next)) return;
  back_results.push_back({*next, 0});
  for (size_t i = 0; i < vars.size(); ++i) {
    auto found = gradients.find(body.param(vars[i]));
    X g = found != gradients.end() ? X(&a, found->second) : zeros_of_type(a, var_params[i].type(), X(&a, a.add(var_params[i])));
    if (phased) g = phases.filled(body.param(vars[i]), g, phases.all(), 0.0);
    if (!g) return c.a.fail_with(a.take_failure());
    back_results.push_back(a.ref(g.id()));
  }
  for (size_t j : invs) back_results.push_back(a.ref(gradients[body.param(n + j)]));

  // What comes out: the gradients of variables, and the sums for what does not change.
  auto give_results = [&](V count, const std::vector<V>& results) {
    for (size_t j = 0; j < invs.size(); ++j) c.put_sum(n + invs[j], X(&c.a, results[vars.size() + j]), n);
    for (size_t i = 0; i < vars.size(); ++i) {
      X g(&c.a, results[i]);
      // A loop that does not run hands on what its result got.
      if (sums[i]) c.replace(vars[i], sum_when_left(sums[i], X(&c.a, count), 0.0) + g);
      else c.give(vars[i], g);
    }
    for (const Begun& b : begun) c.replace(b.operand, sum_when_left(b.sum, X(&c.a, count), 0.0));
  };
  std::vector<V> carried_in;
  auto find_carried_in = [&] {
    for (size_t k : vars) {
      X g = g_or_zeros(c, k);
      if (!g) return false;
      carried_in.push_back(g.id());
    }
    for (size_t j : invs) {
      // A loop that does not run leaves what it was given: a plain zero, where there is no sum yet.
      X sum = c.repeated(n + j, n) ? X() : c.gathered(n + j);
      if (!sum) sum = zeros_of_x(c, n + j);
      if (!sum) return false;
      carried_in.push_back(sum.id());
    }
    return true;
  };
  if (segments) {
    LoopGradient l{c, loop, a, std::move(plain), std::move(back), n, m, std::move(back_results), counter, var_params, sum_params};
    l.carried_params.insert(l.carried_params.end(), inv_params.begin(), inv_params.end());
    std::vector<V> given_sums, results;
    for (const X& sum : sums) {
      if (sum) given_sums.push_back(sum.id());
    }
    V count = kNone;
    if (find_carried_in() && checkpointed(l, carried_in, given_sums, count, results)) give_results(count, results);
    return;
  }

  // The forward loop counts, and carries the stacks.
  struct Added {
    ir::Ref before;
    Stack* stack;
    uint32_t result;
  };
  std::vector<Added> added;
  size_t variables = n;
  std::vector<ir::Node*> stack_params;
  for (Stack& s : a.stacks()) {
    Result<ir::Ref> before = c.a.open_stack(s.type, loop, s.number);
    if (!check(c, before)) return;
    add_variable(loop, variables++, *before, s.type, s.forward_in.node, s.forward_out);
    added.push_back({*before, &s, static_cast<uint32_t>(loop.types.size() - 1)});
  }
  ir::Ref count_in = body.add_param(ir::Type::of({DType::I32, true, {}}), "iterations");
  Result<ir::Ref> step = int_constant(context, body, 1);
  if (!check(c, step)) return;
  Result<ir::Node*> counted = ir::append(context, body, Op::add, {count_in, *step});
  if (!check(c, counted)) return;
  Result<ir::Ref> zero = constant_before(context, loop, 0);
  if (!check(c, zero)) return;
  add_variable(loop, variables++, *zero, count_in.type(), count_in.node, {*counted, 0});
  uint32_t count_result = static_cast<uint32_t>(loop.types.size() - 1);
  loop.attrs = ir::with_int(loop.attrs, Attr::num, static_cast<int64_t>(variables));

  // The gradient's loop.
  std::vector<V> operands;
  Result<V> count = c.a.forward({&loop, count_result});
  if (!check(c, count)) return;
  operands.push_back(*count);
  if (!find_carried_in()) return;
  operands.insert(operands.end(), carried_in.begin(), carried_in.end());
  for (const Added& s : added) {
    Result<V> v = c.a.enter_stack(s.before, {&loop, s.result});
    if (!check(c, v)) return;
    operands.push_back(*v);
    back_results.push_back(s.stack->backward_out);
  }
  for (const auto& read : a.results_read()) {
    X r = c.r(read.index);
    if (!r) return;
    operands.push_back(r.id());
    back_results.push_back(read.next);
  }
  size_t back_variables = operands.size();
  // Parameters in that order; what passes unchanged comes last.
  std::vector<std::unique_ptr<ir::Node>> old = std::move(back->params);
  back->params.clear();
  auto take = [&](ir::Ref param) {
    for (auto& p : old) {
      if (p && p.get() == param.node) back->params.push_back(std::move(p));
    }
  };
  take(counter);
  for (ir::Ref p : var_params) take(p);
  for (ir::Ref p : inv_params) take(p);
  for (const Added& s : added) take(s.stack->backward_in);
  for (const auto& read : a.results_read()) take(read.backward);
  for (const auto& p : a.passed()) {
    X x = c.x(p.param);
    if (!x) return;
    operands.push_back(x.id());
    take(p.backward);
  }
  for (const X& sum : sums) {
    if (sum) operands.push_back(sum.id());
  }
  for (const Begun& b : begun) operands.push_back(b.sum.id());
  for (ir::Ref p : sum_params) take(p);
  if (total) {
    operands.push_back(*count);
    take(total);
  }
  if (when) {
    operands.push_back(c.a.gate);
    take(when);
  }
  back->results = std::move(back_results);

  std::unique_ptr<ir::Block> condition = new_region(loop);
  for (const auto& p : back->params) condition->add_param(p->types[0], p->name);
  Result<ir::Ref> none = int_constant(context, *condition, 0);
  if (!check(c, none)) return;
  Result<ir::Node*> more = ir::append(context, *condition, Op::greater, {condition->param(0), *none});
  if (!check(c, more)) return;
  condition->results.push_back({*more, 0});

  std::vector<std::unique_ptr<ir::Block>> regions;
  regions.push_back(std::move(condition));
  regions.push_back(std::move(back));
  std::vector<V> results;
  done = c.a.apply_node(Op::while_loop, operands, Attrs().set_int(Attr::num, static_cast<int64_t>(back_variables)), std::move(regions), nullptr,
                        results);
  if (!done) return c.a.fail_with(done.failure());
  size_t r = 1 + carried_in.size();
  give_results(*count, std::vector<V>(results.begin() + 1, results.begin() + static_cast<std::ptrdiff_t>(r)));
  for (const Added& s : added) c.a.leave_stack(s.before, results[r++]);
}

}  // namespace tfl::gradient
