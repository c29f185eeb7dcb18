#include "runtime/shapes/strided_slice.h"

#include <bit>

#include "runtime/shapes/rules.h"

namespace tfl {

namespace {

using shape_rules::invalid;

constexpr Op kOp = Op::strided_slice;

// One written index, brought to the axis it means.
struct DenseIndex {
  int64_t begin = 0, end = 0, stride = 1;
  bool no_begin = true, no_end = true, shrink = false;
};

struct Range {
  int64_t begin, length;
};

Result<Range> range_of(const DenseIndex& x, int64_t size, int64_t axis) {
  if (x.stride == 0) return invalid(kOp, "strides[{}] must be non-zero", axis);
  if (x.shrink && x.stride <= 0) return invalid(kOp, "only stride 1 allowed on non-range indexing.");
  if (x.shrink) {
    if (!shape_rules::known(size)) return Range{x.begin, 1};
    int64_t at = x.begin < 0 ? x.begin + size : x.begin;
    if (at < 0 || at >= size) return invalid(kOp, "slice index {} of dimension {} out of bounds.", at, axis);
    return Range{at, 1};
  }
  if (!shape_rules::known(size)) {
    bool whole = x.no_begin && x.no_end && (x.stride == 1 || x.stride == -1);
    if (whole) return Range{0, size};
    // A range whose bounds have one sign and do not depend on the size, such as [:3], is still not known: the size may be less.
    return Range{x.begin, -1};
  }
  int64_t low = x.stride > 0 ? 0 : -1, high = x.stride > 0 ? size : size - 1;
  auto canonical = [&](int64_t v) {
    int64_t at = v < 0 ? v + size : v;
    return at < low ? low : at > high ? high : at;
  };
  int64_t begin = x.no_begin ? (x.stride > 0 ? low : high) : canonical(x.begin);
  int64_t end = x.no_end ? (x.stride > 0 ? high : low) : canonical(x.end);
  int64_t interval = end - begin;
  int64_t length = 0;
  if (interval != 0 && (interval < 0) == (x.stride < 0)) {
    length = x.stride == INT64_MIN ? 1 : interval / x.stride + (interval % x.stride != 0);
  }
  return Range{begin, length};
}

}  // namespace

Result<void> plan_slice(std::span<const int64_t> dims, const SliceSpec& spec, SlicePlan& plan) {
  int64_t rank = static_cast<int64_t>(dims.size());
  int64_t written = static_cast<int64_t>(spec.begin.size());
  if (spec.ellipsis_mask & (spec.ellipsis_mask - 1)) return invalid(kOp, "Multiple ellipses in slice spec not allowed");
  if (written > 62) return invalid(kOp, "too many indices: {}", written);
  auto bit = [](int64_t mask, int64_t i) { return (mask >> i & 1) != 0; };

  SmallVec<DenseIndex, 6> dense;
  SmallVec<int64_t, 8> order;  // axis, -1 for a new axis, -2 for a dropped one
  bool seen_ellipsis = false;
  for (int64_t i = 0; i <= written; ++i) {
    bool implicit = i == written;  // whatever is not written is taken whole, as if by an ellipsis at the end
    if (implicit && seen_ellipsis) break;
    if (implicit || bit(spec.ellipsis_mask, i)) {
      int64_t rest = 0;
      for (int64_t j = i + 1; j < written; ++j) rest += !bit(spec.new_axis_mask, j);
      int64_t until = std::max<int64_t>(static_cast<int64_t>(dense.size()), rank - rest);
      until = std::min(until, rank);
      while (static_cast<int64_t>(dense.size()) < until) {
        order.push_back(static_cast<int64_t>(dense.size()));
        dense.push_back({});
      }
      seen_ellipsis = true;
    } else if (bit(spec.new_axis_mask, i)) {
      order.push_back(-1);
    } else {
      int64_t axis = static_cast<int64_t>(dense.size());
      if (axis >= rank) {
        if (rank == 0) return invalid(kOp, "Attempting to slice scalar input.");
        return invalid(kOp, "Index out of range using input dim {}; input has only {} dims", axis, rank);
      }
      DenseIndex x{spec.begin[i],           spec.end[i],           spec.strides[i],
                   bit(spec.begin_mask, i), bit(spec.end_mask, i), bit(spec.shrink_axis_mask, i)};
      order.push_back(x.shrink ? -2 : axis);
      dense.push_back(x);
    }
  }

  SmallVec<int64_t, 6> lengths;
  for (int64_t axis = 0; axis < rank; ++axis) {
    Range r = TFL_TRY(range_of(dense[axis], dims[axis], axis));
    plan.begin.push_back(r.begin);
    plan.strides.push_back(dense[axis].shrink ? 1 : dense[axis].stride);
    lengths.push_back(r.length);
  }
  for (int64_t axis : order) {
    if (axis == -2) continue;
    plan.axes.push_back(axis);
    plan.dims.push_back(axis < 0 ? 1 : lengths[axis]);
  }
  return {};
}

Result<Tensor> slice_view(Context& context, const Tensor& x, const SliceSpec& spec) {
  SlicePlan plan;
  TFL_TRY(plan_slice(x.dims(), spec, plan));
  Dims strides;
  int64_t offset = 0;
  bool empty = false;
  for (int64_t d : plan.dims) empty |= d == 0;
  for (size_t i = 0; i < plan.axes.size(); ++i) {
    int64_t axis = plan.axes[i];
    // A range of one element may have any step, even one whose product with the stride overflows.
    strides.push_back(axis < 0 || plan.dims[i] <= 1 ? 1 : x.strides()[axis] * plan.strides[axis]);
  }
  if (!empty) {
    for (int i = 0; i < x.rank(); ++i) offset += plan.begin[i] * x.strides()[i];
  }
  return Tensor::view(context, x, plan.dims, strides, offset);
}

Tensor row_view(Context& context, const Tensor& x, int64_t i) {
  return Tensor::view(context, x, x.dims().subspan(1), x.strides().subspan(1), i * x.strides()[0]);
}

}  // namespace tfl
