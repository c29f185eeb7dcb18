// Shape rules of sorting and searching.
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

namespace {

Result<void> check_sortable(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  if (!is_numeric(x.dtype)) {
    return invalid(call.op,
                   "Value for attr 'T' of {} is not in the list of allowed values: bfloat16, half, float, double, "
                   "int8, int16, int32, int64, uint8, "
                   "uint16, uint32, uint64",
                   dtype_tf_name(x.dtype));
  }
  return {};
}

Result<void> check_axis(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  int64_t axis = call.attrs.get_int(Attr::axis, -1);
  if (x.ranked && front_axis(axis, static_cast<int64_t>(x.dims.size())) < 0) {
    return invalid(call.op, "slice index {} of dimension 0 out of bounds.", axis);
  }
  return {};
}

Result<DType> index_dtype(InferCall& call, std::string_view attr) {
  DType dtype = call.attrs.get_dtype(Attr::dtype, DType::I32);
  TFL_TRY(check_index_dtype(call.op, attr, dtype, false));
  return dtype;
}

Result<void> infer_unique_kind(InferCall& call, bool counts) {
  const TensorType& x = call.operands[0].type;
  DType index = TFL_TRY(index_dtype(call, "out_idx"));
  if (x.ranked && x.dims.size() != 1) return invalid(call.op, "unique expects a 1D vector.");
  call.results.push_back(ranked(x.dtype, Dims{-1}));
  call.results.push_back(ranked(index, Dims{x.ranked ? x.dims[0] : -1}));
  if (counts) call.results.push_back(ranked(index, Dims{-1}));
  return {};
}

}  // namespace

Result<void> infer_sort(InferCall& call) {
  TFL_TRY(check_sortable(call));
  TFL_TRY(check_axis(call));
  return give(call, call.operands[0].type);
}

Result<void> infer_argsort(InferCall& call) {
  TFL_TRY(check_sortable(call));
  TFL_TRY(check_axis(call));
  TensorType out = call.operands[0].type;
  out.dtype = DType::I32;
  return give(call, std::move(out));
}

Result<void> infer_argsort_rows(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  if (x.dtype != DType::I64) return invalid(call.op, "rows are compared as int64, not as {}", dtype_tf_name(x.dtype));
  if (x.ranked && x.dims.size() != 2) return invalid(call.op, "x should be a matrix but received shape {}", shape_words(x.dims));
  return give(call, ranked(DType::I64, Dims{x.ranked ? x.dims[0] : -1}));
}

Result<void> infer_top_k(InferCall& call) {
  TFL_TRY(check_sortable(call));
  const TensorType& x = call.operands[0].type;
  const TensorType& k = call.operands[1].type;
  DType index = TFL_TRY(index_dtype(call, "index_type"));
  if (x.ranked && x.dims.empty()) return invalid(call.op, "input must be >= 1-D, got shape []");
  if (k.ranked && !k.dims.empty()) return invalid(call.op, "k must be scalar, got shape {}", shape_words(k.dims));
  TensorType out = x;
  if (out.ranked) out.dims.back() = -1;
  if (std::optional<Dims> value = integers(call.operands[1])) {
    int64_t wanted = value->front();
    if (wanted < 0) return invalid(call.op, "Need k >= 0, got {}", wanted);
    if (x.ranked && known(x.dims.back()) && x.dims.back() < wanted) {
      return invalid(call.op, "input must have at least k columns. Had {}, needed {}", x.dims.back(), wanted);
    }
    if (out.ranked) out.dims.back() = wanted;
  }
  call.results.push_back(out);
  out.dtype = index;
  call.results.push_back(out);
  return {};
}

Result<void> infer_unique(InferCall& call) { return infer_unique_kind(call, false); }
Result<void> infer_unique_with_counts(InferCall& call) { return infer_unique_kind(call, true); }

Result<void> infer_searchsorted(InferCall& call) {
  const TensorType& rows = call.operands[0].type;
  const TensorType& values = call.operands[1].type;
  std::string_view name = call.attrs.get_bool(Attr::right) ? "UpperBound" : "LowerBound";
  TFL_TRY(check_same_dtype(name, 1, rows.dtype, values.dtype));
  if (!is_numeric(rows.dtype)) {
    return invalid_in(
        name, fmt::format("Value for attr 'T' of {} is not in the list of allowed values: numbers", dtype_tf_name(rows.dtype)));
  }
  DType index = TFL_TRY(index_dtype(call, "out_type"));
  if ((rows.ranked && rows.dims.empty()) || (values.ranked && values.dims.empty())) {
    return invalid_in("StridedSlice", "slice index -1 of dimension 0 out of bounds.");
  }
  if (rows.ranked && values.ranked && all_known(rows.dims) && all_known(values.dims)) {
    int64_t a = 1, b = 1;
    for (size_t i = 0; i + 1 < rows.dims.size(); ++i) a *= rows.dims[i];
    for (size_t i = 0; i + 1 < values.dims.size(); ++i) b *= values.dims[i];
    if (a != b) return invalid_in(name, "Leading dim_size of both tensors must match.");
  }
  TensorType out = values;
  out.dtype = index;
  return give(call, std::move(out));
}

}  // namespace tfl
