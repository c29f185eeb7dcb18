// What a call of the routine that samples by rejection is told of an operation. This header must not know how samples are drawn.
#pragma once

#include <optional>

#include "runtime/kernels/routine.h"
#include "runtime/ops/facts.h"

namespace tfl {

/// RoutineCall::flags; nothing for operations that do no such thing.
inline std::optional<int64_t> sample_flags(Op op, DType parameters) {
  const OpFacts& facts = op_facts(op);
  if (facts.form != PlanForm::routine || facts.routine != Routine::sample) return std::nullopt;
  const bool narrow = facts.how == static_cast<int64_t>(SampleKind::binomial) && parameters != DType::F64;
  return facts.how | (narrow ? kSampleNarrow : 0) | static_cast<int64_t>(parameters) << kSampleDType;
}

}  // namespace tfl
