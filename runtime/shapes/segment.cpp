// Shape rules of segment reductions and of random numbers.
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

namespace {

Result<void> infer_segment(InferCall& call) {
  const TensorType &x = call.operands[0].type, &ids = call.operands[1].type;
  bool folds = call.op == Op::unsorted_segment_sum || call.op == Op::unsorted_segment_prod;
  if (!is_numeric(x.dtype) && !(folds && is_complex(x.dtype))) {
    return invalid(call.op,
                   "Value for attr 'T' of {} is not in the list of allowed values: float, double, int32, uint8, int16, int8, "
                   "int64, bfloat16, uint16, half, uint32, uint64",
                   dtype_tf_name(x.dtype));
  }
  TFL_TRY(check_index_dtype(call.op, "Tindices", ids.dtype));
  int64_t count = -1;
  if (std::optional<Dims> n = integers(call.operands[2])) {
    if (n->size() != 1)
      return invalid(call.op, "num_segments should be a scalar, not shape {}", shape_words(call.operands[2].type.dims));
    count = n->front();
    if (count < 0) return invalid(call.op, "Input num_segments == {} must not be negative.", count);
  }
  if (!x.ranked || !ids.ranked) return give(call, unranked(x.dtype));
  bool starts = ids.dims.size() <= x.dims.size();
  for (size_t i = 0; starts && i < ids.dims.size(); ++i) starts = may_equal(ids.dims[i], x.dims[i]);
  if (!starts)
    return invalid(call.op, "data.shape = {} does not start with segment_ids.shape = {}", shape_words(x.dims),
                   shape_words(ids.dims));
  Dims dims{count};
  dims.append(x.dims.begin() + ids.dims.size(), x.dims.end());
  return give(call, ranked(x.dtype, dims));
}

Result<Dims> sizes_of(InferCall& call) {
  const OperandInfo& sizes = call.operands[0];
  TFL_TRY(check_index_dtype(call.op, "Tshape", sizes.type.dtype, false));
  const OperandInfo& seed = call.operands[1];
  TFL_TRY(check_index_dtype(call.op, "Tseed", seed.type.dtype, false));
  if (seed.type.ranked &&
      (seed.type.dims.size() != 1 || (known(seed.type.dims[0]) && seed.type.dims[0] != 2 && seed.type.dims[0] != 3))) {
    return invalid(call.op, "seed must have shape [2], not {}", shape_words(seed.type.dims));
  }
  if (std::optional<Dims> dims = integers(sizes)) {
    for (int64_t d : *dims) {
      if (d < 0) return invalid(call.op, "Dimension {} must be >= 0", d);
    }
    return *dims;
  }
  Dims unknown;
  if (sizes.type.ranked && sizes.type.dims.size() == 1 && known(sizes.type.dims[0]))
    unknown.resize(static_cast<size_t>(sizes.type.dims[0]), -1);
  return unknown;
}

Result<void> infer_floats(InferCall& call) {
  Dims dims = TFL_TRY(sizes_of(call));
  DType d = call.attrs.get_dtype(Attr::dtype, DType::F32);
  if (!is_floating(d)) {
    return invalid(call.op, "Value for attr 'dtype' of {} is not in the list of allowed values: half, bfloat16, float, double",
                   dtype_tf_name(d));
  }
  return give(call, ranked(d, dims));
}

/// Parameters of a distribution: floats of one type, whose sizes are the result's last ones.
Result<Dims> with_parameters(InferCall& call, std::string_view attr, bool integers) {
  Dims dims = TFL_TRY(sizes_of(call));
  DType d = call.operands[2].type.dtype;
  if ((!is_floating(d) || d == DType::BF16) && !(integers && (d == DType::I32 || d == DType::I64))) {
    return invalid(call.op, "Value for attr '{}' of {} is not in the list of allowed values: half, float, double{}", attr,
                   dtype_tf_name(d), integers ? ", int32, int64" : "");
  }
  for (size_t i = 2; i < call.operands.size(); ++i) {
    const TensorType& t = call.operands[i].type;
    TFL_TRY(check_same_dtype(op_info(call.op).tf_name, i, d, t.dtype));
    if (!t.ranked || !call.operands[0].type.ranked) continue;
    bool ends = t.dims.size() <= dims.size();
    for (size_t k = 0; ends && k < t.dims.size(); ++k) ends = may_equal(t.dims[k], dims[dims.size() - t.dims.size() + k]);
    if (!ends) return invalid(call.op, "Shape passed in must end with broadcasted shape.");
  }
  return dims;
}

}  // namespace

