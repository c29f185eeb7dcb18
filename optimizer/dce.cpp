// Removes what neither the results nor a visible effect need: nodes, results of branches, loop variables, region inputs.
//
//   %a = exp(%x) : f32                          (nothing uses %a)
//   %b, %c = cond(%p, %x, %y) ... (%b unused)
// becomes
//   %c = cond(%p, %y) ...
#include "optimizer/pass.h"

namespace tfl::optimizer {

void run_dce(PassCall& call) {
  size_t before = node_count(call.function);
  std::vector<std::string> dropped = call.function.dropped;  // what the optimiser removes was not the script's to see
  prune(call.function, call.function.strict);
  call.function.dropped = std::move(dropped);
  call.changed = node_count(call.function) != before;
}

}  // namespace tfl::optimizer
