// Softmax in graphs: found among operations, run by the loops of rows or by the operations themselves.
#include "ir/softmax.h"

#include <algorithm>

#include "runtime/kernels/reduce/softmax.h"

namespace tfl::ir {

namespace {

// The node that gives `r`, where it is of this kind.
const Node* made_by(Ref r, Op op) { return r.node->op == op ? r.node : nullptr; }

// The same over the last axis of a tensor of this rank, which keeps it.
const Node* reduced_by(Ref r, Op op, size_t rank) {
  const Node* n = made_by(r, op);
  const Dims* axes = n ? n->attrs.get_ints(Attr::axes) : nullptr;
  bool last = axes && axes->size() == 1 && ((*axes)[0] == -1 || (*axes)[0] == static_cast<int64_t>(rank) - 1);
  return last && n->attrs.get_bool(Attr::keepdims) ? n : nullptr;
}

bool may_be_rows(const Type& type) {
  const TensorType& t = type.tensor;
  if (!type.is_tensor() || !t.ranked || t.dims.empty() || (t.dtype != DType::F32 && t.dtype != DType::F64)) return false;
  int64_t n = t.dims.back();
  return n < 0 || (n >= kShortestSoftmaxRow && n <= kLongestSoftmaxRow);
}

// Whether the values of these nodes, one each, are used by one another and by `last` alone.
bool closed(const Block& block, const SmallVec<const Node*, 5>& inner, const Node& last) {
  auto has = [&](const Node* n) { return std::find(inner.begin(), inner.end(), n) != inner.end(); };
  for (Ref r : block.results) {
    if (has(r.node)) return false;
  }
  for (const auto& n : block.nodes) {
    if (n.get() == &last || has(n.get())) continue;
    for (Ref r : n->operands) {
      if (has(r.node)) return false;
    }
  }
  return true;
}

}  // namespace

Softmax softmax_ending_at(const Block& block, const Node& last) {
  // exp(shifted) / sum, or shifted - log(sum)
  if (last.op != Op::divide && last.op != Op::subtract) return {};
  const bool logs = last.op == Op::subtract;
  const Node* log = logs ? made_by(last.operands[1], Op::log) : nullptr;
  if (logs && !log) return {};
  const Node* sum = made_by(logs ? log->operands[0] : last.operands[1], Op::reduce_sum);
  const Node* powers = sum ? made_by(sum->operands[0], Op::exp) : nullptr;
  const Node* shifted = powers ? made_by(powers->operands[0], Op::subtract) : nullptr;
  if (!shifted || last.operands[0].node != (logs ? shifted : powers) || !may_be_rows(shifted->operands[0].type())) return {};
  const Ref x = shifted->operands[0];
  const size_t rank = x.type().tensor.dims.size();
  const Node* most = reduced_by(shifted->operands[1], Op::reduce_max, rank);
  if (!most || most->operands[0] != x || !reduced_by(log ? log->operands[0] : last.operands[1], Op::reduce_sum, rank)) return {};
  Softmax found{x, logs, {most, shifted, powers, sum}};
  if (log) found.inner.push_back(log);
  return closed(block, found.inner, last) ? found : Softmax();
}

Result<Tensor> run_softmax(Context& context, Tensor x, bool logs) {
  if (has_softmax_rows(x)) return softmax_rows(context, x, logs);
  auto over = [&](Op op, Tensor of) {
    return apply1(context, op, {std::move(of)}, Attrs().set_ints(Attr::axes, {-1}).set_bool(Attr::keepdims, true));
  };
  Tensor most = TFL_TRY(over(Op::reduce_max, x));
  Tensor shifted = TFL_TRY(apply1(context, Op::subtract, {std::move(x), std::move(most)}));
  Tensor powers = TFL_TRY(apply1(context, Op::exp, {shifted}));
  Tensor sum = TFL_TRY(over(Op::reduce_sum, powers));
  if (!logs) return apply1(context, Op::divide, {std::move(powers), std::move(sum)});
  return apply1(context, Op::subtract, {std::move(shifted), TFL_TRY(apply1(context, Op::log, {std::move(sum)}))});
}

}  // namespace tfl::ir
