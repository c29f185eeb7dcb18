#include "ir/gradient/recursion.h"

#include "ir/gradient/regions.h"

namespace tfl::gradient {

namespace {

constexpr int kMostAttempts = 50;
constexpr int kDeepestCall = 100;

bool calls(const ir::Block& block, const ir::Function& f, int depth) {
  bool found = false;
  ir::walk(block, [&](const ir::Node& n) {
    if (found || n.op != Op::call) return;
    found = n.recursive == &f || (n.callee && depth < kDeepestCall && calls(n.callee->body, f, depth + 1));
  });
  return found;
}

bool same(const Derivative& a, const Derivative& b) {
  return a.seeds == b.seeds && a.gradient_of == b.gradient_of && a.untouched == b.untouched && a.reads == b.reads;
}

// The two functions that call themselves. Parameters and results for stacks come last, by number; before those of the backward function
// stands what it reads of its call.
struct Pair {
  Derivative derivative;  // all but the functions; what it reads are parameters and results of the function itself
  std::shared_ptr<ir::Function> forward, backward;
  std::vector<ir::Type> stacks;
};

// Parameters from `own` on in another order; those that are not in it are none of the block's.
void order_params(ir::Block& block, size_t own, const std::vector<ir::Ref>& order) {
  std::vector<std::unique_ptr<ir::Node>> old;
  for (size_t i = own; i < block.params.size(); ++i) old.push_back(std::move(block.params[i]));
  block.params.resize(own);
  for (ir::Ref r : order) {
    for (auto& p : old) {
      if (p && p.get() == r.node) block.params.push_back(std::move(p));
    }
  }
}

// One attempt: the body differentiated with what `recursion` knows of its calls of itself.
Result<Pair> attempt(Context& context, const ir::Function& f, Recursion& recursion) {
  Pair out;
  out.forward = ir::clone(f);
  out.backward = std::make_shared<ir::Function>();
  inline_calls(out.forward->body);
  ir::walk(out.forward->body, [&](ir::Node& n) {
    if (n.recursive == &f) n.recursive = out.forward.get();
  });
  out.backward->name = f.name + "_gradient";
  out.backward->locations = out.forward->locations;
  out.backward->symbols = f.symbols;
  recursion.forward = out.forward.get();
  recursion.backward = out.backward.get();
  recursion.more = false;
  recursion.made.clear();
  RegionAdjoint a(context, out.forward->body, out.backward->body);
  a.recursion = &recursion;
  std::vector<bool> wanted = recursion.wanted, seeded = recursion.seeded;
  TFL_TRY(differentiate_body(a, out.forward->body, out.backward->body, wanted, seeded, out.derivative));
  size_t own = out.derivative.seeds.size() + out.backward->body.results.size();
  std::vector<ir::Ref> forward, backward;
  for (const auto& p : a.passed()) {
    out.derivative.reads.push_back({true, p.param});
    backward.push_back(p.backward);
  }
  for (const auto& r : a.results_read()) {
    out.derivative.reads.push_back({false, r.index});
    backward.push_back(r.backward);
  }
  for (int number = 0; number < static_cast<int>(a.stacks().size()); ++number) {
    for (const Stack& s : a.stacks()) {
      if (s.number != number) continue;
      forward.push_back(s.forward_in);
      out.forward->body.results.push_back(s.forward_out);
      backward.push_back(s.backward_in);
      out.backward->body.results.push_back(s.backward_out);
    }
  }
  order_params(out.forward->body, f.body.params.size(), forward);
  order_params(out.backward->body, own, backward);
  out.stacks = recursion.made;
  return out;
}

Result<Pair> differentiate_body_of(Context& context, const ir::Function& f, std::vector<bool> wanted, std::vector<bool> seeded) {
  Recursion recursion;
  recursion.wanted = std::move(wanted);
  recursion.seeded = std::move(seeded);
  recursion.known.gradient_of.assign(f.body.params.size(), -1);
  recursion.known.untouched.assign(f.body.params.size(), true);
  for (int i = 0; i < kMostAttempts; ++i) {
    Pair pair = TFL_TRY(attempt(context, f, recursion));
    bool settled = !recursion.more && same(pair.derivative, recursion.known);
    if (settled && pair.stacks == recursion.stacks) return pair;
    recursion.known = std::move(pair.derivative);
    // Stacks are numbered in the order in which they are found, which is the same from now on.
    recursion.stacks = settled ? std::move(pair.stacks) : std::vector<ir::Type>();
  }
  return fail(ErrorKind::NotImplementedError, "the gradient of {} was not found: what flows through its calls of itself changes again and again", f.name);
}

}  // namespace

bool calls_itself(const ir::Function& f) { return calls(f.body, f, 0); }

Result<std::shared_ptr<const Derivative>> differentiate_recursive(Context& context, const ir::Function& f, std::vector<bool> wanted,
                                                                  std::vector<bool> seeded) {
  Pair pair = TFL_TRY(differentiate_body_of(context, f, std::move(wanted), std::move(seeded)));
  auto d = std::make_shared<Derivative>(std::move(pair.derivative));
  d->forward = std::make_shared<ir::Function>();
  d->forward->name = f.name + "_forward";
  d->forward->locations = pair.forward->locations;
  d->forward->symbols = f.symbols;
  ir::Block& forward = d->forward->body;
  std::vector<ir::Ref> operands;
  for (const auto& p : f.body.params) operands.push_back(forward.add_param(p->types[0], p->name));
  for (const ir::Type& type : pair.stacks) operands.push_back(TFL_TRY(empty_stack(context, forward, type)));
  ir::Node* call = TFL_TRY(ir::append(context, forward, Op::call, std::move(operands), {}, {}, pair.forward));
  for (uint32_t k = 0; k < call->types.size(); ++k) forward.results.push_back({call, k});
  for (size_t s = 0; s < pair.stacks.size(); ++s) d->reads.push_back({false, f.body.results.size() + s});

  d->backward = std::make_shared<ir::Function>();
  d->backward->name = pair.backward->name;
  d->backward->locations = pair.forward->locations;
  d->backward->symbols = f.symbols;
  ir::Block& backward = d->backward->body;
  operands.clear();
  for (const auto& p : pair.backward->body.params) operands.push_back(backward.add_param(p->types[0], p->name));
  ir::Node* back = TFL_TRY(ir::append(context, backward, Op::call, std::move(operands), {}, {}, pair.backward));
  for (uint32_t k = 0; k + pair.stacks.size() < back->types.size(); ++k) backward.results.push_back({back, k});
  return std::shared_ptr<const Derivative>(std::move(d));
}

void recursive_call_rule(RuleCall& c) {
  ir::Node& node = *c.node();
  Recursion* around = c.a.recursion;
  size_t operand_count = c.operand_count(), result_count = c.result_count();
  std::vector<bool> wanted, seeded;
  for (size_t i = 0; i < operand_count; ++i) wanted.push_back(c.wanted(i));
  for (size_t k = 0; k < result_count; ++k) seeded.push_back(static_cast<bool>(c.g(k)));
  bool inside = !node.callee;
  Pair pair;
  if (!inside) {
    Result<Pair> made = differentiate_body_of(c.a.context(), *node.callee, wanted, seeded);
    if (!check(c, made)) return;
    pair = std::move(*made);
    node.callee = pair.forward;
  } else if (around && around->forward == node.recursive) {
    for (size_t i = 0; i < operand_count; ++i) {
      if (wanted[i] && !around->wanted[i]) around->wanted[i] = around->more = true;
    }
    for (size_t k = 0; k < result_count; ++k) {
      if (seeded[k] && !around->seeded[k]) around->seeded[k] = around->more = true;
    }
    pair.derivative = around->known;
    pair.stacks = around->stacks;
  } else {
    return c.a.fail_with(fail(ErrorKind::NotImplementedError, "a gradient inside a traced function, or of one that calls another one which calls both, "
                                                              "goes through a call of the function itself: this is not defined")
                             .with_hint("take the gradient outside of the recursion, or leave @tf.function out: eager code has it"));
  }
  const Derivative& d = pair.derivative;
  std::vector<V> operands;
  std::vector<ir::Type> types;
  std::vector<bool> empty;
  for (size_t i = 0; i < operand_count; ++i) empty.push_back(!c.gathered(i));
  for (size_t k : d.seeds) {
    X g = g_or_zeros(c, k);
    if (!g) return;
    operands.push_back(g.id());
  }
  for (size_t i = 0; i < operand_count; ++i) {
    if (d.gradient_of[i] < 0) continue;
    X sum = wanted[i] ? c.sum_so_far(i) : zeros_of_x(c, i, kEmptySum);
    if (!sum) return;
    operands.push_back(sum.id());
    const ir::Type& type = c.operand_type(i);
    types.push_back(type.kind == ir::TypeKind::Resource ? ir::Type::of(type.tensor) : type);
  }
  for (const Derivative::Read& read : d.reads) {
    X value = read.parameter ? c.x(read.index) : c.r(read.index);
    if (!value) return;
    operands.push_back(value.id());
  }
  std::vector<ir::Ref> before;
  for (size_t s = 0; s < pair.stacks.size(); ++s) {
    const ir::Type& type = pair.stacks[s];
    int number = inside ? static_cast<int>(s) : around ? around->new_number(type) : kUnnumbered;
    Result<ir::Ref> opened = c.a.open_stack(type, node, number);
    if (!check(c, opened)) return;
    before.push_back(*opened);
    node.operands.push_back(*opened);
    node.types.push_back(type);
  }
  for (size_t s = 0; s < before.size(); ++s) {
    Result<V> entered = c.a.enter_stack(before[s], {&node, static_cast<uint32_t>(result_count + s)});
    if (!check(c, entered)) return;
    operands.push_back(*entered);
    types.push_back(pair.stacks[s]);
  }
  std::vector<V> results;
  if (inside) {
    results = c.a.call_recursive(*around->backward, operands, std::move(types));
  } else {
    Result<void> done = c.a.apply_node(Op::call, operands, Attrs(), {}, pair.backward, results);
    if (!done) return c.a.fail_with(done.failure());
  }
  for (size_t i = 0; i < operand_count; ++i) {
    if (d.gradient_of[i] < 0 || !wanted[i]) continue;
    c.put_sum(i, settled(d, i, empty[i], X(&c.a, results[static_cast<size_t>(d.gradient_of[i])])));
  }
  for (size_t s = 0; s < before.size(); ++s) c.a.leave_stack(before[s], results[results.size() - before.size() + s]);
}

}  // namespace tfl::gradient
