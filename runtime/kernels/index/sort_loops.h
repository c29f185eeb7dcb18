// Sorting rows. Elements become unsigned keys of the same order, a key and its position one entry, and entries are sorted: so every sort is
// stable, -0 equals +0, and NaN comes after everything else (first when descending). This header must not know tensors.
#pragma once

#include <algorithm>

#include "runtime/kernels/index/radix.h"
#include "runtime/kernels/index/vector_sort.h"
#include "runtime/kernels/routine.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl {
inline namespace TFL_ISA {
namespace sorts {

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
  // Without branches: signs come in any order.
  constexpr int kTop = 8 * sizeof(U) - 1;
  const U bits = __builtin_bit_cast(U, x) & (U{0} - static_cast<U>(x != 0));
  return (bits ^ ((U{0} - (bits >> kTop)) | U{1} << kTop)) | (U{0} - static_cast<U>(x != x));
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

inline constexpr int64_t kFewElements = 256;         // sorted by comparisons
inline constexpr int64_t kSharedElements = 1 << 14;  // of a row that several threads share
inline constexpr int64_t kManyElements = 1 << 17;    // sorted by digits, whatever there are of vectors
inline constexpr int64_t kUnspared = 128;            // entries that vectors sort without memory beside them
inline constexpr int64_t kSelected = 16;             // a selection pays for one element of so many

/// The bytes of a key that tell elements apart. Small integers lie in its low ones, where their sign is not turned yet.
template <class T>
inline constexpr int kKeyBytes = is_half<T> ? 4 : static_cast<int>(sizeof(T));
template <class T>
uint32_t key_byte(decltype(key_of(T{})) key, int d) {
  constexpr bool kSigned = std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) < 4;
  return static_cast<uint32_t>(key >> (8 * d) & 0xff) ^ (kSigned && d == kKeyBytes<T> - 1 ? 0x80u : 0u);
}

template <class T>
uint32_t digit_of(uint64_t entry, int d) {
  return key_byte<T>(static_cast<uint32_t>(entry >> 32), d);
}

/// The positions of n elements of 64 bits in order, as the low halves of what lies in `entries`: by the highest 32 bits of how far
/// they are from the smallest, then, where those are equal, by all.
template <class T>
bool sort_wide(const Workers& workers, bool threaded, const T* from, int64_t n, bool descending, uint64_t* entries) {
  auto key = [&](int64_t i) {
    const uint64_t k = key_of(from[i]);
    return descending ? ~k : k;
  };
  uint64_t least = key(0), most = least;
  for (int64_t i = 1; i < n; ++i) least = std::min(least, key(i)), most = std::max(most, key(i));
  const uint64_t span = most - least;
  const int shift = span >> 32 == 0 ? 0 : 32 - __builtin_clzll(span);
  auto entry = [&](int64_t i) { return ((key(i) - least) >> shift) << 32 | static_cast<uint64_t>(i); };
  auto digit = [](uint64_t e, int d) { return static_cast<uint32_t>(e >> (32 + 8 * d) & 0xff); };
  if (!radix_sort<4, uint64_t>(workers, threaded, n, entry, digit, entries, entries + n)) return false;
  auto less = [&](uint64_t a, uint64_t b) {
    const uint64_t x = key(position(a)), y = key(position(b));
    return x != y ? x < y : a < b;
  };
  for (int64_t i = 0, end; shift > 0 && i < n; i = end) {
    for (end = i + 1; end < n && entries[end] >> 32 == entries[i] >> 32;) ++end;
    if (end - i > 1) std::sort(entries + i, entries + end, less);
  }
  return true;
}

/// Entries among which the first k of n elements are, in any order: how many. Elements that the k-th best one so far rules out are not looked at one by
/// one.
template <class T>
int64_t select(const Workers& workers, const T* from, int64_t n, int64_t k, bool descending, Entry<T>* entries) {
  constexpr int64_t kTogether = 64;
  const int64_t room = std::min(n, std::max<int64_t>(4 * k, 1024));
  int64_t count = 0, since = 0;
  bool ruled = false;
  T limit{};
  auto narrow = [&] {
    std::nth_element(entries, entries + k - 1, entries + count);
    count = k;
    limit = from[position(entries[k - 1])];
    ruled = true;
  };
  for (int64_t i = 0; i < n;) {
    const int64_t end = std::min(n, i + kTogether);
    if (ruled && end - i == kTogether) {
      // Later equal ones come behind, so that they are out.
      bool any = false;
      if constexpr (!is_half<T>) {
        if (descending) {
          for (int64_t j = 0; j < kTogether; ++j) any |= !(from[i + j] <= limit);
        } else {
          for (int64_t j = 0; j < kTogether; ++j) any |= !(from[i + j] >= limit);
        }
      } else {
        any = true;
      }
      if (!any) {
        i = end;
        continue;
      }
    }
    if (room - count < end - i) narrow();
    const auto least = ruled ? entries[k - 1] : Entry<T>{};
    for (; i < end; ++i) {
      const Entry<T> e = make_entry<T>(from[i], i, descending);
      if (!ruled || e < least) entries[count++] = e;
    }
    if (++since % 4096 == 0 && workers.interrupted()) break;
  }
  return count;
}

#if TFL_HAS_AVX512
/// A row of numbers of 32 or 64 bits as numbers of their own: as they are sorted, and back. -0 and +0 are two numbers here and all NaN are one, so
/// that what they stand for is written anew behind the sort.
template <class T>
struct Numbers {
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static constexpr bool kFloat = std::is_floating_point_v<T>;
  static constexpr int N = kLanes<U>;
  using V = Vec<U, N>;
  using I = Vec<std::make_signed_t<U>, N>;
  static constexpr U kTop = U{1} << (8 * sizeof(U) - 1);

  static constexpr bool kTakes = (sizeof(T) == 4 || sizeof(T) == 8) && std::is_arithmetic_v<T>;

  TFL_INLINE static V number(V bits) {
    if constexpr (std::is_unsigned_v<T>) return bits;
    if constexpr (kFloat) {
      const V negative = bitcast<U>(shr(bitcast<typename I::elem>(bits), 8 * sizeof(U) - 1));
      const auto nan = bitcast<T>(bits) != bitcast<T>(bits);
      return select(nan, V(~U{0}), bits ^ (negative | V(kTop)));
    }
    return bits ^ V(kTop);
  }
  TFL_INLINE static V bits(V number) {
    if constexpr (std::is_unsigned_v<T>) return number;
    if constexpr (kFloat) {
      const V negative = ~bitcast<U>(shr(bitcast<typename I::elem>(number), 8 * sizeof(U) - 1));
      return number ^ (negative | V(kTop));
    }
    return number ^ V(kTop);
  }
  /// Whether there are zeros of both signs, or NaN.
  static bool read(const T* from, int64_t n, U* to) {
    V plus(0), minus(0), nan(0);
    for (int64_t i = 0; i < n; i += N) {
      const int some = static_cast<int>(std::min<int64_t>(N, n - i));
      const V x = some == N ? V::load(from + i) : V::load_partial(from + i, some);
      if constexpr (kFloat) {
        if (some == N) {
          plus = plus | bitcast<U>((x == V(0)).v);
          minus = minus | bitcast<U>((x == V(kTop)).v);
        } else {
          for (int k = 0; k < some; ++k)
            (x[k] == 0 ? plus : minus).set(0, x[k] == 0 || x[k] == kTop ? U{1} : (x[k] == 0 ? plus : minus)[0]);
        }
      }
      const V y = number(x);
      if constexpr (kFloat) nan = nan | bitcast<U>((y == V(~U{0})).v);
      y.store_partial(to + i, some);
    }
    return kFloat && ((any(plus != V(0)) && any(minus != V(0))) || any(nan != V(0)));
  }
  static void write(const U* from, int64_t n, bool descending, T* to) {
    if (descending) {
      for (int64_t i = 0; i < n; ++i) {
        const U x = bits(V(from[n - 1 - i]))[0];
        std::memcpy(to + i, &x, sizeof x);
      }
      return;
    }
    for (int64_t i = 0; i < n; i += N) {
      const int some = static_cast<int>(std::min<int64_t>(N, n - i));
      (some == N ? bits(V::load(from + i)) : bits(V::load_partial(from + i, some))).store_partial(to + i, some);
    }
  }
  /// The zeros and NaN as they came.
  static void mend(const T* from, int64_t n, bool descending, T* to) {
    if constexpr (kFloat) {
      T* zero = std::partition_point(to, to + n, [&](T x) { return descending ? x > 0 || x != x : x < 0; });
      T* nan = descending ? to : std::partition_point(to, to + n, [](T x) { return x == x; });
      for (int64_t i = 0; i < n; ++i) {
        if (from[i] == 0)
          *zero++ = from[i];
        else if (from[i] != from[i])
          *nan++ = from[i];
      }
    }
  }
};
#endif

/// One row: see sort_rows.
template <class T, class I>
void sort_row(const Workers& workers, bool threaded, const T* from, int64_t n, int64_t k, bool descending, T* values, I* indices,
              Entry<T>* entries) {
  auto entry = [&](int64_t i) { return make_entry<T>(from[i], i, descending); };
#if TFL_HAS_AVX512
  constexpr bool kVectors = true;
  if constexpr (Numbers<T>::kTakes) {
    if (k == n && !indices && n < kManyElements) {
      using U = typename Numbers<T>::U;
      U* numbers = reinterpret_cast<U*>(entries);
      const bool mended = Numbers<T>::read(from, n, numbers);
      if (threaded)
        threaded_vector_sort(workers, numbers, n, numbers + n);
      else
        vector_sort(workers, numbers, n, n, numbers + n);
      Numbers<T>::write(numbers, n, descending, values);
      if (mended && !workers.interrupted()) Numbers<T>::mend(from, n, descending, values);
      return;
    }
  }
#else
  constexpr bool kVectors = false;
#endif
  if (k == n && !indices && n >= kFewElements) {
    auto digit = [&](T x, int d) {
      auto key = key_of(x);
      return key_byte<T>(descending ? ~key : key, d);
    };
    radix_sort<kKeyBytes<T>, T>(
        workers, threaded, n, [&](int64_t i) { return from[i]; }, digit, values, reinterpret_cast<T*>(entries));
    return;
  }
  auto give = [&](const auto* found) {
    for (int64_t i = 0; i < k; ++i) {
      int64_t at = position(found[i]);
      if (values) values[i] = from[at];
      if (indices) indices[i] = static_cast<I>(at);
    }
  };
  int64_t count = n;
  if (k == 0) return;
  if (k < n && k <= n / kSelected) {
    count = select<T>(workers, from, n, k, descending, entries);
    if (workers.interrupted()) return;
    if (k < count) std::nth_element(entries, entries + k - 1, entries + count);
    std::sort(entries, entries + k);
  } else if (kVectors && kNarrow<T> && n < kManyElements && (indices || n <= kUnspared)) {
#if TFL_HAS_AVX512
    if constexpr (kNarrow<T>) {
      for (int64_t i = 0; i < n; ++i) entries[i] = entry(i);
      if (threaded && k == n)
        threaded_vector_sort(workers, entries, n, entries + n);
      else
        vector_sort(workers, entries, n, k, entries + n);
      if (workers.interrupted()) return;
    }
#endif
  } else if (n >= kFewElements && indices) {
    if constexpr (!kNarrow<T>) {
      auto* words = reinterpret_cast<uint64_t*>(entries);
      if (sort_wide(workers, threaded, from, n, descending, words)) give(words);
      return;
    } else if (!radix_sort<kKeyBytes<T>, Entry<T>>(workers, threaded, n, entry, digit_of<T>, entries, entries + n)) {
      return;
    }
  } else {
    for (int64_t i = 0; i < n; ++i) entries[i] = entry(i);
    if (k < n) std::nth_element(entries, entries + k, entries + n);
    std::sort(entries, entries + std::min(k, n));
  }
  give(entries);
}

/// Of each of `rows` rows of n elements the first k in order, as elements and as positions, where these are wanted (I: of positions). A row has n
/// entries, where positions are wanted 2 n.
template <class T, class I>
void sort_rows(const Workers& workers, const T* from, int64_t rows, int64_t n, int64_t k, bool descending, T* values, I* indices,
               Entry<T>* entries) {
  auto sort = [&](int64_t row, bool threaded) {
    sort_row(workers, threaded, from + row * n, n, k, descending, values ? values + row * k : nullptr,
             indices ? indices + row * k : nullptr, entries + row * n * (indices ? 2 : 1));
  };
  if (rows < workers.threads && n >= kSharedElements) {
    for (int64_t row = 0; row < rows && !workers.interrupted(); ++row) sort(row, true);
    return;
  }
  in_parts(workers, rows, std::max<int64_t>(1, (1 << 13) / std::max<int64_t>(n, 1)), n * 8, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last && !workers.interrupted(); ++row) sort(row, false);
  });
}

inline bool run(const Workers& workers, const RoutineCall& call) {
  if (call.sizes[1] > INT32_MAX) return false;
  with_element_type(static_cast<DType>(call.dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, std::string> && !std::is_same_v<T, bool> && !is_complex_number<T>) {
      auto sort = [&](auto* indices) {
        sort_rows<T>(workers, static_cast<const T*>(call.at[0]), call.sizes[0], call.sizes[1], call.sizes[2], call.flags & 1,
                     static_cast<T*>(call.at[1]), indices, static_cast<Entry<T>*>(call.at[3]));
      };
      if (static_cast<DType>(call.index_dtype) == DType::I64)
        sort(static_cast<int64_t*>(call.at[2]));
      else
        sort(static_cast<int32_t*>(call.at[2]));
    }
  });
  return true;
}

}  // namespace sorts
}  // namespace TFL_ISA
}  // namespace tfl
