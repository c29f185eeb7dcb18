// Shape rules of the operations that read or write elements by index.
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

namespace {

Dims slice_of(const Dims& dims, size_t first, size_t last) { return Dims(dims.begin() + first, dims.begin() + last); }

bool may_match(std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!may_equal(a[i], b[i])) return false;
  }
  return true;
}

bool has_zero(std::span<const int64_t> dims) {
  for (int64_t d : dims) {
    if (d == 0) return true;
  }
  return false;
}

Result<void> check_scalar(InferCall& call, size_t operand, std::string_view what) {
  const TensorType& t = call.operands[operand].type;
  if (t.ranked && !t.dims.empty()) return invalid(call.op, "{} must be a scalar, but got: {}", what, shape_words(t.dims));
  return {};
}

}  // namespace

Result<void> infer_gather(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const TensorType& indices = call.operands[1].type;
  TFL_TRY(check_index_dtype(call.op, "Tindices", indices.dtype));
  int64_t batch = call.attrs.get_int(Attr::batch_dims);
  if (x.ranked && x.dims.empty()) return invalid(call.op, "params must be at least 1 dimensional");
  if (!x.ranked || !indices.ranked) return give(call, unranked(x.dtype));
  int64_t rank = static_cast<int64_t>(x.dims.size()), index_rank = static_cast<int64_t>(indices.dims.size());
  if (batch < 0) batch += index_rank;
  int64_t axis = call.attrs.get_int(Attr::axis, batch);
  int64_t needed = axis < 0 ? -std::max(axis, -INT64_MAX) : std::min(axis, INT64_MAX - 1) + 1;
  if (rank < needed) return invalid(call.op, "Shape must be at least rank {} but is rank {}", needed, rank);
  axis = front_axis(axis, rank);
  if (batch < 0 || batch > index_rank) {
    return invalid(call.op, "Expected batch_dims in the range [{}, {}], but got {}", -index_rank, index_rank,
                   call.attrs.get_int(Attr::batch_dims));
  }
  if (batch > axis) return invalid(call.op, "batch_dims ({}) must be less than or equal to axis ({})", batch, axis);
  for (int64_t i = 0; i < batch; ++i) {
    if (!may_equal(x.dims[i], indices.dims[i])) {
      return invalid(call.op, "params.shape[{}]: {} should be equal to indices.shape[{}]: {}", i, x.dims[i], i, indices.dims[i]);
    }
  }
  Dims dims = slice_of(x.dims, 0, axis);
  for (int64_t i = 0; i < batch; ++i) dims[i] = merge(dims[i], indices.dims[i]);
  dims.append(indices.dims.begin() + batch, indices.dims.end());
  dims.append(x.dims.begin() + axis + 1, x.dims.end());
  TFL_TRY(product(call.op, dims));
  return give(call, ranked(x.dtype, std::move(dims)));
}

Result<void> infer_gather_nd(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const TensorType& indices = call.operands[1].type;
  TFL_TRY(check_index_dtype(call.op, "Tindices", indices.dtype));
  int64_t batch = call.attrs.get_int(Attr::batch_dims);
  if (x.ranked && x.dims.empty()) return invalid(call.op, "params must be at least a vector");
  if (indices.ranked && indices.dims.empty()) return invalid(call.op, "indices must be at least a vector");
  if (!x.ranked || !indices.ranked || !known(indices.dims.back())) return give(call, unranked(x.dtype));
  int64_t rank = static_cast<int64_t>(x.dims.size()), depth = indices.dims.back(),
          index_rank = static_cast<int64_t>(indices.dims.size());
  if (batch < 0 || batch >= index_rank || batch > rank)
    return invalid(call.op, "batch_dims = {} must be less than rank(indices) = {}", batch, index_rank);
  if (batch + depth > rank) {
    return invalid(call.op, "index innermost dimension length must be <= params rank; saw: {} vs. {}", batch + depth, rank);
  }
  for (int64_t i = 0; i < batch; ++i) {
    if (!may_equal(x.dims[i], indices.dims[i])) {
      return invalid(call.op, "params.shape[{}]: {} should be equal to indices.shape[{}]: {}", i, x.dims[i], i, indices.dims[i]);
    }
  }
  Dims dims = slice_of(indices.dims, 0, indices.dims.size() - 1);
  if (all_known(dims) && !has_zero(dims) && has_zero(x.dims)) {
    return invalid(call.op, "Requested more than 0 entries, but params is empty.  Params shape: {}", shape_words(x.dims));
  }
  dims.append(x.dims.begin() + batch + depth, x.dims.end());
  TFL_TRY(product(call.op, dims));
  return give(call, ranked(x.dtype, std::move(dims)));
}

