// Activation functions and the products with logarithms, as TensorFlow defines them.
#pragma once

#include "runtime/math/erf.h"
#include "runtime/math/hyperbolic.h"

namespace tfl {
inline namespace TFL_ISA {
namespace math {

// log(1 + e^x).
template <class V>
TFL_INLINE V softplus(V x) {
  if constexpr (is_f32<V>) {
    return convert<float>(softplus(convert<double>(x)));
  } else {
    return select(x != x, x, maximum(x, V(0)) + log1p(exp(neg(abs(x)))));
  }
}
template <class V>
TFL_INLINE V log_sigmoid(V x) {
  return neg(softplus(neg(x)));
}
template <class V>
TFL_INLINE V softsign(V x) {
  return x / (V(1) + abs(x));
}
template <class V>
TFL_INLINE V elu(V x) {
  return select(x < 0, expm1(x), x);
}
template <class V>
TFL_INLINE V selu(V x) {
  const V scale = by_type<V>(1.0507009873554804934f, 1.0507009873554804934);
  const V scale_alpha = by_type<V>(1.7580993408473768599f, 1.7580993408473768599);
  return select(x < 0, scale_alpha * expm1(x), scale * x);
}
template <class V>
TFL_INLINE V leaky_relu(V x, V alpha) {
  return select(x > 0, x, x * alpha);
}
template <class V>
TFL_INLINE V silu(V x) {
  return x * sigmoid(x);
}
// The order of operations of tf.nn.gelu, which is made of others there; its constant is a float's, in double too.
template <class V>
TFL_INLINE V gelu(V x) {
  return V(0.5f) * x * erfc(neg(x) * V(0.70710678f));
}
template <class V>
TFL_INLINE V gelu_tanh(V x) {
  const V c = by_type<V>(0.7978845608028654f, 0.7978845608028654);
  const V cubic = by_type<V>(0.044715f, 0.044715);
  return V(0.5f) * x * (V(1) + tanh(c * (x + cubic * (x * x * x))));
}
// The derivative of gelu_tanh.
template <class V>
TFL_INLINE V gelu_tanh_slope(V x) {
  const V c = by_type<V>(0.7978845608028654f, 0.7978845608028654);
  const V cubic = by_type<V>(0.044715f, 0.044715);
  V t = tanh(c * (x + cubic * (x * x * x)));
  V inner = c * (V(1) + V(3) * cubic * (x * x));
  return V(0.5f) * (V(1) + t) + V(0.5f) * x * (V(1) - t * t) * inner;
}

// x log y, x log(1 + y), x / y; 0 where x is 0, whatever y.
template <class V>
TFL_INLINE V xlogy(V x, V y) {
  return select(x == 0, V(0), x * log(y));
}
template <class V>
TFL_INLINE V xlog1py(V x, V y) {
  return select(x == 0, V(0), x * log1p(y));
}
template <class V>
TFL_INLINE V xdivy(V x, V y) {
  return select(x == 0, V(0), x / y);
}

}  // namespace math
}  // namespace TFL_ISA
}  // namespace tfl
