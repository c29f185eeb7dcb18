// Gradients of matrix products.
#include "ir/gradient/compose.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

void matmul(RuleCall& c) {
  bool ta = c.attrs.get_bool(Attr::transpose_a), tb = c.attrs.get_bool(Attr::transpose_b);
  X g = c.g();
  if (c.wanted(0)) {
    X b = conjugate(c.x(1));
    c.give_unbroadcast(0, ta ? product(b, g, tb, true) : product(g, b, false, !tb));
  }
  if (c.wanted(1)) {
    X a = conjugate(c.x(0));
    c.give_unbroadcast(1, tb ? product(g, a, true, ta) : product(a, g, !ta, false));
  }
}

// Each element is a product of a row of g and a row of b; b has the product with the first matrix turned over.
void sparse_dense_matmul(RuleCall& c) {
  bool adjoint = c.attrs.get_bool(Attr::adjoint);
  X g = c.g();
  if (c.wanted(1)) {
    X indices = c.x(0);
    std::vector<X> ends = emit_many(Op::unstack, {&indices, 1}, with_axis(1).set_int(Attr::num, 2));
    if (ends.empty()) return;
    X rows = emit(Op::gather, {g, ends[adjoint ? 1 : 0]}), columns = emit(Op::gather, {c.x(3), ends[adjoint ? 0 : 1]});
    X each = product(emit(Op::expand_dims, {rows}, with_axis(1)), emit(Op::expand_dims, {columns}, with_axis(2)));
    c.give(1, emit(Op::squeeze, {each}, Attrs().set_ints(Attr::axes, Dims{1, 2})));
  }
  if (c.wanted(3))
    c.give(3, emit(Op::sparse_dense_matmul, {c.x(0), c.x(1), c.x(2), g}, Attrs().set_bool(Attr::adjoint, !adjoint)));
}

constexpr RuleRow kContractRules[] = {{Op::matmul, matmul}, {Op::sparse_dense_matmul, sparse_dense_matmul}};

}  // namespace

std::span<const RuleRow> contract_rules() { return kContractRules; }

}  // namespace tfl::gradient
