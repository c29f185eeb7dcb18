// Shape rules of reductions and scans.
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

namespace {

constexpr DType kNumbers[] = {DType::F32, DType::F64,  DType::I32, DType::U8,   DType::I16, DType::I8,  DType::C64,
                              DType::I64, DType::BF16, DType::U16, DType::C128, DType::F16, DType::U32, DType::U64};

// TensorFlow's order of the types, which its messages list. What has no order is left out of the extremes.
Result<void> check_number(InferCall& call, bool ordered = false, bool with_bool = false) {
  DType dtype = call.operands[0].type.dtype;
  if (is_numeric(dtype) || (!ordered && is_complex(dtype)) || (with_bool && dtype == DType::Bool)) return {};
  std::string list;
  for (DType d : kNumbers) {
    if (!ordered || !is_complex(d)) list += std::string(list.empty() ? "" : ", ") + std::string(dtype_tf_name(d));
  }
  if (with_bool) list += ", bool";
  return op_failure(ErrorKind::InvalidArgumentError, call.op, call.attrs,
                    fmt::format("Value for attr 'T' of {} is not in the list of allowed values: {}", dtype_tf_name(dtype), list));
}

// Which axes go: all when none are named.
Result<void> reduced_axes(InferCall& call, size_t rank, SmallVec<bool, 8>& reduced) {
  reduced = SmallVec<bool, 8>(rank, false);
  const Dims* axes = call.attrs.get_ints(Attr::axes);
  if (!axes) {
    reduced = SmallVec<bool, 8>(rank, true);
    return {};
  }
  for (int64_t axis : *axes) {
    int64_t at = front_axis(axis, static_cast<int64_t>(rank));
    if (at < 0) {
      return op_failure(ErrorKind::InvalidArgumentError, call.op, call.attrs,
                        fmt::format("Invalid reduction dimension ({} for input with {} dimension(s)", axis, rank));
    }
    if (reduced[static_cast<size_t>(at)]) {
      return invalid(call.op, "Invalid reduction arguments: Axes contains duplicate dimension: {}", at);
    }
    reduced[static_cast<size_t>(at)] = true;
  }
  return {};
}

Result<void> infer_reduction(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const Dims* axes = call.attrs.get_ints(Attr::axes);
  bool keep = call.attrs.get_bool(Attr::keepdims);
  if (!x.ranked) {
    if (!axes && !keep) return give(call, ranked(x.dtype, {}));
    return give(call, unranked(x.dtype));
  }
  SmallVec<bool, 8> reduced;
  TFL_TRY(reduced_axes(call, x.dims.size(), reduced));
  TensorType type = ranked(x.dtype, {});
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if (!reduced[i]) {
      type.dims.push_back(x.dims[i]);
    } else if (keep) {
      type.dims.push_back(1);
    }
  }
  return give(call, std::move(type));
}

Result<void> infer_numeric_reduction(InferCall& call) {
  TFL_TRY(check_number(call, call.op == Op::reduce_max || call.op == Op::reduce_min));
  return infer_reduction(call);
}

Result<void> infer_logical_reduction(InferCall& call) {
  DType dtype = call.operands[0].type.dtype;
  if (dtype != DType::Bool) {
    return op_failure(ErrorKind::InvalidArgumentError, call.op, call.attrs,
                      fmt::format("cannot compute {} as input #0(zero-based) was expected to be a bool tensor but is a {} tensor",
                                  op_info(call.op).tf_name, dtype_tf_name(dtype)));
  }
  return infer_reduction(call);
}

Result<void> infer_arg(InferCall& call, std::span<const DType> results) {
  TFL_TRY(check_number(call, true, true));
  const TensorType& x = call.operands[0].type;
  DType dtype = call.attrs.get_dtype(Attr::dtype, DType::I64);
  TFL_TRY(check_dtype(op_info(call.op).tf_name, "output_type", dtype, results));
  if (!x.ranked) return give(call, unranked(dtype));
  int64_t axis = call.attrs.get_int(Attr::axis), rank = static_cast<int64_t>(x.dims.size());
  int64_t at = front_axis(axis, rank);
  if (at < 0) {
    return op_failure(ErrorKind::InvalidArgumentError, call.op, call.attrs,
                      fmt::format("Expected dimension in the range [{}, {}), but got {}", -rank, rank, axis));
  }
  TensorType type = ranked(dtype, x.dims);
  type.dims.erase(static_cast<size_t>(at));
  bool nothing = false;
  for (int64_t d : type.dims) nothing |= d == 0;
  if (x.dims[static_cast<size_t>(at)] == 0 && !nothing) {
    return op_failure(ErrorKind::InvalidArgumentError, call.op, call.attrs,
                      fmt::format("Reduction axis {} is empty in shape {}", at, shape_words(x.dims)));
  }
  return give(call, std::move(type));
}

Result<void> infer_scan(InferCall& call) {
  TFL_TRY(check_number(call));
  const TensorType& x = call.operands[0].type;
  if (x.ranked) {
    int64_t axis = call.attrs.get_int(Attr::axis), rank = static_cast<int64_t>(x.dims.size());
    if (front_axis(axis, rank) < 0) {
      return op_failure(ErrorKind::InvalidArgumentError, call.op, call.attrs,
                        fmt::format("ScanOp: Expected scan axis in the range [{}, {}), but got {}", -rank, rank, axis));
    }
  }
  return give(call, x);
}

}  // namespace

Result<void> infer_reduce_sum(InferCall& call) { return infer_numeric_reduction(call); }
Result<void> infer_reduce_prod(InferCall& call) { return infer_numeric_reduction(call); }
Result<void> infer_reduce_mean(InferCall& call) { return infer_numeric_reduction(call); }
Result<void> infer_reduce_max(InferCall& call) { return infer_numeric_reduction(call); }
Result<void> infer_reduce_min(InferCall& call) { return infer_numeric_reduction(call); }
Result<void> infer_reduce_any(InferCall& call) { return infer_logical_reduction(call); }
Result<void> infer_reduce_all(InferCall& call) { return infer_logical_reduction(call); }
Result<void> infer_argmax(InferCall& call) {
  constexpr DType kResults[] = {DType::I16, DType::U16, DType::I32, DType::I64};
  return infer_arg(call, kResults);
}
Result<void> infer_argmin(InferCall& call) {
  constexpr DType kResults[] = {DType::I32, DType::I64};
  return infer_arg(call, kResults);
}
Result<void> infer_cumsum(InferCall& call) { return infer_scan(call); }
Result<void> infer_cumprod(InferCall& call) { return infer_scan(call); }

}  // namespace tfl
