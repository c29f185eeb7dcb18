// Elements as TensorFlow's tf.print and tf.strings.format write them: no commas, the first and last few of each axis.
// This header must not know about streams or host values.
#pragma once

#include <string>

#include "runtime/tensor/tensor.h"

namespace tfl {

/// `summarize`: how many items at each end of an axis; -1: all. What of_check(n) gives: the first n elements in the order they lie in (-1: all), as
/// the text of a failed assertion has them.
constexpr int64_t of_check(int64_t elements) { return -3 - elements; }
std::string print_tensor(const Tensor& t, int64_t summarize);

}  // namespace tfl
