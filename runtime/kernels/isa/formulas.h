// The names that the rows of elementwise.def are written in: the formulas of runtime/math, one name for integers and floats.
// This header must not know operations or tensors.
#pragma once

#include "runtime/math/activation.h"
#include "runtime/math/basic.h"
#include "runtime/math/bessel.h"
#include "runtime/math/complex_elementary.h"
#include "runtime/math/erf.h"
#include "runtime/math/exp.h"
#include "runtime/math/gamma.h"
#include "runtime/math/hyperbolic.h"
#include "runtime/math/integer.h"
#include "runtime/math/inverse_trig.h"
#include "runtime/math/log.h"
#include "runtime/math/pow.h"
#include "runtime/math/special.h"
#include "runtime/math/trig.h"

namespace tfl {
inline namespace TFL_ISA {
namespace formulas {

using namespace math;  // NOLINT

template <class V>
  requires(!is_real<V>)
TFL_INLINE V pow(V a, V b) {
  return int_pow(a, b);
}
// To an integral value, halves to even; integers are integral already.
template <class V>
TFL_INLINE V round_to_even(V x) {
  if constexpr (is_real<V>) {
    return rint(x);
  } else {
    return x;
  }
}

}  // namespace formulas
}  // namespace TFL_ISA
}  // namespace tfl
