// From the rows of elementwise.def to vector loops. Included by the files that fill the table of one element type, once for each
// instruction set level. This header must not know tensors or threads.
#pragma once

#include <array>
#include <cstring>

#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/kernels/isa/complex_loops.h"

namespace tfl {
inline namespace TFL_ISA {

template <class T, int N>
TFL_INLINE void copy_partial(std::byte* to, const std::byte* from, int count) {
#if TFL_HAS_AVX512
  if constexpr (sizeof(T) * N == 64) {
    Vec<T, N>::load_partial(from, count).store_partial(to, count);
    return;
  }
#endif
  std::memcpy(to, from, sizeof(T) * static_cast<unsigned>(count));
}

// `count` elements and ones after them, written as a whole: what is written in parts is slow to read back.
template <class T, int N>
TFL_INLINE void fill_partial(std::byte* to, const std::byte* from, int count) {
#if TFL_HAS_AVX512
  if constexpr (sizeof(T) * N == 64) {
    auto v = Vec<T, N>::load_partial(from, count);
    const auto ones = Vec<T, N>(1).r;
    const unsigned long long mask = (1ull << count) - 1;
    if constexpr (sizeof(T) == 1) v.r = (decltype(v.r))_mm512_mask_mov_epi8((__m512i)ones, mask, (__m512i)v.r);
    if constexpr (sizeof(T) == 2) v.r = (decltype(v.r))_mm512_mask_mov_epi16((__m512i)ones, (__mmask32)mask, (__m512i)v.r);
    if constexpr (sizeof(T) == 4) v.r = (decltype(v.r))_mm512_mask_mov_epi32((__m512i)ones, (__mmask16)mask, (__m512i)v.r);
    if constexpr (sizeof(T) == 8) v.r = (decltype(v.r))_mm512_mask_mov_epi64((__m512i)ones, (__mmask8)mask, (__m512i)v.r);
    v.store(to);
    return;
  }
#endif
  Vec<T, N>(1).store(to);
  std::memcpy(to, from, sizeof(T) * static_cast<unsigned>(count));
}

template <class Row, class T>
struct Loop {
  static constexpr int N = kLanes<T>;
  static constexpr bool choice = Row::types == TypeClass::choice;
  static constexpr int arity = Row::arity;
  using V = Vec<T, N>;
  using Out = std::conditional_t<Row::result == ResultType::same, T, std::uint8_t>;
  static constexpr std::int64_t kSize[kMaxArity] = {choice ? 1 : sizeof(T), sizeof(T), sizeof(T)};

  TFL_INLINE static auto first_operand(const std::byte* p) {
    if constexpr (choice) {
      return convert<signed_of<T>>(Vec<std::uint8_t, N>::load(p)) != 0;
    } else {
      return V::load(p);
    }
  }
  TFL_INLINE static void compute(const std::byte* const* p, std::byte* out) {
    V y(0), z(0);
    if constexpr (arity > 1) y = V::load(p[1]);
    if constexpr (arity > 2) z = V::load(p[2]);
    auto r = Row::template value<V>(first_operand(p[0]), y, z);
    if constexpr (Row::result == ResultType::same) {
      r.store(out);
    } else if constexpr (Row::result == ResultType::boolean) {
      (convert<std::uint8_t>(r.v) & std::uint8_t{1}).store(out);
    } else {
      convert<std::uint8_t>(r).store(out);
    }
  }
  TFL_INLINE static void spread(const std::byte* from, int k, std::byte* to) {
    if (choice && k == 0) {
      std::memset(to, static_cast<int>(*from), N);
    } else {
      T value;
      std::memcpy(&value, from, sizeof value);
      V(value).store(to);
    }
  }

  // The formula stands here once: an incomplete last vector is computed from and into full buffers, whose spare lanes hold 1 so
  // that no formula takes its slow path for them.
  static void run(std::int64_t n, std::byte* out, const std::byte* const* in, const std::int64_t* step) {
    alignas(64) std::byte spare[arity][64];
    alignas(64) std::byte spare_out[64];
    const std::byte* p[arity];
    std::int64_t advance[arity];
    for (int k = 0; k < arity; ++k) {
      advance[k] = step[k] ? N * kSize[k] : 0;
      p[k] = in[k];
      if (!step[k]) {
        spread(in[k], k, spare[k]);
        p[k] = spare[k];
      }
    }
    std::int64_t whole = n / N;
    int rest = static_cast<int>(n % N);
    std::byte* target = out;
    for (;;) {
      for (; whole > 0; --whole) {
        compute(p, target);
        for (int k = 0; k < arity; ++k) p[k] += advance[k];
        target += N * static_cast<std::int64_t>(sizeof(Out));
      }
      if (rest == 0) return;
      if (rest < 0) break;
      out = target;
      for (int k = 0; k < arity; ++k) {
        if (!advance[k]) continue;
        if (choice && k == 0) {
          std::memset(spare[k], 0, 64);
          copy_partial<std::uint8_t, N>(spare[k], p[k], rest);
        } else {
          fill_partial<T, N>(spare[k], p[k], rest);
        }
        p[k] = spare[k];
      }
      target = spare_out;
      whole = 1;
      rest = -rest;
    }
    copy_partial<Out, N>(out, spare_out, -rest);
  }
};

template <class Row, class T, bool Truth>
constexpr ElementwiseLoop loop_of() {
  using V = Vec<T, kLanes<T>>;
  using X = std::conditional_t<Row::types == TypeClass::choice, mask_of<V>, V>;
  if constexpr (row_takes<T>(Row::types, Truth) && Row::result == ResultType::pair) {
    return &ComplexLoop<Row, T>::run;
  } else if constexpr (row_takes<T>(Row::types, Truth)) {
    static_assert(Row::template exists<V, X>, "the row's formula has no meaning for an element type that the row takes");
    return &Loop<Row, T>::run;
  } else {
    return nullptr;
  }
}

// Each is defined in one of the files elementwise_*.cpp.
extern const ElementwiseLoop kLoopsF32[kElementwiseCount];
extern const ElementwiseLoop kLoopsF64[kElementwiseCount];
extern const ElementwiseLoop kLoopsI8[kElementwiseCount];
extern const ElementwiseLoop kLoopsI16[kElementwiseCount];
extern const ElementwiseLoop kLoopsI32[kElementwiseCount];
extern const ElementwiseLoop kLoopsI64[kElementwiseCount];
extern const ElementwiseLoop kLoopsU8[kElementwiseCount];
extern const ElementwiseLoop kLoopsU16[kElementwiseCount];
extern const ElementwiseLoop kLoopsU32[kElementwiseCount];
extern const ElementwiseLoop kLoopsU64[kElementwiseCount];
extern const ElementwiseLoop kLoopsBool[kElementwiseCount];
extern const ElementwiseLoop kLoopsC64[kElementwiseCount];
extern const ElementwiseLoop kLoopsC128[kElementwiseCount];

}  // namespace TFL_ISA
}  // namespace tfl
