// Sorting rows. Elements become unsigned keys of the same order, a key and its position one entry, and entries are sorted: so every sort is
// stable, -0 equals +0, and NaN comes after everything else (first when descending). This header must not know tensors.
#pragma once

#include <algorithm>

#include "runtime/kernels/dispatch.h"
#include "runtime/kernels/routine.h"

namespace tfl::sorts {

template <class T>
inline constexpr bool kNarrow = sizeof(T) <= 4;  // key and position fit one word

struct WideEntry {
  uint64_t key;
  int64_t at;
  bool operator<(const WideEntry& o) const { return key != o.key ? key < o.key : at < o.at; }
};

template <class T>
using Entry = std::conditional_t<kNarrow<T>, uint64_t, WideEntry>;

template <class U, class T>
U float_key(T x) {
  constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
  if (x != x) return ~U{0};
  U bits = x == 0 ? U{0} : __builtin_bit_cast(U, x);
  return bits & kSign ? ~bits : bits | kSign;
}

template <class T>
auto key_of(T x) {
  if constexpr (is_half<T>) {
    return float_key<uint32_t>(to_f32(x));
  } else if constexpr (std::is_same_v<T, float>) {
    return float_key<uint32_t>(x);
  } else if constexpr (std::is_same_v<T, double>) {
    return float_key<uint64_t>(x);
  } else {
    using U = std::conditional_t<kNarrow<T>, uint32_t, uint64_t>;
    if constexpr (std::is_signed_v<T>)
      return static_cast<U>(static_cast<U>(x) ^ (U{1} << (8 * sizeof(U) - 1)));
    else
      return static_cast<U>(x);
  }
}

template <class T>
Entry<T> make_entry(T x, int64_t at, bool descending) {
  auto key = key_of(x);
  if (descending) key = ~key;
  if constexpr (kNarrow<T>) {
    return static_cast<uint64_t>(key) << 32 | static_cast<uint64_t>(at);
  } else {
    return {key, at};
  }
}
template <class E>
int64_t position(const E& e) {
  if constexpr (std::is_same_v<E, uint64_t>)
    return static_cast<int64_t>(e & 0xffffffffu);
  else
    return e.at;
}

/// Of each of `rows` rows of n elements the first k in order, as elements and as positions, where these are wanted (I: of positions).
template <class T, class I>
void sort_rows(const Workers& workers, const T* from, int64_t rows, int64_t n, int64_t k, bool descending, T* values, I* indices, Entry<T>* entries) {
  in_parts(workers, rows, std::max<int64_t>(1, (1 << 13) / std::max<int64_t>(n, 1)), n * 8, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      Entry<T>* e = entries + row * n;
      for (int64_t i = 0; i < n; ++i) e[i] = make_entry<T>(from[row * n + i], i, descending);
      if (k < n) std::nth_element(e, e + k, e + n);
      std::sort(e, e + std::min(k, n));
      for (int64_t i = 0; i < k; ++i) {
        int64_t at = position(e[i]);
        if (values) values[row * k + i] = from[row * n + at];
        if (indices) indices[row * k + i] = static_cast<I>(at);
      }
    }
  });
}

inline bool run(const Workers& workers, const RoutineCall& call) {
  if (call.sizes[1] > INT32_MAX) return false;
  with_element_type(static_cast<DType>(call.dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, std::string> && !std::is_same_v<T, bool>) {
      auto sort = [&](auto* indices) {
        sort_rows<T>(workers, static_cast<const T*>(call.at[0]), call.sizes[0], call.sizes[1], call.sizes[2], call.flags & 1, static_cast<T*>(call.at[1]), indices,
                     static_cast<Entry<T>*>(call.at[3]));
      };
      if (static_cast<DType>(call.index_dtype) == DType::I64)
        sort(static_cast<int64_t*>(call.at[2]));
      else
        sort(static_cast<int32_t*>(call.at[2]));
    }
  });
  return true;
}

}  // namespace tfl::sorts
