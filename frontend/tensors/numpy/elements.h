// Single elements of arrays and arithmetic of NumPy's scalars, without tensors in between: what loops over elements do. What is not found
// here goes the general way, which has the errors.
#pragma once

#include "frontend/tensors/numpy/array.h"

namespace tfl {

/// Where the element lies that a whole number (of a vector) or a tuple of them names; null for any other key, and beyond the ends.
const std::byte* element_place(const Tensor& t, const Value& key);
/// The element there as a scalar of its own; Empty for text.
Value element_at(Interp& interp, DType dtype, const std::byte* place);
/// Writes a number there. False: it needs a conversion that only the general way knows.
bool store_element(DType dtype, std::byte* place, const Value& v);

/// a op b of two scalars of one type, or of one and a Python number. Empty: not such a pair.
Value scalar_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b);
Value scalar_compare(Interp& interp, CompareOp op, const Value& a, const Value& b);

}  // namespace tfl
