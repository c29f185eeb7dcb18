#include "runtime/text/float_format.h"

#include <cmath>
#include <cstdlib>

#include "runtime/math/half.h"

namespace tfl {

namespace {

// Whether NumPy turns to scientific notation, with its comparisons made in the array's own type.
bool wants_scientific(DType dtype, double largest, double smallest, bool suppress) {
  if (dtype == DType::F64) return largest >= 1e8 || (!suppress && (smallest < 0.0001 || largest / smallest > 1000.0));
  float high = static_cast<float>(largest), low = static_cast<float>(smallest);
  if (dtype == DType::F32) return high >= 1e6f || (!suppress && (low < 0.0001f || high / low > 1000.0f));
  return high >= 1e3f || (!suppress && (low < to_f32(to_f16(0.0001f)) || to_f32(to_f16(high / low)) > 1000.0f));
}

std::string trimmed(std::string fraction) {
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  return fraction;
}

int64_t length(const std::string& s) { return static_cast<int64_t>(s.size()); }

}  // namespace

FloatFormat::FloatFormat(DType dtype, std::span<const double> values, const PrintOptions& options)
    : dtype_(dtype), options_(options) {
  double largest = 0, smallest = 0;
  bool any_finite = false, any_special = false, negative_infinity = false, any_sign = false;
  for (double v : values) {
    if (!std::isfinite(v)) {
      any_special = true;
      negative_infinity |= v < 0;
      continue;
    }
    any_finite = true;
    any_sign |= std::signbit(v);
    double m = std::fabs(v);
    if (m == 0) continue;
    if (largest == 0 || m > largest) largest = m;
    if (smallest == 0 || m < smallest) smallest = m;
  }
  if (largest != 0) scientific_ = wants_scientific(dtype, largest, smallest, options.suppress);

  bool fixed = options.float_mode == FloatMode::fixed;
  limits_ = {0, options.float_mode == FloatMode::unique ? -1 : options.precision, !fixed};
  if (any_finite) {
    int64_t whole = 0, fraction = 0, exponent = 0;
    for (double v : values) {
      if (!std::isfinite(v)) continue;
      int64_t sign = std::signbit(v) || options.sign == '+';
      if (scientific_) {
        ScientificText s = scientific(dtype, v, limits_);
        whole = std::max(whole, sign + length(s.whole));
        fraction = std::max(fraction, length(fixed ? s.fraction : trimmed(s.fraction)));
        exponent = std::max<int64_t>(exponent, std::abs(s.exponent) >= 100 ? 3 : 2);
      } else {
        PlainText p = positional(dtype, v, limits_);
        whole = std::max(whole, sign + length(p.whole));
        fraction = std::max(fraction, length(fixed ? p.fraction : trimmed(p.fraction)));
      }
    }
    pad_left_ = whole;
    if (scientific_) {
      exponent_digits_ = exponent;
      limits_.least = limits_.most = static_cast<int>(fraction);
      trim_ = false;
      pad_right_ = exponent + 2 + fraction;
    } else {
      pad_right_ = fraction;
      if (fixed || options.float_mode == FloatMode::maxprec_equal) {
        limits_.least = limits_.most = static_cast<int>(fraction);
        trim_ = false;
      }
    }
    if (options.sign == ' ' && !any_sign) ++pad_left_;
  }
  if (any_special) {
    int64_t offset = pad_right_ + 1;
    int64_t sign = options.sign != '-' || negative_infinity;
    pad_left_ = std::max({pad_left_, length(options.nan) - offset, length(options.inf) + sign - offset});
  }
}

std::string FloatFormat::special(double value) const {
  std::string text;
  if (value < 0) {
    text = "-";
  } else if (options_.sign == '+') {
    text = "+";
  }
  text += std::isnan(value) ? options_.nan : options_.inf;
  int64_t width = pad_left_ + pad_right_ + 1;
  if (length(text) < width) text.insert(0, static_cast<size_t>(width - length(text)), ' ');
  return text;
}

std::string FloatFormat::signed_part(double value, const std::string& whole) const {
  std::string text = (std::signbit(value) ? "-" : options_.sign == '+' ? "+" : "") + whole;
  if (length(text) < pad_left_) text.insert(0, static_cast<size_t>(pad_left_ - length(text)), ' ');
  return text;
}

std::string FloatFormat::text(double value) const {
  if (!std::isfinite(value)) return special(value);
  if (scientific_) {
    ScientificText s = scientific(dtype_, value, limits_);
    std::string digits = std::to_string(std::abs(s.exponent));
    if (length(digits) < exponent_digits_) digits.insert(0, static_cast<size_t>(exponent_digits_ - length(digits)), '0');
    return signed_part(value, s.whole) + "." + s.fraction + (s.exponent < 0 ? "e-" : "e+") + digits;
  }
  PlainText p = positional(dtype_, value, limits_);
  if (trim_) p.fraction = trimmed(std::move(p.fraction));
  std::string text = signed_part(value, p.whole) + "." + p.fraction;
  if (length(p.fraction) < pad_right_) text.append(static_cast<size_t>(pad_right_ - length(p.fraction)), ' ');
  return text;
}

}  // namespace tfl
