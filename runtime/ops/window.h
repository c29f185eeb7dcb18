// Windows that move over the spatial axes of images and volumes: sizes of results and padding, for shape rules and kernels alike.
// Sizes below zero are unknown. This header must not know what is computed in a window.
#pragma once

#include <array>
#include <span>

#include "runtime/ops/structural.h"

namespace tfl {

/// One spatial axis. Window o covers the places o * stride - before + k * dilation of the input, k < kernel; those outside
/// [0, in) are padding.
struct WindowAxis {
  int64_t in = 1, kernel = 1, stride = 1, dilation = 1, out = 1, before = 0, after = 0;
  int64_t first(int64_t o) const { return o * stride - before; }
};

/// Volumes have three axes; images the last two, and one of size 1 in front.
struct Windows {
  std::array<WindowAxis, 3> axes;
  int64_t outputs() const { return axes[0].out * axes[1].out * axes[2].out; }
  int64_t inputs() const { return axes[0].in * axes[1].in * axes[2].in; }
  int64_t taps() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};

/// From the attributes strides, dilations (ones without), padding and explicit_paddings; `in` and `kernel` hold two or three sizes.
Result<Windows> make_windows(Op op, std::span<const int64_t> in, std::span<const int64_t> kernel, const Attrs& attrs);

/// A convolution as its kernels see it. Filters are (windows, channels of a group, channels out); depthwise ones (windows, channels,
/// multiplier).
struct Convolution {
  Windows windows;
  int64_t batch = 0, channels_in = 0, channels_out = 0, groups = 1;
};
Result<Convolution> make_convolution(Op op, std::span<const int64_t> x, std::span<const int64_t> filter, bool depthwise, const Attrs& attrs);
/// The sizes of its result.
Dims convolution_sizes(const Convolution& c, size_t spatial_axes);

}  // namespace tfl
