// Softmax of a few rows at a time, while they are in the first-level cache.
#include "runtime/kernels/reduce/softmax_loops.h"

#include "runtime/kernels/isa/reduce_loops.h"
#include "runtime/math/exp.h"
#include "runtime/math/log.h"

namespace tfl {
inline namespace TFL_ISA {

namespace {

// x / d for +0 <= x <= 1 <= d, or NaN. The reciprocal y of d is rounded to nearest; one step brings x * y to within one unit in the last
// place of the quotient, and from there q + (x - q * d) * y rounds as the quotient itself does (P. Markstein, "Computation of elementary
// functions on the IBM RISC System/6000 processor", 1990). Where x is so small that x - q * d might not be exact, the lane is divided.
template <class V>
TFL_INLINE V share(const V& x, const V& d, [[maybe_unused]] const V& y) {
#if TFL_ISA_LEVEL >= 3
  using U = uint_of<V>;
  const U least = bitcast<elem_of<U>>(V(is_f32<V> ? 0x1p-96 : 0x1p-900)), one(1);
  V q = x * y;
  q = fma(fma(q, -d, x), y, q);
  q = fma(fma(q, -d, x), y, q);
  return rarely(bitcast<elem_of<U>>(x) - one < least - one, [&] { return x / d; }, q);  // 0 - 1 is large
#else
  return x / d;
#endif
}

template <class T>
struct Softmax {
  static constexpr int N = kLanes<T>;
  using V = Vec<T, N>;
  using Maximum = Reduce<reducers::Max, T, T>;
  using Sum = Reduce<reducers::Sum, T, T>;

  // out[i] = make(x[i]); the lanes behind the end begin as 0. Processors see a pattern of addresses only within a page, which a row may fill:
  // what the next call will read, or write, `ahead` elements from here is brought to the second-level cache meanwhile.
  enum class Fetch { none, x, out };
  template <Fetch K = Fetch::none, class F>
  TFL_INLINE static void each(const T* x, std::int64_t n, T* out, const F& make, std::int64_t ahead = 0) {
    std::int64_t i = 0;
    for (; i + N <= n; i += N) {
      if constexpr (K == Fetch::x) __builtin_prefetch(x + i + ahead, 0, 2);
      if constexpr (K == Fetch::out) __builtin_prefetch(out + i + ahead, 1, 2);
      make(V::load(x + i)).store(out + i);
    }
    if (i < n) {
      int rest = static_cast<int>(n - i);
      make(V::load_partial(x + i, rest)).store_partial(out + i, rest);
    }
  }

  // `rows` rows of n elements, each cut into blocks whose results are combined as reduce.h defines.
  template <class R>
  TFL_INLINE static void reduce(const T* x, std::int64_t rows, std::int64_t n, T* out) {
    alignas(64) T partials[kLongestSoftmaxRow / kReduceBlock * kSoftmaxRowsTogether];
    std::int64_t blocks = 0;
    for (std::int64_t at = 0; at < n; at += kReduceBlock, ++blocks) {
      R::sequences(reinterpret_cast<const std::byte*>(x + at), n, rows, std::min(kReduceBlock, n - at),
                   reinterpret_cast<std::byte*>(partials + blocks * rows));
    }
    R::tree(reinterpret_cast<std::byte*>(partials), blocks, rows);
    std::copy_n(partials, rows, out);
  }

  // The sum of the exponentials of one row.
  static T sum_of_powers(const T* x, std::int64_t n) {
    alignas(64) T powers[kReduceBlock];
    T partials[kLongestSoftmaxRow / kReduceBlock];
    std::int64_t blocks = 0;
    for (std::int64_t at = 0; at < n; at += kReduceBlock, ++blocks) {
      std::int64_t count = std::min(kReduceBlock, n - at);
      each(x + at, count, powers, [](const V& v) { return math::exp(v); });
      Sum::sequences(reinterpret_cast<const std::byte*>(powers), 0, 1, count, reinterpret_cast<std::byte*>(partials + blocks));
    }
    Sum::tree(reinterpret_cast<std::byte*>(partials), blocks, 1);
    return partials[0];
  }

  static void run(const std::byte* source, std::int64_t rows, std::int64_t n, bool logs, std::byte* target) {
    auto* x = reinterpret_cast<const T*>(source);
    auto* out = reinterpret_cast<T*>(target);
    T extremes[kSoftmaxRowsTogether], sums[kSoftmaxRowsTogether];
    reduce<Maximum>(x, rows, n, extremes);
    for (std::int64_t r = 0; r < rows; ++r) {
      const V most(extremes[r]);
      if (logs) {
        each(x + r * n, n, out + r * n, [&](const V& v) { return v - most; });
        const V sum(math::log(Vec<T, 1>(sum_of_powers(out + r * n, n))).get());
        each(out + r * n, n, out + r * n, [&](const V& v) { return v - sum; });
      } else {
        each<Fetch::x>(x + r * n, n, out + r * n, [&](const V& v) { return math::exp(v - most); }, rows * n);
      }
    }
    if (logs) return;
    reduce<Sum>(out, rows, n, sums);
    for (std::int64_t r = 0; r < rows; ++r) {
      const V sum(sums[r]), reciprocal = V(1) / sum;
      each<Fetch::out>(out + r * n, n, out + r * n, [&](const V& v) { return share(v, sum, reciprocal); }, rows * n);
    }
  }
};

}  // namespace

extern const SoftmaxLoops kSoftmaxLoops;
const SoftmaxLoops kSoftmaxLoops = {Softmax<float>::run, Softmax<double>::run};

}  // namespace TFL_ISA
}  // namespace tfl
