#include "optimizer/rewrite.h"

#include "runtime/shapes/rules.h"

namespace tfl::optimizer {

void Rewriter::begin() {
  uint32_t next = 0;
  for (auto& n : block_.nodes) {
    n->id = next;
    next += static_cast<uint32_t>(n->types.size());
  }
  to_.assign(next, Ref());
  owner_.assign(next, nullptr);
  for (auto& n : block_.nodes) {
    if (!n->types.empty()) owner_[n->id] = n.get();
  }
  old_ = std::move(block_.nodes);
  block_.nodes.clear();
  block_.nodes.reserve(old_.size());
}

void Rewriter::finish() {
  for (Ref& r : block_.results) r = resolve(r);
}

void Rewriter::replace(Ref from, Ref to) {
  to_[from.node->id + from.index] = to;
  changed_ = true;
}

Ref Rewriter::resolve(Ref r) const {
  // Ids of other nodes mean nothing here: a node has a place only if it stands there.
  while (r.node->id < owner_.size() && owner_[r.node->id] == r.node) {
    Ref to = to_[r.node->id + r.index];
    if (!to) break;
    r = to;
  }
  return r;
}

Ref add_region_input(Node& n, Ref value, size_t which) {
  n.operands.push_back(value);
  Ref wanted;
  for (size_t i = 0; i < n.regions.size(); ++i) {
    Ref p = n.regions[i]->add_param(value.type(), "");
    if (i == which) wanted = p;
  }
  return wanted;
}

void drop_region_input(Node& n, size_t i) {
  n.operands.erase(inputs_from(n) + i);
  for (auto& region : n.regions) region->params.erase(region->params.begin() + static_cast<ptrdiff_t>(i));
}

bool is_pure(const Node& n) { return !is_control(n.op) && n.regions.empty(); }

bool has_static_shape(const ir::Type& t) { return t.is_tensor() && t.tensor.ranked && shape_rules::all_known(t.tensor.dims); }

bool same_type_exactly(const ir::Type& a, const ir::Type& b) {
  if (!(a == b) || !a.tensor.ranked) return false;
  for (int64_t d : a.tensor.dims) {
    if (d == -1) return false;
  }
  return true;
}

bool constant_integers(Ref r, Dims& out) {
  const Tensor& t = r.node->constant;
  if (r.node->op != Op::constant || !is_integer(t.dtype()) || t.dtype() == DType::U64 || t.rank() > 1) return false;
  out = shape_rules::integers(t);
  return true;
}

}  // namespace tfl::optimizer
