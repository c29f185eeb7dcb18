#include "optimizer/moves.h"

#include <algorithm>

#include "ir/infer.h"
#include "runtime/ops/facts.h"
#include "runtime/shapes/strided_slice.h"

namespace tfl::optimizer {

bool permutation(const Node& n, Dims& perm) {
  const ir::Type& x = n.operands[0].type();
  if (!x.tensor.ranked) return false;
  int64_t rank = static_cast<int64_t>(x.tensor.dims.size());
  perm.clear();
  if (n.operands.size() > 1) {
    if (!constant_integers(n.operands[1], perm)) return false;
  } else if (const Dims* attr = n.attrs.get_ints(Attr::perm)) {
    perm = *attr;
  } else {
    for (int64_t i = rank; i-- > 0;) perm.push_back(i);
  }
  if (static_cast<int64_t>(perm.size()) != rank) return false;
  for (int64_t& p : perm) {
    if (p < 0) p += rank;
    if (p < 0 || p >= rank) return false;
  }
  return true;
}

bool is_identity(const Dims& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

namespace {

Ref appended(Context& context, Block& block, const Node& like, Op op, std::vector<Ref> operands, Attrs attrs) {
  Result<Node*> made = ir::append(context, block, op, std::move(operands), std::move(attrs));
  if (!made) return {};
  (*made)->location = like.location;
  return {*made, 0};
}

Ref transposed(Context& context, Block& block, const Node& n) {
  Dims outer, inner;
  if (!permutation(n, outer)) return {};
  if (is_identity(outer)) return n.operands[0];
  const Node& x = *n.operands[0].node;
  if (x.op != Op::transpose || !permutation(x, inner) || inner.size() != outer.size()) return {};
  Dims both;
  for (int64_t p : outer) both.push_back(inner[static_cast<size_t>(p)]);
  if (is_identity(both)) return x.operands[0];
  return appended(context, block, n, Op::transpose, {x.operands[0]}, Attrs().set_ints(Attr::perm, both));
}

// Reshapes of known sizes cannot fail: only the last one counts, and none where nothing changes.
Ref reshaped(Context& context, Block& block, const Node& n) {
  Ref x = n.operands[0];
  if (!has_static_shape(n.types[0]) || !has_static_shape(x.type())) return {};
  if (same_type_exactly(n.types[0], x.type())) return x;
  bool inner = x.node->op == Op::reshape || x.node->op == Op::expand_dims || x.node->op == Op::squeeze;
  if (!inner || !has_static_shape(x.node->operands[0].type())) return {};
  if (same_type_exactly(n.types[0], x.node->operands[0].type())) return x.node->operands[0];
  if (n.op == Op::reshape) return appended(context, block, n, Op::reshape, {x.node->operands[0], n.operands[1]}, n.attrs);
  return {};
}

bool all_equal(Ref r, int64_t value) {
  Dims v;
  if (!constant_integers(r, v)) return false;
  for (int64_t e : v) {
    if (e != value) return false;
  }
  return true;
}

// stack(a, b, ...)[i] of scalars.
Ref element_of_stack(const Node& n) {
  const Node& x = *n.operands[0].node;
  if (x.op != Op::stack || !has_static_shape(x.types[0]) || x.types[0].tensor.dims.size() != 1) return {};
  SliceSpec spec;
  if (!constant_integers(n.operands[1], spec.begin) || !constant_integers(n.operands[2], spec.end) ||
      !constant_integers(n.operands[3], spec.strides))
    return {};
  if (spec.begin.size() != 1 || n.attrs.get_int(Attr::shrink_axis_mask) != 1 || n.attrs.get_int(Attr::new_axis_mask) ||
      n.attrs.get_int(Attr::ellipsis_mask))
    return {};
  int64_t length = x.types[0].tensor.dims[0], at = spec.begin[0] < 0 ? spec.begin[0] + length : spec.begin[0];
  if (at < 0 || at >= length) return {};
  return x.operands[static_cast<size_t>(at)];
}

bool takes_all(const Node& n) {
  if (!same_type_exactly(n.types[0], n.operands[0].type()) || !has_static_shape(n.types[0])) return false;
  if (n.op == Op::slice) return all_equal(n.operands[1], 0);
  Dims strides;
  if (!constant_integers(n.operands[3], strides)) return false;
  for (int64_t s : strides) {
    if (s != 1) return false;
  }
  // Steps of one that give every size back start at the beginning; a new axis and an index would hide a change of order.
  return n.attrs.get_int(Attr::new_axis_mask) == 0 && n.attrs.get_int(Attr::shrink_axis_mask) == 0 &&
         constant_integers(n.operands[1], strides) && constant_integers(n.operands[2], strides);
}

Ref reversed_twice(const Node& n) {
  const Node& x = *n.operands[0].node;
  const Dims* a = n.attrs.get_ints(Attr::axes);
  if (a && a->empty()) return n.operands[0];
  if (x.op != Op::reverse) return {};
  const Dims* b = x.attrs.get_ints(Attr::axes);
  if (!a || !b || !(*a == *b)) return {};
  return x.operands[0];
}

// What a node is whose elements stand where they stood; nothing where they do not.
using Rule = Ref (*)(Context&, Block&, const Node&);

Ref whole_turn(Context&, Block&, const Node& n) { return reversed_twice(n); }
Ref same_shape(Context&, Block&, const Node& n) {
  return has_static_shape(n.types[0]) && same_type_exactly(n.types[0], n.operands[0].type()) ? n.operands[0] : Ref();
}
Ref one_tile(Context&, Block&, const Node& n) {
  return all_equal(n.operands[1], 1) && same_type_exactly(n.types[0], n.operands[0].type()) ? n.operands[0] : Ref();
}
Ref one_part(Context&, Block&, const Node& n) { return n.operands.size() == 1 ? n.operands[0] : Ref(); }
Ref whole_slice(Context&, Block&, const Node& n) { return takes_all(n) ? n.operands[0] : Ref(); }
Ref whole_strided_slice(Context&, Block&, const Node& n) { return takes_all(n) ? n.operands[0] : element_of_stack(n); }

bool all_ones(const ir::Type& x, const Node& n) {
  const Dims& dims = x.tensor.dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const Dims* axes = n.attrs.get_ints(Attr::axes);
  if (!axes) return std::all_of(dims.begin(), dims.end(), [](int64_t d) { return d == 1; });
  return std::all_of(axes->begin(), axes->end(), [&](int64_t axis) {
    return axis >= -rank && axis < rank && dims[static_cast<size_t>(axis < 0 ? axis + rank : axis)] == 1;
  });
}

// A reduction of single elements, which leaves each as it is.
Ref single_elements(Context& context, Block& block, const Node& n) {
  const ir::Type& x = n.operands[0].type();
  if (!has_static_shape(x) || !has_static_shape(n.types[0])) return {};
  if (same_type_exactly(n.types[0], x)) return all_ones(x, n) ? n.operands[0] : Ref();
  if (!all_ones(x, n)) return {};
  Attrs attrs;
  if (const Dims* axes = n.attrs.get_ints(Attr::axes)) attrs.set_ints(Attr::axes, *axes);
  return appended(context, block, n, Op::squeeze, {n.operands[0]}, std::move(attrs));
}

constexpr OpTable<Rule> kRules{{{Op::transpose, transposed},
                                {Op::reshape, reshaped},
                                {Op::expand_dims, reshaped},
                                {Op::squeeze, reshaped},
                                {Op::reverse, whole_turn},
                                {Op::broadcast_to, same_shape},
                                {Op::ensure_shape, same_shape},
                                {Op::tile, one_tile},
                                {Op::concat, one_part},
                                {Op::reduce_sum, single_elements},
                                {Op::reduce_prod, single_elements},
                                {Op::reduce_mean, single_elements},
                                {Op::reduce_max, single_elements},
                                {Op::reduce_min, single_elements},
                                {Op::reduce_any, single_elements},
                                {Op::reduce_all, single_elements},
                                {Op::slice, whole_slice},
                                {Op::strided_slice, whole_strided_slice}}};

}  // namespace

Ref moved_value(Context& context, Block& block, const Node& n) {
  const Rule rule = kRules[n.op];
  return rule ? rule(context, block, n) : Ref();
}

}  // namespace tfl::optimizer
