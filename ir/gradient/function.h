// The gradient of a whole graph function: a forward function that also hands out what the gradient reads, and a backward function.
// This header must not know about tapes or host values.
#pragma once

#include <memory>
#include <vector>

#include "ir/gradient/adjoint.h"

namespace tfl::gradient {

struct Derivative {
  std::shared_ptr<ir::Function> forward;   // parameters as the function's; its results, then what is kept for the gradient
  /// The gradients of the results in `seeds`, sums so far of the gradients that it gives, what it reads -> those sums gone on with.
  std::shared_ptr<ir::Function> backward;
  /// What `backward` reads, in order: a parameter of the function, or a result of `forward`.
  struct Read {
    bool parameter;
    size_t index;
    bool operator==(const Read&) const = default;
  };
  std::vector<Read> reads;
  std::vector<size_t> seeds;               // results whose gradients it takes, in order
  std::vector<int> gradient_of;            // for each parameter: which result of `backward` is its gradient; -1: none flows to it
  std::vector<bool> untouched;             // for each parameter: control flow may have added nothing to the sum it was given
};

/// Which results of `forward` a gradient may flow into: the function's own, and of those that are kept the ones that `backward` has a
/// gradient for. Others are read for what has none, such as a comparison.
std::vector<bool> may_have_gradient(const Derivative& d);

/// The gradient of a parameter after `backward`: a sum that was empty (kEmptySum) and that nothing was added to becomes a plain zero.
X settled(const Derivative& d, size_t parameter, bool was_empty, X sum);

/// `wanted`: parameters whose gradient is asked for; `seeded`: results that have one. Variables count as parameters; their gradient is a
/// tensor. `first_of`: for each parameter the first one that is given the same value (itself mostly), whose gradient is that of all.
Result<std::shared_ptr<const Derivative>> differentiate(Context& context, const ir::Function& f, std::vector<bool> wanted,
                                                        const std::vector<bool>& seeded, const std::vector<size_t>& first_of);

/// Puts the bodies of called functions in the place of calls, in all regions, but for functions that call themselves; and lets a value
/// that comes into a region twice be one parameter, so that what flows into it has one sum.
void inline_calls(ir::Block& block);

}  // namespace tfl::gradient
