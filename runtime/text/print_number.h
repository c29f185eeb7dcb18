// Numbers as TensorFlow's kernels write them (tf.print, tf.strings.format): few digits where they tell the value exactly.
// This header must not know tensors.
#pragma once

#include <string>

namespace tfl {

/// 6 significant digits if they read back as the same value, else 9 (15 and 17 for double).
std::string print_number(float v);
std::string print_number(double v);

}  // namespace tfl
