#include "runtime/shapes/rules.h"

namespace tfl::shape_rules {

bool all_known(std::span<const int64_t> dims) {
  for (int64_t d : dims) {
    if (!known(d)) return false;
  }
  return true;
}

Failure invalid_in(std::string_view tf_name, std::string text) {
  return fail(ErrorKind::InvalidArgumentError, fmt::format("{} [Op:{}]", text, tf_name));
}

Result<void> give(InferCall& call, TensorType type) {
  if (type.dims.size() > static_cast<size_t>(kMaxRank))
    return invalid(call.op, "a tensor has at most {} dimensions, not {}", kMaxRank, type.dims.size());
  call.results.push_back(std::move(type));
  return {};
}

Result<void> give_many(InferCall& call, const TensorType& type, int64_t count) {
  constexpr int64_t kMost = 1 << 24;
  if (count > kMost)
    return fail(ErrorKind::ResourceExhaustedError, "{} would make {} tensors [Op:{}]", op_info(call.op).name, count,
                op_info(call.op).tf_name);
  for (int64_t i = 0; i < count; ++i) call.results.push_back(type);
  return {};
}

Dims integers(const Tensor& t) {
  Dims out;
  int64_t n = t.rank() == 0 ? 1 : t.dim(0);
  int64_t step = t.rank() == 0 ? 0 : t.strides()[0];
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = i * step;
    switch (t.dtype()) {
      case DType::I8: out.push_back(t.data<int8_t>()[at]); break;
      case DType::I16: out.push_back(t.data<int16_t>()[at]); break;
      case DType::I32: out.push_back(t.data<int32_t>()[at]); break;
      case DType::I64: out.push_back(t.data<int64_t>()[at]); break;
      case DType::U8: out.push_back(t.data<uint8_t>()[at]); break;
      case DType::U16: out.push_back(t.data<uint16_t>()[at]); break;
      case DType::U32: out.push_back(t.data<uint32_t>()[at]); break;
      default: out.push_back(0); break;
    }
  }
  return out;
}

std::optional<Dims> integers(const OperandInfo& operand) {
  if (!operand.value || operand.value.rank() > 1) return std::nullopt;
  return integers(operand.value);
}

Result<void> check_dtype(std::string_view tf_name, std::string_view attr, DType dtype, std::span<const DType> allowed) {
  std::string list;
  for (DType d : allowed) {
    if (d == dtype) return {};
    if (!list.empty()) list += ", ";
    list += dtype_tf_name(d);
  }
  return invalid_in(tf_name, fmt::format("Value for attr '{}' of {} is not in the list of allowed values: {}", attr,
                                         dtype_tf_name(dtype), list));
}

Result<void> check_index_dtype(Op op, std::string_view attr, DType dtype, bool with_int16) {
  constexpr DType kAllowed[] = {DType::I16, DType::I32, DType::I64};
  return check_dtype(op_info(op).tf_name, attr, dtype, std::span<const DType>(kAllowed).subspan(with_int16 ? 0 : 1));
}

Result<void> check_same_dtype(std::string_view tf_name, size_t operand, DType expected, DType actual) {
  if (expected == actual) return {};
  return fail(ErrorKind::InvalidArgumentError,
              "cannot compute {} as input #{}(zero-based) was expected to be a {} tensor but is a {} tensor [Op:{}] name: ",
              tf_name, operand, dtype_tf_name(expected), dtype_tf_name(actual), tf_name);
}

std::string shape_words(std::span<const int64_t> dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) out += ',';
    out += known(dims[i]) ? std::to_string(dims[i]) : "?";
  }
  return out + "]";
}

Result<int64_t> product(Op op, std::span<const int64_t> dims) {
  int64_t n = 1;
  bool zero = false;
  for (int64_t d : dims) {
    if (!known(d)) return int64_t{-1};
    if (d == 0) zero = true;
  }
  if (zero) return int64_t{0};
  for (int64_t d : dims) {
    if (__builtin_mul_overflow(n, d, &n)) return invalid(op, "Shape {} has too many elements", shape_words(dims));
  }
  return n;
}

}  // namespace tfl::shape_rules
