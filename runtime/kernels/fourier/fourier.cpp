// Fourier transforms: fourier_loops.h over tensors.
#include "runtime/kernels/context_workers.h"
#include "runtime/kernels/fourier/fourier_loops.h"
#include "runtime/shapes/rules.h"

namespace tfl {

namespace {

Result<void> transform(RunCall& call, FourierKind kind) {
  Context& context = call.context;
  Tensor x = TFL_TRY(contiguous(context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  // The numbers that are transformed: without an axis of their parts.
  const Tensor& numbers = kind == FourierKind::from_half ? out : x;
  const int rank = numbers.rank() - (kind == FourierKind::complex ? 1 : 0);
  const int axis = kind == FourierKind::complex
                       ? static_cast<int>(shape_rules::front_axis(call.attrs.get_int(Attr::axis, -1), rank))
                       : rank - 1;
  RoutineCall c{};
  c.sizes[0] = c.sizes[2] = 1;
  for (int i = 0; i < rank; ++i)
    c.sizes[i < axis ? 0 : i == axis ? 1 : 2] = i == axis ? numbers.dim(i) : c.sizes[i < axis ? 0 : 2] * numbers.dim(i);
  const int64_t n = c.sizes[1], inner = c.sizes[2];
  if (out.size() == 0) return call.give(std::move(out));
  if (n == 0) {
    std::memset(out.raw(), 0, out.bytes());
    return call.give(std::move(out));
  }
  c.sizes[3] = fourier::fourier_room(kind, n, inner);
  c.sizes[4] = fourier::fourier_lots(n, c.sizes[0] * inner);
  Tensor memory = TFL_TRY(Tensor::empty(context, x.dtype(), Dims{c.sizes[4], 2 * c.sizes[3]}));
  c.dtype = static_cast<int64_t>(x.dtype());
  c.flags = fourier_flags(kind, call.attrs.get_bool(Attr::reverse), call.attrs.get_bool(Attr::adjoint),
                          call.attrs.get_text(Attr::mode));
  c.at[0] = x.raw();
  c.at[1] = out.raw();
  c.at[2] = memory.raw();
  if (!fourier::run(workers_of(context), context.fourier_plans(), fourier_level(context.isa()), c))
    return fail(ErrorKind::ResourceExhaustedError, "no memory for the roots of unity of a transform of {} numbers", n);
  return call.give(std::move(out));
}

}  // namespace

Result<void> run_fft(RunCall& call) { return transform(call, FourierKind::complex); }
Result<void> run_rfft(RunCall& call) { return transform(call, FourierKind::to_half); }
Result<void> run_irfft(RunCall& call) { return transform(call, FourierKind::from_half); }

}  // namespace tfl
