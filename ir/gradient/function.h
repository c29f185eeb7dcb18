// The gradient of a whole graph function: a forward function that also hands out what the gradient reads, and a backward function.
// This header must not know about tapes or host values.
#pragma once

#include <memory>
#include <vector>

#include "ir/gradient/adjoint.h"

namespace tfl::gradient {

/// Whether a value gets a gradient: in no run, in some, in every one. An array: no element does, those of which it is said, all.
enum class Reach : uint8_t { None, Maybe, Always };

struct Derivative {
  std::shared_ptr<ir::Function> forward;  // parameters as the function's; its results, then what is kept for the gradient
  /// The gradients of the results in `seeds`, for some whether there is one, sums so far of the gradients that it gives, for some whether
  /// there is one (else the sum is kEmptySum), what it reads -> those sums gone on with, for the same ones whether there is one now. Of
  /// arrays an array of booleans says that; those for which it is said have no sum so far.
  std::shared_ptr<ir::Function> backward;
  /// What `backward` reads, in order: a parameter of the function, or a result of `forward`.
  struct Read {
    bool parameter;
    size_t index;
    bool operator==(const Read&) const = default;
  };
  std::vector<Read> reads;
  std::vector<size_t> seeds;     // results whose gradients it takes, in order
  std::vector<size_t> told;      // those of them of which it is said whether there is one
  size_t gradient_inputs = 0;    // the parameters of `backward` that come before what it reads
  std::vector<int> gradient_of;  // for each parameter: which result of `backward` is its gradient; -1: none flows to it
  std::vector<int> presence_of;  // for each parameter: which result of `backward` says whether there is one; -1: there always is
};

/// The same derivative; what it reads stands once among the results of `forward`, of which the first `own` are the function's.
std::shared_ptr<const Derivative> without_repeats(const Derivative& d, size_t own);

/// For each result of `forward` whether a gradient may flow into it: into the function's `own`, and of those that are kept into the ones that
/// `backward` has a gradient for. Others are read for what has none, such as a comparison.
std::vector<Reach> may_have_gradient(const Derivative& d, size_t own);

/// Whether the results of a call that is differentiated have a gradient, where any has.
std::vector<Reach> reach_of_results(const RuleCall& c);
/// What a call of `backward` takes for the gradients of results and sums so far of the call `c`, false after a failure; and the sums that it
/// gives, put back.
bool sums_before(RuleCall& c, const Derivative& d, std::vector<V>& operands);
void put_sums(RuleCall& c, const Derivative& d, const std::vector<X>& results);

/// `wanted`: parameters whose gradient is asked for; `seeded`: results that have one. Variables count as parameters; their gradient is a
/// tensor. `first_of`: for each parameter the first one that is given the same value (itself mostly), whose gradient is that of all.
Result<std::shared_ptr<const Derivative>> differentiate(Context& context, const ir::Function& f, std::vector<bool> wanted,
                                                        const std::vector<Reach>& seeded, const std::vector<size_t>& first_of);

/// Puts the bodies of called functions in the place of calls, in all regions, but for functions that call themselves; and lets a value
/// that comes into a region twice be one parameter, so that what flows into it has one sum.
void inline_calls(ir::Block& block);

}  // namespace tfl::gradient
