// What running a node may do besides giving its results.
#include <unordered_set>

#include "ir/graph.h"
#include "runtime/kernels/elementwise/elementwise_checks.h"

namespace tfl::ir {

namespace {

// Operations that accept every operand whose static type their rule has accepted, as long as all sizes are known.
bool depends_on_sizes_only(Op op) {
  switch (op) {
    case Op::transpose:
    case Op::expand_dims:
    case Op::squeeze:
    case Op::reverse:
    case Op::ensure_shape:
    case Op::concat:
    case Op::stack:
    case Op::unstack:
    case Op::split:
    case Op::matmul:
    case Op::cumsum:
    case Op::cumprod:
    case Op::sort:
    case Op::argsort:
    case Op::bitcast: return true;
    case Op::reduce_sum:
    case Op::reduce_prod:
    case Op::reduce_mean:
    case Op::reduce_max:
    case Op::reduce_min:
    case Op::reduce_any:
    case Op::reduce_all: return true;
    default: return false;
  }
}

// Operations that never fail once their rule has accepted the types of their operands.
bool never_fails(Op op) {
  switch (op) {
    case Op::identity:
    case Op::stop_gradient:
    case Op::shape:
    case Op::size:
    case Op::rank:
    case Op::cast:
    case Op::nonzero:
    case Op::string_length:
    case Op::string_upper:
    case Op::string_lower:
    case Op::string_strip: return true;
    default: return false;
  }
}

// Operations whose other operands, being constants, have been looked at by the rule.
bool depends_on_constants(Op op) {
  switch (op) {
    case Op::reshape:
    case Op::transpose:
    case Op::broadcast_to:
    case Op::slice:
    case Op::strided_slice:
    case Op::tile:
    case Op::pad:
    case Op::split_v: return true;
    default: return false;
  }
}

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

bool pure_may_fail(const Node& node) {
  if (op_info(node.op).kind == OpKind::Elementwise) {
    if (check_may_fail(node)) return true;
    // Sizes that differ at run time: only one shape, known or named, excludes it, or one operand that is no scalar.
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
  if (never_fails(node.op)) return false;
  if (node.op == Op::fill || node.op == Op::eye || node.op == Op::range || node.op == Op::linspace) {
    for (Ref r : node.operands) {
      if (r.node->op != Op::constant && !(node.op == Op::fill && r == node.operands[1])) return true;
    }
    return false;
  }
  bool known = true;
  for (Ref r : node.operands) known &= all_sizes_known(r.type());
  if (known && depends_on_sizes_only(node.op) && !(node.op == Op::transpose && node.operands.size() > 1)) return false;
  if (known && depends_on_constants(node.op)) {
    for (size_t i = 1; i < node.operands.size(); ++i) {
      if (node.operands[i].node->op != Op::constant) return true;
    }
    return false;
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
    switch (n.op) {
      case Op::parameter:
      case Op::constant: return;
      case Op::cond:
      case Op::switch_case:
      case Op::while_loop:
        for (const auto& region : n.regions) block(*region);
        return;
      case Op::call: return call(n);
      case Op::read_variable: return add({true, false, true});
      case Op::is_initialized: return add({true, false, false});
      case Op::assign_variable:
      case Op::print:
      case Op::check: return add({false, true, true});
      case Op::host_call:
      case Op::next_seed: return add({true, true, true});
      case Op::array_size:
      case Op::array_zeros_like: return;
      default: break;
    }
    if (is_control(n.op)) return add({false, false, true});
    if (pure_may_fail(n)) add({false, false, true});
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
