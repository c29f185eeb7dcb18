// Pieces of the module `_tf` that more than one of its files needs. Every native is a thin binding: operands converted as
// TensorFlow converts them, attributes read, one operation applied. What is made of several operations is TFL source in stdlib/.
// This header must not know how a module is imported.
#pragma once

#include <functional>

#include "frontend/core/tensor_api.h"

namespace tfl {

Result<Value> boolean_mask(Interp&, const Value& tensor, const Value& mask, const Value& axis);
/// tf.stack: `values` is a sequence; host values take the element type of the first tensor among them.
Result<Value> stack_values(Interp&, const Value& values, int64_t axis);
/// The items of a sequence as tensors of one element type, as concat, stack and add_n convert them.
Result<std::vector<Value>> convert_list(Interp&, const Value& values);

/// An int that decides what a graph looks like (an axis, a number of results): of a traced tensor its value, where that is known.
Result<int64_t> static_int(Interp&, const Value& v, std::string_view argument = "axis");
/// The error of a traced tensor whose value is not known there.
Failure not_static(const Value& v, std::string_view argument);
/// An optional one; None or Empty: `otherwise`.
Result<int64_t> optional_int(Interp&, const Value& v, int64_t otherwise, std::string_view argument = "axis");
/// A dtype argument; None or Empty: `otherwise`.
Result<DType> optional_dtype(Interp&, const Value& v, DType otherwise);
/// Is it a tensor of rank 0? Not as long as a traced one's rank is open.
bool is_scalar(const Value& v);
/// An operand that must be an integer tensor (shapes, paddings, indices given as host values become int32).
Result<Value> index_operand(Interp&, const Value& v);
/// A shape as a tensor operand: TensorShape, sequence, scalar; int32 unless it needs int64.
Result<Value> shape_operand(Interp&, const Value& v);
/// A string operand; host values that are no text are refused as TensorFlow refuses them.
Result<Value> string_operand(Interp&, const Value& v);
/// Applies `op` to operands that are tensors already; one result.
Result<Value> apply_list(Interp&, Op op, std::span<const Value> operands, const Attrs& attrs);
/// Do sizes, given as an integer or a sequence, need int64?
bool needs_int64(Interp&, const Value& v);
/// All results as a list.
Result<Value> apply_many(Interp&, Op op, std::span<const Value> operands, const Attrs& attrs);

/// What the rows of operations say about where scripts find them: found("math", "floormod", "mod") is tf.math.floormod, the operation mod.
void each_native_export(const std::function<void(std::string_view module, std::string_view name, std::string_view own)>& found);

// Tables of natives, joined by the module's init function.
std::span<const NativeDef> elementwise_natives();
std::span<const NativeDef> creation_natives();
std::span<const NativeDef> shape_natives();
std::span<const NativeDef> gather_natives();
std::span<const NativeDef> reduce_natives();
std::span<const NativeDef> text_natives();
std::span<const NativeDef> linalg_natives();
std::span<const NativeDef> random_natives();
std::span<const NativeDef> window_natives();
std::span<const NativeDef> fourier_natives();

}  // namespace tfl
