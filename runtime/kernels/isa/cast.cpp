// Conversions between every two element types.
#include "runtime/kernels/elementwise/cast.h"

#include <algorithm>

#include "runtime/math/cast.h"
#include "runtime/math/complex_number.h"

namespace tfl {
inline namespace TFL_ISA {

namespace {

template <class From, class To>
void convert_all(std::int64_t n, const std::byte* source, std::byte* target) {
  constexpr int kBytes = static_cast<int>(std::max(sizeof(compute_type<From>), sizeof(compute_type<To>)));
  constexpr int N = kVectorBytes / kBytes;
  // bool is kept in bytes that are read and written as such.
  using FromStored = std::conditional_t<std::is_same_v<From, bool>, std::uint8_t, From>;
  using ToStored = std::conditional_t<std::is_same_v<To, bool>, std::uint8_t, To>;
  auto* from = reinterpret_cast<const FromStored*>(source);
  auto* to = reinterpret_cast<ToStored*>(target);
  for (; n >= N; n -= N, from += N, to += N) {
    store<ToStored, N>(to, math::cast<To, From>(load<FromStored, N>(from)));
  }
  for (; n > 0; --n, ++from, ++to) {
    store<ToStored, 1>(to, math::cast<To, From>(load<FromStored, 1>(from)));
  }
}

// A complex number gives its real part, and a real one is a complex number without the other.
template <class From, class To>
void convert_complex(std::int64_t n, const std::byte* source, std::byte* target) {
  auto* from = reinterpret_cast<const From*>(source);
  auto* to = reinterpret_cast<To*>(target);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (is_complex_number<From> && is_complex_number<To>) {
      to[i] = To(static_cast<typename To::Part>(from[i].re), static_cast<typename To::Part>(from[i].im));
    } else if constexpr (is_complex_number<From>) {
      convert_all<typename From::Part, To>(1, reinterpret_cast<const std::byte*>(&from[i].re),
                                           reinterpret_cast<std::byte*>(to + i));
    } else {
      to[i] = To(0);
      convert_all<From, typename To::Part>(1, reinterpret_cast<const std::byte*>(from + i),
                                           reinterpret_cast<std::byte*>(&to[i].re));
    }
  }
}

}  // namespace

extern const CastLoops kCastLoops;
#define TFL_CAST_ROW(From)                                                                               \
  {convert_all<From, f16>,           convert_all<From, bf16>,          convert_all<From, float>,         \
   convert_all<From, double>,        convert_all<From, std::int8_t>,   convert_all<From, std::int16_t>,  \
   convert_all<From, std::int32_t>,  convert_all<From, std::int64_t>,  convert_all<From, std::uint8_t>,  \
   convert_all<From, std::uint16_t>, convert_all<From, std::uint32_t>, convert_all<From, std::uint64_t>, \
   convert_all<From, bool>,          convert_complex<From, c64>,       convert_complex<From, c128>}
#define TFL_COMPLEX_ROW(From)                                                                                        \
  {convert_complex<From, f16>,           convert_complex<From, bf16>,          convert_complex<From, float>,         \
   convert_complex<From, double>,        convert_complex<From, std::int8_t>,   convert_complex<From, std::int16_t>,  \
   convert_complex<From, std::int32_t>,  convert_complex<From, std::int64_t>,  convert_complex<From, std::uint8_t>,  \
   convert_complex<From, std::uint16_t>, convert_complex<From, std::uint32_t>, convert_complex<From, std::uint64_t>, \
   convert_complex<From, bool>,          convert_complex<From, c64>,           convert_complex<From, c128>}
const CastLoops kCastLoops = {{
    TFL_CAST_ROW(f16),
    TFL_CAST_ROW(bf16),
    TFL_CAST_ROW(float),
    TFL_CAST_ROW(double),
    TFL_CAST_ROW(std::int8_t),
    TFL_CAST_ROW(std::int16_t),
    TFL_CAST_ROW(std::int32_t),
    TFL_CAST_ROW(std::int64_t),
    TFL_CAST_ROW(std::uint8_t),
    TFL_CAST_ROW(std::uint16_t),
    TFL_CAST_ROW(std::uint32_t),
    TFL_CAST_ROW(std::uint64_t),
    TFL_CAST_ROW(bool),
    TFL_COMPLEX_ROW(c64),
    TFL_COMPLEX_ROW(c128),
}};
#undef TFL_COMPLEX_ROW
#undef TFL_CAST_ROW

}  // namespace TFL_ISA
}  // namespace tfl
