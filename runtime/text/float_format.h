// The format that all floating-point elements of one array share: NumPy's FloatingFormat. Internal to runtime/text.
#pragma once

#include <span>
#include <string>

#include "runtime/text/array_text.h"
#include "runtime/text/decimal.h"

namespace tfl {

class FloatFormat {
 public:
  /// From all values that will be shown.
  FloatFormat(DType dtype, std::span<const double> values, const PrintOptions& options);
  std::string text(double value) const;

 private:
  std::string special(double value) const;
  std::string signed_part(double value, const std::string& whole) const;

  DType dtype_;
  const PrintOptions& options_;
  bool scientific_ = false;
  bool trim_ = true;
  DigitLimits limits_;
  int64_t pad_left_ = 0;
  int64_t pad_right_ = 0;
  int64_t exponent_digits_ = 2;
};

}  // namespace tfl
