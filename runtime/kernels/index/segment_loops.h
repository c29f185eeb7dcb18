// Rows combined by id, in the order of the rows. This header must not know tensors.
#pragma once

#include <limits>
#include <type_traits>

#include "runtime/kernels/routine.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl::segments {

// What an element is while it is combined: half types are kept in f32 until the end.
template <class T>
using Working = std::conditional_t<is_half<T>, float, T>;

template <class T>
Working<T> neutral(SegmentFold fold) {
  if (fold == SegmentFold::sum) return 0;
  if (fold == SegmentFold::product) return 1;
  if constexpr (is_half<T>) {
    float most = std::is_same_v<T, f16> ? 65504.0f : 3.38953138925153547590470800371487867e38f;
    return fold == SegmentFold::most ? -most : most;
  } else {
    using L = std::numeric_limits<T>;
    return fold == SegmentFold::most ? L::lowest() : L::max();
  }
}

template <class W>
W combined(SegmentFold fold, W a, W b) {
  switch (fold) {
    case SegmentFold::sum:
      if constexpr (std::is_integral_v<W>)
        return static_cast<W>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      else
        return a + b;
    case SegmentFold::product:
      if constexpr (std::is_integral_v<W>)
        return static_cast<W>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      else
        return a * b;
    case SegmentFold::most: return b != b || a < b ? b : a;
    case SegmentFold::least: return b != b || b < a ? b : a;
  }
  return a;
}

/// Combines the rows of x; `sums` is `out` itself but for half types. The row whose id is too large; -1: none.
template <class T>
int64_t fold_rows(SegmentFold fold, const T* x, DType id_dtype, const std::byte* ids, int64_t rows, int64_t segments,
                  int64_t width, T* out, Working<T>* sums) {
  std::fill(sums, sums + segments * width, neutral<T>(fold));
  for (int64_t r = 0; r < rows; ++r) {
    int64_t id = index_at(id_dtype, ids, r);
    if (id < 0) continue;
    if (id >= segments) return r;
    Working<T>* to = sums + id * width;
    const T* from = x + r * width;
    for (int64_t i = 0; i < width; ++i) {
      if constexpr (is_half<T>)
        to[i] = combined(fold, to[i], to_f32(from[i]));
      else
        to[i] = combined(fold, to[i], from[i]);
    }
  }
  if constexpr (std::is_same_v<T, f16>) {
    for (int64_t i = 0; i < segments * width; ++i) out[i] = to_f16(sums[i]);
  } else if constexpr (std::is_same_v<T, bf16>) {
    for (int64_t i = 0; i < segments * width; ++i) out[i] = to_bf16(sums[i]);
  }
  return -1;
}

/// f(TypeTag<T>{}) for numbers.
template <class F>
decltype(auto) with_number_type(DType dtype, const F& f) {
  return with_element_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>)
      return f(TypeTag<uint8_t>{});
    else
      return f(tag);
  });
}

inline bool run(const Workers&, const RoutineCall& call) {
  return with_number_type(static_cast<DType>(call.dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = static_cast<T*>(call.at[2]);
    auto* sums = static_cast<Working<T>*>(call.at[is_half<T> ? 3 : 2]);
    return fold_rows<T>(static_cast<SegmentFold>(call.flags), static_cast<const T*>(call.at[0]),
                        static_cast<DType>(call.index_dtype), static_cast<const std::byte*>(call.at[1]), call.sizes[0],
                        call.sizes[1], call.sizes[2], out, sums) < 0;
  });
}

}  // namespace tfl::segments
