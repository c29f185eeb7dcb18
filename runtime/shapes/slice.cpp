// Shape rules of slicing and splitting.
#include "runtime/shapes/rules.h"
#include "runtime/shapes/strided_slice.h"

namespace tfl {

using namespace shape_rules;

Result<void> infer_slice(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const TensorType& b = call.operands[1].type;
  const TensorType& s = call.operands[2].type;
  TFL_TRY(check_index_dtype(call.op, "Index", b.dtype, false));
  TFL_TRY(check_same_dtype("Slice", 2, b.dtype, s.dtype));
  int64_t rank = x.ranked ? static_cast<int64_t>(x.dims.size()) : -1;
  if (rank >= 0 && b.ranked && s.ranked) {
    auto fits = [&](const TensorType& t) { return t.dims.size() == 1 && may_equal(t.dims[0], rank); };
    if (!fits(b) || !fits(s)) {
      return invalid(call.op, "Expected begin and size arguments to be 1-D tensors of size {}, but got shapes {} and {} instead.",
                     rank, shape_words(b.dims), shape_words(s.dims));
    }
  }
  std::optional<Dims> begin = integers(call.operands[1]), size = integers(call.operands[2]);
  if (rank < 0) return give(call, size ? ranked(x.dtype, *size) : unranked(x.dtype));
  Dims dims;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t have = x.dims[i];
    if (begin && ((*begin)[i] < 0 || (known(have) && (*begin)[i] > have))) {
      return invalid(call.op, "Expected begin[{}] in [0, {}], but got {}", i, have, (*begin)[i]);
    }
    if (!size) {
      dims.push_back(-1);
    } else if ((*size)[i] == -1) {
      dims.push_back(begin && known(have) ? have - (*begin)[i] : begin && (*begin)[i] == 0 ? have : -1);
    } else {
      int64_t most = known(have) ? have - (begin ? (*begin)[i] : 0) : INT64_MAX;
      if ((*size)[i] < 0 || (*size)[i] > most)
        return invalid(call.op, "Expected size[{}] in [0, {}], but got {}", i, most, (*size)[i]);
      dims.push_back((*size)[i]);
    }
  }
  return give(call, ranked(x.dtype, std::move(dims)));
}

Result<void> infer_strided_slice(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  TFL_TRY(check_index_dtype(call.op, "Index", call.operands[1].type.dtype));
  for (size_t i = 2; i < 4; ++i)
    TFL_TRY(check_same_dtype("StridedSlice", i, call.operands[1].type.dtype, call.operands[i].type.dtype));
  int64_t written = -1;
  bool fits = true;
  for (size_t i = 1; i < 4; ++i) {
    const TensorType& t = call.operands[i].type;
    if (!t.ranked) continue;
    fits &= t.dims.size() == 1 && may_equal(t.dims[0], written);
    if (fits) written = merge(written, t.dims[0]);
  }
  if (!fits) {
    auto words = [&](size_t i) { return shape_words(call.operands[i].type.dims); };
    return invalid(call.op,
                   "Expected begin, end, and strides to be 1D equal size tensors, but got shapes {}, {}, and {} instead.",
                   words(1), words(2), words(3));
  }
  SliceSpec spec;
  spec.begin_mask = call.attrs.get_int(Attr::begin_mask);
  spec.end_mask = call.attrs.get_int(Attr::end_mask);
  spec.ellipsis_mask = call.attrs.get_int(Attr::ellipsis_mask);
  spec.new_axis_mask = call.attrs.get_int(Attr::new_axis_mask);
  spec.shrink_axis_mask = call.attrs.get_int(Attr::shrink_axis_mask);
  std::optional<Dims> begin = integers(call.operands[1]), end = integers(call.operands[2]), strides = integers(call.operands[3]);
  if (!x.ranked || !known(written)) return give(call, unranked(x.dtype));
  if (begin && end && strides) {
    spec.begin = std::move(*begin);
    spec.end = std::move(*end);
    spec.strides = std::move(*strides);
    SlicePlan plan;
    TFL_TRY(plan_slice(x.dims, spec, plan));
    return give(call, ranked(x.dtype, std::move(plan.dims)));
  }
  // The rank follows from the masks; a size is known where the whole axis is taken.
  spec.begin = Dims(static_cast<size_t>(written), 0);
  spec.end = Dims(static_cast<size_t>(written), 0);
  spec.strides = strides ? std::move(*strides) : Dims(static_cast<size_t>(written), 1);
  Dims unknown_dims(x.dims.size(), -1);
  SlicePlan plan;
  TFL_TRY(plan_slice(unknown_dims, spec, plan));
  for (size_t i = 0; i < plan.axes.size(); ++i) {
    bool whole =
        plan.axes[i] >= 0 && strides && plan.strides[plan.axes[i]] == 1 && plan.dims[i] == -1 && plan.begin[plan.axes[i]] == 0;
    int64_t at = plan.axes[i];
    bool untouched = whole && spec.ellipsis_mask == 0 && spec.new_axis_mask == 0 &&
                     (at >= written || ((spec.begin_mask >> at & 1) && (spec.end_mask >> at & 1)));
    if (untouched) plan.dims[i] = x.dims[at];
  }
  return give(call, ranked(x.dtype, std::move(plan.dims)));
}

