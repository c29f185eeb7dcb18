// Softmax and its logarithm over the last axis, which tf.nn puts together from operations. The evaluator runs these at
// once, with the loops that eager code has for rows, where nobody sees what lies between. The bits are those of the
// operations. This header must not know slots.
#pragma once

#include "ir/graph.h"

namespace tfl::ir {

struct Softmax {
  Ref x;                           // null: there is none
  bool logs = false;               // its logarithm
  SmallVec<const Node*, 5> inner;  // the operations that it stands for, the last left out
};

/// The one that `last`, a node of `block`, is the last operation of. Its rows are of a length that the loops take, as far
/// as that is known.
Softmax softmax_ending_at(const Block& block, const Node& last);
/// Of any x of the type that the operations have.
Result<Tensor> run_softmax(Context& context, Tensor x, bool logs);

}  // namespace tfl::ir
