// Rows combined by id, in the order of the rows. This header must not know tensors.
#pragma once

#include <limits>
#include <type_traits>

#include "runtime/kernels/routine.h"
#include "runtime/math/half.h"
#include "runtime/math/vec_ops.h"
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
  } else if constexpr (is_complex_number<T>) {
    return {};
  } else {
    using L = std::numeric_limits<T>;
    return fold == SegmentFold::most ? L::lowest() : L::max();
  }
}

/// V: a vector of elements as they are combined.
template <SegmentFold fold, class V>
V combined(V a, V b) {
  if constexpr (fold == SegmentFold::sum) return a + b;
  if constexpr (fold == SegmentFold::product) return a * b;
  if constexpr (fold == SegmentFold::most) return select((b != b) | (a < b), b, a);
  if constexpr (fold == SegmentFold::least) return select((b != b) | (b < a), b, a);
}

/// Combines a row of `width` elements into `to`.
template <SegmentFold fold, class T>
void fold_row(const T* from, int64_t width, Working<T>* to) {
  using W = Working<T>;
  if constexpr (is_complex_number<T>) {
    for (int64_t i = 0; i < width; ++i) to[i] = fold == SegmentFold::product ? to[i] * from[i] : to[i] + from[i];
    return;
  } else {
    constexpr int N = kLanes<W>;
    int64_t i = 0;
    for (; i + N <= width; i += N) combined<fold>(Vec<W, N>::load(to + i), load<T, N>(from + i)).store(to + i);
    for (; i < width; ++i) to[i] = combined<fold>(Vec<W, 1>(to[i]), load<T, 1>(from + i)).get();
  }
}

/// Rows of one element whose order does not matter, in four copies of the sums: equal ids in a row do not wait for each other.
template <class T, class Index>
int64_t count_elements(const T* x, const Index* ids, int64_t rows, int64_t segments, T* sums) {
  constexpr int64_t kMost = 4096;
  T copies[3][kMost];
  if (segments > kMost || rows < 4 * segments) return 0;
  for (T* copy : copies) std::fill_n(copy, segments, T(0));
  T* const to[4] = {sums, copies[0], copies[1], copies[2]};
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    for (int k = 0; k < 4; ++k) {
      const int64_t id = ids[r + k];
      if (id < 0) continue;
      if (id >= segments) return r;  // what follows finds it, too
      to[k][id] = static_cast<T>(static_cast<uint64_t>(to[k][id]) + static_cast<uint64_t>(x[r + k]));
    }
  }
  for (const T* copy : copies) fold_row<SegmentFold::sum>(copy, segments, sums);
  return r;
}

/// Combines the rows of x; `sums` is `out` itself but for half types. The row whose id is too large; -1: none.
template <SegmentFold fold, class T, class Index>
int64_t fold_rows(const T* x, const Index* ids, int64_t rows, int64_t segments, int64_t width, T* out, Working<T>* sums) {
  std::fill(sums, sums + segments * width, neutral<T>(fold));
  int64_t r = 0;
  if constexpr (std::is_integral_v<T> && fold == SegmentFold::sum) {
    if (width == 1) r = count_elements(x, ids, rows, segments, sums);
  }
  for (; r < rows; ++r) {
    const int64_t id = ids[r];
    if (id < 0) continue;
    if (id >= segments) return r;
    fold_row<fold>(x + r * width, width, sums + id * width);
  }
  if constexpr (is_half<T>) {
    for (int64_t i = 0; i < segments * width; ++i) store<T, 1>(out + i, Vec<float, 1>(sums[i]));
  }
  return -1;
}

template <class T>
int64_t fold_rows(SegmentFold fold, const T* x, DType id_dtype, const std::byte* ids, int64_t rows, int64_t segments,
                  int64_t width, T* out, Working<T>* sums) {
  auto with = [&]<SegmentFold F>() {
    auto of = [&](auto tag) {
      return fold_rows<F>(x, reinterpret_cast<const typename decltype(tag)::type*>(ids), rows, segments, width, out, sums);
    };
    if (id_dtype == DType::I16) return of(TypeTag<int16_t>{});
    if (id_dtype == DType::I32) return of(TypeTag<int32_t>{});
    return of(TypeTag<int64_t>{});
  };
  switch (fold) {
    case SegmentFold::sum: return with.template operator()<SegmentFold::sum>();
    case SegmentFold::product: return with.template operator()<SegmentFold::product>();
    case SegmentFold::most: return with.template operator()<SegmentFold::most>();
    case SegmentFold::least: return with.template operator()<SegmentFold::least>();
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
