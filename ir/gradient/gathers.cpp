// Gradients of operations that pick or place elements by index: sums back at the indices read, reads at the indices written.
#include "ir/gradient/compose.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

// Zeros but for what one index along an axis chooses.
void give_slice(RuleCall& c, int64_t axis, size_t rank) {
  X index = as_index(c.x(1)), zero = int_scalar(c.a, 0);
  std::vector<X> begin(rank, zero), end = begin;
  begin[static_cast<size_t>(axis)] = index;
  end[static_cast<size_t>(axis)] = index + X(1.0);
  const int64_t here = int64_t{1} << axis, others = ((int64_t{1} << rank) - 1) & ~here;
  Attrs masks = Attrs().set_int(Attr::begin_mask, others).set_int(Attr::end_mask, others).set_int(Attr::shrink_axis_mask, here);
  std::vector<X> first = emit_many(Op::stack, begin, with_axis(0)), last = emit_many(Op::stack, end, with_axis(0));
  if (first.empty() || last.empty()) return;
  const std::vector<int64_t> ones(rank, 1);
  c.give(0, emit(Op::strided_slice_grad, {c.x_shape(0), first[0], last[0], int_vector(c.a, ones), c.g()}, masks));
}

void gather(RuleCall& c) {
  if (!c.wanted(0)) return;
  int64_t batch_dims = c.attrs.get_int(Attr::batch_dims);
  const TensorType& indices = c.operand_type(1).tensor;
  const TensorType& x = c.operand_type(0).tensor;
  int64_t axis = c.attrs.get_int(Attr::axis, batch_dims);
  if (axis < 0 && x.ranked) axis += static_cast<int64_t>(x.dims.size());
  if (axis == 0 && batch_dims == 0 && indices.ranked) return c.give_rows(0, c.g(), c.x(1));
  constexpr size_t kMostAxes = 31;  // that a mask has
  if (axis > 0 && batch_dims == 0 && x.ranked && x.dims.size() <= kMostAxes && indices.ranked && indices.dims.empty())
    return give_slice(c, axis, x.dims.size());
  give_from(c, emit(Op::gather, {flat_indices(c), c.x(1)}, c.attrs), c.g());
}

void gather_nd(RuleCall& c) {
  if (!c.wanted(0)) return;
  if (c.attrs.get_int(Attr::batch_dims) == 0) {
    X indices = c.x(1);
    X shape = c.x_shape(0);
    if (indices && indices.dtype() != DType::I32)
      shape = emit(Op::cast, {shape}, Attrs().set_dtype(Attr::dtype, indices.dtype()));
    return c.give(0, emit(Op::scatter_nd, {indices, c.g(), shape}));
  }
  give_from(c, emit(Op::gather_nd, {flat_indices(c), c.x(1)}, c.attrs), c.g());
}

void scatter_nd(RuleCall& c) {
  if (c.wanted(1)) c.give(1, emit(Op::gather_nd, {c.g(), c.x(0)}));
}

void scatter_update(RuleCall& c) {
  if (c.wanted(0)) c.give(0, emit(Op::tensor_scatter_update, {c.g(), c.x(1), zeros_of_x(c, 2)}));
  if (c.wanted(2)) c.give(2, emit(Op::gather_nd, {c.g(), c.x(1)}));
}
void scatter_add(RuleCall& c) {
  if (c.wanted(0)) c.give(0, c.g());
  if (c.wanted(2)) c.give(2, emit(Op::gather_nd, {c.g(), c.x(1)}));
}
void scatter_sub(RuleCall& c) {
  if (c.wanted(0)) c.give(0, c.g());
  if (c.wanted(2)) c.give(2, neg(emit(Op::gather_nd, {c.g(), c.x(1)})));
}

// Who equals the result shares its gradient evenly.
void scatter_extreme(RuleCall& c) {
  X one = literal_like(c.g(), 1.0);
  DType dtype = c.operand_type(0).tensor.dtype;
  auto number = [&](X mask) { return emit(Op::cast, {mask}, Attrs().set_dtype(Attr::dtype, dtype)); };
  X indices = c.x(1);
  X from_x = number(emit(Op::equal, {c.r(), c.x(0)}));
  X from_updates = number(emit(Op::equal, {c.x(2), emit(Op::gather_nd, {c.r(), indices})}));
  X count = emit(Op::tensor_scatter_add, {from_x, indices, from_updates});
  X share = c.g() / emit(Op::maximum, {count, one});
  if (c.wanted(0)) c.give(0, share * from_x);
  if (c.wanted(2)) c.give(2, emit(Op::gather_nd, {share, indices}) * from_updates);
}

void boolean_mask(RuleCall& c) {
  if (c.wanted(0)) give_from(c, emit(Op::boolean_mask, {flat_indices(c), c.x(1)}, c.attrs), c.g());
}

// Where each element went is the order of the order.
void sort(RuleCall& c) {
  size_t rank = c.operand_type(0).tensor.dims.size();
  int64_t axis = c.attrs.get_int(Attr::axis, -1);
  if (axis < 0) axis += static_cast<int64_t>(rank);
  X order = emit(Op::argsort, {c.x()}, c.attrs);
  X place = emit(Op::argsort, {order}, with_axis(axis));
  X g = c.g();
  int64_t last = static_cast<int64_t>(rank) - 1;
  Dims perm;
  for (int64_t i = 0; i <= last; ++i) perm.push_back(i);
  std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(last)]);
  Attrs swap = Attrs().set_ints(Attr::perm, perm);
  auto swapped = [&](X x) { return axis == last ? x : emit(Op::transpose, {x}, swap); };
  X picked = emit(Op::gather, {swapped(g), swapped(place)}, with_axis(last).set_int(Attr::batch_dims, last));
  c.give(0, swapped(picked));
}

