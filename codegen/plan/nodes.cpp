// What the planner has to know of single operations.
#include <algorithm>

#include "codegen/formula/measure.h"
#include "codegen/plan/builder.h"
#include "codegen/plan/native_ops.h"
#include "runtime/kernels/elementwise/elementwise_checks.h"
#include "runtime/ops/facts.h"
#include "runtime/tensor/element.h"

namespace tfl::plan {

bool is_reduction(Op op) { return op_facts(op).form == PlanForm::reduction; }
bool is_routine(Op op) { return op_facts(op).form == PlanForm::routine; }
bool is_window(Op op) { return op_facts(op).form == PlanForm::window; }
bool keeps_order(const ir::Node& n) { return op_facts(n.op).form == PlanForm::ordered_view; }

bool is_strided(Op op) { return op == Op::strided_slice || op == Op::strided_slice_grad; }

bool is_view(const ir::Node& n) {
  // Of a diagonal with padding values are computed.
  return op_facts(n.op).is_view() && (n.op != Op::matrix_diag_part || n.operands.size() == 1);
}

bool is_deferrable(const ir::Node& n) {
  const PlanForm form = op_facts(n.op).form;
  return form == PlanForm::elementwise || form == PlanForm::deferred || is_view(n);
}

bool reads_elements(const ir::Node& n, size_t i) { return op_facts(n.op).reads_elements(i); }

bool refuses(Op op, DType dtype, int64_t y) { return y == 0 ? op != Op::pow : op == Op::pow && !is_unsigned(dtype) && y < 0; }

bool may_raise(Builder& b, const ir::Node& n) {
  if (op_info(n.op).kind != OpKind::Elementwise || !row_has_checks(n.op)) return false;
  ir::Ref y = n.operands[1];
  if (!is_integer(b.dtype(y))) return false;
  // A known divisor or exponent that no element refuses.
  Tensor known = b.known(y);
  if (!known || known.size() > 1024) return true;
  Result<Tensor> dense = contiguous(b.context, known);
  if (!dense) return true;
  for (int64_t i = 0; i < dense->size(); ++i) {
    if (refuses(n.op, dense->dtype(),
                load_int(dense->dtype(), dense->raw() + static_cast<size_t>(i) * dtype_size(dense->dtype()))))
      return true;
  }
  return false;
}

bool may_refuse(Builder& b, const ir::Node& n) {
  if (op_facts(n.op).refuses || may_raise(b, n)) return true;
  if (is_strided(n.op)) {
    const Slice slice = b.shapes.slice(n);
    return std::any_of(slice.axes.begin(), slice.axes.end(), [](const Slice::Axis& a) { return bool(a.index); });
  }
  for (const auto& region : n.regions) {
    std::unordered_set<const ir::Node*> needed = needed_nodes(*region);
    for (const auto& inner : region->nodes) {
      if (needed.contains(inner.get()) && may_refuse(b, *inner)) return true;
    }
  }
  return false;
}

int64_t cost_of(Op op) { return op_info(op).kind == OpKind::Elementwise ? formula::cost_of(op) : op_facts(op).cost; }

ReductionSpec reduction_spec(Builder& b, const ir::Node& n) {
  ReductionSpec spec;
  const Sizes& have = b.dims(n.operands[0]);
  size_t rank = have.size();
  if (n.op == Op::sum_to_shape) {
    const Sizes& wanted = b.dims({const_cast<ir::Node*>(&n), 0});
    size_t lead = rank >= wanted.size() ? rank - wanted.size() : 0;
    for (size_t i = 0; i < rank; ++i) spec.reduced.push_back(i < lead || (is_one(wanted[i - lead]) && !is_one(have[i])));
    return spec;
  }
  spec.kind = op_facts(n.op).folds;
  if (n.op == Op::reduce_mean) {
    spec.mean = true;
    if (is_integer(b.dtype(n.operands[0]))) spec.kind = ReduceKind::wide_sum;
  }
  const Dims* axes = n.attrs.get_ints(Attr::axes);
  spec.reduced.resize(rank, axes == nullptr);
  for (size_t i = 0; axes && i < axes->size(); ++i) {
    int64_t axis = (*axes)[i];
    spec.reduced[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis)] = true;
  }
  return spec;
}

}  // namespace tfl::plan