Result<void> infer_unstack(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  int64_t num = call.attrs.get_int(Attr::num, -1), axis = call.attrs.get_int(Attr::axis);
  TensorType each = unranked(x.dtype);
  if (x.ranked) {
    int64_t rank = static_cast<int64_t>(x.dims.size());
    int64_t front = front_axis(axis, rank);
    if (front < 0) return invalid(call.op, "axis = {} not in [{}, {})", axis, -rank, rank);
    if (num < 0) num = x.dims[front];
    if (num >= 0 && !may_equal(num, x.dims[front])) {
      return invalid(call.op, "Input shape axis {} must equal {}, got shape {}", front, num, shape_words(x.dims));
    }
    each = ranked(x.dtype, x.dims);
    each.dims.erase(static_cast<size_t>(front));
  }
  if (num < 0)
    return fail(ErrorKind::ValueError, "Cannot infer argument `num` from shape {}", x.ranked ? shape_words(x.dims) : "<unknown>");
  return give_many(call, each, num);
}

Result<void> infer_split(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  int64_t num = call.attrs.get_int(Attr::num), axis = call.attrs.get_int(Attr::axis);
  if (num < 1) return invalid(call.op, "Value for attr 'num_split' of {} must be at least minimum 1", num);
  TensorType each = x;
  if (x.ranked) {
    int64_t rank = static_cast<int64_t>(x.dims.size());
    int64_t front = front_axis(axis, rank);
    if (front < 0) return invalid(call.op, "-input rank(-{}) <= split_dim < input rank ({}), but got {}", rank, rank, axis);
    int64_t size = x.dims[front];
    if (known(size) && size % num != 0) {
      return invalid(call.op,
                     "Number of ways to split should evenly divide the split dimension, but got split_dim {} (size = "
                     "{}) and num_split {}",
                     front, size, num);
    }
    each.dims[front] = known(size) ? size / num : num == 1 ? size : -1;
  }
  return give_many(call, each, num);
}

Result<void> infer_split_v(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const TensorType& s = call.operands[1].type;
  int64_t axis = call.attrs.get_int(Attr::axis), num = call.attrs.get_int(Attr::num, -1);
  if (s.ranked && s.dims.size() != 1) return invalid(call.op, "size_splits must be a 1-D tensor");
  if (num < 0 && s.ranked) num = s.dims[0];
  if (num < 0) return fail(ErrorKind::ValueError, "Cannot infer argument `num` from shape <unknown>");
  if (num < 1) return invalid(call.op, "Value for attr 'num_split' of {} must be at least minimum 1", num);
  if (s.ranked && known(s.dims[0]) && s.dims[0] != num) {
    return invalid(call.op, "Length of split_lengths should equal number of outputs: {} != {}", s.dims[0], num);
  }
  if (!x.ranked) {
    return give_many(call, x, num);
  }
  int64_t rank = static_cast<int64_t>(x.dims.size());
  int64_t front = front_axis(axis, rank);
  if (front < 0) return invalid(call.op, "-input rank(-{}) <= split_dim < input rank ({}), but got {}", rank, rank, axis);
  std::optional<Dims> sizes = integers(call.operands[1]);
  TensorType each = x;
  if (!sizes) {
    each.dims[front] = -1;
    return give_many(call, each, num);
  }
  int64_t open = -1, total = 0, have = x.dims[front];
  for (size_t i = 0; i < sizes->size(); ++i) {
    if ((*sizes)[i] == -1) {
      if (open >= 0) return invalid(call.op, "There can only be one -1 in the input.");
      open = static_cast<int64_t>(i);
    } else if (__builtin_add_overflow(total, (*sizes)[i], &total)) {
      total = INT64_MAX;
    }
  }
  if (known(have) && (open >= 0 ? total > have : total != have)) {
    return invalid(call.op,
                   "Determined shape must either match input shape along split_dim exactly if fully specified, or be "
                   "less than the size of the input along "
                   "split_dim if not fully specified.  Got: {}",
                   total);
  }
  for (size_t i = 0; i < sizes->size(); ++i) {
    if ((*sizes)[i] < -1) return invalid(call.op, "Split size at index {} must be >= 0. Got: {}", i, (*sizes)[i]);
    each.dims[front] = (*sizes)[i] != -1 ? (*sizes)[i] : known(have) ? have - total : -1;
    call.results.push_back(each);
  }
  return {};
}

}  // namespace tfl
