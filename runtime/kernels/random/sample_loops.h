// Samples by rejection: gamma, Poisson, binomial and truncated normal with parameters. An element draws until it accepts, so each
// has 256 groups of words set aside (42 for few binomial trials): the numbers are TensorFlow's, and any number of threads gives the
// same ones. The elements of one parameter lie side by side in the stream and a row of parameters apart in the result. This header must not
// know tensors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "runtime/kernels/random/random_words.h"
#include "runtime/kernels/routine.h"
#include "runtime/math/exp.h"
#include "runtime/math/gamma.h"
#include "runtime/math/pow.h"
#include "runtime/tensor/element.h"

namespace tfl::samples {

using V = Vec<double, 2>;
inline double log_of(double x) { return math::log(V(x)).get(); }
inline double log1p_of(double x) { return math::log1p(V(x)).get(); }
inline double exp_of(double x) { return math::exp(V(x)).get(); }
inline double pow_of(double x, double y) { return math::pow(V(x), V(y)).get(); }
inline double lgamma_of(double x) { return math::lgamma(V(x)).get(); }

/// Uniform and normal numbers of type T one by one, groups of them taken from the stream when the last is used up, each group's
/// last number first.
template <class T>
class Draws {
 public:
  explicit Draws(Philox stream) : stream_(stream) {}

  T uniform() {
    if (uniforms_ == 0) {
      fill_uniform(uniform_);
      uniforms_ = kCount;
    }
    return uniform_[--uniforms_];
  }
  T normal() {
    if (normals_ == 0) {
      fill_normal(normal_);
      normals_ = kCount;
    }
    return normal_[--normals_];
  }

  static constexpr int kCount = sizeof(T) == 8 ? 2 : 4;
  void fill_uniform(T* to) {
    Philox::Words w = stream_.next();
    if constexpr (kCount == 2) {
      to[0] = unit_double(w[0], w[1]);
      to[1] = unit_double(w[2], w[3]);
    } else {
      for (size_t i = 0; i < 4; ++i) to[i] = unit_float(w[i]);
    }
  }
  void fill_normal(T* to) {
    Philox::Words w = stream_.next();
    if constexpr (kCount == 2) {
      normal_pair(w[0], w[1], w[2], w[3], to[0], to[1]);
    } else {
      normal_pair(w[0], w[1], to[0], to[1]);
      normal_pair(w[2], w[3], to[2], to[3]);
    }
  }

 private:
  Philox stream_;
  T uniform_[kCount]{}, normal_[kCount]{};
  int uniforms_ = 0, normals_ = 0;
};

inline Philox skipped(const Philox& base, uint64_t groups) {
  Philox stream = base;
  stream.skip(groups);
  return stream;
}

/// Marsaglia and Tsang: a cubed normal number, accepted in 95 of 100 cases or more. Below 1, alpha + 1 and a power.
inline double gamma_sample(double alpha, const Philox& stream) {
  Draws<double> draws(stream);
  if (alpha == 1) {
    // The last of the group: the first that is handed out.
    return -log1p_of(-draws.uniform());
  }
  bool below = alpha < 1;
  double d = alpha + (below ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / std::sqrt(d);
  while (true) {
    double x = draws.normal(), v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    double u = draws.uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) || log_of(u) < 0.5 * x * x + d * (1 - v + log_of(v))) {
      double found = d * v;
      if (below) found *= pow_of(draws.uniform(), 1 / alpha);
      return found;
    }
    if (!(alpha == alpha)) return alpha;  // nothing is ever accepted
  }
}

/// Knuth's product of uniform numbers below 10, Hörmann's transformed rejection from there on.
inline double poisson_sample(double rate, const Philox& stream) {
  Draws<double> draws(stream);
  if (!(rate < 1e300)) return rate;
  if (rate < 10) {
    double bound = exp_of(-rate), product = 1, count = 0;
    while (true) {
      product *= draws.uniform();
      if (product <= bound) return count;
      count += 1;
    }
  }
  double log_rate = log_of(rate), b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b,
         inverse = 1.1239 + 1.1328 / (b - 3.4);
  while (true) {
    double u = draws.uniform() - 0.5, v = draws.uniform();
    double shifted = 0.5 - std::fabs(u), k = std::floor((2 * a / shifted + b) * u + rate + 0.43);
    if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
    if (log_of(v * inverse / (a / (shifted * shifted) + b)) <= -rate + k * log_rate - lgamma_of(k + 1)) return k;
  }
}

