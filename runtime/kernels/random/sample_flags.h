// What a call of the routine that samples by rejection is told of an operation. This header must not know how samples are drawn.
#pragma once

#include <optional>

#include "runtime/kernels/routine.h"
#include "runtime/ops/op.h"

namespace tfl {

/// RoutineCall::flags; nothing for operations that do no such thing.
inline std::optional<int64_t> sample_flags(Op op, DType parameters) {
  SampleKind kind;
  int64_t how = 0;
  switch (op) {
    case Op::stateless_gamma: kind = SampleKind::gamma; break;
    case Op::stateless_poisson: kind = SampleKind::poisson; break;
    case Op::stateless_binomial:
      kind = SampleKind::binomial;
      how = parameters != DType::F64 ? kSampleNarrow : 0;
      break;
    case Op::stateless_truncated: kind = SampleKind::truncated; break;
    default: return std::nullopt;
  }
  return static_cast<int64_t>(kind) | how | static_cast<int64_t>(parameters) << kSampleDType;
}

}  // namespace tfl
