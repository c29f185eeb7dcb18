#include <string>

#include "runtime/shapes/elementwise_rules.h"

namespace tfl {

bool broadcast_size(int64_t a, int64_t b, int64_t& out) {
  if (a == b || b == 1) {
    out = a;
  } else if (a == 1) {
    out = b;
  } else if (a >= 0 && b >= 0) {
    return false;
  } else {
    out = a >= 0 ? a : b >= 0 ? b : -1;  // a known size above 1 decides; two unknown ones stay unknown
  }
  return true;
}

bool broadcast_dims(Dims& into, std::span<const int64_t> dims) {
  while (into.size() < dims.size()) into.insert(0, 1);
  size_t skip = into.size() - dims.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!broadcast_size(into[skip + i], dims[i], into[skip + i])) return false;
  }
  return true;
}

namespace {

std::string allowed_types(TypeClass types) {
  std::string out;
  for (int i = 0; i < kDTypeCount; ++i) {
    auto d = static_cast<DType>(i);
    if (!type_class_has(types, d)) continue;
    if (!out.empty()) out += ", ";
    out += dtype_tf_name(d);
  }
  return out;
}

Failure wrong_type(Op op, size_t operand, DType expected, DType actual, const Attrs& attrs) {
  return op_failure(ErrorKind::InvalidArgumentError, op, attrs,
                    fmt::format("cannot compute {} as input #{}(zero-based) was expected to be a {} tensor but is a {} tensor",
                                op_info(op).tf_name, operand, dtype_tf_name(expected), dtype_tf_name(actual)));
}

}  // namespace

Result<DType> check_elementwise_types(Op op, std::span<const DType> dtypes, const Attrs& attrs) {
  const OpInfo& info = op_info(op);
  size_t first = 0;
  if (info.types == TypeClass::choice) {
    if (dtypes[0] != DType::Bool) return wrong_type(op, 0, DType::Bool, dtypes[0], attrs);
    first = 1;
  }
  DType dtype = dtypes[first];
  if (info.types == TypeClass::boolean) {
    for (size_t i = 0; i < dtypes.size(); ++i) {
      if (dtypes[i] != DType::Bool) return wrong_type(op, i, DType::Bool, dtypes[i], attrs);
    }
    return dtype;
  }
  for (size_t i = first + 1; i < dtypes.size(); ++i) {
    if (dtypes[i] != dtype) return wrong_type(op, i, dtype, dtypes[i], attrs);
  }
  if (!type_class_has(info.types, dtype)) {
    return op_failure(ErrorKind::InvalidArgumentError, op, attrs,
                      fmt::format("Value for attr 'T' of {} is not in the list of allowed values: {}", dtype_tf_name(dtype),
                                  allowed_types(info.types)));
  }
  return dtype;
}

DType elementwise_result_type(Op op, DType operand) {
  switch (op_info(op).result) {
    case ResultType::same: return operand;
    case ResultType::boolean: return DType::Bool;
    case ResultType::byte: return DType::U8;
    case ResultType::part: return part_dtype(operand);
    case ResultType::pair: return complex_of(operand);
  }
  return operand;
}

Failure incompatible_shapes(Op op, std::span<const TensorType> operands, const Attrs& attrs) {
  std::string text;
  if (op_info(op).types == TypeClass::choice) {
    text = fmt::format("condition {}, then {}, and else {} must be broadcastable", shape_text(operands[0].dims),
                       shape_text(operands[1].dims), shape_text(operands[2].dims));
  } else {
    // The first pair that does not fit is the one that TensorFlow names.
    size_t other = 1;
    Dims dims = operands[0].dims;
    while (other + 1 < operands.size() && broadcast_dims(dims, operands[other].dims)) ++other;
    text = fmt::format("Incompatible shapes: {} vs. {}", shape_text(operands[0].dims), shape_text(operands[other].dims));
  }
  return op_failure(ErrorKind::InvalidArgumentError, op, attrs, text);
}

Result<TensorType> infer_elementwise(Op op, std::span<const OperandInfo> operands, const Attrs& attrs) {
  SmallVec<DType, 4> dtypes;
  for (const OperandInfo& o : operands) dtypes.push_back(o.type.dtype);
  TensorType type;
  type.dtype = elementwise_result_type(op, TFL_TRY(check_elementwise_types(op, dtypes, attrs)));
  bool fits = true;
  for (const OperandInfo& o : operands) {
    if (!o.type.ranked) {
      type.ranked = false;
    } else if (fits) {
      fits = broadcast_dims(type.dims, o.type.dims);
    }
  }
  if (!fits) {
    SmallVec<TensorType, 4> types;
    for (const OperandInfo& o : operands) types.push_back(o.type);
    return incompatible_shapes(op, types, attrs);
  }
  if (!type.ranked) type.dims.clear();
  return type;
}

}  // namespace tfl
