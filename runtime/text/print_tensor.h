// Elements as TensorFlow's tf.print and tf.strings.format write them: no commas, the first and last few of each axis.
// This header must not know about streams or host values.
#pragma once

#include <string>

#include "runtime/tensor/tensor.h"

namespace tfl {

/// `summarize`: how many items at each end of an axis; negative: all.
std::string print_tensor(const Tensor& t, int64_t summarize);

}  // namespace tfl
