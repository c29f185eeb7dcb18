// The driver of reductions: blocks and results are the units that threads share, so that no order depends on them.
#include "runtime/kernels/reduce/reduce.h"

#include <cstring>
#include <memory>

#include "runtime/kernels/isa_levels.h"
#include "runtime/kernels/parallel.h"
#include "runtime/kernels/reduce/reduce_layout.h"
#include "runtime/ops/structural.h"
#include "runtime/tensor/copy.h"

namespace tfl {

TFL_EVERY_LEVEL(extern const ReduceLoops kReduceLoops;)

const ReduceLoops& reduce_loops(IsaLevel isa) { return TFL_CALL_LEVEL(isa, kReduceLoops); }

namespace {

SmallVec<bool, 8> reduced_axes(const Tensor& x, const Attrs& attrs) {
  const Dims* axes = attrs.get_ints(Attr::axes);
  SmallVec<bool, 8> reduced(static_cast<size_t>(x.rank()), axes == nullptr);
  for (size_t i = 0; axes && i < axes->size(); ++i) {
    int64_t axis = (*axes)[i];
    reduced[static_cast<size_t>(axis < 0 ? axis + x.rank() : axis)] = true;
  }
  return reduced;
}

struct Reduction {
  Context& context;
  const ReduceLoop& loop;
  const ReduceLayout& layout;
  int64_t element;  // bytes
  int64_t divisor;
  std::byte* out;
  int64_t out_element;

