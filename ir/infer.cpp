// Types of a node's results: the operation table's rules, and what is known of sizes that are computed in the graph.
#include "ir/infer.h"

#include <fmt/core.h>

#include "ir/infer_control.h"
#include "ir/partial.h"
#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/ops/facts.h"

namespace tfl::ir {

namespace {

// Nodes that a rule may look at for the values of its operands.
constexpr int kNodes = 64;

// A size in terms of types: -1 for what is not known.
int64_t as_size(int64_t element) {
  if (element_known(element)) return element >= 0 ? element : -1;
  return element == kUnknownElement ? -1 : -2 - (element - kFirstSymbol);
}

bool one_unknown(std::span<const int64_t> dims, size_t& at, int64_t& rest) {
  size_t unknown = 0;
  rest = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) {
      ++unknown;
      at = i;
    } else if (__builtin_mul_overflow(rest, dims[i], &rest)) {
      return false;
    }
  }
  return unknown == 1;
}

// The one unknown size of a reshape follows from the number of elements.
void complete_reshape(const TensorType& x, TensorType& out) {
  size_t open = 0, from = 0;
  int64_t rest = 1, have = 1;
  if (!x.ranked || !one_unknown(out.dims, open, rest) || rest == 0) return;
  if (one_unknown(x.dims, from, have)) {
    if (have == rest && x.dims[from] != -1) out.dims[open] = x.dims[from];
    return;
  }
  for (int64_t d : x.dims) {
    if (d < 0) return;
  }
  if (have % rest == 0) out.dims[open] = have / rest;
}

class Refiner {
 public:
  Refiner(Context& context, Op op, std::span<const Ref> operands) : context_(context), op_(op), operands_(operands) {}

  void operator()(TensorType& out) {
    int sizes = op_facts(op_).sizes_in;
    if (sizes >= 0) return from_sizes(static_cast<size_t>(sizes), out);
    if (op_ == Op::tile) return tile(out);
    if (op_ == Op::slice) return slice(out);
  }

 private:
  bool elements(size_t operand, Dims& out) {
    int budget = kNodes;
    return partial_elements(context_, operands_[operand], out, budget);
  }

  void from_sizes(size_t operand, TensorType& out) {
    Dims wanted;
    if (operands_[operand].node->op == Op::constant && op_ != Op::reshape) return;
    if (!elements(operand, wanted)) return;
    if (!out.ranked) {
      out.ranked = true;
      out.dims = Dims(wanted.size(), -1);
    }
    if (out.dims.size() != wanted.size()) return;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (out.dims[i] == -1) out.dims[i] = as_size(wanted[i]);
    }
    if (op_ == Op::reshape) complete_reshape(operands_[0].type().tensor, out);
  }

  void tile(TensorType& out) {
    const TensorType& x = operands_[0].type().tensor;
    Dims times;
    if (operands_[1].node->op == Op::constant || !elements(1, times) || !x.ranked || times.size() != x.dims.size()) return;
    for (size_t i = 0; i < times.size(); ++i) {
      int64_t n = as_size(times[i]);
      if (x.dims[i] == 1) out.dims[i] = n;
      if (x.dims[i] == 0 || n == 0) out.dims[i] = 0;
      if (n == 1) out.dims[i] = x.dims[i];
      int64_t total = 0;
      if (n >= 0 && x.dims[i] >= 0 && !__builtin_mul_overflow(n, x.dims[i], &total)) out.dims[i] = total;
    }
  }

  void slice(TensorType& out) {
    const TensorType& x = operands_[0].type().tensor;
    Dims begin, size;
    if (!elements(2, size)) return;
    if (!out.ranked) {
      out.ranked = true;
      out.dims = Dims(size.size(), -1);
    }
    bool begins = elements(1, begin) && begin.size() == size.size();
    for (size_t i = 0; i < size.size() && out.dims.size() == size.size(); ++i) {
      if (out.dims[i] >= 0) continue;
      if (size[i] != -1)
        out.dims[i] = as_size(size[i]);
      else if (begins && begin[i] == 0 && x.ranked)
        out.dims[i] = x.dims[i];
      else if (begins && x.ranked && x.dims[i] >= 0 && begin[i] >= 0 && begin[i] <= x.dims[i])
        out.dims[i] = x.dims[i] - begin[i];
    }
  }

  Context& context_;
  Op op_;
  std::span<const Ref> operands_;
};

// Values are worth computing for operands that a rule can look into.
bool may_be_looked_at(const TensorType& t) {
  if (!t.ranked || t.dims.size() > 2) return false;
  if (t.dims.empty()) return true;
  int64_t n = 1;
  for (int64_t d : t.dims) {
    if (d < 0 || d > 64) return false;
    n *= d;
  }
  return n <= 64 && is_integer(t.dtype);
}

}  // namespace

Result<void> infer_node(Context& context, Op op, std::span<const Ref> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions, const Function* callee, std::vector<Type>& types) {
  if (is_control(op)) return infer_control(op, operands, attrs, regions, callee, types);
  bool elementwise = is_elementwise(op);
  SmallVec<OperandInfo, 3> infos;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Type& type = operands[i].type();
    if (!type.is_tensor())
      return fail(ErrorKind::InternalError, "graph operation {}: operand {} is {}", op_info(op).name, i, type_text(type));
    infos.push_back({type.tensor, {}});
    if (elementwise) continue;
    if (operands[i].node->op == Op::constant) {
      infos.back().value = operands[i].node->constant;
    } else if (may_be_looked_at(type.tensor)) {
      infos.back().value = static_value(context, operands[i]);
    }
  }
  SmallVec<TensorType, 2> results;
  TFL_TRY(tfl::infer(context, op, infos, attrs, results));
  if (!elementwise && results.size() == 1) Refiner(context, op, operands)(results[0]);
  types.reserve(results.size());
  for (TensorType& t : results) types.push_back(Type::of(std::move(t)));
  return {};
}

Result<Node*> append(Context& context, Block& block, Op op, std::vector<Ref> operands, Attrs attrs,
                     std::vector<std::unique_ptr<Block>> regions, std::shared_ptr<Function> callee) {
  std::vector<Type> types;
  TFL_TRY(infer_node(context, op, operands, attrs, regions, callee.get(), types));
  Node* node = block.add(op, std::move(operands), std::move(attrs), std::move(types));
  node->regions = std::move(regions);
  for (auto& region : node->regions) {
    region->owner = node;
    region->function = block.function;
  }
  node->callee = std::move(callee);
  return node;
}

Ref append_constant(Block& block, Tensor value) {
  Type type = Type::of({value.dtype(), true, Dims(value.dims())});
  Node* node = block.add(Op::constant, {}, {}, {std::move(type)});
  node->constant = std::move(value);
  return {node, 0};
}

}  // namespace tfl::ir