void top_k(RuleCall& c) {
  if (!c.g(0)) return;
  // Flat positions: the row's first element and the index within the row.
  int64_t minus_one = -1;
  X shape = c.x_shape(0);
  int64_t last = static_cast<int64_t>(c.operand_type(0).tensor.dims.size()) - 1;
  X last_begin = int_vector(c.a, {&last, 1});
  X width = emit(Op::slice, {shape, last_begin, int_vector(c.a, {&minus_one, 1})});
  X indices = as_index(c.r(1));
  std::vector<X> pair = {int_vector(c.a, {&minus_one, 1}),
                         emit(Op::slice, {c.r_shape(0), last_begin, int_vector(c.a, {&minus_one, 1})})};
  std::vector<X> rows_shape = emit_many(Op::concat, pair, with_axis(0));
  if (rows_shape.empty()) return;
  X rows = emit(Op::reshape, {indices, rows_shape[0]});
  X count = emit(Op::floordiv,
                 {emit(Op::reduce_prod, {shape}), emit(Op::maximum, {emit(Op::reduce_prod, {width}), int_scalar(c.a, 1)})});
  X first = emit(Op::range, {int_scalar(c.a, 0), count, int_scalar(c.a, 1)}) * emit(Op::reduce_prod, {width});
  X flat = rows + emit(Op::expand_dims, {first}, with_axis(1));
  give_from(c, flat, c.g(0));
}

void one_hot(RuleCall& c) {
  X mask = emit(Op::one_hot, {c.x(0), c.x(1), literal_like(c.g(), 1.0), literal_like(c.g(), 0.0)}, c.attrs);
  if (c.wanted(2)) c.give(2, emit(Op::reduce_sum, {c.g() * mask}));
  if (c.wanted(3)) c.give(3, emit(Op::reduce_sum, {c.g() * (X(1.0) - mask)}));
}

// Segments. A negative id belongs to no segment: its rows get nothing.
struct Picked {
  X values;  // rows of the segments' values, where the id is not negative
  X kept;    // whether it is, in the shape of values
};
Picked pick_rows(RuleCall& c, X of) {
  X ids = c.x(1);
  X zero = emit(Op::multiply, {ids, X(0.0)});
  X inside = emit(Op::greater_equal, {ids, X(0.0)});
  X rows = emit(Op::gather, {of, emit(Op::maximum, {ids, zero})});
  size_t id_rank = c.operand_type(1).tensor.dims.size(), rank = c.operand_type(0).tensor.dims.size();
  for (size_t i = id_rank; i < rank; ++i) inside = emit(Op::expand_dims, {inside}, with_axis(-1));
  return {rows, inside};
}
X zero_outside(const Picked& p) { return emit(Op::where, {p.kept, p.values, literal_like(p.values, 0.0)}); }

void segment_sum(RuleCall& c) { c.give(0, zero_outside(pick_rows(c, c.g()))); }

void segment_extreme(RuleCall& c) {
  Picked value = pick_rows(c, c.r());
  X is_extreme = emit(Op::logical_and, {value.kept, emit(Op::equal, {c.x(0), value.values})});
  X ones = emit(Op::cast, {is_extreme}, Attrs().set_dtype(Attr::dtype, c.operand_type(0).tensor.dtype));
  X count = emit(Op::unsorted_segment_sum, {ones, c.x(1), c.x(2)});
  X share = emit(Op::divide_no_nan, {c.g(), count});
  Picked g = pick_rows(c, share);
  c.give(0, emit(Op::where, {is_extreme, g.values, literal_like(share, 0.0)}));
}

void segment_prod(RuleCall& c) {
  // The product of the others: with one zero in a segment only that element has it, with more nobody.
  X x = c.x(0), ids = c.x(1), count = c.x(2);
  X is_zero = emit(Op::equal, {x, X(0.0)});
  X ones = literal_like(x, 1.0);
  X zeros = emit(Op::unsorted_segment_sum, {emit(Op::cast, {is_zero}, Attrs().set_dtype(Attr::dtype, DType::I32)), ids, count});
  X g = emit(Op::where, {emit(Op::greater, {zeros, X(1.0)}), literal_like(c.g(), 0.0), c.g()});
  X others = emit(Op::unsorted_segment_prod, {emit(Op::where, {is_zero, ones, x}), ids, count});
  Picked whole = pick_rows(c, c.r()), rest = pick_rows(c, others), back = pick_rows(c, g);
  X partial = emit(Op::where, {is_zero, rest.values, whole.values / emit(Op::where, {is_zero, ones, x})});
  c.give(0, zero_outside({back.values * partial, back.kept}));
}

constexpr RuleRow kGatherRules[] = {
    {Op::gather, gather},
    {Op::gather_nd, gather_nd},
    {Op::scatter_nd, scatter_nd},
    {Op::tensor_scatter_update, scatter_update},
    {Op::tensor_scatter_add, scatter_add},
    {Op::tensor_scatter_sub, scatter_sub},
    {Op::tensor_scatter_min, scatter_extreme},
    {Op::tensor_scatter_max, scatter_extreme},
    {Op::boolean_mask, boolean_mask},
    {Op::sort, sort},
    {Op::top_k, top_k},
    {Op::one_hot, one_hot},
    {Op::unsorted_segment_sum, segment_sum},
    {Op::unsorted_segment_max, segment_extreme},
    {Op::unsorted_segment_min, segment_extreme},
    {Op::unsorted_segment_prod, segment_prod},
};

}  // namespace

std::span<const RuleRow> gather_rules() { return kGatherRules; }

}  // namespace tfl::gradient
