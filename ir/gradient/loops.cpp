// The gradient of a loop is a loop that runs as often, backwards. The forward loop counts its iterations and pushes what its
// gradient reads and cannot cheaply compute again; the gradient's loop pops it.
//
//   %v = while_loop(%v0, %c) cond {...} body (v, c) { ... yield f(v, c) }
//   -->
//   %v, %n, %stack = while_loop(%v0, 0, [], %c) body (v, n, stack, c) { ... yield f(v, c), n + 1, push(stack, x) }
//   %gv0, %gc = while_loop(%n, %gv, 0, %stack) cond { n > 0 } body { x = pop(stack); yield n - 1, gv * df/dv, gc + gv * df/dc, stack }
#include "ir/gradient/checkpoints.h"
#include "ir/gradient/function.h"
#include "ir/gradient/presence.h"
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

// The values whose gradients the backward loop carries: variables that get one from the results or from each other's updates, when an
// iteration begins, and invariants that a body's gradient reaches.
struct Carried {
  std::vector<Reach> variables, invariants;
  ActiveSet active;
};

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
  // Something flows into it from behind.
  out.variables = reach_of_results(c);
  for (size_t k = 0; k < n; ++k) {
    if (!active_var[k]) out.variables[k] = Reach::None;
  }
  std::vector<Reach> reached = reached_through_loop(body, out.active, active_var, out.variables);
  for (size_t j = 0; j < m; ++j) out.invariants.push_back(reached[n + j]);
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
Sum sum_before(RuleCall& c, ir::Block& body, size_t k) {
  Sum sum = may_begin(c, body, k) ? c.gathered(k) : Sum();
  return sum.value && sum.value.adjoint()->type(sum.value.id()).is_tensor() ? sum : Sum();
}
Presence equal(X a, X b) { return Presence::when(emit(Op::equal, {a, b})); }