Result<void> infer_scatter_nd(InferCall& call) {
  const TensorType& indices = call.operands[0].type;
  const TensorType& updates = call.operands[1].type;
  const TensorType& shape = call.operands[2].type;
  TFL_TRY(check_index_dtype(call.op, "Tindices", indices.dtype));
  TFL_TRY(check_same_dtype("ScatterNd", 2, indices.dtype, shape.dtype));
  if (shape.ranked && shape.dims.size() != 1) return invalid(call.op, "Shape must be a vector");
  if (indices.ranked && indices.dims.empty())
    return invalid(call.op, "Indices shape must have rank at least one. Found:{}", shape_words(indices.dims));
  if (updates.ranked && updates.dims.empty())
    return invalid(call.op, "Updates shape must have rank at least one. Found:{}", shape_words(updates.dims));
  std::optional<Dims> dims = integers(call.operands[2]);
  if (!dims) {
    if (!shape.ranked || !known(shape.dims[0])) return give(call, unranked(updates.dtype));
    return give(call, ranked(updates.dtype, Dims(static_cast<size_t>(shape.dims[0]), -1)));
  }
  for (int64_t d : *dims) {
    if (d < 0) return invalid(call.op, "Dimension {} must be >= 0", d);
  }
  int64_t size = TFL_TRY(product(call.op, *dims));
  if (indices.ranked && updates.ranked && known(indices.dims.back())) {
    size_t outer = indices.dims.size() - 1;
    int64_t depth = indices.dims.back();
    if (size == 0 && !has_zero(indices.dims)) {
      if (has_zero(updates.dims)) return invalid(call.op, "Indices and updates specified for empty output shape");
      return invalid(call.op, "Indices and updates specified for empty output.  indices shape: {}", shape_words(indices.dims));
    }
    if (updates.dims.size() < outer || !may_match(slice_of(indices.dims, 0, outer), slice_of(updates.dims, 0, outer))) {
      return invalid(call.op, "Dimensions [0,{}) of indices[shape={}] must match dimensions [0,{}) of updates[shape={}]", outer,
                     shape_words(indices.dims), outer, shape_words(updates.dims));
    }
    bool fits =
        depth <= static_cast<int64_t>(dims->size()) &&
        may_match(slice_of(*dims, static_cast<size_t>(depth), dims->size()), slice_of(updates.dims, outer, updates.dims.size()));
    if (!fits) {
      return invalid(call.op, "Dimensions [{},{}) of input[shape={}] must match dimensions [{},{}) of updates[shape={}]", depth,
                     dims->size(), shape_words(*dims), outer, updates.dims.size(), shape_words(updates.dims));
    }
  }
  return give(call, ranked(updates.dtype, *dims));
}

namespace {

Result<void> infer_tensor_scatter(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const TensorType& indices = call.operands[1].type;
  const TensorType& updates = call.operands[2].type;
  TFL_TRY(check_index_dtype(call.op, "Tindices", indices.dtype));
  TFL_TRY(check_same_dtype(op_info(call.op).tf_name, 2, x.dtype, updates.dtype));
  if (indices.ranked && indices.dims.empty())
    return invalid(call.op, "Indices shape must have rank at least one. Found:{}", shape_words(indices.dims));
  if (updates.ranked && updates.dims.empty())
    return invalid(call.op, "Updates shape must have rank at least one. Found:{}", shape_words(updates.dims));
  bool adds = call.op == Op::tensor_scatter_add || call.op == Op::tensor_scatter_sub;
  if (call.op != Op::tensor_scatter_update && !is_numeric(x.dtype) && !(adds && is_complex(x.dtype))) {
    return invalid(call.op, "Value for attr 'T' of {} is not in the list of allowed values: numbers", dtype_tf_name(x.dtype));
  }
  if (x.ranked && indices.ranked && has_zero(x.dims) && all_known(indices.dims) && !has_zero(indices.dims)) {
    return invalid(call.op, "Indices and updates specified for empty output shape");
  }
  if (x.ranked && indices.ranked && updates.ranked && known(indices.dims.back())) {
    size_t outer = indices.dims.size() - 1;
    int64_t depth = indices.dims.back(), rank = static_cast<int64_t>(x.dims.size());
    if (updates.dims.size() < outer || !may_match(slice_of(indices.dims, 0, outer), slice_of(updates.dims, 0, outer))) {
      return invalid(call.op, "Outer dimensions of indices and update must match. Indices shape: {}, updates shape:{}",
                     shape_words(indices.dims), shape_words(updates.dims));
    }
    if (rank - depth != static_cast<int64_t>(updates.dims.size() - outer)) {
      return invalid(call.op,
                     "Inner dimensions of output shape must match inner dimensions of updates shape. Output: {} updates: {}",
                     shape_words(x.dims), shape_words(updates.dims));
    }
    if (!may_match(slice_of(x.dims, static_cast<size_t>(depth), x.dims.size()),
                   slice_of(updates.dims, outer, updates.dims.size()))) {
      return invalid(call.op, "The inner {} dimensions of output.shape={} must match the inner {} dimensions of updates.shape={}",
                     rank - depth, shape_words(x.dims), updates.dims.size() - outer, shape_words(updates.dims));
    }
  }
  return give(call, x);
}

}  // namespace

