// Differentiation of a block of a graph: the block is extended so that it hands out what its gradient reads, and the gradient is
// appended to another block. What differs between function bodies, branches and loop bodies is how a forward value reaches the
// gradient; each has a subclass in control.cpp or function.cpp.
// This header must not know about tapes or host values.
#pragma once

#include "ir/gradient/adjoint.h"
#include "ir/infer.h"
#include "ir/ref_map.h"

namespace tfl::gradient {

using ir::RefMap;
using ActiveSet = ir::RefSet;

class BlockAdjoint : public Adjoint {
 public:
  BlockAdjoint(Context& context, ir::Block& forward_block, ir::Block& backward_block)
      : context_(context), forward_block_(forward_block), backward_block_(backward_block) {}

  Context& context() override { return context_; }
  Result<void> apply(Op op, std::span<const V> operands, const Attrs& attrs, SmallVec<V, 2>& results) override;
  Result<void> apply_node(Op op, std::span<const V> operands, const Attrs& attrs, std::vector<std::unique_ptr<ir::Block>> regions,
                          std::shared_ptr<ir::Function> callee, std::vector<V>& results) override;
  std::vector<V> call_recursive(ir::Function& f, std::span<const V> operands, std::vector<ir::Type> types) override;
  V constant(Tensor value) override { return add(ir::append_constant(backward_block_, std::move(value))); }
  const ir::Type& type(V v) override { return values_[v].type(); }
  Result<V> forward(ir::Ref value) override;
  Result<ir::Ref> derive(Op op, ir::Ref value) override;

  V add(ir::Ref backward) {
    values_.push_back(backward);
    is_forward_.push_back(false);
    return static_cast<V>(values_.size() - 1);
  }
  ir::Ref ref(V v) const { return values_[v]; }

 protected:
  /// A way for `value`, which is no constant, to the gradient's side; asked for once.
  virtual Result<ir::Ref> carry(ir::Ref value) = 0;
  ir::Block& forward_block() { return forward_block_; }
  ir::Block& backward_block() { return backward_block_; }

  Context& context_;

 private:
  ir::Block& forward_block_;
  ir::Block& backward_block_;
  Result<ir::Ref> gated(V operand);

  std::vector<ir::Ref> values_;
  std::vector<bool> is_forward_;
  RefMap<V> carried_;
  RefMap<ir::Ref> shapes_, sizes_;  // what derive() made
};

/// The gradients of a block's values, by value; V of the block's adjoint.
using Gradients = RefMap<V>;

/// The values of `block` that depend, through operations with a gradient, on `from`.
ActiveSet dependents(const ir::Block& block, const std::vector<ir::Ref>& from);
/// The parameters of `block` that get a gradient when the values in `to` have one, among those in `active`.
std::vector<bool> reached_params(const ir::Block& block, const std::vector<ir::Ref>& to, const ActiveSet& active);

/// Walks the nodes of `block` backwards and adds up the gradients of their operands. `gradients` begins with those of the results.
Result<void> backpropagate(Adjoint& adjoint, ir::Block& block, const ActiveSet& active, Gradients& gradients);
/// What the sum of a value's gradients begins with: a value of its own, as `nothing so far + g` is, where sums enter a region or call.
X first_of_sum(const X& g);
/// The sum of two gradients of one value, tensors or arrays.
X sum_of(const X& a, const X& b);
/// Rows `values` at `indices` of axis 0, added up to a tensor of the sizes in `shape`.
X rows_to_tensor(const X& values, const X& indices, const X& shape);

}  // namespace tfl::gradient
