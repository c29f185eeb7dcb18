// cumsum and cumprod. The order in which elements are combined is part of the language:
//
//   The sequence is cut into blocks of 4,096. Within a block prefixes are sequential: p[i] = p[i-1] + x[i], beginning with the
//   block's first element. The carry into block b combines the totals of the blocks before it by the binary digits of b: b is
//   cut, from the front, into runs whose lengths are the powers of two in b, largest first; a run's total is a binary tree over
//   its blocks; the runs' totals are combined from left to right. An element is carry + prefix.
//
// An exclusive scan gives the same numbers one place later, beginning with 0 (1 for products); a reverse scan is the scan of the
// reversed sequence. Half types are combined in f32, and each result is rounded once. This header must not know tensors.
#pragma once

#include <algorithm>

#include "runtime/kernels/routine.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl::scans {

inline constexpr int64_t kBlock = 4096;
inline constexpr int64_t kColumns = 64;  // columns that are scanned side by side

// Numbers that combine without undefined overflow: integers as unsigned ones.
template <class T>
using Number = std::conditional_t<std::is_integral_v<compute_type<T>>, uint64_t, compute_type<T>>;

template <class T>
Number<T> read(const T* p) {
  if constexpr (is_half<T>) {
    return to_f32(*p);
  } else {
    return static_cast<Number<T>>(*p);
  }
}
template <class T>
void write(T* p, Number<T> v) {
  if constexpr (std::is_same_v<T, f16>) {
    *p = to_f16(v);
  } else if constexpr (std::is_same_v<T, bf16>) {
    *p = to_bf16(v);
  } else {
    *p = static_cast<T>(v);
  }
}

template <bool Product, class N>
N combine(N a, N b) {
  if constexpr (Product) {
    return a * b;
  } else {
    return a + b;
  }
}

// The totals of the runs that the blocks so far are cut into, for a group of columns.
template <bool Product, class N>
struct Carry {
  N runs[52][kColumns];
  N value[kColumns];
  int64_t blocks = 0;
  int count = 0;  // of runs

  void add(const N* totals, int64_t width) {
    // As in counting: runs of equal length become one, like carries between binary digits.
    int depth = count;
    std::copy_n(totals, width, runs[depth]);
    for (int64_t b = blocks; b & 1; b >>= 1, --depth) {
      for (int64_t c = 0; c < width; ++c) runs[depth - 1][c] = combine<Product>(runs[depth - 1][c], runs[depth][c]);
    }
    ++blocks;
    count = depth + 1;
    std::copy_n(runs[0], width, value);
    for (int d = 1; d <= depth; ++d) {
      for (int64_t c = 0; c < width; ++c) value[c] = combine<Product>(value[c], runs[d][c]);
    }
  }
};

// `width` columns of n rows, `step` elements apart (negative for a reverse scan, which begins at the last row).
template <bool Product, class T>
void scan_columns(const T* x, T* out, int64_t n, int64_t step, int64_t width, bool exclusive) {
  using N = Number<T>;
  N prefix[kColumns];
  Carry<Product, N> carry;
  for (int64_t row = 0; row < n; ++row, x += step, out += step) {
    bool begins = row % kBlock == 0;
    if (begins && row) carry.add(prefix, width);
    bool carried = row >= kBlock;
    for (int64_t c = 0; c < width; ++c) {
      N v = read(x + c), before = prefix[c];
      N here = begins ? v : combine<Product>(before, v);
      prefix[c] = here;
      if (!exclusive) {
        write(out + c, carried ? combine<Product>(carry.value[c], here) : here);
      } else if (begins) {
        write(out + c, carried ? carry.value[c] : N(Product));
      } else {
        write(out + c, carried ? combine<Product>(carry.value[c], before) : before);
      }
    }
  }
}

// One sequence: the same order, block by block.
template <bool Product, class T>
void scan_sequence(const T* x, T* out, int64_t n, int64_t step, bool exclusive) {
  using N = Number<T>;
  Carry<Product, N> carry;
  for (int64_t first = 0; first < n; first += kBlock) {
    int64_t last = std::min(n, first + kBlock);
    N prefix = read(x);
    bool carried = first > 0;
    const N before = carried ? carry.value[0] : N(Product);
    auto put = [&](N v) { write(out, carried ? combine<Product>(before, v) : v); };
    if (exclusive) {
      write(out, before);
    } else {
      put(prefix);
    }
    x += step;
    out += step;
    for (int64_t i = first + 1; i < last; ++i, x += step, out += step) {
      if (exclusive) put(prefix);
      prefix = combine<Product>(prefix, read(x));
      if (!exclusive) put(prefix);
    }
    carry.add(&prefix, 1);
  }
}

template <bool Product, class T>
void scan_all(const Workers& workers, const RoutineCall& call) {
  int64_t outer = call.sizes[0], n = call.sizes[1], inner = call.sizes[2];
  bool exclusive = call.flags & kScanExclusive, reverse = call.flags & kScanReverse;
  int64_t strips = (inner + kColumns - 1) / kColumns;
  in_parts(workers, outer * strips, 1, n * std::min(kColumns, inner), [&](int64_t first, int64_t last) {
    for (int64_t unit = first; unit < last; ++unit) {
      int64_t column = unit % strips * kColumns;
      int64_t at = unit / strips * n * inner + column + (reverse ? (n - 1) * inner : 0);
      const T* from = static_cast<const T*>(call.at[0]) + at;
      T* to = static_cast<T*>(call.at[1]) + at;
      int64_t step = reverse ? -inner : inner;
      if (inner == 1)
        scan_sequence<Product>(from, to, n, step, exclusive);
      else
        scan_columns<Product>(from, to, n, step, std::min(kColumns, inner - column), exclusive);
    }
  });
}

inline bool run(const Workers& workers, const RoutineCall& call) {
  if (call.sizes[0] == 0 || call.sizes[1] == 0 || call.sizes[2] == 0) return true;
  with_element_type(static_cast<DType>(call.dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, std::string> && !std::is_same_v<T, bool>) {
      if (call.flags & kScanProduct)
        scan_all<true, T>(workers, call);
      else
        scan_all<false, T>(workers, call);
    }
  });
  return true;
}

}  // namespace tfl::scans