Result<void> infer_tensor_scatter_update(InferCall& call) { return infer_tensor_scatter(call); }
Result<void> infer_tensor_scatter_add(InferCall& call) { return infer_tensor_scatter(call); }
Result<void> infer_tensor_scatter_sub(InferCall& call) { return infer_tensor_scatter(call); }
Result<void> infer_tensor_scatter_min(InferCall& call) { return infer_tensor_scatter(call); }
Result<void> infer_tensor_scatter_max(InferCall& call) { return infer_tensor_scatter(call); }

Result<void> infer_nonzero(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  if (x.dtype == DType::String)
    return invalid(call.op, "Value for attr 'T' of string is not in the list of allowed values: numbers and bool");
  if (x.ranked && x.dims.empty()) return invalid(call.op, "WhereOp : Unhandled input dimensions: 0");
  return give(call, ranked(DType::I64, Dims{-1, x.ranked ? static_cast<int64_t>(x.dims.size()) : -1}));
}

Result<void> infer_boolean_mask(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const TensorType& mask = call.operands[1].type;
  if (mask.dtype == DType::String)
    return invalid_in("Where", "Value for attr 'T' of string is not in the list of allowed values: numbers and bool");
  if (mask.ranked && mask.dims.empty()) return fail(ErrorKind::ValueError, "mask cannot be scalar.");
  if (!mask.ranked)
    return fail(ErrorKind::ValueError, "Number of mask dimensions must be specified, even if some dimensions are None.");
  if (!x.ranked) return give(call, x);
  int64_t rank = static_cast<int64_t>(x.dims.size()), axis = front_axis(call.attrs.get_int(Attr::axis), rank);
  size_t covered = mask.dims.size();
  size_t first = static_cast<size_t>(axis < 0 ? 0 : axis);
  size_t last = std::min(first + covered, x.dims.size());
  if (axis < 0 || !may_match(slice_of(x.dims, first, last), mask.dims)) {
    Dims part = axis < 0 ? Dims{} : slice_of(x.dims, first, last);
    return fail(ErrorKind::ValueError, "Shapes {} and {} are incompatible", shape_tuple_text(part), shape_tuple_text(mask.dims));
  }
  Dims dims = slice_of(x.dims, 0, first);
  dims.push_back(-1);
  dims.append(x.dims.begin() + last, x.dims.end());
  return give(call, ranked(x.dtype, std::move(dims)));
}

Result<void> infer_one_hot(InferCall& call) {
  const TensorType& indices = call.operands[0].type;
  const TensorType& on = call.operands[2].type;
  constexpr DType kIndex[] = {DType::U8, DType::I8, DType::I32, DType::I64};
  TFL_TRY(check_dtype("OneHot", "TI", indices.dtype, kIndex));
  TFL_TRY(check_same_dtype("OneHot", 1, DType::I32, call.operands[1].type.dtype));
  TFL_TRY(check_same_dtype("OneHot", 3, on.dtype, call.operands[3].type.dtype));
  if (!indices.ranked) return give(call, unranked(on.dtype));
  int64_t axis = call.attrs.get_int(Attr::axis, -1), rank = static_cast<int64_t>(indices.dims.size()) + 1;
  if (axis < -1 || axis >= rank)
    return invalid(call.op, "Expected axis to be -1 or between [0, {}).  But received: {}", rank, axis);
  TFL_TRY(check_scalar(call, 1, "depth"));
  TFL_TRY(check_scalar(call, 2, "on_value"));
  TFL_TRY(check_scalar(call, 3, "off_value"));
  int64_t depth = -1;
  if (std::optional<Dims> value = integers(call.operands[1])) {
    depth = value->front();
    if (depth < 0) return invalid(call.op, "depth must be non-negative, got: {}", depth);
  }
  Dims dims = indices.dims;
  dims.insert(static_cast<size_t>(axis == -1 ? rank - 1 : axis), depth);
  TFL_TRY(product(call.op, dims));
  return give(call, ranked(on.dtype, std::move(dims)));
}

}  // namespace tfl
