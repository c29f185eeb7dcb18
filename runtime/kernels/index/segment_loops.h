// Rows combined by id, in the order of the rows. This header must not know tensors.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "runtime/kernels/routine.h"
#include "runtime/math/half.h"
#include "runtime/math/vec.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl {
inline namespace TFL_ISA {
namespace segments {

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

/// Combines a row of `width` elements into `to`, in vectors that get shorter: what the next row of the same id reads is then what this one
/// wrote.
template <SegmentFold fold, class T, int N = kLanes<std::conditional_t<is_complex_number<T>, double, Working<T>>>>
TFL_INLINE void fold_row(const T* from, int64_t width, Working<T>* to) {
  using W = Working<T>;
  if constexpr (is_complex_number<T>) {
    for (int64_t i = 0; i < width; ++i) to[i] = fold == SegmentFold::product ? to[i] * from[i] : to[i] + from[i];
  } else if constexpr (N == 1) {
    for (; width > 0; --width, ++from, ++to) *to = combined<fold>(Vec<W, 1>(*to), load<T, 1>(from)).get();
  } else {
    for (; width >= N; width -= N, from += N, to += N) combined<fold>(Vec<W, N>::load(to), load<T, N>(from)).store(to);
    if (width > 0) fold_row<fold, T, N / 2>(from, width, to);
  }
}

inline constexpr int64_t kTogether = 256;  // rows that are looked at together

/// Rows that count, found first and without branches.
struct Found {
  int64_t count = 0;
  uint32_t row[kTogether];
  int64_t id[kTogether];

  template <class Index>
  void find(const Index* ids, int64_t rows, int64_t low, int64_t high) {
    bool all = true;
    for (int64_t i = 0; i < rows; ++i) all &= ids[i] >= low && ids[i] < high;
    if (all) {
      for (int64_t i = 0; i < rows; ++i) id[i] = ids[i];
      for (int64_t i = 0; i < rows; ++i) row[i] = static_cast<uint32_t>(i);
      count = rows;
      return;
    }
    const auto wanted = static_cast<uint64_t>(high - low);
    count = 0;
    for (int64_t i = 0; i < rows; ++i) {
      row[count] = static_cast<uint32_t>(i);
      id[count] = ids[i];
      count += static_cast<uint64_t>(static_cast<int64_t>(ids[i]) - low) < wanted;
    }
  }
  /// Of `rows` rows from `first` on, those with an id in [low, high).
  void find(DType dtype, const void* ids, int64_t first, int64_t rows, int64_t low, int64_t high) {
    if (dtype == DType::I16) return find(static_cast<const int16_t*>(ids) + first, rows, low, high);
    if (dtype == DType::I32) return find(static_cast<const int32_t*>(ids) + first, rows, low, high);
    find(static_cast<const int64_t*>(ids) + first, rows, low, high);
  }
};

template <class Index>
bool any_outside(const Index* ids, int64_t rows, int64_t segments) {
  bool any = false;
  for (int64_t i = 0; i < rows; ++i) any |= static_cast<int64_t>(ids[i]) >= segments;
  return any;
}
inline bool any_outside(DType dtype, const void* ids, int64_t rows, int64_t segments) {
  if (dtype == DType::I16) return any_outside(static_cast<const int16_t*>(ids), rows, segments);
  if (dtype == DType::I32) return any_outside(static_cast<const int32_t*>(ids), rows, segments);
  return any_outside(static_cast<const int64_t*>(ids), rows, segments);
}

/// What is to be combined: rows of `width` elements.
template <class T>
struct Segments {
  const T* x;
  DType id_dtype;
  const void* ids;
  int64_t rows, segments, width;
  Working<T>* sums;
};

/// The share of segments [low, high) and of `columns` columns from `column` on.
template <SegmentFold fold, class T>
void fold_share(const Workers& workers, const Segments<T>& s, int64_t low, int64_t high, int64_t column, int64_t columns) {
  constexpr int64_t kMost = 4096;
  for (int64_t i = low; i < high; ++i) std::fill_n(s.sums + i * s.width + column, columns, neutral<T>(fold));
  // Elements whose order does not matter go to four copies of the sums: equal ids in a row do not wait for each other.
  constexpr bool kAnyOrder = std::is_integral_v<T> && fold == SegmentFold::sum;
  Working<T> copies[kAnyOrder ? 3 : 1][kAnyOrder ? kMost : 1];
  const bool copied = kAnyOrder && s.width == 1 && high - low <= kMost && s.rows >= 4 * (high - low);
  if (copied) {
    for (auto& copy : copies) std::fill_n(copy, high - low, Working<T>(0));
  }
  Found found;
  for (int64_t r = 0; r < s.rows && !workers.interrupted(); r += kTogether) {
    found.find(s.id_dtype, s.ids, r, std::min(kTogether, s.rows - r), low, high);
    const T* from = s.x + r * s.width + column;
    Working<T>* to = s.sums + column;
    if (copied) {
      if constexpr (kAnyOrder) {
        for (int64_t k = 0; k < found.count; ++k) {
          Working<T>* sum = k % 4 ? copies[k % 4 - 1] + found.id[k] - low : to + found.id[k];
          *sum = static_cast<T>(static_cast<uint64_t>(*sum) + static_cast<uint64_t>(from[found.row[k]]));
        }
      }
    } else if (columns == 1) {
      for (int64_t k = 0; k < found.count; ++k)
        fold_row<fold, T, 1>(from + found.row[k] * s.width, 1, to + found.id[k] * s.width);
    } else {
      for (int64_t k = 0; k < found.count; ++k)
        fold_row<fold>(from + found.row[k] * s.width, columns, to + found.id[k] * s.width);
    }
  }
  if constexpr (kAnyOrder) {
    if (copied) {
      for (const auto& copy : copies) fold_row<fold>(copy, high - low, s.sums + low);
    }
  }
}

/// Combines the rows; `out` is where the sums lie but for half types. False where an id is too large.
template <SegmentFold fold, class T>
bool fold_rows(const Workers& workers, const Segments<T>& s, T* out) {
  constexpr int64_t kThreaded = 1 << 15, kWide = 32;
  if (any_outside(s.id_dtype, s.ids, s.rows, s.segments)) return false;
  // Threads take columns, where there are many, or segments: a segment's rows are combined in their order.
  const bool wide = s.width >= kWide * workers.threads;
  const int64_t all = wide ? s.width : s.segments;
  int64_t work;
  const bool large = __builtin_mul_overflow(s.rows, s.width + 1, &work) || work >= kThreaded;
  const int64_t shares = large ? std::min<int64_t>(workers.threads, all) : 1;
  auto share = [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last && !workers.interrupted(); ++i) {
      const int64_t from = i * all / shares, to = (i + 1) * all / shares;
      if (wide)
        fold_share<fold>(workers, s, 0, s.segments, from, to - from);
      else
        fold_share<fold>(workers, s, from, to, 0, s.width);
    }
  };
  if (shares > 1)
    workers.parallel_for(shares, 1, share);
  else
    share(0, shares);
  if constexpr (is_half<T>) {
    for (int64_t i = 0; i < s.segments * s.width; ++i) store<T, 1>(out + i, Vec<float, 1>(s.sums[i]));
  }
  return true;
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

inline bool run(const Workers& workers, const RoutineCall& call) {
  return with_number_type(static_cast<DType>(call.dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* out = static_cast<T*>(call.at[2]);
    auto fold = [&]<SegmentFold F, class E>() {
      using W = Working<E>;
      const Segments<E> s{static_cast<const E*>(call.at[0]),
                          static_cast<DType>(call.index_dtype),
                          call.at[1],
                          call.sizes[0],
                          call.sizes[1],
                          call.sizes[2],
                          static_cast<W*>(call.at[is_half<T> ? 3 : 2])};
      return fold_rows<F, E>(workers, s, reinterpret_cast<E*>(out));
    };
    // Sums and products of integers wrap, whatever their sign.
    using Any = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
    switch (static_cast<SegmentFold>(call.flags)) {
      case SegmentFold::sum: return fold.template operator()<SegmentFold::sum, Any>();
      case SegmentFold::product: return fold.template operator()<SegmentFold::product, Any>();
      case SegmentFold::most: return fold.template operator()<SegmentFold::most, T>();
      case SegmentFold::least: return fold.template operator()<SegmentFold::least, T>();
    }
    return true;
  });
}

}  // namespace segments
}  // namespace TFL_ISA
}  // namespace tfl
