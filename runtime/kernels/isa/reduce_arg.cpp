// argmax and argmin of this level. An element wins only by being strictly better than all before it, beginning with the lowest
// finite value (the highest for argmin), so NaN never wins and the first of equals does.
#include <algorithm>
#include <limits>

#include "runtime/kernels/reduce.h"
#include "runtime/math/half.h"

namespace tfl {
inline namespace TFL_ISA {

namespace {

template <class T, bool Largest>
struct Arg {
  using C = compute_type<T>;
  static constexpr int N = kLanes<C>;
  static constexpr int kStrip = 256;
  using V = Vec<C, N>;
  static constexpr C kStart = Largest ? std::numeric_limits<C>::lowest() : std::numeric_limits<C>::max();

  template <class A>
  TFL_INLINE static auto better(const A& a, const A& b) {
    if constexpr (Largest) {
      return a > b;
    } else {
      return a < b;
    }
  }

  static std::int64_t sequence(const std::byte* source, std::int64_t n) {
    auto* x = reinterpret_cast<const T*>(source);
    V best[4] = {V(kStart), V(kStart), V(kStart), V(kStart)};
    std::int64_t i = 0;
    for (; i + 4 * N <= n; i += 4 * N) {
      for (int q = 0; q < 4; ++q) {
        V v = load<T, N>(x + i + q * N);
        best[q] = select(better(v, best[q]), v, best[q]);
      }
    }
    C top = kStart;
    for (const V& b : best) {
      for (int j = 0; j < N; ++j) top = better(b[j], top) ? b[j] : top;
    }
    for (std::int64_t k = i; k < n; ++k) {
      C v = load<T, 1>(x + k).get();
      top = better(v, top) ? v : top;
    }
    if (!better(top, kStart)) return 0;
    i = 0;
    for (; i + N <= n; i += N) {
      if (any(load<T, N>(x + i) == V(top))) break;
    }
    for (; i < n; ++i) {
      if (load<T, 1>(x + i).get() == top) break;
    }
    return i;
  }

  static void columns(const std::byte* source, std::int64_t stride, std::int64_t rows, std::int64_t columns, std::int64_t* index) {
    auto* x = reinterpret_cast<const T*>(source);
    C best[kStrip];
    for (std::int64_t first = 0; first < columns; first += kStrip) {
      std::int64_t width = std::min<std::int64_t>(kStrip, columns - first);
      std::fill_n(best, width, kStart);
      std::fill_n(index + first, width, 0);
      for (std::int64_t r = 0; r < rows; ++r) {
        const T* row = x + r * stride + first;
        for (std::int64_t c = 0; c < width; ++c) {
          C v = load<T, 1>(row + c).get();
          bool wins = better(v, best[c]);
          best[c] = wins ? v : best[c];
          index[first + c] = wins ? r : index[first + c];
        }
      }
    }
  }

  static constexpr ArgLoop loop() { return {sequence, columns}; }
};

}  // namespace

#define TFL_ARG_ROW(Largest)                                                                                                    \
  {                                                                                                                             \
    Arg<f16, Largest>::loop(), Arg<bf16, Largest>::loop(), Arg<float, Largest>::loop(), Arg<double, Largest>::loop(),           \
        Arg<std::int8_t, Largest>::loop(), Arg<std::int16_t, Largest>::loop(), Arg<std::int32_t, Largest>::loop(),              \
        Arg<std::int64_t, Largest>::loop(), Arg<std::uint8_t, Largest>::loop(), Arg<std::uint16_t, Largest>::loop(),            \
        Arg<std::uint32_t, Largest>::loop(), Arg<std::uint64_t, Largest>::loop(), Arg<std::uint8_t, Largest>::loop(), ArgLoop{} \
  }
extern const ArgLoops kArgLoops;
const ArgLoops kArgLoops = {{TFL_ARG_ROW(true), TFL_ARG_ROW(false)}};
#undef TFL_ARG_ROW

}  // namespace TFL_ISA
}  // namespace tfl
