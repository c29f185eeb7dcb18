// The stream that a tensor of seeds begins. This header must not know distributions.
#pragma once

#include "runtime/kernels/random/random_words.h"
#include "runtime/tensor/element.h"
#include "runtime/tensor/tensor.h"

namespace tfl {

/// Two integers, or three words that are the state of a generator.
inline Philox stream_of(const Tensor& seed) {
  uint64_t words[3] = {};
  ptrdiff_t step = seed.strides()[0] * static_cast<ptrdiff_t>(dtype_size(seed.dtype()));
  for (ptrdiff_t i = 0; i < seed.dim(0); ++i) words[i] = static_cast<uint64_t>(load_int(seed.dtype(), seed.raw() + i * step));
  return stream_of(words, seed.dim(0));
}

}  // namespace tfl