  Result<void> short_sequences();
  Result<void> long_sequences();
  Result<void> in_columns();
  Result<std::byte*> partials(int64_t n, Tensor& holder);
};

Result<std::byte*> Reduction::partials(int64_t n, Tensor& holder) {
  int64_t size = n;
  if (__builtin_mul_overflow(n, static_cast<int64_t>(loop.partial), &size)) size = -1;
  holder = TFL_TRY(Tensor::empty(context, DType::U8, Dims{size}));
  return holder.raw();
}

// One block or less to each result.
Result<void> Reduction::short_sequences() {
  constexpr int64_t kAtOnce = 256;
  int64_t grain = std::max<int64_t>(1, kElementGrain / layout.length);
  in_parallel(
      context, layout.outer, grain,
      [&](int64_t first, int64_t last) {
        alignas(64) std::byte results[kAtOnce * 16];
        for (; first < last; first += kAtOnce) {
          int64_t n = std::min(kAtOnce, last - first);
          loop.sequences(layout.data + first * layout.outer_stride * element, layout.outer_stride, n, layout.length, results);
          loop.finish(results, n, divisor, out + first * out_element);
        }
      },
      layout.length);
  return {};
}

Result<void> Reduction::long_sequences() {
  int64_t blocks = (layout.length + kReduceBlock - 1) / kReduceBlock;
  int64_t partial = static_cast<int64_t>(loop.partial);
  Tensor holder;
  std::byte* results = TFL_TRY(partials(layout.outer * blocks, holder));
  in_parallel(
      context, layout.outer * blocks, 16,
      [&](int64_t first, int64_t last) {
        while (first < last) {
          int64_t row = first / blocks, block = first % blocks;
          const std::byte* x = layout.data + (row * layout.outer_stride + block * kReduceBlock) * element;
          int64_t rest = layout.length - block * kReduceBlock;
          int64_t whole = std::min(last - first, rest / kReduceBlock);
          if (whole > 0) {
            loop.sequences(x, kReduceBlock, whole, kReduceBlock, results + first * partial);
            first += whole;
          } else {
            loop.sequences(x, 0, 1, rest, results + first * partial);
            ++first;
          }
        }
      },
      kReduceBlock);
  for (int64_t row = 0; row < layout.outer; ++row) {
    std::byte* p = results + row * blocks * partial;
    loop.tree(p, blocks, 1);
    loop.finish(p, 1, divisor, out + row * out_element);
  }
  return {};
}

Result<void> Reduction::in_columns() {
  int64_t blocks = (layout.length + kReduceBlock - 1) / kReduceBlock;
  int64_t partial = static_cast<int64_t>(loop.partial);
  const int64_t at_once = kReduceStripBytes / partial;
  int64_t strips = (layout.columns + at_once - 1) / at_once;
  Tensor holder;
  std::byte* results = TFL_TRY(partials(layout.outer * blocks * layout.columns, holder));
  int64_t cost = std::min(layout.length, kReduceBlock) * std::min(layout.columns, at_once);
  in_parallel(
      context, layout.outer * blocks * strips, std::max<int64_t>(1, kElementGrain / cost),
      [&](int64_t first, int64_t last) {
        for (int64_t unit = first; unit < last; ++unit) {
          int64_t strip = unit % strips, block = unit / strips % blocks, o = unit / strips / blocks;
          int64_t column = strip * at_once, row = block * kReduceBlock;
          loop.columns(layout.data + (o * layout.outer_stride + row * layout.row_stride + column) * element, layout.row_stride,
                       std::min(kReduceBlock, layout.length - row), std::min(at_once, layout.columns - column),
                       results + ((o * blocks + block) * layout.columns + column) * partial);
        }
      },
      cost);
  for (int64_t o = 0; o < layout.outer; ++o) {
    std::byte* p = results + o * blocks * layout.columns * partial;
    loop.tree(p, blocks, layout.columns);
    loop.finish(p, layout.columns, divisor, out + o * layout.columns * out_element);
  }
  return {};
}

// What a reduction over no element gives: its neutral element; NaN for the mean of floats, 0 for that of integers.
Result<void> fill_empty(Context& context, ReduceKind kind, bool mean, Tensor& out) {
  DType dtype = out.dtype();
  double value = 0;
  bool lowest = kind == ReduceKind::max;
  if (kind == ReduceKind::prod) value = 1;
  if (mean && !is_integer(dtype)) value = __builtin_nan("");
  if (kind == ReduceKind::max || kind == ReduceKind::min) {
    if (is_integer(dtype)) {
      uint64_t sign = uint64_t{1} << (8 * dtype_size(dtype) - 1);
      uint64_t bits = is_unsigned(dtype) ? (lowest ? 0 : ~uint64_t{0}) : (lowest ? sign : sign - 1);
      fill_elements(context, dtype, out.raw(), out.size(), reinterpret_cast<const std::byte*>(&bits));
      return {};
    }
    value = dtype == DType::Bool ? !lowest : lowest ? -__builtin_inf() : __builtin_inf();
  }
  Tensor scalar_value = TFL_TRY(scalar<double>(context, DType::F64, value));
  Tensor converted = TFL_TRY(apply1(context, Op::cast, {scalar_value}, Attrs().set_dtype(Attr::dtype, dtype)));
  fill_elements(context, dtype, out.raw(), out.size(), converted.raw());
  return {};
}

Result<void> reduce(RunCall& call, ReduceKind kind, bool mean = false) {
  Tensor x = call.operands[0];
  SmallVec<bool, 8> reduced = reduced_axes(x, call.attrs);
  bool moves = true;  // what is reduced are single elements
  for (size_t i = 0; i < reduced.size(); ++i) moves &= !reduced[i] || x.dim(static_cast<int>(i)) == 1;
  if (moves && std::equal(x.dims().begin(), x.dims().end(), call.types[0].dims.begin(), call.types[0].dims.end()))
    return call.give(x);
  if (moves) {
    x = TFL_TRY(contiguous(call.context, x));
    return call.give(Tensor::view(call.context, x, call.types[0].dims, Tensor::row_major_strides(call.types[0].dims), 0));
  }
  Tensor out = TFL_TRY(call.allocate());
  if (x.size() == 0) {
    TFL_TRY(fill_empty(call.context, kind, mean, out));
    return call.give(std::move(out));
  }
  // The parts of a sum are the sums of the parts; only products mix them.
  bool complex = is_complex(x.dtype()), parts = complex && kind != ReduceKind::prod;
  if (parts) {
    x = TFL_TRY(Tensor::parts(call.context, x));
    reduced.push_back(false);
  }
  ReduceLayout layout = TFL_TRY(reduce_layout(call.context, x, reduced));
  const ReduceLoop& loop = complex && !parts
                               ? complex_product_loop(x.dtype())
                               : reduce_loops(call.context.isa()).of[static_cast<int>(kind)][static_cast<int>(x.dtype())];
  Reduction r{call.context,
              loop,
              layout,
              static_cast<int64_t>(dtype_size(x.dtype())),
              mean ? layout.length : 0,
              out.raw(),
              static_cast<int64_t>(dtype_size(parts ? x.dtype() : out.dtype()))};
  if (layout.columns > 1) {
    TFL_TRY(r.in_columns());
  } else if (layout.length <= kReduceBlock) {
    TFL_TRY(r.short_sequences());
  } else {
    TFL_TRY(r.long_sequences());
  }
  return call.give(std::move(out));
}

}  // namespace

Result<void> run_reduce_sum(RunCall& call) { return reduce(call, ReduceKind::sum); }
Result<void> run_reduce_prod(RunCall& call) { return reduce(call, ReduceKind::prod); }
Result<void> run_reduce_max(RunCall& call) { return reduce(call, ReduceKind::max); }
Result<void> run_reduce_min(RunCall& call) { return reduce(call, ReduceKind::min); }
Result<void> run_reduce_any(RunCall& call) { return reduce(call, ReduceKind::max); }
Result<void> run_reduce_all(RunCall& call) { return reduce(call, ReduceKind::min); }
Result<void> run_reduce_mean(RunCall& call) {
  return reduce(call, is_integer(call.operands[0].dtype()) ? ReduceKind::wide_sum : ReduceKind::sum, true);
}

}  // namespace tfl
