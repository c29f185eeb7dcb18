// Gradients of views and moves: the gradient goes back the way the elements came.
#include "ir/gradient/compose.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

size_t rank_of(RuleCall& c, size_t i) { return c.operand_type(i).tensor.dims.size(); }

Attrs with_ints(Attr name, Dims values) { return Attrs().set_ints(name, std::move(values)); }

void like_operand(RuleCall& c) { c.give(0, emit(Op::reshape, {c.g(), c.x_shape(0)})); }
void unchanged(RuleCall& c) { c.give(0, c.g()); }

X element(X vector, int64_t i) {  // vector[i : i + 1]
  if (!vector) return {};
  Adjoint& a = *vector.adjoint();
  int64_t one = 1;
  return emit(Op::slice, {vector, int_vector(a, {&i, 1}), int_vector(a, {&one, 1})});
}

void transpose(RuleCall& c) {
  if (const Dims* perm = c.attrs.get_ints(Attr::perm)) {
    Dims inverse(perm->size(), 0);
    for (size_t i = 0; i < perm->size(); ++i) {
      int64_t p = (*perm)[i];
      inverse[static_cast<size_t>(p < 0 ? p + static_cast<int64_t>(perm->size()) : p)] = static_cast<int64_t>(i);
    }
    return c.give(0, emit(Op::transpose, {c.g()}, with_ints(Attr::perm, std::move(inverse))));
  }
  if (c.operand_count() == 1) return c.give(0, emit(Op::transpose, {c.g()}));
  c.give(0, emit(Op::transpose, {c.g(), emit(Op::argsort, {c.x(1)}, with_axis(0))}));
}

void broadcast_to(RuleCall& c) { c.give_unbroadcast(0, c.g()); }

void slice(RuleCall& c) {
  // Where the slice began, zeros before and behind.
  X begin = as_index(c.x(1));
  X behind = c.x_shape(0) - c.r_shape(0) - begin;
  std::vector<X> columns = {begin, behind};
  std::vector<X> paddings = emit_many(Op::stack, columns, with_axis(1));
  c.give(0, paddings.empty() ? X() : emit(Op::pad, {c.g(), paddings[0]}));
}

void strided_slice(RuleCall& c) {
  X begin = as_index(c.x(1)), end = as_index(c.x(2)), strides = as_index(c.x(3));
  c.give(0, emit(Op::strided_slice_grad, {c.x_shape(0), begin, end, strides, c.g()}, c.attrs));
}

void strided_slice_grad(RuleCall& c) {
  if (c.wanted(4)) c.give(4, emit(Op::strided_slice, {c.g(), c.x(1), c.x(2), c.x(3)}, c.attrs));
}

void sum_to_shape(RuleCall& c) {
  // The axes that were summed away come back as ones first, which broadcasting supplies.
  c.give(0, emit(Op::broadcast_to, {c.g(), c.x_shape(0)}));
}

void reverse(RuleCall& c) { c.give(0, emit(Op::reverse, {c.g()}, c.attrs)); }

void concat(RuleCall& c) {
  int64_t axis = c.attrs.get_int(Attr::axis);
  size_t n = c.operand_count();
  bool any = false;
  for (size_t i = 0; i < n; ++i) any |= c.wanted(i);
  if (!any || !c.g()) return;
  if (axis < 0) axis += static_cast<int64_t>(c.result_type(0).tensor.dims.size());
  std::vector<X> sizes;
  for (size_t i = 0; i < n; ++i) sizes.push_back(element(c.x_shape(i), axis));
  std::vector<X> all = n == 1 ? sizes : emit_many(Op::concat, sizes, with_axis(0));
  if (all.empty()) return;
  std::vector<X> operands = {c.g(), all[0]};
  std::vector<X> parts = emit_many(Op::split_v, operands, with_axis(axis).set_int(Attr::num, static_cast<int64_t>(n)));
  for (size_t i = 0; i < parts.size(); ++i) {
    if (c.wanted(i)) c.give(i, parts[i]);
  }
}

void stack(RuleCall& c) {
  int64_t n = static_cast<int64_t>(c.operand_count());
  std::vector<X> g = {c.g()};
  std::vector<X> parts = emit_many(Op::unstack, g, with_axis(c.attrs.get_int(Attr::axis)).set_int(Attr::num, n));
  for (size_t i = 0; i < parts.size(); ++i) {
    if (c.wanted(i)) c.give(i, parts[i]);
  }
}

void joined(RuleCall& c, Op op) {
  std::vector<X> parts;
  for (size_t i = 0; i < c.result_count(); ++i) parts.push_back(g_or_zeros(c, i));
  std::vector<X> whole = emit_many(op, parts, with_axis(c.attrs.get_int(Attr::axis)));
  if (!whole.empty()) c.give(0, whole[0]);
}
void unstack(RuleCall& c) { joined(c, Op::stack); }
void split(RuleCall& c) { joined(c, Op::concat); }