// A loop that is itself a gradient pops what the iterations of another began with. What has been added up for the value that the first
// of them began with goes on where that is popped: last, so that the gradient's loop begins with it.
struct Begun {
  ir::Node* value;  // in the body
  size_t operand;   // of the loop
  Sum sum;
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
      if (body.param(i) == stack && i < n) popped = carried.variables[i] != Reach::None;
    }
    if (!popped || operand == c.operand_count()) continue;
    Sum sum = c.gathered(operand);
    for (size_t i = 0; i < c.operand_count(); ++i) {
      if (i != operand && c.same_operand(i, operand)) sum = Sum();
    }
    if (sum.value && sum.value.adjoint()->type(sum.value.id()).is_tensor()) out.push_back({node.get(), operand, sum});
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
    if (carried.variables[k] != Reach::None) vars.push_back(k);
  }
  for (size_t j = 0; j < m; ++j) {
    if (carried.invariants[j] != Reach::None) invs.push_back(j);
  }
  if (vars.empty()) return;
  Context& context = c.a.context();
  bool segments = checkpoint_steps(loop, c.a) > 0;
  std::unique_ptr<ir::Block> plain = segments ? ir::clone_region(body, &loop, loop.block->function) : nullptr;

  // The gradient's body: counter, gradients of variables, sums for invariants so far, whether they are there; then stacks, then what
  // passes as it is.
  std::unique_ptr<ir::Block> back = new_region(loop);
  RegionAdjoint a(context, body, *back);
  a.pass_from(n);
  std::vector<bool> begins(n);
  for (size_t k = 0; k < n && !segments; ++k) begins[k] = may_begin(c, body, k);
  a.set_loop(std::move(begins));
  a.recursion = c.a.recursion;
  ir::Ref counter = back->add_param(ir::Type::of({DType::I32, true, {}}), "iterations");
  X left(&a, a.add(counter));
  Gradients gradients;
  auto gradient_type = [&](const ir::Type& t) { return t.kind == ir::TypeKind::Resource ? ir::Type::of(t.tensor) : t; };
  auto array = [&](size_t i) { return c.operand_type(i).kind == ir::TypeKind::Array; };
  // What the iterations are given and leave as it is.
  std::vector<ir::Ref> fixed_params;
  std::vector<V> fixed;
  auto take_in = [&](const X& x, const char* name) {
    fixed.push_back(x.id());
    fixed_params.push_back(back->add_param(c.a.type(x.id()), name));
    return X(&a, a.add(fixed_params.back()));
  };
  auto sum_inside = [&](const Sum& sum) {
    X value = take_in(sum.value, "sum");
    return Sum{value, implies(c.own(), sum.present) ? Presence::always() : Presence::when(take_in(sum.present.condition(), "present")), sum.fill};
  };
  if (X runs = run_condition(c)) a.runs = take_in(runs, "runs").id();
  std::vector<Sum> sums;  // one a variable: what was added up for the value that it begins with
  for (size_t k : vars) {
    sums.push_back(sum_before(c, body, k));
    if (sums.back().value) gradients[body.param(k)] = only(sum_inside(sums.back()), equal(left, X(1.0)));
  }
  std::vector<Begun> begun = segments ? std::vector<Begun>() : find_begun(c, body, n, carried);
  ir::Ref total;
  for (const Begun& b : begun) {
    if (!total) total = back->add_param(counter.type(), "total");
    gradients[{b.value, 0}] = only(sum_inside(b.sum), equal(left, X(&a, a.add(total))));
  }
  // Gradients that some iterations have and some have not say so in a variable of their own.
  std::vector<ir::Ref> var_params, inv_params, present_params;
  auto entering = [&](ir::Ref param, bool told) {
    Sum sum = {X(&a, a.add(param)), Presence::always(), Fill::EmptySum};
    if (!told) return sum;
    ir::Type flag = ir::Type::of({DType::Bool, true, {}});
    bool array = param.type().kind == ir::TypeKind::Array;
    present_params.push_back(back->add_param(array ? ir::Type::array(flag.tensor) : flag, "present"));
    X present(&a, a.add(present_params.back()));
    if (array) sum.elements = present;
    else sum.present = Presence::when(present);
    return sum;
  };
  std::vector<bool> told_var, told_inv;
  for (size_t k : vars) {
    told_var.push_back(carried.variables[k] == Reach::Maybe);
    var_params.push_back(back->add_param(gradient_type(body.param(k).type()), "gradient"));
    Sum seed = entering(var_params.back(), told_var.back());
    ir::Ref result = body.results[k];
    if (!carried.active.count(result)) continue;
    Sum& sum = gradients[result];
    sum = merged(sum, seed);
  }
  // Sums go on where they stand: what is added, and in which order, is the same as if the loop had been unrolled.
  for (size_t j : invs) {
    Sum before = c.repeated(n + j, n) ? Sum() : c.gathered(n + j);
    bool has_sum = before.value && implies(c.own(), before.present);
    told_inv.push_back(carried.invariants[j] == Reach::Maybe && !has_sum && !array(n + j));
    inv_params.push_back(back->add_param(gradient_type(body.param(n + j).type()), "gradient"));
    Sum& sum = gradients[body.param(n + j)];
    sum = merged(entering(inv_params.back(), told_inv.back()), sum);
  }
  Result<void> done = backpropagate(a, body, carried.active, gradients);
  if (!done) return c.a.fail_with(done.failure());

  std::vector<ir::Ref> back_results, present_results;
  Result<ir::Ref> one = int_constant(context, *back, 1);
  if (!check(c, one)) return;
  Result<ir::Node*> next = ir::append(context, *back, Op::subtract, {counter, *one});
  if (!check(c, next)) return;
  back_results.push_back({*next, 0});
  auto yield = [&](Sum sum, ir::Ref param, bool told) {
    if (!sum.value) sum = {zeros_of_type(a, param.type(), X(&a, a.add(param)), kEmptySum), Presence::never(), Fill::EmptySum};
    X value = filled(sum, Presence::always(), Fill::EmptySum), present;
    if (told) present = param.type().kind == ir::TypeKind::Array ? elements_of(sum) : scalar(a, sum.present);
    if (!value || (told && !present)) return false;
    back_results.push_back(a.ref(value.id()));
    if (told) present_results.push_back(a.ref(present.id()));
    return true;
  };
  for (size_t i = 0; i < vars.size(); ++i) {
    if (!yield(gradients[body.param(vars[i])], var_params[i], told_var[i])) return c.a.fail_with(a.take_failure());
  }
  for (size_t i = 0; i < invs.size(); ++i) {
    if (!yield(gradients[body.param(n + invs[i])], inv_params[i], told_inv[i])) return c.a.fail_with(a.take_failure());
  }
  back_results.insert(back_results.end(), present_results.begin(), present_results.end());

  // What comes out: the gradients of variables, and the sums for what does not change.
  auto give_results = [&](V count_value, const std::vector<V>& results) {
    X count(&c.a, count_value);
    size_t next_present = vars.size() + invs.size();
    auto result = [&](size_t i, bool told, const Presence& otherwise, Fill fill) {
      Sum sum = {X(&c.a, results[i]), otherwise, fill};
      X present = told ? X(&c.a, results[next_present++]) : X();
      if (present && c.a.type(present.id()).kind == ir::TypeKind::Array) sum.elements = present;
      else if (present) sum.present = Presence::when(present);
      return sum;
    };
    std::vector<Sum> var_sums, inv_sums;
    for (size_t i = 0; i < vars.size(); ++i) var_sums.push_back(result(i, told_var[i], Presence::always(), Fill::EmptySum));
    for (size_t i = 0; i < invs.size(); ++i) {
      size_t j = n + invs[i];
      Sum before = c.repeated(j, n) ? Sum() : c.gathered(j);
      // A loop that does not run leaves what it was given: a plain zero, where there is no sum yet.
      Presence ran = before.value && implies(c.own(), before.present) ? Presence::always() : Presence::when(emit(Op::greater, {count, X(0.0)}));
      if (before.value) ran = either(before.present, ran);
      inv_sums.push_back(result(vars.size() + i, told_inv[i], array(j) ? Presence::always() : ran, before.value || told_inv[i] ? Fill::EmptySum : Fill::Zero));
    }
    for (size_t i = 0; i < invs.size(); ++i) c.put_sum(n + invs[i], inv_sums[i], n);
    for (size_t i = 0; i < vars.size(); ++i) {
      // A loop that does not run hands on what its result got.
      if (sums[i].value) c.replace(vars[i], merged(only(sums[i], equal(count, X(0.0))), var_sums[i]));
      else if (array(vars[i])) c.give_array(vars[i], var_sums[i].value, var_sums[i].elements);
      else c.give(vars[i], var_sums[i].value, var_sums[i].present);
    }
    for (const Begun& b : begun) c.replace(b.operand, only(b.sum, equal(count, X(0.0))));
  };
  std::vector<V> carried_in;
  auto find_carried_in = [&] {
    std::vector<V> present_in;
    auto put_in = [&](X value, const Sum& sum, bool told) {
      X present;
      if (told && c.a.type(value.id()).kind == ir::TypeKind::Array) {
        present = sum.value ? elements_of(sum) : presences(emit(Op::array_size, {value}), false);
      } else if (told) {
        present = scalar(c.a, !sum.value ? Presence::never() : implies(c.own(), sum.present) ? Presence::always() : sum.present);
      }
      if (told && !present) return false;
      carried_in.push_back(value.id());
      if (told) present_in.push_back(present.id());
      return true;
    };
    for (size_t i = 0; i < vars.size(); ++i) {
      const Sum& seed = c.flowing(vars[i]);
      X g = seed.value ? filled(seed, c.own(), Fill::EmptySum) : zeros_of_r(c, vars[i], kEmptySum);
      if (!g || !put_in(g, seed, told_var[i])) return false;
    }
    for (size_t i = 0; i < invs.size(); ++i) {
      size_t j = n + invs[i];
      Sum before = c.repeated(j, n) ? Sum() : c.gathered(j);
      X sum = before.value ? filled(before, c.own(), Fill::EmptySum) : zeros_of_x(c, j, told_inv[i] ? kEmptySum : 0.0);
      if (!sum || !put_in(sum, before, told_inv[i])) return false;
    }
    carried_in.insert(carried_in.end(), present_in.begin(), present_in.end());
    return true;
  };
  if (segments) {
    LoopGradient l{c, loop, a, std::move(plain), std::move(back), n, m, std::move(back_results), counter, var_params, fixed_params};
    l.carried_params.insert(l.carried_params.end(), inv_params.begin(), inv_params.end());
    l.carried_params.insert(l.carried_params.end(), present_params.begin(), present_params.end());
    std::vector<V> results;
    V count = kNone;
    if (find_carried_in() && checkpointed(l, carried_in, fixed, count, results)) give_results(count, results);
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
  for (ir::Ref p : present_params) take(p);
  for (const Added& s : added) take(s.stack->backward_in);
  for (const auto& read : a.results_read()) take(read.backward);
  for (const auto& p : a.passed()) {
    X x = c.x(p.param);
    if (!x) return;
    operands.push_back(x.id());
    take(p.backward);
  }
  operands.insert(operands.end(), fixed.begin(), fixed.end());
  for (ir::Ref p : fixed_params) take(p);
  if (total) {
    operands.push_back(*count);
    take(total);
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
