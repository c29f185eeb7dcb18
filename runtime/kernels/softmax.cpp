#include "runtime/kernels/softmax.h"

#include <algorithm>

#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/parallel.h"
#include "runtime/kernels/reduce.h"
#include "runtime/ops/op.h"

namespace tfl {

namespace {

constexpr int64_t kMostBlocks = kLongestSoftmaxRow / kReduceBlock;

struct SoftmaxLoops {
  const ReduceLoop& max;
  const ReduceLoop& sum;
  ElementwiseLoop subtract, exp, log, divide;
  int64_t element;  // bytes

  // One row, or what is made of it by `make` a block at a time, reduced to one element.
  template <class F>
  void reduce(const ReduceLoop& loop, const std::byte* x, int64_t n, std::byte* out, const F& make) const {
    alignas(64) std::byte partials[kMostBlocks * 8];
    int64_t blocks = 0;
    for (int64_t at = 0; at < n; at += kReduceBlock, ++blocks) {
      int64_t count = std::min(kReduceBlock, n - at);
      loop.sequences(make(x + at * element, count), 0, 1, count,
                     partials + blocks * static_cast<int64_t>(loop.partial));
    }
    loop.tree(partials, blocks, 1);
    loop.finish(partials, 1, 0, out);
  }
  void one_operand(ElementwiseLoop loop, int64_t n, const std::byte* x, std::byte* out) const {
    int64_t step = 1;
    loop(n, out, &x, &step);
  }
  void with_scalar(ElementwiseLoop loop, int64_t n, const std::byte* x, const std::byte* scalar, std::byte* out) const {
    const std::byte* in[] = {x, scalar};
    int64_t step[] = {1, 0};
    loop(n, out, in, step);
  }

  void row(const std::byte* x, int64_t n, bool logs, std::byte* out) const {
    alignas(64) std::byte scalar[8];
    alignas(64) std::byte powers[kReduceBlock * 8];
    auto as_it_is = [](const std::byte* p, int64_t) { return p; };
    reduce(max, x, n, scalar, as_it_is);
    with_scalar(subtract, n, x, scalar, out);
    if (logs) {
      reduce(sum, out, n, scalar, [&](const std::byte* p, int64_t count) {
        one_operand(exp, count, p, powers);
        return static_cast<const std::byte*>(powers);
      });
      one_operand(log, 1, scalar, scalar);
      with_scalar(subtract, n, out, scalar, out);
    } else {
      one_operand(exp, n, out, out);
      reduce(sum, out, n, scalar, as_it_is);
      with_scalar(divide, n, out, scalar, out);
    }
  }
};

}  // namespace

bool has_softmax_rows(const Tensor& x) {
  if ((x.dtype() != DType::F32 && x.dtype() != DType::F64) || x.rank() == 0 || x.size() == 0 || !x.contiguous())
    return false;
  int64_t n = x.dim(x.rank() - 1);
  return n >= kShortestSoftmaxRow && n <= kLongestSoftmaxRow;
}

Result<Tensor> softmax_rows(Context& context, const Tensor& x, bool logs) {
  Tensor out = TFL_TRY(Tensor::empty(context, x.dtype(), x.dims()));
  const ReduceLoops& reductions = reduce_loops(context.isa());
  size_t type = static_cast<size_t>(x.dtype());
  const ElementwiseLoop* loops = elementwise_loops(context.isa()).of[type];
  auto loop = [&](Op op) { return loops[static_cast<size_t>(op)]; };
  SoftmaxLoops softmax{reductions.of[static_cast<int>(ReduceKind::max)][type],
                       reductions.of[static_cast<int>(ReduceKind::sum)][type],
                       loop(Op::subtract),
                       loop(Op::exp),
                       loop(Op::log),
                       loop(Op::divide),
                       static_cast<int64_t>(dtype_size(x.dtype()))};
  int64_t n = x.dim(x.rank() - 1), bytes = n * softmax.element;
  const std::byte* from = x.raw();
  std::byte* to = out.raw();
  in_parallel(
      context, x.size() / n, std::max<int64_t>(1, kElementGrain / n),
      [&](int64_t first, int64_t last) {
        for (int64_t r = first; r < last; ++r) softmax.row(from + r * bytes, n, logs, to + r * bytes);
      },
      4 * n);
  return out;
}

}  // namespace tfl
