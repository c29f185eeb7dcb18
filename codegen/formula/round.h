// Rounding of f32 values to those of a half type, as part of a formula.
#pragma once

#include "codegen/formula/rec.h"
#include "runtime/math/half.h"
#include "runtime/tensor/dtype.h"

namespace tfl::formula {

inline Rec<float> rounded_to(DType half, const Rec<float>& x) {
  if (half == DType::F16) return Rec<float>(record(Prim::round_f16, Elem::f32, Elem::f32, x.term));
  return bf16_to_f32(f32_to_bf16(x));
}

}  // namespace tfl::formula
