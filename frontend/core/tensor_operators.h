// What tensors and variables share: operators, indexing keys, truth and conversion of single elements.
// This header must not know about modules.
#pragma once

#include "frontend/core/tensor_api.h"
#include "runtime/shapes/strided_slice.h"
#include "runtime/tensor/element.h"

namespace tfl {

/// abs() of elements of this type: of complex numbers it is an operation of its own, whose result is real.
inline Op absolute_of(DType dtype) { return is_complex(dtype) ? Op::complex_abs : Op::abs; }

Result<Value> tensor_binary(Interp&, BinaryOp op, const Value& a, const Value& b);
/// The short ways: small tensors of one element type, or one and a number, and operands that are not needed any more, where the result takes over the memory of one
/// that nobody else holds. Empty for all others; then nothing has happened. An operand stays where it is when the operation fails.
Result<Value> tensor_binary_last(Interp&, BinaryOp op, Value& a, bool a_ends, Value& b, bool b_ends);
Result<Value> tensor_unary(Interp&, UnaryOp op, const Value& self);
Result<Value> tensor_compare(Interp&, CompareOp op, const Value& a, const Value& b);
/// The short way of comparisons: small tensors of one element type, or one and a number. Empty for all others.
Value tensor_compare_small(Interp&, CompareOp op, const Value& a, const Value& b);
bool can_broadcast(const Tensor& a, const Tensor& b);
/// Whether an item of `self` equals `item`, as `in` compares.
Result<bool> for_each_equal(Interp&, const Value& self, const Value& item);

/// t[key] as begin, end, strides and masks; keys are host values and scalar tensors of one integer type.
Result<SliceSpec> slice_spec(Interp&, const Value& key);

// Slots of both types (both_slots.cpp); `self` is a tensor or a variable.
Result<bool> tensor_truth(Interp&, const Value& self);
Result<int64_t> tensor_length(Interp&, const Value& self);
Result<Value> tensor_item_slot(Interp&, const Value& self, const Value& key);
Result<bool> tensor_contains(Interp&, const Value& self, const Value& item);
Result<Value> tensor_iter(Interp&, const Value& self);
Result<Value> tensor_format(Interp&, const Value& self, std::string_view spec);

/// numpy(): an array, a NumPy scalar, or bytes.
Result<Value> numpy_of(Interp&, const Tensor& t);

}  // namespace tfl
