#include "ir/gradient/compose.h"

namespace tfl::gradient {

X flatten(X x) {
  if (!x) return {};
  int64_t minus_one = -1;
  return emit(Op::reshape, {x, int_vector(*x.adjoint(), {&minus_one, 1})});
}

X as_index(X x) { return !x || x.dtype() == DType::I32 ? x : emit(Op::cast, {x}, Attrs().set_dtype(Attr::dtype, DType::I32)); }

X conjugate(X x) { return x && is_complex(x.dtype()) ? emit(Op::conj, {x}) : x; }

X product(X a, X b, bool transpose_a, bool transpose_b) {
  Attrs attrs;
  if (transpose_a) attrs.set_bool(Attr::transpose_a, true);
  if (transpose_b) attrs.set_bool(Attr::transpose_b, true);
  return emit(Op::matmul, {a, b}, attrs);
}

X flat_indices(RuleCall& c) {
  X shape = c.x_shape(0);
  X flat = emit(Op::range, {int_scalar(c.a, 0), emit(Op::reduce_prod, {shape}), int_scalar(c.a, 1)});
  return emit(Op::reshape, {flat, shape});
}

void give_from(RuleCall& c, X from, X g) {
  X shape = c.x_shape(0);
  X sum = emit(Op::unsorted_segment_sum, {flatten(g), flatten(from), emit(Op::reduce_prod, {shape})});
  c.give(0, emit(Op::reshape, {sum, shape}));
}

}  // namespace tfl::gradient
