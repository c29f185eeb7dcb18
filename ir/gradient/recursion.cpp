#include "ir/gradient/recursion.h"

#include <map>
#include <tuple>

#include "ir/gradient/regions.h"

namespace tfl::gradient {

namespace {

// The two functions that call themselves. Parameters and results for stacks come last, by number; before those of the backward function
// stands what it reads of its call.
struct Pair {
  Derivative derivative;  // all but the functions; what it reads are parameters and results of the function itself
  std::shared_ptr<ir::Function> forward, backward;
  std::vector<ir::Type> stacks;
};

}  // namespace

// What calls of functions that lead to none of those around them have become.
struct Found {
  std::map<std::tuple<const ir::Function*, std::vector<bool>, std::vector<Reach>>, Pair> pairs;
};

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
  return a.seeds == b.seeds && a.gradient_of == b.gradient_of && a.presence_of == b.presence_of && a.reads == b.reads;
}

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

// Stacks by number as calls thread them: those of this attempt as far as they are known, else those of the one before.
std::vector<ir::Type> stacks_now(Recursion& recursion) {
  Recursion& outermost = recursion.outermost();
  std::vector<ir::Type> out = outermost.made;
  for (size_t i = out.size(); i < outermost.stacks.size(); ++i) out.push_back(outermost.stacks[i]);
  return out;
}

// The innermost function under differentiation, from `recursion` on, that matches.
template <class Match>
Recursion* found_in(Recursion* recursion, const Match& match) {
  while (recursion && !match(*recursion)) recursion = recursion->around;
  return recursion;
}

// The one that `callee` leads back to.
Recursion* led_back_to(const ir::Function& callee, Recursion* from) {
  return found_in(from, [&](const Recursion& r) { return calls(callee.body, *r.original, 0); });
}

Result<Pair> differentiate_body_of(Context& context, const ir::Function& f, std::vector<bool> wanted, std::vector<Reach> seeded,
                                   Recursion* around);

// Calls that no gradient goes through must thread stacks like the others: empty ones, of which nobody reads what they become.
Result<void> thread_empty_stacks(Context& context, Recursion& recursion, const std::vector<ir::Type>& stacks) {
  std::vector<ir::Node*> nodes;
  ir::walk(recursion.forward->body, [&](ir::Node& n) {
    if (n.op == Op::call) nodes.push_back(&n);
  });
  for (ir::Node* node : nodes) {
    size_t plain = node->operands.size();
    if (node->callee) {
      if (!led_back_to(*node->callee, &recursion)) continue;
      std::vector<bool> wanted(plain, false);
      std::vector<Reach> seeded(node->types.size(), Reach::None);
      node->callee = TFL_TRY(differentiate_body_of(context, *node->callee, wanted, seeded, &recursion)).forward;
    } else {
      Recursion* target = found_in(&recursion, [&](const Recursion& r) { return r.forward == node->recursive; });
      if (!target || plain != target->original->body.params.size()) continue;
    }
    for (const ir::Type& type : stacks) {
      node->operands.push_back(TFL_TRY(stack_before(context, *node, type)));
      node->types.push_back(type);
    }
  }
  return {};
}

// One attempt: the body differentiated with what `recursion` knows of its calls of itself.
Result<Pair> attempt(Context& context, const ir::Function& f, Recursion& recursion) {
  Pair out;
  out.forward = ir::clone(f);
  out.backward = std::make_shared<ir::Function>();
  inline_calls(out.forward->body);
  recursion.forward = out.forward.get();
  recursion.backward = out.backward.get();
  recursion.more = false;
  ir::walk(out.forward->body, [&](ir::Node& n) {
    Recursion* target = found_in(&recursion, [&](const Recursion& r) { return r.original == n.recursive; });
    if (target) n.recursive = target->forward;
  });
  out.backward->name = f.name + "_gradient";
  out.backward->locations = out.forward->locations;
  out.backward->symbols = f.symbols;
  RegionAdjoint a(context, out.forward->body, out.backward->body);
  a.recursion = &recursion;
  TFL_TRY(differentiate_body(a, out.forward->body, out.backward->body, recursion.wanted, recursion.seeded, out.derivative));
  size_t own = out.derivative.gradient_inputs;
  std::vector<ir::Ref> forward, backward;
  for (const auto& p : a.passed()) {
    out.derivative.reads.push_back({true, p.param});
    backward.push_back(p.backward);
  }
  for (const auto& r : a.results_read()) {
    out.derivative.reads.push_back({false, r.index});
    backward.push_back(r.backward);
  }
  out.stacks = stacks_now(recursion);
  for (size_t number = 0; number < out.stacks.size(); ++number) {
    const Stack& s = a.stack_of(out.stacks[number], static_cast<int>(number));
    forward.push_back(s.forward_in);
    out.forward->body.results.push_back(s.forward_out);
    backward.push_back(s.backward_in);
    out.backward->body.results.push_back(s.backward_out);
  }
  TFL_TRY(thread_empty_stacks(context, recursion, out.stacks));
  order_params(out.forward->body, f.body.params.size(), forward);
  order_params(out.backward->body, own, backward);
  return out;
}

