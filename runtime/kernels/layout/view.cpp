// Views and metadata: results that share their operand's elements, or are a few integers about it.
#include "runtime/ops/structural.h"
#include "runtime/shapes/rules.h"
#include "runtime/shapes/strided_slice.h"

namespace tfl {

Result<void> run_identity(RunCall& call) { return call.give(call.operands[0]); }
Result<void> run_stop_gradient(RunCall& call) { return call.give(call.operands[0]); }
Result<void> run_ensure_shape(RunCall& call) { return call.give(call.operands[0]); }

namespace {

// The elements of a contiguous tensor under other sizes.
Result<void> give_resized(RunCall& call, const Tensor& x, std::span<const int64_t> dims) {
  return call.give(Tensor::view(call.context, x, dims, Tensor::row_major_strides(dims), 0));
}

// Sizes of 1 inserted or dropped: strides stay what they were.
Result<void> give_with_axes(RunCall& call, const Tensor& x, std::span<const int64_t> dims) {
  if (x.contiguous()) return give_resized(call, x, dims);
  Dims strides;
  int from = 0;
  for (int64_t d : dims) {
    while (from < x.rank() && x.dim(from) == 1 && d != 1) ++from;
    if (d == 1 && (from >= x.rank() || x.dim(from) != 1)) {
      strides.push_back(1);
    } else {
      strides.push_back(x.strides()[from++]);
    }
  }
  return call.give(Tensor::view(call.context, x, dims, strides, 0));
}

Result<void> give_integer(RunCall& call, int64_t value) {
  Tensor t = TFL_TRY(call.allocate());
  if (t.dtype() == DType::I64) {
    *t.data<int64_t>() = value;
  } else {
    *t.data<int32_t>() = static_cast<int32_t>(value);
  }
  return call.give(std::move(t));
}

}  // namespace

Result<void> run_reshape(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  return give_resized(call, x, call.types[0].dims);
}

Result<void> run_expand_dims(RunCall& call) { return give_with_axes(call, call.operands[0], call.types[0].dims); }
Result<void> run_squeeze(RunCall& call) { return give_with_axes(call, call.operands[0], call.types[0].dims); }

Result<void> run_transpose(RunCall& call) {
  const Tensor& x = call.operands[0];
  int64_t rank = x.rank();
  Dims perm;
  if (call.operands.size() > 1) {
    perm = shape_rules::integers(call.operands[1]);
  } else if (const Dims* attr = call.attrs.get_ints(Attr::perm)) {
    perm = *attr;
  } else {
    for (int64_t i = rank; i-- > 0;) perm.push_back(i);
  }
  Dims strides;
  bool same = true;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t axis = shape_rules::front_axis(perm[i], rank);
    same &= axis == i;
    strides.push_back(x.strides()[axis]);
  }
  if (same) return call.give(x);
  return call.give(Tensor::view(call.context, x, call.types[0].dims, strides, 0));
}

Result<void> run_broadcast_to(RunCall& call) {
  const Tensor& x = call.operands[0];
  std::span<const int64_t> dims = call.types[0].dims;
  size_t lead = dims.size() - static_cast<size_t>(x.rank());
  Dims strides(dims.size(), 0);
  for (size_t i = lead; i < dims.size(); ++i)
    strides[i] = x.dim(static_cast<int>(i - lead)) == 1 && dims[i] != 1 ? 0 : x.strides()[i - lead];
  return call.give(Tensor::view(call.context, x, dims, strides, 0));
}

Result<void> run_slice(RunCall& call) {
  const Tensor& x = call.operands[0];
  Dims begin = shape_rules::integers(call.operands[1]);
  int64_t offset = 0;
  bool empty = false;
  for (int i = 0; i < x.rank(); ++i) {
    offset += begin[i] * x.strides()[i];
    empty |= call.types[0].dims[i] == 0;
  }
  return call.give(Tensor::view(call.context, x, call.types[0].dims, x.strides(), empty ? 0 : offset));
}

Result<void> run_strided_slice(RunCall& call) {
  SliceSpec spec;
  spec.begin = shape_rules::integers(call.operands[1]);
  spec.end = shape_rules::integers(call.operands[2]);
  spec.strides = shape_rules::integers(call.operands[3]);
  spec.begin_mask = call.attrs.get_int(Attr::begin_mask);
  spec.end_mask = call.attrs.get_int(Attr::end_mask);
  spec.ellipsis_mask = call.attrs.get_int(Attr::ellipsis_mask);
  spec.new_axis_mask = call.attrs.get_int(Attr::new_axis_mask);
  spec.shrink_axis_mask = call.attrs.get_int(Attr::shrink_axis_mask);
  return call.give(TFL_TRY(slice_view(call.context, call.operands[0], spec)));
}

Result<void> run_reverse(RunCall& call) {
  const Tensor& x = call.operands[0];
  const Dims* axes = call.attrs.get_ints(Attr::axes);
  if (!axes || x.size() == 0) return call.give(x);
  Dims strides(x.strides());
  int64_t offset = 0;
  for (int64_t a : *axes) {
    int64_t axis = shape_rules::front_axis(a, x.rank());
    offset += (x.dim(static_cast<int>(axis)) - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return call.give(Tensor::view(call.context, x, x.dims(), strides, offset));
}

Result<void> run_shape(RunCall& call) {
  Tensor t = TFL_TRY(call.allocate());
  const Tensor& x = call.operands[0];
  for (int i = 0; i < x.rank(); ++i) {
    if (t.dtype() == DType::I64) {
      t.data<int64_t>()[i] = x.dim(i);
    } else {
      t.data<int32_t>()[i] = static_cast<int32_t>(x.dim(i));
    }
  }
  return call.give(std::move(t));
}
Result<void> run_size(RunCall& call) { return give_integer(call, call.operands[0].size()); }
Result<void> run_rank(RunCall& call) { return give_integer(call, call.operands[0].rank()); }

Result<void> run_unstack(RunCall& call) {
  const Tensor& x = call.operands[0];
  int64_t axis = shape_rules::front_axis(call.attrs.get_int(Attr::axis), x.rank());
  Dims strides(x.strides());
  strides.erase(static_cast<size_t>(axis));
  for (size_t i = 0; i < call.types.size(); ++i) {
    int64_t offset = x.size() == 0 ? 0 : static_cast<int64_t>(i) * x.strides()[axis];
    call.results.push_back(Tensor::view(call.context, x, call.types[i].dims, strides, offset));
  }
  return {};
}

namespace {

Result<void> give_parts(RunCall& call) {
  const Tensor& x = call.operands[0];
  int64_t axis = shape_rules::front_axis(call.attrs.get_int(Attr::axis), x.rank());
  int64_t at = 0;
  for (const TensorType& type : call.types) {
    bool empty = x.size() == 0 || type.dims[axis] == 0;
    call.results.push_back(Tensor::view(call.context, x, type.dims, x.strides(), empty ? 0 : at * x.strides()[axis]));
    at += type.dims[axis];
  }
  return {};
}

}  // namespace

Result<void> run_split(RunCall& call) { return give_parts(call); }
Result<void> run_split_v(RunCall& call) { return give_parts(call); }

}  // namespace tfl
