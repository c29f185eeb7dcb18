// Writes by index. Updates are applied one after the other in row-major order, so duplicates have one defined result.
#include "runtime/kernels/context_workers.h"
#include "runtime/kernels/index/scatter_loops.h"
#include "runtime/kernels/text/index_text.h"
#include "runtime/ops/structural.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/copy.h"

namespace tfl {

namespace {

using shape_rules::invalid;

// Applies `updates` to the contiguous tensor `out`.
Result<void> scatter_into(RunCall& call, Tensor& out, const Tensor& indices, const Tensor& updates, ScatterHow how) {
  int64_t depth = indices.dim(indices.rank() - 1);
  std::span<const int64_t> outer = indices.dims().first(static_cast<size_t>(indices.rank() - 1));
  int64_t tuples = 1, inner = 1;
  for (int64_t d : outer) tuples *= d;
  for (int i = static_cast<int>(depth); i < out.rank(); ++i) inner *= out.dim(i);
  const Workers workers = workers_of(call.context);
  scatters::Places places{indices.dtype(), indices.raw(), tuples, inner, depth, out.dims().data()};
  if (int64_t t = places.first_outside(workers); t >= 0) {
    std::string tuple;
    for (int64_t d = 0; d < depth; ++d)
      tuple += fmt::format("{}{}", d ? ", " : "", index_at(indices.dtype(), indices.raw(), t * depth + d));
    return invalid(call.op, "indices{} = [{}] does not index into shape {}", index_position(outer, t), tuple,
                   shape_rules::shape_words(out.dims()));
  }
  if (out.size() == 0 || updates.size() == 0) return {};
  with_element_type(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    scatters::apply_updates<T>(workers, how, places, updates.data<T>(), out.data<T>());
  });
  return {};
}

Result<void> run_tensor_scatter(RunCall& call, ScatterHow how) {
  const Tensor& x = call.operands[0];
  Tensor indices = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor updates = TFL_TRY(contiguous(call.context, call.operands[2]));
  Tensor out = TFL_TRY(call.allocate());
  copy_strided(call.context, x.dtype(), x.dims(), out.raw(), out.strides(), x.raw(), x.strides());
  TFL_TRY(scatter_into(call, out, indices, updates, how));
  return call.give(std::move(out));
}

}  // namespace

Result<void> run_scatter_nd(RunCall& call) {
  Tensor indices = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor updates = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor out = TFL_TRY(call.allocate());
  if (out.dtype() != DType::String && out.size() > 0) {
    constexpr Storage128 kZero{};
    fill_elements(call.context, out.dtype(), out.raw(), out.size(), reinterpret_cast<const std::byte*>(&kZero));
  }
  TFL_TRY(scatter_into(call, out, indices, updates, ScatterHow::add));
  return call.give(std::move(out));
}

Result<void> run_tensor_scatter_update(RunCall& call) { return run_tensor_scatter(call, ScatterHow::set); }
Result<void> run_tensor_scatter_add(RunCall& call) { return run_tensor_scatter(call, ScatterHow::add); }
Result<void> run_tensor_scatter_sub(RunCall& call) { return run_tensor_scatter(call, ScatterHow::subtract); }
Result<void> run_tensor_scatter_min(RunCall& call) { return run_tensor_scatter(call, ScatterHow::minimum); }
Result<void> run_tensor_scatter_max(RunCall& call) { return run_tensor_scatter(call, ScatterHow::maximum); }

}  // namespace tfl
