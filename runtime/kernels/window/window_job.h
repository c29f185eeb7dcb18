// What is to be computed with windows: convolutions, pooling and their gradients. Must not know operations, tensors or contexts:
// libraries made by `tfl build` use it, too.
#pragma once

#include <cstddef>

#include "runtime/shapes/window_shape.h"

namespace tfl {

enum class WindowKind : uint8_t {  // operands, result
  convolution,                     // x, filter
  convolution_input,               // filter, gradient; x's
  convolution_filter,              // x, gradient; the filter's
  depthwise,                       // as convolutions
  depthwise_input,
  depthwise_filter,
  max_pool,       // x
  max_pool_grad,  // x, gradient; x's
  avg_pool,       // x
  avg_pool_grad,  // gradient; x's
};

template <class T>
struct WindowJob {
  WindowKind kind = WindowKind::convolution;
  Convolution shape;
  const T* a = nullptr;
  const T* b = nullptr;
  T* result = nullptr;
  // Told when rows [first, last) of the result have their value, on any thread; every row once. Rows are the pixels of the
  // result; of convolution, depthwise and pools only.
  void* finisher = nullptr;
  void (*finish)(void* finisher, int64_t first, int64_t last) = nullptr;
};

/// A job as machine code asks for it. Words of 8 bytes only; sizes for the job's shape.
struct WindowCall {
  struct Axis {
    int64_t in, kernel, stride, dilation, out, before;
  };
  int64_t kind, batch, channels_in, channels_out, groups;
  Axis axes[3];
};
inline constexpr int kWindowWords = 5 + 3 * 6;
static_assert(sizeof(WindowCall) == kWindowWords * sizeof(int64_t));

template <class T>
WindowJob<T> job_of(const WindowCall& call, const void* a, const void* b, void* result) {
  WindowJob<T> job;
  job.kind = static_cast<WindowKind>(call.kind);
  job.shape.batch = call.batch;
  job.shape.channels_in = call.channels_in;
  job.shape.channels_out = call.channels_out;
  job.shape.groups = call.groups;
  for (size_t i = 0; i < 3; ++i) {
    const WindowCall::Axis& x = call.axes[i];
    job.shape.windows.axes[i] = {x.in, x.kernel, x.stride, x.dilation, x.out, x.before, 0};
  }
  job.a = static_cast<const T*>(a);
  job.b = static_cast<const T*>(b);
  job.result = static_cast<T*>(result);
  return job;
}

/// Whether such a job tells when rows of its result are finished.
inline constexpr bool tells_rows(WindowKind k) {
  return k == WindowKind::convolution || k == WindowKind::depthwise || k == WindowKind::max_pool || k == WindowKind::avg_pool;
}

}  // namespace tfl
