// Sizes of every value of a cluster in terms of its inputs' sizes. Sizes that meet in one operation are taken to be equal where
// that is all but certain (two unknown sizes in an elementwise operation), and the plan gets a guard for it.
// This header must not know kernels.
#pragma once

#include <memory>
#include <optional>

#include "codegen/plan/plan.h"
#include "ir/graph.h"

namespace tfl::plan {

/// What slice, strided_slice and strided_slice_grad read (of the last: where it writes). Element i of result axis k stands at
/// begin + i * stride of axis results[k].
struct Slice {
  struct Axis {
    Size begin = 0;
    int64_t stride = 1;
    Size length = 0;
    ir::Ref index;  // where it is set: one element, at this integer scalar (negative: from the end), instead of at begin
  };
  SmallVec<Axis, 4> axes;    // of the operand that is sliced
  SmallVec<int, 6> results;  // that operand's axis behind each axis of the result; -1 for a new one of size 1
};

class Shapes {
 public:
  /// Adds symbols and guards to `plan`, fills plan.inputs. None when a size does not follow from those of the inputs; `culprit`
  /// is then the node that it happened at, if any. `plan` must stay where it is while Shapes is used. Nodes that only word what a
  /// failed check says (native_ops.h: needed_nodes) have no sizes here.
  static std::optional<Shapes> of(Context& context, const ir::Function& cluster, Plan& plan, const ir::Node** culprit = nullptr);

  const Sizes& dims(ir::Ref r) const;
  /// A rank-0 or rank-1 integer value that is made of sizes (tf.shape(x), x.shape[0] * 2) or constants: its elements. Null when
  /// one of them is not, or is a negative constant.
  const Sizes* as_sizes(ir::Ref r) const;
  Slice slice(const ir::Node& node) const;
  /// Arithmetic over sizes: folds what is known, shares equal symbols.
  Size multiply(Size a, Size b);
  Size add(Size a, Size b);
  Size subtract(Size a, Size b);
  Size divide(Size a, Size b);
  Size product(std::span<const Size> sizes);

 private:
  struct Data;
  std::shared_ptr<Data> data_;
};

}  // namespace tfl::plan
