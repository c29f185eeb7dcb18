// Ranges: how many numbers there are, and the numbers. This header must not know tensors.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "runtime/math/half.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl::ranges {

template <class T>
using Compute = compute_type<T>;

template <class T>
Compute<T> read(const T* at) {
  if constexpr (is_half<T>) {
    return to_f32(*at);
  } else {
    return *at;
  }
}
template <class T>
T rounded(Compute<T> v) {
  if constexpr (std::is_same_v<T, f16>) {
    return to_f16(v);
  } else if constexpr (std::is_same_v<T, bf16>) {
    return to_bf16(v);
  } else {
    return v;
  }
}
// v as a T holds it, in the type it is computed in.
template <class T>
Compute<T> through(Compute<T> v) {
  if constexpr (is_half<T>) {
    return to_f32(rounded<T>(v));
  } else {
    return v;
  }
}

// f(TypeTag<T>) for the numeric types; the shape rules have refused the others.
template <class F>
decltype(auto) with_numeric_type(DType dtype, F&& f) {
  return with_element_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool> || is_complex_number<T>) {
      return f(TypeTag<int8_t>{});
    } else {
      return f(tag);
    }
  });
}

enum class Refusal : uint8_t { none, no_step, not_up, not_down, too_long };

template <class T>
Refusal count(Compute<T> start, Compute<T> limit, Compute<T> delta, int64_t& out) {
  if (delta == 0) return Refusal::no_step;
  if (delta > 0 && !(start <= limit)) return Refusal::not_up;
  if (!(delta > 0) && !(start >= limit)) return Refusal::not_down;
  if constexpr (std::is_integral_v<Compute<T>>) {
    // The distance of two 64-bit numbers needs 64 bits without a sign.
    auto distance = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                              : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
    uint64_t n = distance / step + (distance % step != 0);
    if (n > INT64_MAX) return Refusal::too_long;
    out = static_cast<int64_t>(n);
  } else {
    auto n = std::ceil(std::abs((limit - start) / delta));
    if (!(n <= Compute<T>(0x1p62))) return Refusal::too_long;
    out = static_cast<int64_t>(n);
  }
  return Refusal::none;
}

template <class T>
void fill(Compute<T> first, Compute<T> delta, int64_t n, T* to) {
  using C = Compute<T>;
  // Integers wrap, and so must not be computed as signed numbers; every float operation rounds to T.
  using W = std::conditional_t<std::is_integral_v<C>, uint64_t, C>;
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<C>) {
      to[i] = static_cast<T>(static_cast<W>(first) + static_cast<W>(i) * static_cast<W>(delta));
    } else {
      to[i] = rounded<T>(first + through<T>(through<T>(static_cast<C>(i)) * delta));
    }
  }
}

}  // namespace tfl::ranges
