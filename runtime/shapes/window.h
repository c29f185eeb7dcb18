// Windows that move over the spatial axes of images and volumes: sizes of results and padding, for shape rules and kernels alike.
// Sizes below zero are unknown. This header must not know what is computed in a window.
#pragma once

#include <span>

#include "runtime/ops/structural.h"
#include "runtime/shapes/window_shape.h"

namespace tfl {

/// From the attributes strides, dilations (ones without), padding and explicit_paddings; `in` and `kernel` hold two or three sizes.
Result<Windows> make_windows(Op op, std::span<const int64_t> in, std::span<const int64_t> kernel, const Attrs& attrs);

/// From the sizes of images and filter; `depthwise`: the filter is one.
Result<Convolution> make_convolution(Op op, std::span<const int64_t> x, std::span<const int64_t> filter, bool depthwise,
                                     const Attrs& attrs);
/// The sizes of its result.
Dims convolution_sizes(const Convolution& c, size_t spatial_axes);

}  // namespace tfl
