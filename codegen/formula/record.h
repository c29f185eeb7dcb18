// The formulas of the operation table: what elementwise rows, casts and checks of rows do with one element, for each element
// type. They are recorded when asked for, which takes microseconds. This header must not know a back end.
#pragma once

#include <optional>
#include <span>

#include "codegen/formula/formula.h"
#include "runtime/ops/type_class.h"

namespace tfl {
enum class Op : uint16_t;
}

namespace tfl::formula {

/// The element type that formulas compute in: f32 for half types, u8 (0 or 1) for Bool.
Elem elem_of_dtype(DType dtype);

/// An operand that is a constant has its bits (as elem_of_dtype says; of masks 0 or 1).
using Operand = std::optional<uint64_t>;

/// The value of row `op` for operands of element type `dtype`; the first operand of `choice` rows is a mask. Half types are
/// rounded to values that the type has, unless the value is one of the operands'. Rows whose result is boolean give a mask. None
/// when the row does not take the type.
std::optional<Formula> record_row(Op op, DType dtype, std::span<const Operand> operands);
/// A mask: where the row refuses its operands. None when it refuses nothing.
std::optional<Formula> record_violation(Op op, DType dtype, std::span<const Operand> operands);
/// To Bool it is a mask; from Bool, of a u8.
Formula record_cast(DType from, DType to, Operand x = {});
/// Of f32, to the nearest value of a half type.
Formula record_rounding(DType half);

}  // namespace tfl::formula
