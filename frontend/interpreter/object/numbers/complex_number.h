// Arithmetic of complex numbers as Python has it, for the type and for cmath.
// This header must not know about objects.
#pragma once

#include "runtime/support/result.h"

namespace tfl {

struct HostComplex {
  double re = 0, im = 0;
};

HostComplex operator*(HostComplex x, HostComplex y);
/// y is not 0.
HostComplex operator/(HostComplex x, HostComplex y);
/// ZeroDivisionError for 0 to a negative or complex power, OverflowError for what is too large.
Result<HostComplex> complex_power(HostComplex x, HostComplex y);

}  // namespace tfl
