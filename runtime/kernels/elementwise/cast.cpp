#include "runtime/kernels/elementwise/cast.h"

#include <algorithm>

#include "runtime/kernels/isa_levels.h"
#include "runtime/kernels/parallel.h"
#include "runtime/ops/structural.h"

namespace tfl {

TFL_EVERY_LEVEL(extern const CastLoops kCastLoops;)

const CastLoops& cast_loops(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kCastLoops); }

Result<void> run_cast(RunCall& call) {
  const Tensor& x = call.operands[0];
  DType to = call.types[0].dtype;
  if (x.dtype() == to) return call.give(x);
  Tensor from = TFL_TRY(contiguous(call.context, x));
  Tensor out = TFL_TRY(call.allocate());
  CastLoop loop = cast_loop(call.context.isa(), x.dtype(), to);
  auto from_size = static_cast<int64_t>(dtype_size(x.dtype())), to_size = static_cast<int64_t>(dtype_size(to));
  // Elements that are elsewhere are brought by this thread, not by all that do a part.
  const std::byte* elements = from.raw();
  std::byte* made = out.raw();
  in_parallel(call.context, out.size(), kElementGrain,
              [&](int64_t first, int64_t last) { loop(last - first, elements + first * from_size, made + first * to_size); });
  return call.give(std::move(out));
}

Result<void> run_bitcast(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  std::copy(x.raw(), x.raw() + x.bytes(), out.raw());
  return call.give(std::move(out));
}

}  // namespace tfl