Result<void> infer_unsorted_segment_sum(InferCall& call) { return infer_segment(call); }
Result<void> infer_unsorted_segment_prod(InferCall& call) { return infer_segment(call); }
Result<void> infer_unsorted_segment_max(InferCall& call) { return infer_segment(call); }
Result<void> infer_unsorted_segment_min(InferCall& call) { return infer_segment(call); }

Result<void> infer_stateless_uniform(InferCall& call) { return infer_floats(call); }
Result<void> infer_stateless_normal(InferCall& call) { return infer_floats(call); }
Result<void> infer_stateless_truncated_normal(InferCall& call) { return infer_floats(call); }

Result<void> infer_stateless_gamma(InferCall& call) {
  Dims dims = TFL_TRY(with_parameters(call, "dtype", false));
  return give(call, ranked(call.operands[2].type.dtype, dims));
}
Result<void> infer_stateless_poisson(InferCall& call) {
  Dims dims = TFL_TRY(with_parameters(call, "Rtype", true));
  return give(call, ranked(call.attrs.get_dtype(Attr::dtype, DType::I32), dims));
}
Result<void> infer_stateless_binomial(InferCall& call) {
  Dims dims = TFL_TRY(with_parameters(call, "T", true));
  return give(call, ranked(call.attrs.get_dtype(Attr::dtype, DType::I64), dims));
}
Result<void> infer_stateless_truncated(InferCall& call) {
  Dims dims = TFL_TRY(with_parameters(call, "dtype", false));
  return give(call, ranked(call.operands[2].type.dtype, dims));
}

Result<void> infer_stateless_uniform_int(InferCall& call) {
  Dims dims = TFL_TRY(sizes_of(call));
  DType d = call.operands[2].type.dtype;
  if (d != DType::I32 && d != DType::I64 && d != DType::U32 && d != DType::U64) {
    return invalid(call.op, "Value for attr 'dtype' of {} is not in the list of allowed values: int32, int64, uint32, uint64",
                   dtype_tf_name(d));
  }
  TFL_TRY(check_same_dtype(op_info(call.op).tf_name, 3, d, call.operands[3].type.dtype));
  std::optional<Dims> low = integers(call.operands[2]), high = integers(call.operands[3]);
  for (size_t i : {2u, 3u}) {
    const TensorType& bound = call.operands[i].type;
    if (bound.ranked && !bound.dims.empty())
      return invalid(call.op, "{} must be 0-D, got shape {}", i == 2 ? "minval" : "maxval", shape_words(bound.dims));
  }
  if (low && high && !is_unsigned(d) && low->front() >= high->front()) {
    return invalid(call.op, "Need minval < maxval, got {} >= {}", low->front(), high->front());
  }
  return give(call, ranked(d, dims));
}

Result<void> infer_stateless_uniform_full_int(InferCall& call) {
  Dims dims = TFL_TRY(sizes_of(call));
  DType d = call.attrs.get_dtype(Attr::dtype, DType::U64);
  if (d != DType::I32 && d != DType::I64 && d != DType::U32 && d != DType::U64) {
    return invalid(call.op, "Value for attr 'dtype' of {} is not in the list of allowed values: int32, int64, uint32, uint64",
                   dtype_tf_name(d));
  }
  return give(call, ranked(d, dims));
}

Result<void> infer_stateless_permutation(InferCall& call) {
  Dims dims = TFL_TRY(sizes_of(call));
  if (dims.size() != 1) return invalid(call.op, "the order of a shuffle has one axis");
  if (dims[0] > int64_t{UINT32_MAX}) return invalid(call.op, "there are too many rows to shuffle: {}", dims[0]);
  return give(call, ranked(DType::I64, dims));
}

}  // namespace tfl
