// Gradients of matrix products.
#include "ir/gradient/compose.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

void matmul(RuleCall& c) {
  bool ta = c.attrs.get_bool(Attr::transpose_a), tb = c.attrs.get_bool(Attr::transpose_b);
  X g = c.g();
  if (c.wanted(0)) {
    X b = c.x(1);
    c.give_unbroadcast(0, ta ? product(b, g, tb, true) : product(g, b, false, !tb));
  }
  if (c.wanted(1)) {
    X a = c.x(0);
    c.give_unbroadcast(1, tb ? product(g, a, true, ta) : product(a, g, !ta, false));
  }
}

constexpr RuleRow kContractRules[] = {{Op::matmul, matmul}};

}  // namespace

std::span<const RuleRow> contract_rules() { return kContractRules; }

}  // namespace tfl::gradient