void tile(RuleCall& c) {
  // [m0 d0 m1 d1 ...], summed over the m's.
  X multiples = as_index(c.x(1));
  std::vector<X> pair = {multiples, c.x_shape(0)};
  std::vector<X> both = emit_many(Op::stack, pair, with_axis(1));
  if (both.empty()) return;
  X sizes = flatten(both[0]);
  Dims axes;
  for (size_t i = 0; i < rank_of(c, 0); ++i) axes.push_back(static_cast<int64_t>(2 * i));
  if (axes.empty()) return c.give(0, c.g());
  X sum = emit(Op::reduce_sum, {emit(Op::reshape, {c.g(), sizes})}, with_ints(Attr::axes, std::move(axes)));
  c.give(0, emit(Op::reshape, {sum, c.x_shape(0)}));
}

void pad(RuleCall& c) {
  std::string_view mode = c.attrs.get_text(Attr::mode);
  if (!mode.empty() && mode != "CONSTANT") {
    return give_from(c, emit(Op::pad, {flat_indices(c), c.x(1)}, c.attrs), c.g());
  }
  if (c.wanted(0)) {
    X paddings = as_index(c.x(1));
    int64_t rank = static_cast<int64_t>(rank_of(c, 0));
    int64_t zero[2] = {0, 0}, column[2] = {rank, 1}, flat[1] = {rank};
    X before = emit(Op::slice, {paddings, int_vector(c.a, zero), int_vector(c.a, column)});
    c.give(0, emit(Op::slice, {c.g(), emit(Op::reshape, {before, int_vector(c.a, flat)}), c.x_shape(0)}));
  }
  if (c.operand_count() > 2 && c.wanted(2)) {
    // The value stands wherever the operand does not.
    X outside = emit(Op::pad, {zeros_of_x(c, 0), c.x(1), literal_like(c.g(), 1.0)});
    c.give(2, emit(Op::reduce_sum, {c.g() * outside}));
  }
}

void roll(RuleCall& c) { c.give(0, emit(Op::roll, {c.g(), neg(c.x(1))}, c.attrs)); }

// Diagonals.
Attrs diagonal_attrs(RuleCall& c) {
  Attrs out;
  if (const Dims* k = c.attrs.get_ints(Attr::k)) out.set_ints(Attr::k, *k);
  if (c.attrs.find(Attr::mode)) out.set_text(Attr::mode, std::string(c.attrs.get_text(Attr::mode)));
  return out;
}
void matrix_diag(RuleCall& c) {
  if (c.wanted(0)) c.give(0, emit(Op::matrix_diag_part, {c.g()}, diagonal_attrs(c)));
}
void matrix_diag_part(RuleCall& c) {
  if (c.wanted(0)) c.give(0, emit(Op::matrix_set_diag, {zeros_of_x(c, 0), c.g()}, diagonal_attrs(c)));
}
void matrix_set_diag(RuleCall& c) {
  if (c.wanted(0)) c.give(0, emit(Op::matrix_set_diag, {c.g(), zeros_of_x(c, 1)}, diagonal_attrs(c)));
  if (c.wanted(1)) c.give(1, emit(Op::matrix_diag_part, {c.g()}, diagonal_attrs(c)));
}
void matrix_band_part(RuleCall& c) { c.give(0, emit(Op::matrix_band_part, {c.g(), c.x(1), c.x(2)})); }

void cast(RuleCall& c) {
  DType from = c.operand_type(0).tensor.dtype;
  if (differentiable(from)) c.give(0, emit(Op::cast, {c.g()}, Attrs().set_dtype(Attr::dtype, from)));
}

void fill(RuleCall& c) {
  if (c.wanted(1)) c.give(1, emit(Op::reduce_sum, {c.g()}));
}

constexpr RuleRow kShapeRules[] = {
    {Op::reshape, like_operand},
    {Op::expand_dims, like_operand},
    {Op::squeeze, like_operand},
    {Op::transpose, transpose},
    {Op::broadcast_to, broadcast_to},
    {Op::slice, slice},
    {Op::strided_slice, strided_slice},
    {Op::strided_slice_grad, strided_slice_grad},
    {Op::sum_to_shape, sum_to_shape},
    {Op::reverse, reverse},
    {Op::identity, unchanged},
    {Op::ensure_shape, unchanged},
    {Op::concat, concat},
    {Op::stack, stack},
    {Op::unstack, unstack},
    {Op::split, split},
    {Op::split_v, split},
    {Op::tile, tile},
    {Op::pad, pad},
    {Op::roll, roll},
    {Op::matrix_diag, matrix_diag},
    {Op::matrix_diag_part, matrix_diag_part},
    {Op::matrix_set_diag, matrix_set_diag},
    {Op::matrix_band_part, matrix_band_part},
    {Op::cast, cast},
    {Op::fill, fill},
};

}  // namespace

std::span<const RuleRow> shape_rules() { return kShapeRules; }

}  // namespace tfl::gradient
