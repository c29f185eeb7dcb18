// Kernels of the operations that only gradients use.
#include <cstring>

#include "runtime/shapes/rules.h"
#include "runtime/shapes/strided_slice.h"
#include "runtime/tensor/copy.h"

namespace tfl {

using namespace shape_rules;

Result<void> run_sum_to_shape(RunCall& call) {
  const Tensor& x = call.operands[0];
  Dims wanted = integers(call.operands[1]);
  std::span<const int64_t> have = x.dims();
  if (std::equal(have.begin(), have.end(), wanted.begin(), wanted.end())) return call.give(x);
  bool fits = wanted.size() <= have.size();
  size_t lead = fits ? have.size() - wanted.size() : 0;
  Dims axes;
  for (size_t i = 0; fits && i < have.size(); ++i) {
    int64_t d = i < lead ? 1 : wanted[i - lead];
    if (i < lead || (d == 1 && have[i] != 1))
      axes.push_back(static_cast<int64_t>(i));
    else
      fits = d == have[i];
  }
  if (!fits) return invalid(call.op, "Incompatible shapes: {} vs. {}", shape_text(have), shape_text(wanted));
  Attrs attrs;
  attrs.set_ints(Attr::axes, std::move(axes)).set_bool(Attr::keepdims, true);
  Tensor sum = TFL_TRY(apply1(call.context, Op::reduce_sum, {x}, attrs));
  return call.give(TFL_TRY(apply1(call.context, Op::reshape, {std::move(sum), call.operands[1]})));
}

Result<void> run_strided_slice_grad(RunCall& call) {
  SliceSpec spec;
  spec.begin = integers(call.operands[1]);
  spec.end = integers(call.operands[2]);
  spec.strides = integers(call.operands[3]);
  spec.begin_mask = call.attrs.get_int(Attr::begin_mask);
  spec.end_mask = call.attrs.get_int(Attr::end_mask);
  spec.ellipsis_mask = call.attrs.get_int(Attr::ellipsis_mask);
  spec.new_axis_mask = call.attrs.get_int(Attr::new_axis_mask);
  spec.shrink_axis_mask = call.attrs.get_int(Attr::shrink_axis_mask);
  const Tensor& g = call.operands[4];
  Tensor out = TFL_TRY(call.allocate());
  if (g.dtype() == DType::String) return invalid(call.op, "string tensors have no gradient");
  if (out.size()) std::memset(out.raw(), 0, out.bytes());
  SlicePlan plan;
  TFL_TRY(plan_slice(out.dims(), spec, plan));
  if (!std::equal(plan.dims.begin(), plan.dims.end(), g.dims().begin(), g.dims().end())) {
    return invalid(call.op, "shape of dy was {} instead of {}", shape_text(g.dims()), shape_text(plan.dims));
  }
  if (g.size()) {
    int64_t offset = 0;
    for (size_t i = 0; i < plan.begin.size(); ++i) offset += plan.begin[i] * out.strides()[i];
    Dims strides;
    for (size_t i = 0; i < plan.axes.size(); ++i) {
      int64_t axis = plan.axes[i];
      // A range of one element may have any step, even one whose product with the stride overflows.
      strides.push_back(
          axis < 0 || plan.dims[i] <= 1 ? 1 : plan.strides[static_cast<size_t>(axis)] * out.strides()[static_cast<size_t>(axis)]);
    }
    std::byte* to = out.raw() + offset * static_cast<int64_t>(dtype_size(out.dtype()));
    copy_strided(call.context, out.dtype(), g.dims(), to, strides, g.raw(), g.strides());
  }
  return call.give(std::move(out));
}

}  // namespace tfl
