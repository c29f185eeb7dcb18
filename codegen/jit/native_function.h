// Runs machine code of a plan on tensors: facts and guards are checked, symbols computed, memory taken, the frame filled,
// results made. What follows from the plan alone is worked out once. This header must not know where code comes from.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "codegen/abi.h"
#include "codegen/jit/code_profile.h"
#include "codegen/load/plan_facts.h"
#include "codegen/plan/parallel_loops.h"
#include "ir/native.h"
#include "runtime/core/context.h"

namespace tfl::codegen {

class NativeFunction {
 public:
  /// `plan` is that of the code; its constants (row-major) are given apart and Plan::constants is not looked at, because
  /// tensors belong to the thread of their context and the plan may be read by another one.
  NativeFunction(std::shared_ptr<const plan::Plan> plan, std::vector<Tensor> constants);

  /// As ir::Native::run; `entry` is the code of the plan.
  /// `full` is set where it needs more room (Plan::room).
  bool run(Context& context, EntryFunction entry, std::span<Tensor> inputs, std::span<Tensor> results,
           bool* full = nullptr) const;
  /// As ir::Native::begin.
  std::unique_ptr<ir::BegunRun> begin(Context& context, EntryFunction entry, std::span<const Tensor> inputs) const;

  /// False when a plan asks for what this does not know: its code is never run.
  bool usable() const { return facts_.usable; }

  /// The code has probes, and tells `profile`, which is one of `all`.
  void tell(CodeProfile& profile, JitProfile& all) {
    profile_ = &profile;
    all_ = &all;
  }

 private:
  struct Call;  // one run
  struct Begun;
  size_t frame_bytes() const;

  std::shared_ptr<const plan::Plan> plan_;
  std::vector<Tensor> constants_;
  PlanFacts facts_;
  int most_beside_ = 1;                 // steps that may run at the same time
  std::vector<plan::StepWork> beside_;  // what they do
  CodeProfile* profile_ = nullptr;
  JitProfile* all_ = nullptr;
  std::vector<plan::Donation> donations_;  // none when the code can fail: the caller needs its inputs then
};

}  // namespace tfl::codegen
