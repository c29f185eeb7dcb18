// Loops of rows that take or give complex numbers, which lie in memory as pairs and are computed as two vectors.
// This header must not know tensors or threads.
#pragma once

#include <algorithm>
#include <cstring>

#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/kernels/isa/rows.h"

namespace tfl {
inline namespace TFL_ISA {

namespace detail {
template <int First, class R, int... I>
TFL_INLINE auto every_other(R a, R b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (2 * I + First)...);
}
// Lanes of a and b in turn.
template <int First, int N, class R, int... I>
TFL_INLINE auto in_turn(R a, R b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (First + I / 2 + (I % 2) * N)...);
}
}  // namespace detail

template <class T, int N>
TFL_INLINE Complex<Vec<T, N>> load_pairs(const std::byte* p) {
  using V = Vec<T, N>;
  if constexpr (V::split) {
    auto lo = load_pairs<T, N / 2>(p), hi = load_pairs<T, N / 2>(p + sizeof(T) * N);
    return {join(lo.re, hi.re), join(lo.im, hi.im)};
  } else {
    V a = V::load(p), b = V::load(p + sizeof(T) * N), re, im;
    re.r = detail::every_other<0>(a.r, b.r, std::make_integer_sequence<int, N>());
    im.r = detail::every_other<1>(a.r, b.r, std::make_integer_sequence<int, N>());
    return {re, im};
  }
}
template <class T, int N>
TFL_INLINE void store_pairs(const Complex<Vec<T, N>>& z, std::byte* p) {
  using V = Vec<T, N>;
  if constexpr (V::split) {
    store_pairs<T, N / 2>({low_half(z.re), low_half(z.im)}, p);
    store_pairs<T, N / 2>({high_half(z.re), high_half(z.im)}, p + sizeof(T) * N);
  } else {
    V a, b;
    a.r = detail::in_turn<0, N>(z.re.r, z.im.r, std::make_integer_sequence<int, N>());
    b.r = detail::in_turn<N / 2, N>(z.re.r, z.im.r, std::make_integer_sequence<int, N>());
    a.store(p);
    b.store(p + sizeof(T) * N);
  }
}

template <class T>
struct PartOf {
  using Type = T;
};
template <class T>
struct PartOf<ComplexNumber<T>> {
  using Type = T;
};

// Elements T are complex, or floats of which the row makes complex numbers. As many lanes as f64 has: c64 is widened by most rows.
template <class Row, class T>
struct ComplexLoop {
  using Part = typename PartOf<T>::Type;
  static constexpr int N = kLanes<double>;
  static constexpr int arity = Row::arity;
  static constexpr bool choice = Row::types == TypeClass::choice;
  using Parts = Vec<Part, N>;
  using V = std::conditional_t<is_complex_number<T>, Complex<Parts>, Parts>;
  static constexpr std::int64_t kSize[kMaxArity] = {choice ? 1 : sizeof(T), sizeof(T), sizeof(T)};
  static constexpr std::int64_t kOut = Row::result == ResultType::same   ? sizeof(T)
                                       : Row::result == ResultType::pair ? 2 * sizeof(T)
                                       : Row::result == ResultType::part ? sizeof(Part)
                                                                         : 1;

  TFL_INLINE static V read(const std::byte* p) {
    if constexpr (is_complex_number<T>) {
      return load_pairs<Part, N>(p);
    } else {
      return V::load(p);
    }
  }
  TFL_INLINE static auto first_operand(const std::byte* p) {
    if constexpr (choice) {
      return convert<signed_of<Part>>(Vec<std::uint8_t, N>::load(p)) != 0;
    } else {
      return read(p);
    }
  }
  TFL_INLINE static void compute(const std::byte* const* p, std::byte* out) {
    V y(0), z(0);
    if constexpr (arity > 1) y = read(p[1]);
    if constexpr (arity > 2) z = read(p[2]);
    auto r = Row::template value<V>(first_operand(p[0]), y, z);
    if constexpr (Row::result == ResultType::boolean) {
      (convert<std::uint8_t>(r.v) & std::uint8_t{1}).store(out);
    } else if constexpr (Row::result == ResultType::part) {
      r.store(out);
    } else {
      store_pairs<Part, N>(r, out);
    }
  }

  static void run(std::int64_t n, std::byte* out, const std::byte* const* in, const std::int64_t* step) {
    alignas(64) std::byte spare[arity][128];
    alignas(64) std::byte spare_out[128];
    const std::byte* p[arity];
    for (int k = 0; k < arity; ++k) {
      p[k] = in[k];
      if (step[k]) continue;
      for (int i = 0; i < N; ++i) std::memcpy(spare[k] + i * kSize[k], in[k], static_cast<std::size_t>(kSize[k]));
      p[k] = spare[k];
    }
    for (; n >= N; n -= N, out += N * kOut) {
      compute(p, out);
      for (int k = 0; k < arity; ++k) p[k] += step[k] * N * kSize[k];
    }
    if (n == 0) return;
    // Spare lanes hold 1, so that no formula takes its slow path for them.
    const T one(1);
    for (int k = 0; k < arity; ++k) {
      if (!step[k]) continue;
      for (int i = 0; i < N; ++i) {
        if (i < n) {
          std::memcpy(spare[k] + i * kSize[k], p[k] + i * kSize[k], static_cast<std::size_t>(kSize[k]));
        } else if (choice && k == 0) {
          spare[k][i] = std::byte{1};
        } else {
          std::memcpy(spare[k] + i * kSize[k], &one, sizeof one);
        }
      }
      p[k] = spare[k];
    }
    compute(p, spare_out);
    std::memcpy(out, spare_out, static_cast<std::size_t>(n * kOut));
  }
};

template <class Row, class T>
constexpr ElementwiseLoop complex_loop_of() {
  if constexpr (row_takes<T>(Row::types, false)) {
    return &ComplexLoop<Row, T>::run;
  } else {
    return nullptr;
  }
}

}  // namespace TFL_ISA
}  // namespace tfl
