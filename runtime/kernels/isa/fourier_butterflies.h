// Sums over a few complex numbers in vectors of pairs, as the steps of Fourier transforms need them. What is turned by a quarter is added in
// one rounding: a + (i or -i) b is fma(swapped b, signs, a).
#pragma once

#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {

template <class T>
inline constexpr int kPairs = kVectorBytes / (2 * static_cast<int>(sizeof(T)));
template <class T>
using Pairs = Vec<T, 2 * kPairs<T>>;

namespace detail {
template <class R, int... I>
TFL_INLINE R swapped(R a, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, a, (I ^ 1)...);
}
template <int Odd, class R, int... I>
TFL_INLINE R doubled(R a, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, a, ((I & ~1) + Odd)...);
}
template <class R, int... I>
TFL_INLINE R turned_round(R a, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, a, ((static_cast<int>(sizeof...(I)) - 2 - (I & ~1)) + (I & 1))...);
}
// Lanes of a where the pair's number has no bit `Step`, else those of b that many pairs before; and the other way round.
template <int Step, class R, int... I>
TFL_INLINE R mixed_low(R a, R b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, ((I / 2) & Step ? static_cast<int>(sizeof...(I)) + I - 2 * Step : I)...);
}
template <int Step, class R, int... I>
TFL_INLINE R mixed_high(R a, R b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, ((I / 2) & Step ? static_cast<int>(sizeof...(I)) + I : I + 2 * Step)...);
}
}  // namespace detail

template <class T, int N>
using lanes_of = std::make_integer_sequence<int, N>;

/// (im, re) of each pair.
template <class T, int N>
TFL_INLINE Vec<T, N> swapped(const Vec<T, N>& a) {
  Vec<T, N> v;
  v.r = detail::swapped(a.r, std::make_integer_sequence<int, N>());
  return v;
}
/// (re, re) or (im, im) of each pair.
template <int Odd, class T, int N>
TFL_INLINE Vec<T, N> doubled(const Vec<T, N>& a) {
  Vec<T, N> v;
  v.r = detail::doubled<Odd>(a.r, std::make_integer_sequence<int, N>());
  return v;
}
/// The pairs from the last to the first.
template <class T, int N>
TFL_INLINE Vec<T, N> turned_round(const Vec<T, N>& a) {
  Vec<T, N> v;
  v.r = detail::turned_round(a.r, std::make_integer_sequence<int, N>());
  return v;
}

/// The first number of each pair by a, the second by b.
template <class T, int N>
TFL_INLINE Vec<T, N> alternating(T a, T b) {
  T both[N];
  for (int i = 0; i < N; i += 2) both[i] = a, both[i + 1] = b;
  return Vec<T, N>::load(both);
}

/// What multiplies swapped pairs so that they are turned by a quarter: clockwise, or the other way.
template <class T, int N>
TFL_INLINE Vec<T, N> quarter(bool inverse) {
  return inverse ? alternating<T, N>(T(-1), T(1)) : alternating<T, N>(T(1), T(-1));
}

/// x (c - i s) where `s` has been multiplied by the quarter's signs.
template <class V>
TFL_INLINE V turned(const V& x, const V& c, const V& s) {
  return fma(swapped(x), s, x * c);
}

namespace detail {
template <int Step, class T, int N>
TFL_INLINE void transpose_step(Vec<T, N>* v) {
  constexpr int n = N / 2;
  if constexpr (Step < n) {
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) {
      if (i & Step) continue;
      auto a = v[i].r, b = v[i + Step].r;
      v[i].r = mixed_low<Step>(a, b, std::make_integer_sequence<int, N>());
      v[i + Step].r = mixed_high<Step>(a, b, std::make_integer_sequence<int, N>());
    }
    transpose_step<2 * Step>(v);
  }
}
}  // namespace detail

/// As many vectors as each has pairs: pair j of vector i becomes pair i of vector j.
template <class T, int N>
TFL_INLINE void transpose(Vec<T, N>* v) {
  detail::transpose_step<1>(v);
}

// ---- x[k] = sum_i x[i] u^{i k} ----------------------------------------------------------------------------------------------

/// What a butterfly needs besides its operands: the signs of a quarter, and the roots of an odd number.
template <class V>
struct Spin {
  V by, back;  // a quarter, and its opposite
  const elem_of<V>* spokes;
};

