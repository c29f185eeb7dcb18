// One step of the chain that defines every element of a product or a convolution: fused for floats, whole for integers.
#pragma once

#include <type_traits>

#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {

template <class V>
TFL_INLINE V multiply_add(const V& a, const V& b, const V& c) {
  if constexpr (std::is_floating_point_v<elem_of<V>>)
    return fma(a, b, c);
  else
    return c + a * b;
}

}  // namespace TFL_ISA
}  // namespace tfl
