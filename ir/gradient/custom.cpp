#include "ir/gradient/custom.h"

#include <unordered_set>

#include "ir/custom_gradient.h"
#include "ir/gradient/block_adjoint.h"

namespace tfl::gradient {

namespace {

// Puts the nodes of the second branch on the gradient's side.
class Inlined {
 public:
  Inlined(RuleCall& c, ir::Block& block) : c_(c), block_(block) {}

  void set(ir::Ref value, X x) {
    if (x) values_[value] = x.id();
  }
  void need(ir::Ref r) { needed_.insert(r.node); }

  void run() {
    for (size_t i = block_.nodes.size(); i-- > 0;) {
      const ir::Node& n = *block_.nodes[i];
      if (ir::effects_of(n).writes) needed_.insert(&n);
      if (!needed_.count(&n)) continue;
      for (ir::Ref r : n.operands) needed_.insert(r.node);
    }
    for (const auto& n : block_.nodes) {
      if (needed_.count(n.get())) put(*n);
      if (c_.a.failed()) return;
    }
  }

  X value(ir::Ref r) {
    auto found = values_.find(r);
    if (found != values_.end()) return X(&c_.a, found->second);
    for (size_t i = 0; i < block_.params.size(); ++i) {
      if (!(block_.param(i) == r)) continue;
      X x = c_.x(i + 1);
      set(r, x);
      return x;
    }
    return {};
  }

 private:
  void put(const ir::Node& n) {
    if (n.op == Op::constant) return set({const_cast<ir::Node*>(&n), 0}, X(&c_.a, c_.a.constant(n.constant)));
    std::vector<V> operands;
    for (ir::Ref r : n.operands) {
      X x = value(r);
      if (!x) return;
      operands.push_back(x.id());
    }
    std::vector<V> results;
    Result<void> done;
    if (n.regions.empty() && !n.target()) {
      SmallVec<V, 2> few;
      done = c_.a.apply(n.op, operands, n.attrs, few);
      results.assign(few.begin(), few.end());
    } else if (n.recursive) {
      done = fail(ErrorKind::NotImplementedError,
                  "a custom gradient that calls a traced function which calls itself has no gradient");
    } else {
      std::vector<std::unique_ptr<ir::Block>> regions;
      for (const auto& region : n.regions) regions.push_back(ir::clone_region(*region, nullptr, block_.function));
      done = c_.a.apply_node(n.op, operands, n.attrs, std::move(regions), n.callee, results);
    }
    if (!done) return c_.a.fail_with(done.failure());
    for (uint32_t k = 0; k < results.size(); ++k) values_[{const_cast<ir::Node*>(&n), k}] = results[k];
  }

  RuleCall& c_;
  ir::Block& block_;
  RefMap<V> values_;
  std::unordered_set<const ir::Node*> needed_;
};

}  // namespace

void custom_rule(RuleCall& c) {
  ir::Node& node = *c.node();
  ir::Block& second = *node.regions[1];
  size_t outputs = static_cast<size_t>(node.attrs.get_int(Attr::num));
  Inlined inlined(c, second);
  for (size_t k = 0; k < outputs; ++k) inlined.set(second.results[k], g_or_zeros(c, k));
  std::vector<size_t> wanted;
  for (size_t j = outputs; j < node.types.size(); ++j) {
    if (!c.wanted(ir::custom_input(node, j))) continue;
    wanted.push_back(j);
    inlined.need(second.results[j]);
  }
  inlined.run();
  if (c.a.failed()) return;
  for (size_t j : wanted) c.give(ir::custom_input(node, j), inlined.value(second.results[j]));
}

}  // namespace tfl::gradient
