#include "runtime/mpi/sum.h"

#include <bit>
#include <type_traits>

#include "runtime/math/half.h"

namespace tfl::mpi {

namespace {

template <class T>
bool plain(void* to, const void* a, const void* b, size_t count) {
  auto* out = static_cast<T*>(to);
  const auto *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;  // integers wrap
      out[i] = static_cast<T>(static_cast<U>(static_cast<U>(x[i]) + static_cast<U>(y[i])));
    } else {
      out[i] = x[i] + y[i];
    }
  }
  return true;
}

template <class T>
bool rounded(void* to, const void* a, const void* b, size_t count) {
  auto* out = static_cast<T*>(to);
  const auto *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  for (size_t i = 0; i < count; ++i) {
    const float sum = to_f32(x[i]) + to_f32(y[i]);
    if constexpr (std::is_same_v<T, bf16>)
      out[i] = to_bf16(sum);
    else
      out[i] = to_f16(sum);
  }
  return true;
}

}  // namespace

bool add(DType dtype, void* to, const void* a, const void* b, size_t count) {
  switch (dtype) {
    case DType::F32: return plain<float>(to, a, b, count);
    case DType::F64: return plain<double>(to, a, b, count);
    case DType::C64: return plain<float>(to, a, b, count * 2);
    case DType::C128: return plain<double>(to, a, b, count * 2);
    case DType::F16: return rounded<f16>(to, a, b, count);
    case DType::BF16: return rounded<bf16>(to, a, b, count);
    case DType::I8: return plain<int8_t>(to, a, b, count);
    case DType::I16: return plain<int16_t>(to, a, b, count);
    case DType::I32: return plain<int32_t>(to, a, b, count);
    case DType::I64: return plain<int64_t>(to, a, b, count);
    case DType::U8: return plain<uint8_t>(to, a, b, count);
    case DType::U16: return plain<uint16_t>(to, a, b, count);
    case DType::U32: return plain<uint32_t>(to, a, b, count);
    case DType::U64: return plain<uint64_t>(to, a, b, count);
    case DType::Bool:
    case DType::String: break;
  }
  return false;
}

}  // namespace tfl::mpi
