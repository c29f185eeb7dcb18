// The module `_statistics`: sums of numbers and of squared deviations with 113 bits, so that what Python computes exactly comes out
// rounded once. stdlib/python/statistics.tfl has the rest.
#include <cmath>
#include <limits>

#include "frontend/core/native_module.h"

namespace tfl {

namespace {

using Wide = __float128;
using Wide128 = __int128;

struct Data {
  std::vector<double> reals;
  std::vector<int64_t> integers;  // as many as there are items, when all of them are integers
  bool integral = true;
  size_t size = 0;
};

Result<Data> take(Interp& interp, const Value& values) {
  Data d;
  std::vector<Value> items = TFL_TRY(to_vector(interp, values));
  d.size = items.size();
  for (const Value& raw : items) {
    const Value v = unboxed(raw);
    if (v.is_int() || v.is_bool()) {
      if (d.integral) d.integers.push_back(v.as_int());
      d.reals.push_back(static_cast<double>(v.as_int()));
      continue;
    }
    if (v.is_str() || v.is_none())
      return fail(ErrorKind::TypeError, "can't convert type '{}' to numerator/denominator", interp.type_name(v));
    d.integral = false;
    d.reals.push_back(TFL_TRY(to_double(interp, v)));
  }
  return d;
}

/// n / d: an int when it is one.
Value quotient(Wide128 n, Wide128 d) {
  if (n % d == 0) {
    Wide128 q = n / d;
    if (q >= std::numeric_limits<int64_t>::min() && q <= std::numeric_limits<int64_t>::max())
      return Value::integer(static_cast<int64_t>(q));
  }
  return Value::real(static_cast<double>(static_cast<Wide>(n) / static_cast<Wide>(d)));
}

/// What is not finite decides alone; false when everything is.
bool special(const std::vector<double>& reals, double& sum) {
  sum = 0;
  bool any = false;
  for (double x : reals) {
    if (std::isfinite(x)) continue;
    any = true;
    sum += x;
  }
  return any;
}

/// mean(values, divisor, inverse): their sum divided by a number, or the number divided by their sum.
Result<Value> mean(Interp& interp, Value* args) {
  Data d = TFL_TRY(take(interp, args[0]));
  bool inverse = TFL_TRY(truth(interp, args[2]));
  double divisor = TFL_TRY(to_double(interp, args[1]));
  if (d.integral && !inverse) {
    Wide128 sum = 0;
    for (int64_t x : d.integers) sum += x;
    int64_t n = TFL_TRY(to_index(interp, args[1]));
    if (n == 0) return fail(ErrorKind::ZeroDivisionError, "division by zero");
    return quotient(sum, n);
  }
  double odd;
  if (special(d.reals, odd)) return Value::real(inverse ? divisor / odd : odd);
  Wide sum = 0;
  for (double x : d.reals) sum += x;
  if (inverse ? sum == 0 : divisor == 0) return fail(ErrorKind::ZeroDivisionError, "division by zero");
  return Value::real(static_cast<double>(inverse ? divisor / sum : sum / divisor));
}

Wide root(Wide x) {
  double first = std::sqrt(static_cast<double>(x));
  if (!(first > 0) || !std::isfinite(first)) return first;
  Wide r = first;
  for (int i = 0; i < 2; ++i) r = (r + x / r) / 2;
  return r;
}

/// spread(values, divisor, square_root): the squared deviations from the mean, summed and divided.
Result<Value> spread(Interp& interp, Value* args) {
  Data d = TFL_TRY(take(interp, args[0]));
  int64_t divisor = TFL_TRY(to_index(interp, args[1]));
  bool rooted = TFL_TRY(truth(interp, args[2]));
  if (divisor == 0 || d.size == 0) return fail(ErrorKind::ZeroDivisionError, "division by zero");
  double odd;
  if (special(d.reals, odd)) return Value::real(std::numeric_limits<double>::quiet_NaN());
  auto n = static_cast<Wide128>(d.size);
  if (d.integral) {
    // (n * sum of squares - square of the sum) / n, while that fits.
    Wide128 sum = 0, squares = 0, left = 0, right = 0, numerator = 0;
    bool fits = true;
    for (int64_t x : d.integers) {
      sum += x;
      fits = fits && !__builtin_add_overflow(squares, static_cast<Wide128>(x) * x, &squares);
    }
    fits = fits && !__builtin_mul_overflow(squares, n, &left) && !__builtin_mul_overflow(sum, sum, &right) &&
           !__builtin_sub_overflow(left, right, &numerator);
    if (fits) {
      if (!rooted) return quotient(numerator, n * divisor);
      return Value::real(static_cast<double>(root(static_cast<Wide>(numerator) / static_cast<Wide>(n * divisor))));
    }
  }
  Wide sum = 0;
  for (double x : d.reals) sum += x;
  Wide middle = sum / static_cast<Wide>(n), total = 0;
  for (double x : d.reals) total += (x - middle) * (x - middle);
  total /= divisor;
  return Value::real(static_cast<double>(rooted ? root(total) : total));
}

constexpr NativeDef kStatistics[] = {
    function("mean", "values, divisor, inverse, /", mean),
    function("spread", "values, divisor, square_root, /", spread),
};

}  // namespace

Result<void> init_statistics(Interp& interp, Module& module) {
  define_all(interp, module, kStatistics);
  return {};
}

}  // namespace tfl
