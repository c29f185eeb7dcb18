// The gradient of every operation: elementwise ones from the formulas in their rows, the others from one function each.
#pragma once

#include "ir/gradient/adjoint.h"

namespace tfl::gradient {

using Rule = void (*)(RuleCall&);

/// Null: the operation has no gradient (its operands get None).
Rule rule_of(Op op);
/// True for element types that gradients flow through.
inline bool differentiable(DType d) { return is_floating(d) || is_complex(d); }
inline bool differentiable(const ir::Type& t) {
  return (t.kind != ir::TypeKind::Resource || !t.opaque) && differentiable(t.tensor.dtype);
}

// elementwise.cpp
Rule elementwise_rule(Op op);
// One file a family; each row {op, rule}.
struct RuleRow {
  Op op;
  Rule rule;
};
std::span<const RuleRow> shape_rules();
std::span<const RuleRow> gather_rules();
std::span<const RuleRow> reduce_rules();
std::span<const RuleRow> contract_rules();
std::span<const RuleRow> linalg_rules();
std::span<const RuleRow> fourier_rules();
std::span<const RuleRow> window_rules();
std::span<const RuleRow> array_rules();
std::span<const RuleRow> control_rules();

}  // namespace tfl::gradient
