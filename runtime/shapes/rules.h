// What shape rules share: error texts, axes, index types, values of small integer operands. Sizes below zero are unknown.
// This header must not know any operation by name.
#pragma once

#include <fmt/core.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/ops/structural.h"

namespace tfl::shape_rules {

inline bool known(int64_t size) { return size >= 0; }
bool all_known(std::span<const int64_t> dims);

/// InvalidArgumentError with TensorFlow's suffix: "text [Op:Name]".
Failure invalid_in(std::string_view tf_name, std::string text);
template <class... Args>
Failure invalid(Op op, fmt::format_string<Args...> format, Args&&... args) {
  return invalid_in(op_info(op).tf_name, fmt::vformat(format, fmt::make_format_args(args...)));
}

inline TensorType ranked(DType dtype, Dims dims) { return {dtype, true, std::move(dims)}; }
inline TensorType unranked(DType dtype) { return {dtype, false, {}}; }
/// Appends a result; a rank over kMaxRank is an error.
Result<void> give(InferCall& call, TensorType type);
/// Appends the same type `count` times, as far as that is sensible.
Result<void> give_many(InferCall& call, const TensorType& type, int64_t count);

/// The integers of an operand whose value is known (rank 0 or 1, int16 int32 int64 ...); nothing otherwise.
std::optional<Dims> integers(const OperandInfo& operand);
Dims integers(const Tensor& t);
/// "Value for attr 'Tindices' of float is not in the list of allowed values: int32, int64" unless `dtype` is one of `allowed`.
Result<void> check_dtype(std::string_view tf_name, std::string_view attr, DType dtype, std::span<const DType> allowed);
Result<void> check_index_dtype(Op op, std::string_view attr, DType dtype, bool with_int16 = true);
/// "cannot compute ConcatV2 as input #1(zero-based) was expected to be a int32 tensor but is a float tensor" unless equal.
Result<void> check_same_dtype(std::string_view tf_name, size_t operand, DType expected, DType actual);

/// `axis` counted from the front; negative when it is out of range.
inline int64_t front_axis(int64_t axis, int64_t rank) {
  return axis < -rank || axis >= rank ? -1 : axis < 0 ? axis + rank : axis;
}

/// Whether two sizes may be equal, and what is known of them together. Below -1 are sizes with names, which say more than -1 does.
inline bool may_equal(int64_t a, int64_t b) { return a == b || !known(a) || !known(b); }
inline int64_t merge(int64_t a, int64_t b) { return known(a) ? a : known(b) ? b : a == -1 ? b : a; }

/// [2,?,4] with unknown sizes as question marks.
std::string shape_words(std::span<const int64_t> dims);
/// The product, or an error when it overflows; negative when a size is unknown.
Result<int64_t> product(Op op, std::span<const int64_t> dims);

}  // namespace tfl::shape_rules