Result<Pair> differentiate_body_of(Context& context, const ir::Function& f, std::vector<bool> wanted, std::vector<Reach> seeded,
                                   Recursion* around) {
  Recursion recursion;
  recursion.original = &f;
  recursion.around = led_back_to(f, around) ? around : nullptr;
  recursion.found = around ? around->found : std::make_shared<Found>();
  for (Reach& r : seeded) r = r == Reach::None ? r : Reach::Maybe;
  std::tuple key(&f, wanted, seeded);
  auto before = recursion.found->pairs.find(key);
  if (!recursion.around && before != recursion.found->pairs.end()) return before->second;
  recursion.wanted = std::move(wanted);
  recursion.seeded = std::move(seeded);
  recursion.known.gradient_of.assign(f.body.params.size(), -1);
  recursion.known.presence_of.assign(f.body.params.size(), -1);
  Recursion& outermost = recursion.outermost();
  std::vector<ir::Type> known_stacks = std::move(outermost.stacks);
  size_t others = outermost.made.size();
  bool settled = false;
  for (int i = 0; i < kMostAttempts; ++i) {
    // Stacks are numbered in the order in which they are found, which is the same once it is known what flows where.
    outermost.made.resize(others);
    outermost.stacks = settled ? known_stacks : std::vector<ir::Type>();
    Pair pair = TFL_TRY(attempt(context, f, recursion));
    bool was_settled = settled;
    settled = !recursion.more && same(pair.derivative, recursion.known);
    if (was_settled && settled && (recursion.around || outermost.made == known_stacks)) {
      outermost.stacks = std::move(known_stacks);
      if (!recursion.around) recursion.found->pairs.emplace(std::move(key), pair);
      return pair;
    }
    recursion.known = std::move(pair.derivative);
    if (!recursion.around) known_stacks = outermost.made;
  }
  return fail(ErrorKind::NotImplementedError,
              "the gradient of {} was not found: what flows through its calls of itself changes again and again", f.name);
}

}  // namespace

bool calls_itself(const ir::Function& f) { return calls(f.body, f, 0); }

Result<std::shared_ptr<const Derivative>> differentiate_recursive(Context& context, const ir::Function& f,
                                                                  std::vector<bool> wanted, std::vector<Reach> seeded) {
  Pair pair = TFL_TRY(differentiate_body_of(context, f, std::move(wanted), std::move(seeded), nullptr));
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
  bool inside = !node.callee;
  Recursion* target = inside ? found_in(around, [&](const Recursion& r) { return r.forward == node.recursive; }) : nullptr;
  size_t operand_count = c.operand_count(), result_count = c.result_count();
  std::vector<bool> wanted;
  std::vector<Reach> seeded = reach_of_results(c);
  for (size_t i = 0; i < operand_count; ++i) wanted.push_back(c.wanted(i));
  bool leads_back = inside;
  Pair pair;
  if (!inside) {
    leads_back = led_back_to(*node.callee, around) != nullptr;
    Result<Pair> made = differentiate_body_of(c.a.context(), *node.callee, wanted, seeded, around);
    if (!check(c, made)) return;
    pair = std::move(*made);
    node.callee = pair.forward;
  } else if (target) {
    for (size_t i = 0; i < operand_count; ++i) {
      if (wanted[i] && !target->wanted[i]) target->wanted[i] = target->more = true;
    }
    for (size_t k = 0; k < result_count; ++k) {
      if (seeded[k] == Reach::None || target->seeded[k] != Reach::None) continue;
      target->seeded[k] = Reach::Maybe;
      target->more = true;
    }
    pair.derivative = target->known;
    pair.stacks = target->outermost().stacks;
  } else {
    // Differentiated, the function would hold the gradient of its gradient, and so on: one more function for each depth of its calls.
    return c.a.fail_with(
        fail(ErrorKind::NotImplementedError,
             "a gradient inside a traced function goes through a call of the function itself: each "
             "depth of its calls would differentiate it once more, which no finite graph does")
            .with_hint("take the gradient outside of the recursion, or leave @tf.function out: eager code has it"));
  }
  const Derivative& d = pair.derivative;
  std::vector<V> operands;
  std::vector<ir::Type> types;
  if (!sums_before(c, d, operands)) return;
  std::vector<ir::Type> presence_types;
  for (size_t i = 0; i < operand_count; ++i) {
    if (d.gradient_of[i] < 0) continue;
    const ir::Type& type = c.operand_type(i);
    types.push_back(type.kind == ir::TypeKind::Resource ? ir::Type::of(type.tensor) : type);
    presence_types.push_back(presence_type(type));
  }
  types.insert(types.end(), presence_types.begin(), presence_types.end());
  for (const Derivative::Read& read : d.reads) {
    X value = read.parameter ? c.x(read.index) : c.r(read.index);
    if (!value) return;
    operands.push_back(value.id());
  }
  std::vector<ir::Ref> before;
  for (size_t s = 0; s < pair.stacks.size(); ++s) {
    const ir::Type& type = pair.stacks[s];
    int number = leads_back ? static_cast<int>(s) : around ? around->new_number(type) : kUnnumbered;
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
    results = c.a.call_recursive(*target->backward, operands, std::move(types));
  } else {
    Result<void> done = c.a.apply_node(Op::call, operands, Attrs(), {}, pair.backward, results);
    if (!done) return c.a.fail_with(done.failure());
  }
  std::vector<X> sums;
  for (V v : results) sums.push_back(X(&c.a, v));
  put_sums(c, d, sums);
  for (size_t s = 0; s < before.size(); ++s) c.a.leave_stack(before[s], results[results.size() - before.size() + s]);
}

}  // namespace tfl::gradient
