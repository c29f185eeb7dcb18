// What is to be computed with windows: convolutions, pooling and their gradients. Must not know operations, tensors or contexts:
// libraries made by `tfl build` use it, too.
#pragma once

#include "runtime/kernels/window_shape.h"

namespace tfl {

enum class WindowKind : uint8_t {  // operands, result
  convolution,         // x, filter
  convolution_input,   // filter, gradient; x's
  convolution_filter,  // x, gradient; the filter's
  depthwise,           // as convolutions
  depthwise_input,
  depthwise_filter,
  max_pool,            // x
  max_pool_grad,       // x, gradient; x's
  avg_pool,            // x
  avg_pool_grad,       // gradient; x's
};

template <class T>
struct WindowJob {
  WindowKind kind = WindowKind::convolution;
  Convolution shape;
  const T* a = nullptr;
  const T* b = nullptr;
  T* result = nullptr;
  // Told when rows [first, last) of the result have their value, on any thread; every row once. Rows are the pixels of the result; of
  // convolution, depthwise and pools only.
  void* finisher = nullptr;
  void (*finish)(void* finisher, int64_t first, int64_t last) = nullptr;
};

}  // namespace tfl
