// Writes by index. Updates are applied one after the other in row-major order, so duplicates have one defined result; all positions are
// checked first, so that what fails has written nothing. This header must not know tensors.
#pragma once

#include <algorithm>
#include <cstring>

#include "runtime/kernels/routine.h"
#include "runtime/math/vec.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl {
inline namespace TFL_ISA {
namespace scatters {

template <class T>
T combine(ScatterHow how, T a, T b) {
  if (how == ScatterHow::set) return b;
  if constexpr (std::is_same_v<T, std::string>) {
    return a + b;
  } else if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (is_half<T>) {
    float x = to_f32(a), y = to_f32(b);
    float r = how == ScatterHow::add        ? x + y
              : how == ScatterHow::subtract ? x - y
              : how == ScatterHow::minimum  ? (y < x || y != y ? y : x)
                                            : (y > x || y != y ? y : x);
    if constexpr (std::is_same_v<T, f16>)
      return to_f16(r);
    else
      return to_bf16(r);
  } else if constexpr (is_complex_number<T>) {
    return how == ScatterHow::subtract ? a - b : a + b;
  } else if constexpr (std::is_same_v<T, Storage128>) {
    return b;
  } else if constexpr (std::is_floating_point_v<T>) {
    switch (how) {
      case ScatterHow::add: return a + b;
      case ScatterHow::subtract: return a - b;
      case ScatterHow::minimum: return b < a || b != b ? b : a;
      default: return b > a || b != b ? b : a;
    }
  } else {
    using U = std::make_unsigned_t<T>;
    switch (how) {
      case ScatterHow::add: return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
      case ScatterHow::subtract: return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
      case ScatterHow::minimum: return b < a ? b : a;
      default: return b > a ? b : a;
    }
  }
}

inline constexpr int64_t kPart = 1 << 15;  // tuples between two looks for an interrupt

/// What is written where: `tuples` rows of `inner` elements, each by a tuple of `depth` indices into axes of these sizes.
struct Places {
  DType dtype;
  const std::byte* indices;
  int64_t tuples, inner, depth;
  const int64_t* sizes;

  /// The row that a tuple points to; -1: outside.
  int64_t row(int64_t tuple) const {
    if (depth == 1) {
      const int64_t index = index_at(dtype, indices, tuple);
      return static_cast<uint64_t>(index) < static_cast<uint64_t>(sizes[0]) ? index : -1;
    }
    int64_t at = 0;
    for (int64_t d = 0; d < depth; ++d) {
      int64_t index = index_at(dtype, indices, tuple * depth + d);
      if (index < 0 || index >= sizes[d]) return -1;
      at = at * sizes[d] + index;
    }
    return at;
  }
  /// The first tuple that points outside; -1: none does, or an interrupt came.
  int64_t first_outside(const Workers& workers) const {
    for (int64_t begin = 0; begin < tuples && !workers.interrupted(); begin += kPart) {
      for (int64_t t = begin; t < std::min(tuples, begin + kPart); ++t) {
        if (row(t) < 0) return t;
      }
    }
    return -1;
  }
};

/// The tuples [first, last).
template <ScatterHow how, class T>
void apply_part(const Places& places, const T* updates, T* out, int64_t first, int64_t last) {
  const int64_t inner = places.inner;
  for (int64_t t = first; t < last; ++t) {
    T* row = out + places.row(t) * inner;
    const T* update = updates + t * inner;
    int64_t i = 0;
    if constexpr (how == ScatterHow::set && std::is_trivially_copyable_v<T>) {
      if (inner >= 16) {
        std::memcpy(row, update, static_cast<size_t>(inner) * sizeof(T));
        continue;
      }
    }
    if constexpr ((how == ScatterHow::add || how == ScatterHow::subtract) && std::is_arithmetic_v<T> &&
                  !std::is_same_v<T, bool>) {
      constexpr int N = kLanes<T>;
      using V = Vec<T, N>;
      for (; i + N <= inner; i += N) {
        const V a = V::load(row + i), b = V::load(update + i);
        (how == ScatterHow::add ? a + b : a - b).store(row + i);
      }
    }
    for (; i < inner; ++i) row[i] = combine<T>(how, row[i], update[i]);
  }
}

template <class T>
void apply_updates(const Workers& workers, ScatterHow how, const Places& places, const T* updates, T* out) {
  const int64_t part = std::max<int64_t>(1, kPart / std::max<int64_t>(1, places.inner));
  for (int64_t first = 0; first < places.tuples && !workers.interrupted(); first += part) {
    const int64_t last = std::min(places.tuples, first + part);
    switch (how) {
      case ScatterHow::set: apply_part<ScatterHow::set>(places, updates, out, first, last); break;
      case ScatterHow::add: apply_part<ScatterHow::add>(places, updates, out, first, last); break;
      case ScatterHow::subtract: apply_part<ScatterHow::subtract>(places, updates, out, first, last); break;
      case ScatterHow::minimum: apply_part<ScatterHow::minimum>(places, updates, out, first, last); break;
      case ScatterHow::maximum: apply_part<ScatterHow::maximum>(places, updates, out, first, last); break;
    }
  }
}

inline bool run(const Workers& workers, const RoutineCall& call) {
  Places places{static_cast<DType>(call.index_dtype),
                static_cast<const std::byte*>(call.at[1]),
                call.sizes[1],
                call.sizes[2],
                call.sizes[3],
                call.sizes + 4};
  if (places.first_outside(workers) >= 0) return false;
  auto dtype = static_cast<DType>(call.dtype);
  size_t bytes = static_cast<size_t>(call.sizes[0]) * dtype_size(dtype);
  if (bytes == 0) return true;
  if (!call.at[0])
    std::memset(call.at[3], 0, bytes);
  else if (call.at[0] != call.at[3])
    std::memcpy(call.at[3], call.at[0], bytes);
  auto how = static_cast<ScatterHow>(call.flags);
  auto apply = [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, std::string>)
      apply_updates<T>(workers, how, places, static_cast<const T*>(call.at[2]), static_cast<T*>(call.at[3]));
  };
  if (how == ScatterHow::set)
    with_storage_type(dtype, apply);
  else
    with_element_type(dtype, apply);
  return true;
}

}  // namespace scatters
}  // namespace TFL_ISA
}  // namespace tfl
