// Sizes of every value of a cluster in terms of its inputs' sizes. Sizes that meet in one operation are taken to be equal where
// that is all but certain (two unknown sizes in an elementwise operation), and the plan gets a guard for it.
// This header must not know kernels.
#pragma once

#include <optional>
#include <unordered_map>

#include "codegen/plan/plan.h"
#include "ir/graph.h"

namespace tfl::plan {

class Shapes {
 public:
  /// Adds symbols and guards to `plan`, fills plan.inputs. None when a size does not follow from those of the inputs.
  static std::optional<Shapes> of(Context& context, const ir::Function& cluster, Plan& plan);

  const Sizes& dims(ir::Ref r) const;
  /// A rank-0 or rank-1 integer value that is made of sizes (tf.shape(x), x.shape[0] * 2): its elements.
  const Sizes* as_sizes(ir::Ref r) const;
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
