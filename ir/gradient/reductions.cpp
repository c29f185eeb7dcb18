// Gradients of reductions and scans.
#include "ir/gradient/compose.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

// Sizes of the result as if the reduced axes had been kept.
X kept_shape(RuleCall& c) {
  const TensorType& x = c.operand_type(0).tensor;
  const Dims* axes = c.attrs.get_ints(Attr::axes);
  int64_t rank = static_cast<int64_t>(x.dims.size());
  Dims kept = x.dims;
  std::vector<bool> reduced(static_cast<size_t>(rank), !axes);
  if (axes) {
    for (int64_t a : *axes) reduced[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    if (reduced[i]) kept[i] = 1;
  }
  if (known({x.dtype, true, kept})) return int_vector(c.a, kept);
  // Unknown sizes of axes that stay: read from the operand, ones put over the others.
  Dims ones(kept.size(), 1), mask;
  for (size_t i = 0; i < kept.size(); ++i) mask.push_back(reduced[i] ? 1 : 0);
  return emit(Op::where, {emit(Op::equal, {int_vector(c.a, mask), X(1.0)}), int_vector(c.a, ones), c.x_shape(0)});
}

// A value of the result's shape, with the reduced axes back as ones.
X unreduced(RuleCall& c, X value) { return c.attrs.get_bool(Attr::keepdims) ? value : emit(Op::reshape, {value, kept_shape(c)}); }

void reduce_sum(RuleCall& c) { c.give(0, emit(Op::broadcast_to, {unreduced(c, c.g()), c.x_shape(0)})); }

void reduce_mean(RuleCall& c) {
  X all = emit(Op::reduce_prod, {c.x_shape(0)});
  X groups = emit(Op::reduce_prod, {c.r_shape(0)});
  X count = emit(Op::floordiv, {all, emit(Op::maximum, {groups, X(1.0)})});
  X divisor = emit(Op::cast, {count}, Attrs().set_dtype(Attr::dtype, c.operand_type(0).tensor.dtype));
  c.give(0, emit(Op::broadcast_to, {unreduced(c, c.g()), c.x_shape(0)}) / divisor);
}

void reduce_extreme(RuleCall& c) {
  X x = c.x();
  X is_extreme =
      emit(Op::cast, {emit(Op::equal, {x, unreduced(c, c.r())})}, Attrs().set_dtype(Attr::dtype, c.operand_type(0).tensor.dtype));
  Attrs attrs;
  if (const Dims* axes = c.attrs.get_ints(Attr::axes)) attrs.set_ints(Attr::axes, *axes);
  attrs.set_bool(Attr::keepdims, true);
  X ties = emit(Op::reduce_sum, {is_extreme}, attrs);
  c.give(0, is_extreme / ties * unreduced(c, c.g()));
}

// The product of the other elements: from the left times from the right, so that zeros do no harm.
void reduce_prod(RuleCall& c) {
  const TensorType& type = c.operand_type(0).tensor;
  int64_t rank = static_cast<int64_t>(type.dims.size());
  const Dims* axes = c.attrs.get_ints(Attr::axes);
  std::vector<bool> reduced(static_cast<size_t>(rank), !axes);
  if (axes) {
    for (int64_t a : *axes) reduced[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  }
  // Reduced axes first, in one.
  Dims perm, inverse(static_cast<size_t>(rank), 0);
  for (bool which : {true, false}) {
    for (int64_t i = 0; i < rank; ++i) {
      if (reduced[static_cast<size_t>(i)] == which) perm.push_back(i);
    }
  }
  int64_t n = 0;
  for (bool r : reduced) n += r;
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  auto permuted = [&](X v, const Dims& order) { return emit(Op::transpose, {v}, Attrs().set_ints(Attr::perm, order)); };
  X x = permuted(c.x(), perm);
  X shape = emit(Op::gather, {c.x_shape(0), int_vector(c.a, perm)}, Attrs().set_int(Attr::axis, 0));
  int64_t zero = 0, minus_one = -1;
  X first = emit(Op::slice, {shape, int_vector(c.a, {&zero, 1}), int_vector(c.a, {&n, 1})});
  X rest = emit(Op::slice, {shape, int_vector(c.a, {&n, 1}), int_vector(c.a, {&minus_one, 1})});
  std::vector<X> parts = {emit(Op::reduce_prod, {first}, Attrs().set_bool(Attr::keepdims, true)), rest};
  std::vector<X> sizes = emit_many(Op::concat, parts, Attrs().set_int(Attr::axis, 0));
  if (sizes.empty()) return;
  X flat = emit(Op::reshape, {x, sizes[0]});
  auto scan = [&](bool backwards) {
    return emit(Op::cumprod, {flat},
                Attrs().set_int(Attr::axis, 0).set_bool(Attr::exclusive, true).set_bool(Attr::reverse, backwards));
  };
  X others = emit(Op::reshape, {conjugate(scan(false)) * conjugate(scan(true)), shape});
  c.give(0, permuted(others, inverse) * unreduced(c, c.g()));
}

Attrs other_way(RuleCall& c) {
  return Attrs()
      .set_int(Attr::axis, c.attrs.get_int(Attr::axis))
      .set_bool(Attr::exclusive, c.attrs.get_bool(Attr::exclusive))
      .set_bool(Attr::reverse, !c.attrs.get_bool(Attr::reverse));
}

void cumsum(RuleCall& c) { c.give(0, emit(Op::cumsum, {c.g()}, other_way(c))); }

void cumprod(RuleCall& c) {
  X sum = emit(Op::cumsum, {c.r() * c.g()}, other_way(c));
  c.give(0, emit(Op::divide_no_nan, {sum, c.x()}));
}

constexpr RuleRow kReduceRules[] = {
    {Op::reduce_sum, reduce_sum},     {Op::reduce_mean, reduce_mean}, {Op::reduce_max, reduce_extreme},
    {Op::reduce_min, reduce_extreme}, {Op::reduce_prod, reduce_prod}, {Op::cumsum, cumsum},
    {Op::cumprod, cumprod},
};

}  // namespace

std::span<const RuleRow> reduce_rules() { return kReduceRules; }

}  // namespace tfl::gradient
