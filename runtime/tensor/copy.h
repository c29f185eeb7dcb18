// Copies of elements between two strided layouts: what every operation that moves elements is made of.
// Knows layouts and element sizes, not values; must not know operations.
#pragma once

#include <span>

#include "runtime/core/context.h"
#include "runtime/tensor/tensor.h"

namespace tfl {

/// For every index i within `dims`: dst[i . dst_strides] = src[i . src_strides]; strides count elements. Large copies use
/// the context's threads. The two must not overlap. `by_interrupt`: after one what is left may stay undone (kernels, whose results nobody
/// looks at then).
enum class Cut : uint8_t { never, by_interrupt };
void copy_strided(Context& context, DType dtype, std::span<const int64_t> dims, std::byte* dst,
                  std::span<const int64_t> dst_strides, const std::byte* src, std::span<const int64_t> src_strides,
                  Cut cut = Cut::never);

/// dst[0 .. n) = *value.
void fill_elements(Context& context, DType dtype, std::byte* dst, int64_t n, const std::byte* value);

/// A run of `n` consecutive elements.
void copy_run(DType dtype, std::byte* dst, const std::byte* src, int64_t n);

}  // namespace tfl
