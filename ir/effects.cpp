// What running a node may do besides giving its results.
#include <algorithm>
#include <unordered_set>

#include "ir/graph.h"
#include "runtime/kernels/elementwise/elementwise_checks.h"
#include "runtime/ops/facts.h"

namespace tfl::ir {

namespace {

bool all_sizes_known(const Type& t) {
  if (!t.tensor.ranked) return false;
  for (int64_t d : t.tensor.dims) {
    if (d < 0) return false;
  }
  return true;
}

// Checks look at the second operand; a constant has been seen to pass, or fails.
bool check_may_fail(const Node& node) {
  if (!row_has_checks(node.op) || !is_integer(node.operands[1].type().tensor.dtype)) return false;
  const Tensor& y = node.operands[1].node->constant;
  return !y || refused(node.op, y) != nullptr;
}

// Sizes that differ at run time: only one shape, known or named, excludes it, or one operand that is no scalar.
bool elementwise_may_fail(const Node& node) {
  if (check_may_fail(node)) return true;
  const Type* first = nullptr;
  bool one_shape = true, known = true;
  int shapes = 0;
  for (Ref r : node.operands) {
    const Type& t = r.type();
    known &= all_sizes_known(t);
    if (t.tensor.ranked && t.tensor.dims.empty()) continue;
    ++shapes;
    if (!t.tensor.ranked) {
      one_shape &= node.operands.size() == 1;
      continue;
    }
    for (int64_t d : t.tensor.dims) one_shape &= d != -1 || node.operands.size() == 1;
    if (!first) first = &t;
    one_shape &= first->tensor.dims == t.tensor.dims;
  }
  return !known && !one_shape && shapes > 1;
}

bool may_fail(const Node& node) {
  const OpFacts& facts = op_facts(node.op);
  auto known = [&] {
    return std::all_of(node.operands.begin(), node.operands.end(), [](Ref r) { return all_sizes_known(r.type()); });
  };
  auto constant = [&](size_t i) { return node.operands[i].node->op == Op::constant; };
  switch (facts.fails) {
    case Fails::never: return false;
    case Fails::by_sizes: return !known();
    case Fails::by_values:
      if (!known()) return true;
      for (size_t i = 1; i < node.operands.size(); ++i) {
        if (!constant(i)) return true;
      }
      return false;
    case Fails::by_numbers:
      for (size_t i = 0; i < node.operands.size(); ++i) {
        if (facts.numbers >> i & 1 && !constant(i)) return true;
      }
      return false;
    case Fails::by_elements: return true;
    case Fails::elementwise: return elementwise_may_fail(node);
  }
  return true;
}

struct Search {
  Effects found;
  std::unordered_set<const Function*> seen;
  int depth = 0;

  bool complete() const { return found.reads && found.writes && found.fails; }
  void add(Effects e) {
    found.reads |= e.reads;
    found.writes |= e.writes;
    found.fails |= e.fails;
  }
  void block(const Block& b) {
    for (const auto& n : b.nodes) {
      if (complete()) return;
      node(*n);
    }
  }
  void node(const Node& n) {
    if (n.op == Op::call) return call(n);
    for (const auto& region : n.regions) block(*region);
    const OpFacts& facts = op_facts(n.op);
    add({facts.reads, facts.writes, may_fail(n)});
  }
  void call(const Node& n) {
    const Function* f = n.target();
    // Without end: recursion may exceed its limit, and a function that is still being made may do anything.
    add({false, false, n.recursive != nullptr});
    if (!f || (n.recursive && !seen.contains(f)) || depth > 200) return add({true, true, true});
    if (!seen.insert(f).second) return;
    ++depth;
    block(f->body);
    --depth;
  }
};

}  // namespace

Effects effects_of(const Node& node) {
  Search search;
  search.node(node);
  return search.found;
}

}  // namespace tfl::ir
