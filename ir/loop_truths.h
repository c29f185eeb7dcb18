// What is certain about loops before they run: whether they run at all, and booleans of their bodies that hold in every iteration. This header
// must not know who asks.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ir/ref_map.h"

namespace tfl::ir {

/// Whether the loop is certain to run an iteration: its condition follows from constants, or looks at how often another such loop has run.
bool surely_runs(Context& context, const Node& loop);

/// A boolean scalar that the iterations hand on: a parameter of the body, what the next iteration gets, whether the first one gets true.
struct HandedTruth {
  Ref param, next;
  bool begins_true;
};

/// The boolean scalars of a body that are true whenever it runs, by induction over the iterations: parameters, and disjunctions of what may
/// be false each by itself.
class LoopTruths {
 public:
  LoopTruths(const Block& body, const std::vector<HandedTruth>& handed);
  bool holds(Ref r) const;
  /// The nodes of which it had to be found out.
  const std::vector<Ref>& found() const { return found_; }

 private:
  bool at_first(Ref r) const;
  bool in_next(Ref r) const;

  RefMap<const HandedTruth*> handed_;
  RefMap<bool> true_;
  std::vector<Ref> found_;
};

}  // namespace tfl::ir
