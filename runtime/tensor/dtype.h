// Element types. One row each in dtypes.def; everything about a dtype that is not arithmetic is read from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tfl {

enum class DType : uint8_t {
#define TFL_DTYPE(id, name, short_name, tf_name, size, group, type) id,
#include "runtime/tensor/dtypes.def"
#undef TFL_DTYPE
};

inline constexpr int kDTypeCount = 16;

enum class DTypeGroup : uint8_t { Float, Signed, Unsigned, Bool, Complex, String };

/// "float32": what `dtype.name` says.
std::string_view dtype_name(DType dtype);
/// "f32": the notation of signatures and IR text.
std::string_view dtype_short_name(DType dtype);
/// "float", "half", "int32": what TensorFlow's kernels call it in their messages.
std::string_view dtype_tf_name(DType dtype);
/// Bytes of one element in memory (32 for String: a std::string).
size_t dtype_size(DType dtype);
DTypeGroup dtype_group(DType dtype);
/// From "float32", "half", "double", "bfloat16", "bool", "string"...
std::optional<DType> dtype_from_name(std::string_view name);
std::optional<DType> dtype_from_short_name(std::string_view name);

inline bool is_floating(DType d) { return dtype_group(d) == DTypeGroup::Float; }
inline bool is_integer(DType d) { return dtype_group(d) == DTypeGroup::Signed || dtype_group(d) == DTypeGroup::Unsigned; }
inline bool is_unsigned(DType d) { return dtype_group(d) == DTypeGroup::Unsigned; }
inline bool is_complex(DType d) { return d == DType::C64 || d == DType::C128; }
/// The dtype of a complex one's parts; any other is its own.
inline DType part_dtype(DType d) { return d == DType::C64 ? DType::F32 : d == DType::C128 ? DType::F64 : d; }
/// The complex dtype whose parts are of a floating one.
inline DType complex_of(DType d) { return d == DType::F64 || d == DType::C128 ? DType::C128 : DType::C64; }
/// Integers and floats: what has an order.
inline bool is_numeric(DType d) { return is_floating(d) || is_integer(d); }

}  // namespace tfl
