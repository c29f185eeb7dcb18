// Complex numbers as host values: pairs of doubles on the heap.
#pragma once

#include "frontend/core/interp.h"

namespace tfl {

/// A new complex number.
inline Value complex_value(Interp& interp, double re, double im) {
  auto* c = interp.allocate<ComplexObject>(interp.types.complex);
  c->re = re;
  c->im = im;
  return Value::adopt(c);
}

/// A number of the host as a complex one; false for what is none. Sees int, bool, float, complex and classes derived from them.
bool complex_parts(const Value& v, double& re, double& im);
/// complex(v) of any value: numbers, __complex__, __float__, __index__, scalars of tensors and arrays. TypeError for others.
Result<void> to_complex(Interp& interp, const Value& v, double& re, double& im);

/// CPython's repr: "(1+2j)", "2j".
std::string complex_repr(double re, double im);

}  // namespace tfl
