#include "ir/gradient/rules.h"

#include "ir/mutants.h"

namespace tfl::gradient {

Rule rule_of(Op op) {
  if (mutated("no gradient", op_info(op).name)) return nullptr;
  if (op_info(op).kind == OpKind::Elementwise) return elementwise_rule(op);
  for (std::span<const RuleRow> rows : {shape_rules(), gather_rules(), reduce_rules(), contract_rules(), linalg_rules(),
                                        fourier_rules(), window_rules(), array_rules(), control_rules()}) {
    for (const RuleRow& row : rows) {
      if (row.op == op) return row.rule;
    }
  }
  return nullptr;
}

}  // namespace tfl::gradient
