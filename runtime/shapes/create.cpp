// Shape rules of what makes elements from nothing or in another type: fill, range, linspace, eye, cast, bitcast.
#include <cmath>

#include "runtime/shapes/range.h"
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

namespace {

// A tensor of sizes that an operand gives.
Result<void> give_sizes(InferCall& call, DType dtype) {
  const OperandInfo& sizes = call.operands[0];
  TFL_TRY(check_index_dtype(call.op, "index_type", sizes.type.dtype, false));
  if (!sizes.type.ranked) return give(call, unranked(dtype));
  if (sizes.type.dims.size() != 1) {
    return invalid(call.op, "dims must represent a vector, got shape {}", shape_words(sizes.type.dims));
  }
  if (std::optional<Dims> dims = integers(sizes)) {
    for (int64_t d : *dims) {
      if (d < 0)
        return op_failure(ErrorKind::InvalidArgumentError, call.op, call.attrs, fmt::format("Dimension {} must be >= 0", d));
    }
    return give(call, ranked(dtype, std::move(*dims)));
  }
  int64_t rank = sizes.type.dims[0];
  if (rank < 0) return give(call, unranked(dtype));
  return give(call, ranked(dtype, Dims(static_cast<size_t>(rank), -1)));
}

// Range and LinSpace take vectors of one element for scalars, as TensorFlow does.
Result<void> check_scalar(InferCall& call, size_t operand, std::string_view what) {
  const TensorType& t = call.operands[operand].type;
  if (!t.ranked || t.dims.empty() || (t.dims.size() == 1 && (t.dims[0] == 1 || t.dims[0] < 0))) return {};
  return invalid(call.op, "{} must be a scalar, not shape {}", what, shape_words(t.dims));
}

}  // namespace

Result<void> infer_fill(InferCall& call) {
  const TensorType& value = call.operands[1].type;
  if (value.ranked && !value.dims.empty() && !(value.dims.size() == 1 && (value.dims[0] == 1 || value.dims[0] < 0))) {
    return invalid(call.op, "value must be a scalar, got shape {}", shape_words(value.dims));
  }
  return give_sizes(call, value.dtype);
}

Result<void> infer_eye(InferCall& call) { return give_sizes(call, call.attrs.get_dtype(Attr::dtype)); }

Result<void> infer_range(InferCall& call) {
  DType dtype = call.operands[0].type.dtype;
  if (!is_numeric(dtype)) {
    return op_failure(
        ErrorKind::InvalidArgumentError, call.op, call.attrs,
        fmt::format("Value for attr 'Tidx' of {} is not in the list of allowed values: bfloat16, half, float, double, "
                    "int8, int16, int32, int64, uint16, uint32, uint64",
                    dtype_tf_name(dtype)));
  }
  constexpr std::string_view kNames[] = {"start", "limit", "delta"};
  bool all_values = true;
  for (size_t i = 0; i < 3; ++i) {
    TFL_TRY(check_same_dtype(op_info(call.op).tf_name, i, dtype, call.operands[i].type.dtype));
    TFL_TRY(check_scalar(call, i, kNames[i]));
    all_values &= static_cast<bool>(call.operands[i].value);
  }
  if (!all_values) return give(call, ranked(dtype, {-1}));
  int64_t n = TFL_TRY(range_size(call.op, call.attrs, call.operands[0].value, call.operands[1].value, call.operands[2].value));
  return give(call, ranked(dtype, {n}));
}

Result<void> infer_linspace(InferCall& call) {
  DType dtype = call.operands[0].type.dtype;
  constexpr DType kFloats[] = {DType::BF16, DType::F16, DType::F32, DType::F64};
  TFL_TRY(check_dtype(op_info(call.op).tf_name, "T", dtype, kFloats));
  TFL_TRY(check_same_dtype(op_info(call.op).tf_name, 1, dtype, call.operands[1].type.dtype));
  TFL_TRY(check_scalar(call, 0, "start"));
  TFL_TRY(check_scalar(call, 1, "stop"));
  TFL_TRY(check_scalar(call, 2, "num"));
  TFL_TRY(check_index_dtype(call.op, "Tidx", call.operands[2].type.dtype, false));
  std::optional<Dims> num = integers(call.operands[2]);
  if (!num) return give(call, ranked(dtype, {-1}));
  if ((*num)[0] < 0) {
    return op_failure(ErrorKind::InvalidArgumentError, call.op, call.attrs, fmt::format("Requires num > 0: {}", (*num)[0]));
  }
  return give(call, ranked(dtype, {(*num)[0]}));
}

Result<void> infer_cast(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  DType to = call.attrs.get_dtype(Attr::dtype);
  if ((x.dtype == DType::String) != (to == DType::String)) {
    bool from_text = x.dtype == DType::String;
    auto failure = op_failure(ErrorKind::UnimplementedError, call.op, call.attrs,
                              fmt::format("Cast {} to {} is not supported", dtype_tf_name(x.dtype), dtype_tf_name(to)));
    return std::move(failure).with_hint(from_text ? "tf.strings.to_number reads numbers" : "tf.as_string writes numbers");
  }
  TensorType type = x;
  type.dtype = to;
  return give(call, std::move(type));
}

Result<void> infer_bitcast(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  DType to = call.attrs.get_dtype(Attr::dtype);
  auto allowed = [](DType d) { return d != DType::String && d != DType::Bool; };
  if (!allowed(x.dtype) || !allowed(to)) {
    return op_failure(
        ErrorKind::InvalidArgumentError, call.op, call.attrs,
        fmt::format("Value for attr '{}' of {} is not in the list of allowed values: bfloat16, half, float, double, int64, "
                    "int32, uint8, uint16, uint32, uint64, int8, int16",
                    allowed(x.dtype) ? "type" : "T", dtype_tf_name(allowed(x.dtype) ? to : x.dtype)));
  }
  if (!x.ranked) return give(call, unranked(to));
  int64_t from_size = static_cast<int64_t>(dtype_size(x.dtype)), to_size = static_cast<int64_t>(dtype_size(to));
  TensorType type = ranked(to, x.dims);
  if (to_size < from_size) {
    type.dims.push_back(from_size / to_size);
  } else if (to_size > from_size) {
    if (x.dims.empty() || (known(x.dims.back()) && x.dims.back() != to_size / from_size)) {
      return op_failure(ErrorKind::InvalidArgumentError, call.op, call.attrs,
                        fmt::format("Cannot bitcast from {} to {}: the last size must be {}, and the shape is {}",
                                    dtype_name(x.dtype), dtype_name(to), to_size / from_size, shape_words(x.dims)));
    }
    type.dims.pop_back();
  }
  return give(call, std::move(type));
}

}  // namespace tfl