/// What Stirling's formula leaves of the logarithm of k!.
inline double stirling_rest(double k) {
  constexpr double kRest[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                              0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                              0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kRest[static_cast<size_t>(k)];
  double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/// Sums of geometric numbers: how many stay within the count.
inline double binomial_by_sums(double count, double prob, const Philox& stream) {
  Draws<double> draws(stream);
  double sum = 0, found = 0, rate = log1p_of(-prob);
  while (true) {
    sum += std::ceil(log_of(draws.uniform()) / rate);
    if (!(sum <= count)) return found;
    found += 1;
  }
}

/// Hörmann's transformed rejection with squeeze.
inline double binomial_by_rejection(double count, double prob, const Philox& stream) {
  Draws<double> draws(stream);
  double deviation = std::sqrt(count * prob * (1 - prob));
  double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * prob, c = count * prob + 0.5, box = 0.92 - 4.2 / b;
  double odds = prob / (1 - prob), alpha = (2.83 + 5.1 / b) * deviation, m = std::floor((count + 1) * prob);
  while (true) {
    double u = draws.uniform(), v = draws.uniform();
    u -= 0.5;
    double shifted = 0.5 - std::fabs(u), k = std::floor((2 * a / shifted + b) * u + c);
    if (shifted >= 0.07 && v <= box) return k;
    if (!(k >= 0) || k > count) continue;
    double bound = (m + 0.5) * log_of((m + 1) / (odds * (count - m + 1))) +
                   (count + 1) * log_of((count - m + 1) / (count - k + 1)) +
                   (k + 0.5) * log_of(odds * (count - k + 1) / (k + 1)) + stirling_rest(m) + stirling_rest(count - m) -
                   stirling_rest(k) - stirling_rest(count - k);
    if (log_of(v * alpha / (a / (shifted * shifted) + b)) <= bound) return k;
  }
}

inline double binomial_sample(double count, double prob, bool many, const Philox& base, uint64_t at) {
  if (count <= 0 || prob <= 0) return 0;
  if (prob >= 1) return count;
  if (!(prob == prob) || !(count < 1e300)) return std::nan("");
  return many ? binomial_by_rejection(count, prob, skipped(base, 256 * at))
              : binomial_by_sums(count, prob, skipped(base, 42 * at));
}

/// The truncated normal distribution between two bounds, in units of the deviation: three ways to propose a number, by where the
/// bounds lie. Numbers follow each other in the stream.
template <class T>
class Truncated {
 public:
  explicit Truncated(const Philox& stream) : draws_(stream) {}

  /// `n` samples, `step` apart.
  bool sample(T mean, T deviation, T low, T high, int64_t n, int64_t step, DType d, std::byte* raw) {
    if ((std::isinf(low) && low < 0) || high < mean) {
      std::swap(low, high);
      deviation = -deviation;
    }
    T first = (low - mean) / deviation, last = (high - mean) / deviation;
    T root = std::sqrt(first * first + 4);
    T cutoff = 2 * exp(T(0.5) + (first * (first - root)) / 4) / (first + root), range = last - first;
    constexpr auto kWide = static_cast<T>(1.3);
    enum { Normal, Uniform, Exponential } way = Exponential;
    if ((first < -kWide && last >= 0) || (last > kWide && first <= 0))
      way = Normal;
    else if (range < cutoff)
      way = Uniform;
    T rate = (first + root) / 2, plus = first < 0 ? 0 : first * first;
    int64_t found = 0;
    auto put = [&](T z) {
      store_double(d, static_cast<double>(z * deviation + mean), raw + static_cast<size_t>(found * step) * dtype_size(d));
      tries_ = 0;
      return ++found == n;
    };
    tries_ = 0;
    while (tries_ <= kMost) {
      T x[Draws<T>::kCount], u[Draws<T>::kCount];
      if (way == Normal) {
        draws_.fill_normal(x);
        for (T z : x) {
          if (z >= first && z <= last && put(z)) return true;
          ++tries_;
        }
      } else if (way == Uniform) {
        draws_.fill_uniform(x);
        draws_.fill_uniform(u);
        for (int i = 0; i < Draws<T>::kCount; ++i) {
          T z = x[i] * range + first;
          if (u[i] <= exp((plus - z * z) / 2) && put(z)) return true;
          ++tries_;
        }
      } else {
        draws_.fill_uniform(x);
        for (int i = 0; i < Draws<T>::kCount; i += 2) {
          T z = -static_cast<T>(log_of(x[i])) / rate + first, from = first < rate ? rate - z : first - rate;
          if (x[i + 1] <= exp(-from * from / 2) && z < last && put(z)) return true;
          ++tries_;
        }
      }
    }
    return false;
  }

 private:
  static constexpr int kMost = 1000;
  static T exp(T x) { return static_cast<T>(exp_of(x)); }

  Draws<T> draws_;
  int tries_ = 0;
};

/// What a call gives its elements by.
struct Given {
  DType dtype;
  const RoutineCall& call;
  double of(size_t which, int64_t i) const {
    int64_t at = i % call.sizes[2 + which];
    return load_double(dtype, static_cast<const std::byte*>(call.at[2 + which]) + static_cast<size_t>(at) * dtype_size(dtype));
  }
};

/// sample(parameter, place in the stream) for every element, of sizes that end in those of the parameters.
template <class Sample>
void fill(const Workers& workers, const RoutineCall& call, int64_t parameters, const Sample& sample) {
  const int64_t each = call.sizes[0] / parameters;
  const auto d = static_cast<DType>(call.dtype);
  const bool whole = is_integer(d);
  const size_t width = dtype_size(d);
  auto* raw = static_cast<std::byte*>(call.at[1]);
  in_parts(workers, call.sizes[0], 256, 64, [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; ++at) {
      int64_t parameter = at / each;
      double value = sample(parameter, static_cast<uint64_t>(at));
      std::byte* to = raw + static_cast<size_t>((at % each) * parameters + parameter) * width;
      if (!whole)
        store_double(d, value, to);
      else
        store_int(d, value >= -9.2e18 && value <= 9.2e18 ? static_cast<int64_t>(value) : INT64_MIN, to);
    }
  });
}

enum class Outcome : uint8_t { done, bad_parameters, nothing_accepted };

template <class T>
Outcome truncated(const RoutineCall& call, const Given& given, int64_t count, const Philox& base) {
  Truncated<T> sampler(base);
  const auto d = static_cast<DType>(call.dtype);
  for (int64_t b = 0; b < count; ++b) {
    auto of = [&](size_t i) { return static_cast<T>(given.of(i, b)); };
    T mean = of(0), deviation = of(1), low = of(2), high = of(3);
    if (!(deviation > 0) || !(low < high) || (!std::isfinite(low) && !std::isfinite(high))) return Outcome::bad_parameters;
    std::byte* to = static_cast<std::byte*>(call.at[1]) + static_cast<size_t>(b) * dtype_size(d);
    if (!sampler.sample(mean, deviation, low, high, call.sizes[0] / count, count, d, to)) return Outcome::nothing_accepted;
  }
  return Outcome::done;
}

inline Outcome sample(const Workers& workers, const RoutineCall& call) {
  if (call.sizes[0] == 0) return Outcome::done;
  uint64_t words[3] = {};
  const auto seeds = static_cast<DType>(call.index_dtype);
  for (int64_t i = 0; i < call.sizes[1] && i < 3; ++i)
    words[i] = static_cast<uint64_t>(
        load_int(seeds, static_cast<const std::byte*>(call.at[0]) + static_cast<size_t>(i) * dtype_size(seeds)));
  const Philox base = stream_of(words, call.sizes[1]);
  const Given given{static_cast<DType>(call.flags >> kSampleDType), call};
  const bool narrow = call.flags & kSampleNarrow;
  switch (static_cast<SampleKind>(call.flags & kSampleKind)) {
    case SampleKind::gamma:
      fill(workers, call, call.sizes[2], [&](int64_t i, uint64_t at) {
        double a = given.of(0, i);
        if (!(a > 0) || std::isinf(a)) return a > 0 ? a : std::nan("");
        Philox stream = skipped(base, 256 * at);
        return gamma_sample(a, stream);
      });
      return Outcome::done;
    case SampleKind::poisson:
      fill(workers, call, call.sizes[2],
           [&](int64_t i, uint64_t at) { return poisson_sample(given.of(0, i), skipped(base, 256 * at)); });
      return Outcome::done;
    case SampleKind::binomial: {
      auto product = [narrow](double n, double p) {
        return narrow ? static_cast<double>(static_cast<float>(n) * static_cast<float>(p)) : n * p;
      };
      fill(workers, call, std::max(call.sizes[2], call.sizes[3]), [&](int64_t i, uint64_t at) {
        double n = given.of(0, i), p = given.of(1, i);
        if (!(p > 0.5) || p >= 1) return binomial_sample(n, p, product(n, p) >= 10, base, at);
        double q = narrow ? static_cast<double>(1.0f - static_cast<float>(p)) : 1 - p;
        return n <= 0 ? 0 : n - binomial_sample(n, q, product(n, q) >= 10, base, at);
      });
      return Outcome::done;
    }
    case SampleKind::truncated: {
      int64_t count = *std::max_element(call.sizes + 2, call.sizes + 6);
      return static_cast<DType>(call.dtype) == DType::F64 ? truncated<double>(call, given, count, base)
                                                          : truncated<float>(call, given, count, base);
    }
  }
  return Outcome::done;
}

inline bool run(const Workers& workers, const RoutineCall& call) { return sample(workers, call) == Outcome::done; }

}  // namespace tfl::samples
