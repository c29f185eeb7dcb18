// What follows from a plan alone and is the same wherever its code runs: frame words that are addresses, the places of slots, whether
// the code can fail; and, for given inputs, symbols and guards. This header must not know where code comes from or what runs it.
#pragma once

#include <span>
#include <vector>

#include "codegen/plan/plan.h"
#include "runtime/tensor/tensor.h"

namespace tfl::codegen {

class PlanFacts {
 public:
  /// A frame word that is the address of a value.
  struct Address {
    uint32_t word;
    plan::Home home;
    uint32_t index;
  };

  PlanFacts(const plan::Plan& plan, std::span<const Tensor> constants);

  /// The types of a trace's inputs are known; this is a second lock on a door behind which memory is written.
  bool types_hold(const plan::Plan& plan, std::span<const Tensor> inputs, size_t results) const;
  /// Fills the words of symbols; false where the plan declines these sizes.
  bool sizes_hold(const plan::Plan& plan, std::span<const Tensor> inputs, int64_t* words) const;
  /// The place of each slot in the arena, and its size; false when it has no size.
  bool place_slots(const plan::Plan& plan, const int64_t* words, SmallVec<size_t, 8>& offsets, size_t& bytes) const;

  std::vector<Address> addresses;
  SmallVec<size_t, 8> offsets;  // of slots in the arena, when their sizes are known
  size_t arena_bytes = 0;
  bool known_arena = true;
  bool symbolic = false;  // an input has a size that only the run knows
  bool can_fail = false;  // the code may find out on the way that an operation would raise
  bool usable = true;     // false when a plan asks for what this does not know: its code is never run
};

/// A known size, or that of a symbol.
inline int64_t size_of(plan::Size s, const int64_t* words) { return plan::is_known(s) ? s : words[plan::symbol_of(s)]; }

/// Whether `t` has the sizes of a result.
bool same_dims(const Tensor& t, const plan::ResultPlace& r, const int64_t* words);
/// The results that the code has not put into memory of their own: inputs (`rows`, row-major), constants and scalars, which are in
/// `words` after the run. False where one does not fit.
bool give_results(Context& context, const plan::Plan& plan, const int64_t* words, std::span<const Tensor* const> rows,
                  std::span<const Tensor> constants, std::span<Tensor> results);

}  // namespace tfl::codegen
