// Pooling of tensors (window_pool.h).
#include <vector>

#include "runtime/kernels/parallel.h"
#include "runtime/kernels/window/window.h"
#include "runtime/kernels/window/window_kernels.h"
#include "runtime/kernels/window/window_pool.h"
#include "runtime/shapes/window.h"

namespace tfl {

namespace {

Result<Convolution> pool_of(const RunCall& call, std::span<const int64_t> x) {
  const Dims& ksize = *call.attrs.get_ints(Attr::ksize);
  return Convolution{TFL_TRY(make_windows(call.op, x.subspan(1, ksize.size()), ksize, call.attrs)), x[0], x.back(), x.back(), 1};
}

Result<Tensor> pooled_as(Context& context, const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return contiguous(context, t);
  return apply1(context, Op::cast, {t}, Attrs().set_dtype(Attr::dtype, dtype));
}

/// The type windows of `dtype` are computed in.
DType pooled_in(DType dtype) {
  switch (dtype) {
    case DType::F16:
    case DType::BF16:
    case DType::F32: return DType::F32;
    case DType::F64: return DType::F64;
    case DType::U32:
    case DType::I64:
    case DType::U64: return DType::I64;
    default: return DType::I32;
  }
}

/// f(0 of the type).
template <class F>
Result<void> with_pooled(DType computed, F f) {
  switch (computed) {
    case DType::F32: return f(float());
    case DType::F64: return f(double());
    case DType::I32: return f(int32_t());
    default: return f(int64_t());
  }
}

/// Operands by number, -1: none. Sizes are those of operand 0, or of the result.
Result<void> pool(RunCall& call, WindowKind kind, int first, int second) {
  Context& context = call.context;
  DType computed = pooled_in(call.types[0].dtype);
  bool of_result = kind == WindowKind::avg_pool_grad;
  Convolution c = TFL_TRY(pool_of(call, of_result ? std::span<const int64_t>(call.types[0].dims) : call.operands[0].dims()));
  Tensor a, b;
  if (first >= 0) a = TFL_TRY(pooled_as(context, call.operands[static_cast<size_t>(first)], computed));
  if (second >= 0) b = TFL_TRY(pooled_as(context, call.operands[static_cast<size_t>(second)], computed));
  Tensor out = TFL_TRY(Tensor::empty(context, computed, call.types[0].dims));
  if (out.size() > 0) {
    TFL_TRY(with_pooled(computed, [&](auto zero) {
      using T = decltype(zero);
      return run_window(context, WindowJob<T>{kind, c, a ? a.data<T>() : nullptr, b ? b.data<T>() : nullptr, out.data<T>()});
    }));
  }
  return call.give(TFL_TRY(pooled_as(context, out, call.types[0].dtype)));
}

template <class T>
void pool_with_places(Context& context, const Convolution& c, bool include_batch, const Tensor& x, Tensor& out, Tensor& places) {
  const WindowLoops<T>& loops = loops_for<T>(window_kernels(context.isa()));
  const auto& axes = c.windows.axes;
  const int64_t line = axes[2].out * c.channels_in, cost = window_cost(c.windows);
  in_parallel(
      context, c.batch * axes[0].out * axes[1].out, 1,
      [&](int64_t first, int64_t last) {
        std::vector<int64_t> table(static_cast<size_t>(cost));
        std::vector<int32_t> which(static_cast<size_t>(c.channels_in));
        for (int64_t l = first; l < last; ++l) {
          windows_of_line(
              c, l, table.data(), [&](int64_t from, int64_t windows, const int64_t* offsets, int64_t n, int64_t start) {
                for (int64_t w = 0; w < windows; ++w) {
                  const int64_t place = l * line + (from + w) * c.channels_in, shift = w * axes[2].stride * c.channels_in;
                  const T* window = x.data<T>() + start + shift;
                  loops.largest(1, 0, c.channels_in, n, window, offsets, out.data<T>() + place);
                  loops.where_largest(c.channels_in, n, window, offsets, which.data());
                  for (int64_t i = 0; i < c.channels_in; ++i) {
                    int64_t index = n == 0 ? 0 : shift + offsets[which[static_cast<size_t>(i)]] + i;
                    if (include_batch) index += start;
                    if (places.dtype() == DType::I32) {
                      places.data<int32_t>()[place + i] = static_cast<int32_t>(index);
                    } else {
                      places.data<int64_t>()[place + i] = index;
                    }
                  }
                }
              });
        }
      },
      line * cost);
}

}  // namespace

Result<void> run_max_pool(RunCall& call) { return pool(call, WindowKind::max_pool, 0, -1); }
Result<void> run_max_pool_grad(RunCall& call) { return pool(call, WindowKind::max_pool_grad, 0, 2); }
Result<void> run_avg_pool(RunCall& call) { return pool(call, WindowKind::avg_pool, 0, -1); }
Result<void> run_avg_pool_grad(RunCall& call) { return pool(call, WindowKind::avg_pool_grad, -1, 1); }

Result<void> run_max_pool_with_argmax(RunCall& call) {
  DType computed = pooled_in(call.types[0].dtype);
  Convolution c = TFL_TRY(pool_of(call, call.operands[0].dims()));
  Tensor x = TFL_TRY(pooled_as(call.context, call.operands[0], computed));
  Tensor out = TFL_TRY(Tensor::empty(call.context, computed, call.types[0].dims));
  Tensor places = TFL_TRY(call.allocate(1));
  bool include_batch = call.attrs.get_bool(Attr::include_batch);
  if (out.size() > 0) {
    TFL_TRY(with_pooled(computed, [&](auto zero) {
      pool_with_places<decltype(zero)>(call.context, c, include_batch, x, out, places);
      return Result<void>();
    }));
  }
  TFL_TRY(call.give(TFL_TRY(pooled_as(call.context, out, call.types[0].dtype))));
  return call.give(std::move(places));
}

}  // namespace tfl
