// argmax and argmin.
#include "runtime/kernels/elementwise/cast.h"
#include "runtime/kernels/isa_levels.h"
#include "runtime/kernels/parallel.h"
#include "runtime/kernels/reduce/reduce.h"
#include "runtime/kernels/reduce/reduce_layout.h"
#include "runtime/ops/structural.h"

namespace tfl {

TFL_EVERY_LEVEL(extern const ArgLoops kArgLoops;)

const ArgLoops& arg_loops(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kArgLoops); }

namespace {

Result<void> run_arg(RunCall& call, int which) {
  const Tensor& x = call.operands[0];
  DType dtype = call.types[0].dtype;
  if (x.size() == 0) {
    Tensor nothing = TFL_TRY(call.allocate());
    return call.give(std::move(nothing));
  }
  int64_t axis = call.attrs.get_int(Attr::axis);
  SmallVec<bool, 8> reduced(static_cast<size_t>(x.rank()), false);
  reduced[static_cast<size_t>(axis < 0 ? axis + x.rank() : axis)] = true;
  ReduceLayout layout = TFL_TRY(reduce_layout(call.context, x, reduced));
  const ArgLoop& loop = arg_loops(call.context.isa()).of[which][static_cast<int>(x.dtype())];
  Tensor index = TFL_TRY(Tensor::empty(call.context, DType::I64, call.types[0].dims));
  auto* to = index.data<int64_t>();
  auto element = static_cast<int64_t>(dtype_size(x.dtype()));
  if (layout.columns == 1) {
    in_parallel(
        call.context, layout.outer, std::max<int64_t>(1, kElementGrain / layout.length),
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i)
            to[i] = loop.sequence(layout.data + i * layout.outer_stride * element, layout.length);
        },
        layout.length);
  } else {
    in_parallel(
        call.context, layout.outer, std::max<int64_t>(1, kElementGrain / (layout.length * layout.columns)),
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) {
            loop.columns(layout.data + i * layout.outer_stride * element, layout.row_stride, layout.length, layout.columns,
                         to + i * layout.columns);
          }
        },
        layout.length * layout.columns);
  }
  if (dtype == DType::I64) return call.give(std::move(index));
  Tensor out = TFL_TRY(call.allocate());
  cast_loop(call.context.isa(), DType::I64, dtype)(index.size(), index.raw(), out.raw());
  return call.give(std::move(out));
}

}  // namespace

Result<void> run_argmax(RunCall& call) { return run_arg(call, 0); }
Result<void> run_argmin(RunCall& call) { return run_arg(call, 1); }

}  // namespace tfl
