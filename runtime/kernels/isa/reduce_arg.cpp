// argmax and argmin of this level. An element wins only by being strictly better than all before it, beginning with the lowest
// finite value (the highest for argmin), so NaN never wins and the first of equals does.
#include <algorithm>
#include <limits>

#include "runtime/kernels/reduce/reduce.h"
#include "runtime/math/half.h"

namespace tfl {
inline namespace TFL_ISA {

namespace {

template <class T, bool Largest>
struct Arg {
  using C = compute_type<T>;
  static constexpr int N = kLanes<C>;
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
    if (n < 4 * N) {
      C top = kStart;
      std::int64_t at = 0;
      for (std::int64_t k = 0; k < n; ++k) {
        C v = load<T, 1>(x + k).get();
        if (better(v, top)) {
          top = v;
          at = k;
        }
      }
      return at;
    }
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

  static void columns(const std::byte* source, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                      std::int64_t* index) {
    auto* x = reinterpret_cast<const T*>(source);
    // A group of columns keeps its best elements and their rows in registers; rows are counted in parts that 32 bits hold.
    constexpr int M = kLanes<std::int32_t>;
    constexpr std::int64_t kRows = std::int64_t{1} << 30;
    using W = Vec<C, M>;
    using I = Vec<std::int32_t, M>;
    for (std::int64_t first = 0; first < columns; first += M) {
      int width = static_cast<int>(std::min<std::int64_t>(M, columns - first));
      W best(kStart);
      std::fill_n(index + first, width, 0);
      for (std::int64_t part = 0; part < rows; part += kRows) {
        I at(-1);
        std::int64_t count = std::min(kRows, rows - part);
        const T* row = x + part * stride + first;
        for (std::int32_t r = 0; r < count; ++r, row += stride) {
          W v = width == M ? load<T, M>(row) : load_partial<T, M>(row, width);
          auto wins = better(v, best);
          best = select(wins, v, best);
          at = select(convert_mask<std::int32_t>(wins), I(r), at);
        }
        for (int c = 0; c < width; ++c) {
          if (at[c] >= 0) index[first + c] = part + at[c];
        }
      }
    }
  }

  static constexpr ArgLoop loop() { return {sequence, columns}; }
};

}  // namespace

#define TFL_ARG_ROW(Largest)                                                                                                     \
  {                                                                                                                              \
    Arg<f16, Largest>::loop(), Arg<bf16, Largest>::loop(), Arg<float, Largest>::loop(), Arg<double, Largest>::loop(),            \
        Arg<std::int8_t, Largest>::loop(), Arg<std::int16_t, Largest>::loop(), Arg<std::int32_t, Largest>::loop(),               \
        Arg<std::int64_t, Largest>::loop(), Arg<std::uint8_t, Largest>::loop(), Arg<std::uint16_t, Largest>::loop(),             \
        Arg<std::uint32_t, Largest>::loop(), Arg<std::uint64_t, Largest>::loop(), Arg<std::uint8_t, Largest>::loop(), ArgLoop{}, \
        ArgLoop{}, ArgLoop {}                                                                                                    \
  }
extern const ArgLoops kArgLoops;
const ArgLoops kArgLoops = {{TFL_ARG_ROW(true), TFL_ARG_ROW(false)}};
#undef TFL_ARG_ROW

}  // namespace TFL_ISA
}  // namespace tfl
