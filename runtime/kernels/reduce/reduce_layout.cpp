#include "runtime/kernels/reduce/reduce_layout.h"

#include "runtime/tensor/copy.h"

namespace tfl {

namespace {

struct Axis {
  int64_t size, stride;
  bool reduced;
};

// Axes larger than 1, neighbours of one kind merged where they are one run.
SmallVec<Axis, 8> merged_axes(const Tensor& x, std::span<const bool> reduced) {
  SmallVec<Axis, 8> axes;
  for (int i = 0; i < x.rank(); ++i) {
    auto u = static_cast<size_t>(i);
    if (x.dim(i) == 1) continue;
    Axis axis{x.dim(i), x.strides()[u], reduced[u]};
    if (!axes.empty() && axes.back().reduced == axis.reduced && axes.back().stride == axis.stride * axis.size) {
      axes.back() = {axes.back().size * axis.size, axis.stride, axis.reduced};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

// Recognises [outer] length, and [outer] length columns; false for anything else.
bool match(std::span<const Axis> axes, ReduceLayout& out) {
  size_t n = axes.size(), at = 0;
  if (n > 3 || n == 0) return false;
  if (!axes[at].reduced) {
    out.outer = axes[at].size;
    out.outer_stride = axes[at].stride;
    if (++at == n) return true;  // nothing is reduced: sequences of one element
  }
  if (!axes[at].reduced) return false;  // two kept axes of a view, with a gap between their runs
  out.length = axes[at].size;
  out.row_stride = axes[at].stride;
  if (++at == n) return out.row_stride == 1;
  if (axes[at].reduced) return false;
  out.columns = axes[at].size;
  return axes[at].stride == 1 && at + 1 == n;
}

}  // namespace

Result<ReduceLayout> reduce_layout(Context& context, const Tensor& x, std::span<const bool> reduced) {
  ReduceLayout layout;
  layout.source = x;
  layout.data = x.raw();
  SmallVec<Axis, 8> axes = merged_axes(x, reduced);
  if (axes.empty() || match(axes, layout)) return layout;

  // Neither form: kept axes first, reduced axes after them, in a row.
  layout = ReduceLayout{};
  Dims dims, strides;
  for (bool want : {false, true}) {
    for (const Axis& a : axes) {
      if (a.reduced != want) continue;
      dims.push_back(a.size);
      strides.push_back(a.stride);
      (want ? layout.length : layout.outer) *= a.size;
    }
  }
  layout.source = TFL_TRY(Tensor::empty(context, x.dtype(), dims));
  copy_strided(context, x.dtype(), dims, layout.source.raw(), layout.source.strides(), x.raw(), strides);
  layout.data = layout.source.raw();
  layout.outer_stride = layout.length;
  layout.row_stride = 1;
  return layout;
}

}  // namespace tfl
