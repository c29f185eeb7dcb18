// What of a block is needed, and where integers come from: for whoever asks more than whether a node is native.
#include <algorithm>

#include "codegen/plan/native_ops.h"
#include "ir/infer.h"
#include "ir/regions.h"
#include "runtime/ops/facts.h"
#include "runtime/shapes/rules.h"

namespace tfl::plan {

using ir::Node;
using ir::Ref;

namespace {

// What may be left out because it cannot fail: it words a message, or is a value that nobody needs.
bool only_words(const Node& n) {
  if (op_facts(n.op).words) return true;
  ir::Effects e = ir::effects_of(n);
  return n.regions.empty() && !n.target() && !e.writes && !e.fails;
}

class Needs {
 public:
  std::unordered_set<const Node*> found;

  void block(const ir::Block& b) {
    for (Ref r : b.results) found.insert(r.node);
    for (size_t i = b.nodes.size(); i-- > 0;) {
      const Node& n = *b.nodes[i];
      if (found.contains(&n) || !only_words(n)) node(n);
    }
  }

 private:
  void node(const Node& n) {
    found.insert(&n);
    size_t operands = n.op == Op::check ? 1 : n.regions.empty() ? n.operands.size() : ir::inputs_from(n);
    for (size_t i = 0; i < operands; ++i) found.insert(n.operands[i].node);
    for (const auto& region : n.regions) block(*region);
    for (size_t i = operands; i < n.operands.size(); ++i) {
      bool wanted = n.op == Op::while_loop && i < n.types.size();
      for (const auto& region : n.regions) wanted = wanted || found.contains(region->params[i - ir::inputs_from(n)].get());
      if (wanted) found.insert(n.operands[i].node);
    }
  }
};

}  // namespace

std::unordered_set<const Node*> needed_nodes(const ir::Block& block) {
  Needs needs;
  needs.block(block);
  return std::move(needs.found);
}

bool known_integers(Context& context, Ref r, Dims& out) {
  if (!r.type().is_tensor() || !is_integer(r.type().tensor.dtype) || r.type().tensor.dtype == DType::U64) return false;
  Tensor value = r.node->op == Op::constant ? r.node->constant : ir::static_value(context, r);
  if (!value || value.size() > 1024) return false;
  Result<Tensor> row = contiguous(context, value);
  if (!row) return false;
  int64_t size = row->size(), stride = 1;
  out = shape_rules::integers(row->rank() <= 1 ? *row : Tensor::view(context, *row, {&size, 1}, {&stride, 1}, 0));
  return true;
}

Ref scalar_behind(Ref vector, size_t i) {
  const Node& n = *vector.node;
  if (n.op == Op::stack && i < n.operands.size() && has_rank_0(n.operands[i])) return n.operands[i];
  if ((n.op == Op::reshape || n.op == Op::expand_dims) && i == 0 && has_rank_0(n.operands[0])) return n.operands[0];
  if (n.op == Op::concat) {
    for (Ref part : n.operands) {
      if (!part.type().tensor.ranked || part.type().tensor.dims.size() != 1 || part.type().tensor.dims[0] < 0) return {};
      size_t length = static_cast<size_t>(part.type().tensor.dims[0]);
      if (i < length) return scalar_behind(part, i);
      i -= length;
    }
  }
  return {};
}

bool is_main_diagonal(const Node& n) {
  const Dims* k = n.attrs.get_ints(Attr::k);
  return !k || std::all_of(k->begin(), k->end(), [](int64_t d) { return d == 0; });
}

std::optional<MatrixSolve> matrix_solve(Op op) {
  const OpFacts& facts = op_facts(op);
  if (facts.form != PlanForm::routine || facts.routine != Routine::solve) return std::nullopt;
  return static_cast<MatrixSolve>(facts.how);
}

std::optional<MatrixFactor> matrix_factor(Op op) {
  const OpFacts& facts = op_facts(op);
  if (facts.form != PlanForm::routine || facts.routine != Routine::factor) return std::nullopt;
  return static_cast<MatrixFactor>(facts.how);
}

Ref outside(Ref parameter) {
  const ir::Block& b = *parameter.node->block;
  if (!b.owner) return {};
  const Node& n = *b.owner;
  for (size_t i = 0; i < b.params.size(); ++i) {
    if (b.params[i].get() != parameter.node) continue;
    if (n.op == Op::while_loop && i < n.types.size()) return {};
    return n.operands[ir::inputs_from(n) + i];
  }
  return {};
}

}  // namespace tfl::plan
