// From a dtype to a C++ type, for code that is a template over the element type.
// This header must not know any operation.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/math/complex_number.h"
#include "runtime/math/half.h"
#include "runtime/tensor/dtype.h"

namespace tfl {

template <class T>
struct TypeTag {
  using type = T;
};

/// What moves 16 bytes at once.
struct Storage128 {
  uint64_t low, high;
  bool operator==(const Storage128&) const = default;
};

/// f(TypeTag<T>{}) with an unsigned integer as wide as the element, or std::string: for moves, which do not look at values.
template <class F>
decltype(auto) with_storage_type(DType dtype, F&& f) {
  if (dtype == DType::String) return f(TypeTag<std::string>{});
  switch (dtype_size(dtype)) {
    case 1: return f(TypeTag<uint8_t>{});
    case 2: return f(TypeTag<uint16_t>{});
    case 4: return f(TypeTag<uint32_t>{});
    case 16: return f(TypeTag<Storage128>{});
    default: return f(TypeTag<uint64_t>{});
  }
}

/// f(TypeTag<T>{}) with the element type itself.
template <class F>
decltype(auto) with_element_type(DType dtype, F&& f) {
  switch (dtype) {
#define TFL_DTYPE(id, name, short_name, tf_name, size, group, type) \
  case DType::id: return f(TypeTag<type>{});
#include "runtime/tensor/dtypes.def"
#undef TFL_DTYPE
  }
  __builtin_unreachable();
}

/// The index at `i` of integer elements of any of the index dtypes.
inline int64_t index_at(DType dtype, const std::byte* data, int64_t i) {
  switch (dtype) {
    case DType::I8: return reinterpret_cast<const int8_t*>(data)[i];
    case DType::U8: return reinterpret_cast<const uint8_t*>(data)[i];
    case DType::I16: return reinterpret_cast<const int16_t*>(data)[i];
    case DType::I32: return reinterpret_cast<const int32_t*>(data)[i];
    default: return reinterpret_cast<const int64_t*>(data)[i];
  }
}

}  // namespace tfl
