// Windows that move over the spatial axes of images and volumes, as numbers. Must not know operations, tensors or contexts:
// libraries made by `tfl build` use it, too.
#pragma once

#include <array>
#include <cstdint>

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

/// A convolution as its kernels see it. Filters are (windows, channels of a group, channels out); depthwise ones (windows,
/// channels, multiplier). Pooling has as many channels out as in.
struct Convolution {
  Windows windows;
  int64_t batch = 0, channels_in = 0, channels_out = 0, groups = 1;
};

}  // namespace tfl
