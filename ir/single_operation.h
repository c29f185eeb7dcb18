// A function of one operation on inputs that it uses once each, run without slots. This header must not know programs.
#pragma once

#include <algorithm>

#include "ir/graph.h"
#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/ops/op.h"

namespace tfl::ir {

class SingleOperation {
 public:
  SingleOperation() = default;
  /// Of a function whose values are tensors; false as a condition when it is another one.
  explicit SingleOperation(const Function& f) {
    const Block& b = f.body;
    if (b.nodes.size() != 1 || b.results.size() != 1 || b.results[0].node != b.nodes[0].get() || b.results[0].index != 0) return;
    if (b.nodes[0]->operands.size() > kMost) return;
    for (Ref r : b.nodes[0]->operands) {
      uint32_t at = 0;
      while (at < b.params.size() && b.params[at].get() != r.node) ++at;
      if (at == b.params.size() || std::find(inputs_.begin(), inputs_.end(), at) != inputs_.end()) return;
      inputs_.push_back(at);
    }
    node_ = b.nodes[0].get();
  }
  explicit operator bool() const { return node_; }

  /// As Program::run_plain.
  bool run(Context& context, std::span<TensorRep* const> inputs, Tensor& result) const {
    if (inputs_.size() == 2 && is_elementwise(node_->op)) {
      result = apply_small_pair(context, node_->op, inputs[inputs_[0]], inputs[inputs_[1]]);
      if (result) return true;
    }
    Tensor operands[kMost];
    for (size_t k = 0; k < inputs_.size(); ++k) operands[k] = Tensor::share(inputs[inputs_[k]]);
    Tensors out;
    if (!apply_consuming(context, node_->op, {operands, inputs_.size()}, node_->attrs, out) || out.size() != 1) return false;
    result = std::move(out[0]);
    return true;
  }

 private:
  static constexpr size_t kMost = 4;
  const Node* node_ = nullptr;
  SmallVec<uint32_t, kMost> inputs_;  // which input each operand is
};

}  // namespace tfl::ir
