// Differentiation of a block of a graph: the block is extended so that it hands out what its gradient reads, and the gradient is
// appended to another block. What differs between function bodies, branches and loop bodies is how a forward value reaches the
// gradient; each has a subclass in control.cpp or function.cpp.
// This header must not know about tapes or host values.
#pragma once

#include <algorithm>

#include "ir/gradient/adjoint.h"
#include "ir/gradient/function.h"
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

  std::vector<ir::Ref> values_;
  RefMap<V> carried_;
  RefMap<ir::Ref> shapes_, sizes_;  // what derive() made
};

/// The gradients of a block's values, by value; of the block's adjoint.
using Gradients = RefMap<Sum>;

/// The values of `block` that depend, through operations with a gradient, on `from`.
ActiveSet dependents(const ir::Block& block, const std::vector<ir::Ref>& from);
struct Reached {
  ir::Ref value;
  Reach reach = Reach::Always;
};
/// Which parameters of `block` get a gradient when the values in `to` have one, among those in `active`.
std::vector<Reach> reached_params(const ir::Block& block, const std::vector<Reached>& to, const ActiveSet& active);
/// The same for the body of a loop. `variables`: which variables' results have a gradient behind the loop; becomes what holds when any
/// iteration begins. Those that are not `wanted` stay as they are.
std::vector<Reach> reached_through_loop(const ir::Block& body, const ActiveSet& active, const std::vector<bool>& wanted,
                                        std::vector<Reach>& variables);
/// What holds of a value of that type where there are two ways to go on.
inline Reach one_of(Reach a, Reach b, const ir::Type& type) {
  return a == b ? a : type.kind == ir::TypeKind::Array ? std::max(a, b) : Reach::Maybe;
}

/// Walks the nodes of `block` backwards and adds up the gradients of their operands. `gradients` begins with those of the results.
Result<void> backpropagate(Adjoint& adjoint, ir::Block& block, const ActiveSet& active, Gradients& gradients);
/// The number of elements of an array of the forward side.
X size_of(Adjoint& a, ir::Ref array);
/// The sum of two gradients of one value, tensors or arrays.
X sum_of(const X& a, const X& b);
/// Rows `values` at `indices` of axis 0, added up to a tensor of the sizes in `shape`.
X rows_to_tensor(const X& values, const X& indices, const X& shape);

}  // namespace tfl::gradient
