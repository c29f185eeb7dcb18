#include "ir/gradient/checkpoints.h"

namespace tfl::gradient {

namespace {

ir::Type count_type() { return ir::Type::of({DType::I32, true, {}}); }

void move_param(std::vector<std::unique_ptr<ir::Node>>& from, ir::Block& to, ir::Ref param) {
  for (auto& p : from) {
    if (p && p.get() == param.node) to.params.push_back(std::move(p));
  }
}

// A condition over `like`'s parameters that compares two of them.
Result<std::unique_ptr<ir::Block>> compares(Context& context, ir::Node& beside, const ir::Block& like, Op op, size_t a,
                                            size_t b) {
  std::unique_ptr<ir::Block> condition = new_region(beside);
  for (const auto& p : like.params) condition->add_param(p->types[0], p->name);
  ir::Node* test = TFL_TRY(ir::append(context, *condition, op, {condition->param(a), condition->param(b)}));
  condition->results.push_back({test, 0});
  return condition;
}

Result<ir::Node*> add_loop(Context& context, ir::Block& block, std::vector<ir::Ref> operands, size_t variables,
                           std::unique_ptr<ir::Block> condition, std::unique_ptr<ir::Block> body) {
  std::vector<std::unique_ptr<ir::Block>> regions;
  regions.push_back(std::move(condition));
  regions.push_back(std::move(body));
  Attrs attrs = Attrs().set_int(Attr::num, static_cast<int64_t>(variables));
  return ir::append(context, block, Op::while_loop, std::move(operands), attrs, std::move(regions));
}

// The forward loop: counts, and pushes its variables where an iteration begins a segment. `before` and `after` of each stack.
struct States {
  std::vector<ir::Type> types;
  std::vector<ir::Ref> before;
  std::vector<uint32_t> results;
  uint32_t count = 0;
};

Result<States> keep_states(LoopGradient& l, int32_t steps) {
  Context& context = l.c.a.context();
  ir::Block& body = *l.loop.regions[1];
  States out;
  ir::Ref count_in = body.add_param(count_type(), "iterations");
  ir::Ref every = TFL_TRY(int_constant(context, body, steps));
  ir::Ref zero = TFL_TRY(int_constant(context, body, 0)), one = TFL_TRY(int_constant(context, body, 1));
  ir::Node* rest = TFL_TRY(ir::append(context, body, Op::mod, {count_in, every}));
  ir::Node* due = TFL_TRY(ir::append(context, body, Op::equal, {{rest, 0}, zero}));
  std::vector<ir::Ref> operands = {{due, 0}}, stacks;
  std::unique_ptr<ir::Block> push = new_region(l.loop), pass = new_region(l.loop);
  for (size_t k = 0; k < l.n; ++k) {
    out.types.push_back(ir::Type::array(body.param(k).type().tensor));
    stacks.push_back(body.add_param(out.types[k], "states"));
  }
  for (size_t k = 0; k < l.n; ++k) {
    operands.push_back(stacks[k]);
    push->add_param(out.types[k], "states");
    pass->results.push_back(pass->add_param(out.types[k], "states"));
  }
  for (size_t k = 0; k < l.n; ++k) {
    operands.push_back(body.param(k));
    pass->add_param(body.param(k).type(), "state");
    ir::Ref state = push->add_param(body.param(k).type(), "state");
    ir::Node* pushed = TFL_TRY(ir::append(context, *push, Op::array_push, {push->param(k), state}));
    push->results.push_back({pushed, 0});
  }
  std::vector<std::unique_ptr<ir::Block>> regions;
  regions.push_back(std::move(push));
  regions.push_back(std::move(pass));
  ir::Node* kept = TFL_TRY(ir::append(context, body, Op::cond, std::move(operands), {}, std::move(regions)));
  ir::Node* counted = TFL_TRY(ir::append(context, body, Op::add, {count_in, one}));
  size_t variables = l.n;
  auto add = [&](ir::Ref before, const ir::Type& type, ir::Ref in, ir::Ref after) {
    l.loop.operands.insert(variables, before);
    add_variable(*l.loop.regions[0], body, variables++, type, in.node, after);
    l.loop.types.push_back(type);
    return static_cast<uint32_t>(l.loop.types.size() - 1);
  };
  for (uint32_t k = 0; k < l.n; ++k) {
    out.before.push_back(TFL_TRY(l.c.a.open_stack(out.types[k], l.loop, kUnnumbered)));
    out.results.push_back(add(out.before[k], out.types[k], stacks[k], {kept, k}));
  }
  out.count = add(TFL_TRY(constant_before(context, l.loop, 0)), count_type(), count_in, {counted, 0});
  l.loop.attrs = ir::with_int(l.loop.attrs, Attr::num, static_cast<int64_t>(variables));
  return out;
}

}  // namespace

int64_t checkpoint_steps(const ir::Node& loop, const Adjoint& a) {
  int64_t steps = loop.attrs.get_int(Attr::k, 0);
  if (steps < 2 || steps > INT32_MAX || a.recursion) return 0;
  for (ir::Ref r : loop.operands) {
    if (!r.type().is_tensor()) return 0;
  }
  bool again = true;
  for (const auto& n : loop.regions[1]->nodes) {
    ir::Effects effects = ir::effects_of(*n);
    again = again && !effects.reads && !effects.writes;
  }
  return again ? steps : 0;
}

void add_variable(ir::Block& condition, ir::Block& body, size_t variables, const ir::Type& type, ir::Node* in, ir::Ref out) {
  auto place = [&](ir::Block& block, std::unique_ptr<ir::Node> param) {
    block.params.insert(block.params.begin() + static_cast<std::ptrdiff_t>(variables), std::move(param));
  };
  condition.add_param(type, in->name);
  std::unique_ptr<ir::Node> last = std::move(condition.params.back());
  condition.params.pop_back();
  place(condition, std::move(last));
  for (size_t i = 0; i < body.params.size(); ++i) {
    if (body.params[i].get() != in) continue;
    std::unique_ptr<ir::Node> own = std::move(body.params[i]);
    body.params.erase(body.params.begin() + static_cast<std::ptrdiff_t>(i));
    place(body, std::move(own));
    break;
  }
  body.results.push_back(out);
}

Result<ir::Ref> int_constant(Context& context, ir::Block& block, int32_t value) {
  return ir::append_constant(block, TFL_TRY(scalar(context, DType::I32, value)));
}

namespace {

Result<void> build(LoopGradient& l, const std::vector<V>& operands, const std::vector<V>& given_fixed, V& count,
                   std::vector<V>& results) {
  Context& context = l.c.a.context();
  auto steps = static_cast<int32_t>(l.loop.attrs.get_int(Attr::k));
  std::unique_ptr<ir::Block> again = std::move(l.loop.regions[1]);
  l.plain->owner = &l.loop;
  l.loop.regions[1] = std::move(l.plain);
  States states = TFL_TRY(keep_states(l, steps));

  // The loop over segments: what it has are parameters in this order, then those that do not change.
  std::unique_ptr<ir::Block> outer = new_region(l.loop);
  ir::Ref left = outer->add_param(count_type(), "iterations");
  std::vector<ir::Ref> gradients, stacks, fixed, fixed_in;
  for (ir::Ref p : l.carried_params) gradients.push_back(outer->add_param(p.type(), "gradient"));
  for (const ir::Type& t : states.types) stacks.push_back(outer->add_param(t, "states"));
  size_t outer_variables = outer->params.size();
  for (size_t j = 0; j < l.m; ++j) fixed.push_back(outer->add_param(again->param(l.n + j).type(), again->params[l.n + j]->name));
  for (ir::Ref p : l.fixed_params) fixed_in.push_back(outer->add_param(p.type(), p.node->name));

  ir::Ref one = TFL_TRY(int_constant(context, *outer, 1)), every = TFL_TRY(int_constant(context, *outer, steps));
  ir::Node* last = TFL_TRY(ir::append(context, *outer, Op::subtract, {left, one}));
  ir::Node* segment = TFL_TRY(ir::append(context, *outer, Op::floordiv, {{last, 0}, every}));
  ir::Node* first = TFL_TRY(ir::append(context, *outer, Op::multiply, {{segment, 0}, every}));

  // The segment once more, from its state.
  std::vector<ir::Ref> forward, rest;
  for (ir::Ref stack : stacks) {
    ir::Node* pop = TFL_TRY(ir::append(context, *outer, Op::array_pop, {stack}));
    rest.push_back({pop, 0});
    forward.push_back({pop, 1});
  }
  std::vector<std::unique_ptr<ir::Node>> old = std::move(again->params);
  again->params.clear();
  for (size_t k = 0; k < l.n; ++k) again->params.push_back(std::move(old[k]));
  for (Stack& s : l.a.stacks()) {
    forward.push_back(TFL_TRY(empty_stack(context, *outer, s.type)));
    move_param(old, *again, s.forward_in);
    again->results.push_back(s.forward_out);
  }
  ir::Ref at = again->add_param(count_type(), "iteration");
  ir::Ref step = TFL_TRY(int_constant(context, *again, 1));
  ir::Node* next = TFL_TRY(ir::append(context, *again, Op::add, {at, step}));
  again->results.push_back({next, 0});
  forward.push_back({first, 0});
  size_t forward_variables = forward.size();
  for (size_t j = 0; j < l.m; ++j) {
    again->params.push_back(std::move(old[l.n + j]));
    forward.push_back(fixed[j]);
  }
  again->add_param(count_type(), "end");
  forward.push_back(left);
  auto until = TFL_TRY(compares(context, l.loop, *again, Op::less, forward_variables - 1, forward.size() - 1));
  ir::Node* ran = TFL_TRY(add_loop(context, *outer, std::move(forward), forward_variables, std::move(until), std::move(again)));

  // Its gradient.
  std::vector<ir::Ref> backward = {left};
  std::vector<std::unique_ptr<ir::Node>> back_params = std::move(l.back->params);
  l.back->params.clear();
  l.back->results = l.back_results;
  move_param(back_params, *l.back, l.counter);
  for (size_t i = 0; i < l.carried_params.size(); ++i) {
    backward.push_back(gradients[i]);
    move_param(back_params, *l.back, l.carried_params[i]);
  }
  for (uint32_t s = 0; s < l.a.stacks().size(); ++s) {
    backward.push_back({ran, static_cast<uint32_t>(l.n) + s});
    move_param(back_params, *l.back, l.a.stacks()[s].backward_in);
    l.back->results.push_back(l.a.stacks()[s].backward_out);
  }
  for (const auto& read : l.a.results_read()) {
    backward.push_back({ran, static_cast<uint32_t>(read.index)});
    move_param(back_params, *l.back, read.backward);
    l.back->results.push_back(read.next);
  }
  size_t back_variables = backward.size();
  for (const auto& p : l.a.passed()) {
    backward.push_back(fixed[p.param - l.n]);
    move_param(back_params, *l.back, p.backward);
  }
  for (size_t i = 0; i < l.fixed_params.size(); ++i) {
    backward.push_back(fixed_in[i]);
    move_param(back_params, *l.back, l.fixed_params[i]);
  }
  l.back->add_param(count_type(), "first");
  backward.push_back({first, 0});
  auto down_to = TFL_TRY(compares(context, l.loop, *l.back, Op::greater, 0, backward.size() - 1));
  ir::Node* back = TFL_TRY(add_loop(context, *outer, std::move(backward), back_variables, std::move(down_to), std::move(l.back)));

  for (uint32_t i = 0; i <= l.carried_params.size(); ++i) outer->results.push_back({back, i});
  for (ir::Ref r : rest) outer->results.push_back(r);

  std::unique_ptr<ir::Block> condition = new_region(l.loop);
  for (const auto& p : outer->params) condition->add_param(p->types[0], p->name);
  ir::Ref none = TFL_TRY(int_constant(context, *condition, 0));
  ir::Node* more = TFL_TRY(ir::append(context, *condition, Op::greater, {condition->param(0), none}));
  condition->results.push_back({more, 0});

  count = TFL_TRY(l.c.a.forward({&l.loop, states.count}));
  std::vector<V> given = {count};
  given.insert(given.end(), operands.begin(), operands.end());
  for (size_t k = 0; k < l.n; ++k) given.push_back(TFL_TRY(l.c.a.enter_stack(states.before[k], {&l.loop, states.results[k]})));
  for (size_t j = 0; j < l.m; ++j) {
    X x = l.c.x(l.n + j);
    if (!x) return l.c.a.take_failure();
    given.push_back(x.id());
  }
  given.insert(given.end(), given_fixed.begin(), given_fixed.end());
  std::vector<std::unique_ptr<ir::Block>> regions;
  regions.push_back(std::move(condition));
  regions.push_back(std::move(outer));
  std::vector<V> all;
  Attrs attrs = Attrs().set_int(Attr::num, static_cast<int64_t>(outer_variables));
  TFL_TRY(l.c.a.apply_node(Op::while_loop, given, attrs, std::move(regions), nullptr, all));
  for (size_t i = 0; i < operands.size(); ++i) results.push_back(all[1 + i]);
  for (size_t k = 0; k < l.n; ++k) l.c.a.leave_stack(states.before[k], all[1 + operands.size() + k]);
  return {};
}

}  // namespace

bool checkpointed(LoopGradient& l, const std::vector<V>& operands, const std::vector<V>& given_fixed, V& count,
                  std::vector<V>& results) {
  Result<void> built = build(l, operands, given_fixed, count, results);
  if (!built) l.c.a.fail_with(built.failure());
  return built.ok();
}

}  // namespace tfl::gradient
