// Sorting along an axis: sort_loops.h over tensors.
#include "runtime/kernels/context_workers.h"
#include "runtime/kernels/routine_levels.h"
#include "runtime/ops/structural.h"
#include "runtime/shapes/rules.h"

namespace tfl {

namespace {

// x with `axis` moved to the end, row-major.
Result<Tensor> rows_of(Context& context, const Tensor& x, int64_t axis) {
  if (axis == x.rank() - 1) return contiguous(context, x);
  Dims dims(x.dims()), strides(x.strides());
  std::rotate(dims.begin() + axis, dims.begin() + axis + 1, dims.end());
  std::rotate(strides.begin() + axis, strides.begin() + axis + 1, strides.end());
  return contiguous(context, Tensor::view(context, x, dims, strides, 0));
}

// The opposite: a view whose last axis is back at `axis`.
Tensor put_back(Context& context, const Tensor& rows, int64_t axis) {
  if (axis == rows.rank() - 1) return rows;
  Dims dims(rows.dims()), strides(rows.strides());
  std::rotate(dims.begin() + axis, dims.end() - 1, dims.end());
  std::rotate(strides.begin() + axis, strides.end() - 1, strides.end());
  return Tensor::view(context, rows, dims, strides, 0);
}

Result<void> check_length(Op op, int64_t n) {
  if (n > INT32_MAX) return shape_rules::invalid(op, "cannot sort {} elements along one axis", n);
  return {};
}

// Of each row of n elements of `x` the first k in order: as elements to `values`, as positions to `indices`, where they are not null.
Result<void> sort_rows(RunCall& call, const Tensor& x, int64_t n, int64_t k, bool descending, Tensor* values, Tensor* indices) {
  if (x.size() == 0) return {};
  int64_t bytes = sort_entry_bytes(static_cast<int64_t>(dtype_size(x.dtype())));
  Tensor entries = TFL_TRY(Tensor::empty(call.context, DType::U64, Dims{x.size(), (indices ? 2 : 1) * bytes / 8}));
  RoutineCall sort{};
  sort.dtype = static_cast<int64_t>(x.dtype());
  sort.index_dtype = static_cast<int64_t>(indices ? indices->dtype() : DType::I32);
  sort.flags = descending;
  sort.at[0] = const_cast<std::byte*>(x.raw());
  sort.at[1] = values ? values->raw() : nullptr;
  sort.at[2] = indices ? indices->raw() : nullptr;
  sort.at[3] = entries.raw();
  sort.sizes[0] = x.size() / n;
  sort.sizes[1] = n;
  sort.sizes[2] = k;
  sort_routine(call.context.isa())(workers_of(call.context), sort);
  return {};
}

Result<void> sort_along(RunCall& call, bool positions) {
  const Tensor& input = call.operands[0];
  int64_t axis = shape_rules::front_axis(call.attrs.get_int(Attr::axis, -1), input.rank());
  int64_t n = input.dim(static_cast<int>(axis));
  TFL_TRY(check_length(call.op, n));
  Tensor x = TFL_TRY(rows_of(call.context, input, axis));
  Tensor out = TFL_TRY(Tensor::empty(call.context, positions ? DType::I32 : x.dtype(), x.dims()));
  TFL_TRY(
      sort_rows(call, x, n, n, call.attrs.get_bool(Attr::descending), positions ? nullptr : &out, positions ? &out : nullptr));
  return call.give(put_back(call.context, out, axis));
}

}  // namespace

Result<void> run_sort(RunCall& call) { return sort_along(call, false); }
Result<void> run_argsort(RunCall& call) { return sort_along(call, true); }

Result<void> run_top_k(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  int64_t n = x.dim(x.rank() - 1), k = call.types[0].dims.back();
  TFL_TRY(check_length(call.op, n));
  Tensor values = TFL_TRY(call.allocate(0));
  Tensor indices = TFL_TRY(call.allocate(1));
  if (values.size() > 0) TFL_TRY(sort_rows(call, x, n, k, true, &values, &indices));
  TFL_TRY(call.give(std::move(values)));
  return call.give(std::move(indices));
}

}  // namespace tfl
