// What every iteration pushes alike, the loop that pops it gets as an invariant. (Gradients keep each iteration's value, so that what flows
// into it is added in one order; where no gradient follows any more one value is enough.)
//
//   %n, %s = while_loop(%zero, %empty, %w) ... do (%n: i32, %s: array f32[4], %w: f32[4]) { ... yield add(%n, 1), array_push(%s, %w) }
//   %m, %r = while_loop(%n, %s) while { greater(%m, 0) } do (%m: i32, %s: array f32[4]) { %t, %x = array_pop(%s) ... yield subtract(%m, 1), %t }
// becomes, where nobody reads %s or %r otherwise
//   %n, %s = while_loop(%zero, %empty, %w) ...
//   %m = while_loop(%n, %w) while { greater(%m, 0) } do (%m: i32, %w: f32[4]) { ... yield subtract(%m, 1) }      (%x is %w)
//
// The value may also be what a variable holds that the first loop reads and does not assign.
#include <algorithm>
#include <unordered_map>

#include "ir/loop_truths.h"
#include "optimizer/pass.h"
#include "optimizer/rewrite.h"

namespace tfl::optimizer {

namespace {

bool is_number(Ref r, int64_t value) {
  Dims numbers;
  return r.type().is_tensor() && r.type().tensor.dims.empty() && constant_integers(r, numbers) && numbers.size() == 1 &&
         numbers[0] == value;
}

bool is_step(Ref next, Op op, Ref param) {
  return next.node->op == op && next.node->operands[0] == param && is_number(next.node->operands[1], 1);
}

bool assigns(const Block& block) {
  bool any = false;
  ir::walk(block, [&](const Node& n) {
    bool variable =
        std::any_of(n.operands.begin(), n.operands.end(), [](Ref r) { return r.type().kind == ir::TypeKind::Resource; });
    any = any || (effects_of(n).writes && (variable || n.target()));
  });
  return any;
}

class Stacks {
 public:
  explicit Stacks(PassCall& call) : call_(call) {}

  void operator()(Block& block) {
    uses_.clear();
    if (std::none_of(block.nodes.begin(), block.nodes.end(), [](const auto& n) { return n->op == Op::while_loop; })) return;
    count(block);
    for (size_t i = 0; i < block.nodes.size(); ++i) {
      Node& popping = *block.nodes[i];
      if (popping.op != Op::while_loop) continue;
      for (uint32_t k = 0; k < popping.types.size(); ++k) visit(block, popping, k);
    }
  }

 private:
  void count(const Block& b) {
    for (const auto& n : b.nodes) {
      for (Ref r : n->operands) ++uses_[r.node][r.index];
    }
    for (Ref r : b.results) ++uses_[r.node][r.index];
  }
  uint32_t uses(Ref r) {
    auto it = uses_.find(r.node);
    if (it == uses_.end()) return 0;
    auto found = it->second.find(r.index);
    return found == it->second.end() ? 0 : found->second;
  }
  static uint32_t uses_in(const Block& b, Ref r) {
    uint32_t count = 0;
    for (const auto& n : b.nodes) count += static_cast<uint32_t>(std::count(n->operands.begin(), n->operands.end(), r));
    return count + static_cast<uint32_t>(std::count(b.results.begin(), b.results.end(), r));
  }

  // Variable `k` of the loop `popping`.
  void visit(Block& block, Node& popping, uint32_t k) {
    Ref stack = popping.operands[k];
    if (stack.type().kind != ir::TypeKind::Array || stack.node->op != Op::while_loop || stack.node->block != &block) return;
    Node& pushing = *stack.node;
    if (uses(stack) != 1 || uses({&popping, k}) != 0) return;
    // Pushed once an iteration onto what is empty, and popped so.
    Block &push_body = *pushing.regions[1], &pop_body = *popping.regions[1];
    Node& push = *push_body.results[stack.index].node;
    Ref grown = push_body.param(stack.index);
    if (push.op != Op::array_push || !(push.operands[0] == grown) || uses_in(push_body, grown) != 1 ||
        uses_in(push_body, {&push, 0}) != 1 || uses_in(*pushing.regions[0], pushing.regions[0]->param(stack.index)) != 0)
      return;
    const Node& empty = *pushing.operands[stack.index].node;
    if (empty.op != Op::array_new || !is_number(empty.operands[0], 0)) return;
    Ref left = pop_body.param(k);
    Node& pop = *pop_body.results[k].node;
    if (pop.op != Op::array_pop || !(pop.operands[0] == left) || pop_body.results[k].index != 0 || uses_in(pop_body, left) != 1 ||
        uses_in(pop_body, {&pop, 0}) != 1 || uses_in(*popping.regions[0], popping.regions[0]->param(k)) != 0)
      return;
    if (!run_alike(pushing, popping)) return;

    Ref value = push.operands[1];
    Node* read = nullptr;
    if (value.node->op == Op::read_variable && value.node->block == &push_body) {
      read = value.node;
      value = read->operands[0];
      if (assigns(*pushing.regions[0]) || assigns(push_body)) return;
    }
    size_t input = 0;
    while (input < push_body.params.size() && push_body.params[input].get() != value.node) ++input;
    if (input < pushing.types.size() || input == push_body.params.size()) return;
    if (read && !ir::surely_runs(call_.context, pushing)) return;  // nothing else may need the variable to have a value
    Ref kept = pushing.operands[input];
    if (read) kept = read_before(block, pushing, kept, *read);
    Ref inside = add_region_input(popping, kept, 1);
    ++uses_[kept.node][kept.index];
    Rewriter rewriter(pop_body);
    rewriter.run([&](Node& n) {
      if (&n != &pop) return true;
      rewriter.replace({&pop, 0}, left);
      rewriter.replace({&pop, 1}, inside);
      return false;
    });
    call_.changed = true;
  }

  // What the variable holds in front of the loop.
  static Ref read_before(Block& block, const Node& loop, Ref variable, const Node& like) {
    auto made = std::make_unique<Node>();
    made->op = Op::read_variable;
    made->operands.push_back(variable);
    made->attrs = like.attrs;
    made->types = like.types;
    made->location = like.location;
    made->variable = like.variable;
    made->block = &block;
    Ref r{made.get(), 0};
    auto at = std::find_if(block.nodes.begin(), block.nodes.end(), [&](const auto& n) { return n.get() == &loop; });
    block.nodes.insert(at, std::move(made));
    return r;
  }

  // The second loop runs as often as the first has run.
  static bool run_alike(const Node& pushing, const Node& popping) {
    Ref test = popping.regions[0]->results[0];
    if (popping.attrs.get_int(Attr::limit, -1) >= 0 || test.node->op != Op::greater || !is_number(test.node->operands[1], 0))
      return false;
    const Node* counter = test.node->operands[0].node;
    for (uint32_t i = 0; i < popping.types.size(); ++i) {
      if (popping.regions[0]->params[i].get() != counter) continue;
      Ref count = popping.operands[i];
      if (!is_step(popping.regions[1]->results[i], Op::subtract, popping.regions[1]->param(i)) || count.node != &pushing)
        return false;
      return is_number(pushing.operands[count.index], 0) &&
             is_step(pushing.regions[1]->results[count.index], Op::add, pushing.regions[1]->param(count.index));
    }
    return false;
  }

  PassCall& call_;
  std::unordered_map<const Node*, std::unordered_map<uint32_t, uint32_t>> uses_;
};

}  // namespace

void run_stacks(PassCall& call) {
  Stacks pass(call);
  innermost_first(call.function.body, pass);
}

}  // namespace tfl::optimizer
