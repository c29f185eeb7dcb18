#include "runtime/kernels/reduce/softmax.h"

#include <algorithm>

#include "runtime/kernels/isa_levels.h"
#include "runtime/kernels/parallel.h"

namespace tfl {

TFL_EVERY_LEVEL(extern const SoftmaxLoops kSoftmaxLoops;)

bool has_softmax_rows(const Tensor& x) {
  if ((x.dtype() != DType::F32 && x.dtype() != DType::F64) || x.rank() == 0 || x.size() == 0 || !x.contiguous()) return false;
  int64_t n = x.dim(x.rank() - 1);
  return n >= kShortestSoftmaxRow && n <= kLongestSoftmaxRow;
}

Result<Tensor> softmax_rows(Context& context, const Tensor& x, bool logs) {
  Tensor out = TFL_TRY(Tensor::empty(context, x.dtype(), x.dims()));
  const SoftmaxLoops& loops = TFL_CALL_LEVEL(context.isa(), kSoftmaxLoops);
  const SoftmaxLoop loop = x.dtype() == DType::F32 ? loops.f32 : loops.f64;
  const int64_t n = x.dim(x.rank() - 1), bytes = n * static_cast<int64_t>(dtype_size(x.dtype()));
  const int64_t together = std::clamp<int64_t>(kReduceBlock / n, 1, kSoftmaxRowsTogether);
  const std::byte* from = x.raw();
  std::byte* to = out.raw();
  in_parallel(
      context, x.size() / n, std::max<int64_t>(1, kElementGrain / n),
      [&](int64_t first, int64_t last) {
        for (int64_t r = first; r < last; r += together) {
          loop(from + r * bytes, std::min(together, last - r), n, logs, to + r * bytes);
        }
      },
      4 * n);
  return out;
}

}  // namespace tfl