template <int R, class V>
TFL_INLINE void butterfly(V* x, const Spin<V>& spin) {
  using T = elem_of<V>;
  if constexpr (R == 2) {
    V a = x[0];
    x[0] = a + x[1];
    x[1] = a - x[1];
  } else if constexpr (R == 4) {
    V a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = swapped(x[1] - x[3]);
    x[0] = a + c;
    x[1] = fma(d, spin.by, b);
    x[2] = a - c;
    x[3] = fma(d, spin.back, b);
  } else if constexpr (R == 8) {
    V even[4] = {x[0] + x[4], x[1] + x[5], x[2] + x[6], x[3] + x[7]};
    V a = x[0] - x[4], b = x[1] - x[5], c = swapped(x[2] - x[6]), d = x[3] - x[7];
    butterfly<4>(even, spin);
    const V root_half(T(0.70710678118654752440));
    V plus = fma(c, spin.by, a), minus = fma(c, spin.back, a);
    V sum = b + d, difference = b - d;
    V e = fma(swapped(sum), spin.by, difference), f = swapped(fma(swapped(difference), spin.by, sum));
    x[0] = even[0];
    x[1] = fma(root_half, e, plus);
    x[2] = even[1];
    x[3] = fma(root_half * spin.by, f, minus);
    x[4] = even[2];
    x[5] = fma(V(0) - root_half, e, plus);
    x[6] = even[3];
    x[7] = fma(root_half * spin.back, f, minus);
  } else {
    constexpr int h = (R - 1) / 2;
    V plus[h], minus[h];
#pragma GCC unroll 8
    for (int j = 0; j < h; ++j) {
      plus[j] = x[j + 1] + x[R - 1 - j];
      minus[j] = swapped(x[j + 1] - x[R - 1 - j]);
    }
    V first = x[0], all = first;
#pragma GCC unroll 8
    for (int j = 0; j < h; ++j) all = all + plus[j];
    x[0] = all;
#pragma GCC unroll 8
    for (int k = 1; k <= h; ++k) {
      V even = first, odd(0);
#pragma GCC unroll 8
      for (int j = 1; j <= h; ++j) {
        const int at = j * k % R;
        even = fma(V(spin.spokes[2 * at]), plus[j - 1], even);
        V s(spin.spokes[2 * at + 1]);
        odd = j == 1 ? s * minus[0] : fma(s, minus[j - 1], odd);
      }
      x[k] = fma(odd, spin.by, even);
      x[R - k] = fma(odd, spin.back, even);
    }
  }
}

/// The same for any odd number.
template <class V>
TFL_INLINE void odd_butterfly(V* x, int n, const Spin<V>& spin) {
  const int h = (n - 1) / 2;
  V plus[64], minus[64], first = x[0], all = first;
  for (int j = 1; j <= h; ++j) {
    plus[j] = x[j] + x[n - j];
    minus[j] = swapped(x[j] - x[n - j]);
    all = all + plus[j];
  }
  x[0] = all;
  int k = 1;
  auto some = [&]<int Many>(std::integral_constant<int, Many>) {
    for (; k + Many - 1 <= h; k += Many) {
      V even[Many], odd[Many];
      int at[Many];
#pragma GCC unroll 4
      for (int i = 0; i < Many; ++i) even[i] = first, odd[i] = V(0), at[i] = 0;
      for (int j = 1; j <= h; ++j) {
#pragma GCC unroll 4
        for (int i = 0; i < Many; ++i) {
          at[i] += k + i;
          if (at[i] >= n) at[i] -= n;
          even[i] = fma(V(spin.spokes[2 * at[i]]), plus[j], even[i]);
          V s(spin.spokes[2 * at[i] + 1]);
          odd[i] = j == 1 ? s * minus[1] : fma(s, minus[j], odd[i]);
        }
      }
#pragma GCC unroll 4
      for (int i = 0; i < Many; ++i) {
        x[k + i] = fma(odd[i], spin.by, even[i]);
        x[n - k - i] = fma(odd[i], spin.back, even[i]);
      }
    }
  };
  some(std::integral_constant<int, 4>());
  some(std::integral_constant<int, 1>());
}

}  // namespace TFL_ISA
}  // namespace tfl
