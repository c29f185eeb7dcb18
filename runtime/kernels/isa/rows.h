// The rows of elementwise.def as templates over the value type: for vectors, from which loops are made, and for what records them.
// This header must not know loops or tensors.
#pragma once

#include "runtime/kernels/isa/formulas.h"
#include "runtime/ops/type_class.h"

namespace tfl {
inline namespace TFL_ISA {
namespace rows {

using namespace formulas;  // NOLINT: the rows are written in these names

#define TFL_ELEMENTWISE(name, tf_name, operands, type_class, result_type, formula, gradients, ...)   \
  struct Row_##name {                                                                                \
    static constexpr int arity = operands;                                                           \
    static constexpr TypeClass types = TypeClass::type_class;                                        \
    static constexpr ResultType result = ResultType::result_type;                                    \
    template <class V, class X>                                                                      \
    static constexpr bool exists = requires(X x, V y, V z) { formula; };                             \
    template <class V, class X>                                                                      \
    TFL_INLINE static auto value([[maybe_unused]] X x, [[maybe_unused]] V y, [[maybe_unused]] V z) { \
      return formula;                                                                                \
    }                                                                                                \
  };
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE

}  // namespace rows

// Whether a row has a loop of its own for elements T; `truth` when the bytes are bool. Half types and strings have none, but
// for choices, which only look at sizes.
template <class T>
constexpr bool row_takes(TypeClass types, bool truth) {
  switch (types) {
    case TypeClass::any:
    case TypeClass::choice: return true;
    case TypeClass::numeric: return !truth && !is_complex_number<T>;
    case TypeClass::number:
    case TypeClass::number_or_string: return !truth;
    case TypeClass::fractional:
      if constexpr (is_complex_number<T>) return true;
      return std::is_floating_point_v<T>;
    case TypeClass::complex: return is_complex_number<T>;
    case TypeClass::floating:
    case TypeClass::single_or_double: return std::is_floating_point_v<T>;
    case TypeClass::integer: return !truth && std::is_integral_v<T>;
    case TypeClass::signed_integer: return !truth && std::is_integral_v<T> && std::is_signed_v<T>;
    case TypeClass::boolean: return truth;
    case TypeClass::signed_number:
      if constexpr (is_complex_number<T>) return true;
      return !truth && std::is_signed_v<T>;
    case TypeClass::real_signed: return !truth && std::is_signed_v<T>;
  }
  return false;
}

}  // namespace TFL_ISA
}  // namespace tfl
