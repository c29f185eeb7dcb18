// Runs machine code of a plan on tensors: facts and guards are checked, symbols computed, memory taken, the frame filled,
// results made. What follows from the plan alone is worked out once. This header must not know where code comes from.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "codegen/abi.h"
#include "codegen/plan/plan.h"
#include "runtime/context.h"

namespace tfl::codegen {

class NativeFunction {
 public:
  /// `plan` is that of the code; its constants (row-major) are given apart and Plan::constants is not looked at, because
  /// tensors belong to the thread of their context and the plan may be read by another one.
  NativeFunction(std::shared_ptr<const plan::Plan> plan, std::vector<Tensor> constants);

  /// As ir::Native::run; `entry` is the code of the plan.
  bool run(Context& context, EntryFunction entry, std::span<Tensor> inputs, std::span<Tensor> results) const;

  /// False when a plan asks for what this does not know: its code is never run.
  bool usable() const { return usable_; }

 private:
  struct Call;  // one run
  // A frame word that is the address of a value.
  struct Address {
    uint32_t word;
    plan::Home home;
    uint32_t index;
  };

  std::shared_ptr<const plan::Plan> plan_;
  std::vector<Tensor> constants_;
  std::vector<Address> addresses_;
  std::vector<plan::Donation> donations_;  // none when the code can fail: the caller needs its inputs then
  SmallVec<size_t, 8> offsets_;            // of slots in the arena, when their sizes are known
  size_t arena_bytes_ = 0;
  bool known_arena_ = true;
  bool symbolic_ = false;  // an input has a size that only the run knows
  bool usable_ = true;
};

}  // namespace tfl::codegen
