// The driver of elementwise loops. Operands that lie like the result, or are one element, go to the loop as they are; others are
// packed into blocks that stay in the first-level cache. Half types are widened a block at a time.
#include "runtime/kernels/elementwise/elementwise.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "runtime/kernels/layout/walk.h"
#include "runtime/kernels/parallel.h"
#include "runtime/math/half.h"
#include "runtime/ops/op.h"

namespace tfl {

namespace {

constexpr int64_t kBlock = 1024;   // elements of a packed block, of up to 8 bytes
constexpr int64_t kLongRun = 256;  // runs from this length on need no packing

// How one operand is fed to the loop.
struct Feed {
  const std::byte* data;
  DType dtype;
  size_t element;
  bool flat;       // element i of the result needs element i
  bool single;     // one element serves all
  bool repeating;  // the same block serves every row of the result
  bool widen;
  const int64_t* strides = nullptr;
};

struct Plan {
  ElementwiseLoop loop;
  const HalfLoops* halves;
  int arity;
  std::array<Feed, kMaxArity> feeds;
  Dims sizes;  // of the collapsed walk
  std::byte* out;
  DType out_dtype;
  size_t out_element;
  bool narrow;
  int64_t block;  // elements of a block

  void run(int64_t first, int64_t last) const;
};

// Computes elements [first, last); `first` is a multiple of the block.
void Plan::run(int64_t first, int64_t last) const {
  alignas(64) std::byte packed[kMaxArity][kBlock * 8];
  alignas(64) float wide[kMaxArity][kBlock];
  alignas(64) float result[kBlock];
  const std::byte* in[kMaxArity];
  int64_t step[kMaxArity];
  for (int64_t at = first; at < last; at += block) {
    int64_t n = std::min(block, last - at);
    for (int k = 0; k < arity; ++k) {
      const Feed& f = feeds[k];
      step[k] = f.single ? 0 : 1;
      if (at > first && (f.single || f.repeating)) continue;
      const std::byte* source = f.data;
      int64_t count = f.single ? 1 : f.repeating ? std::min(block, last - first) : n;
      if (f.flat) {
        source += at * static_cast<int64_t>(f.element);
      } else if (!f.single) {
        pack_elements(f.element, sizes, {f.strides, sizes.size()}, f.data, at, count, packed[k]);
        source = packed[k];
      }
      if (f.widen) {
        halves->widen(f.dtype, count, source, wide[k]);
        source = reinterpret_cast<const std::byte*>(wide[k]);
      }
      in[k] = source;
    }
    std::byte* target = out + at * static_cast<int64_t>(out_element);
    if (narrow) {
      loop(n, reinterpret_cast<std::byte*>(result), in, step);
      halves->narrow(out_dtype, n, result, target);
    } else {
      loop(n, target, in, step);
    }
  }
}

bool is_flat(const Tensor& t, const Tensor& out) {
  return t.contiguous() && std::equal(t.dims().begin(), t.dims().end(), out.dims().begin(), out.dims().end());
}

// The general case: half types, or operands that are neither flat nor single.
void run_planned(Context& context, Op op, DType dtype, ElementwiseLoop loop, std::span<const Tensor> operands, Tensor& out) {
  Plan plan;
  plan.loop = loop;
  plan.halves = &half_loops(context.isa());
  plan.arity = static_cast<int>(operands.size());
  plan.out = out.raw();
  plan.out_dtype = out.dtype();
  plan.out_element = dtype_size(out.dtype());
  bool choice = op_info(op).types == TypeClass::choice;
  plan.narrow = is_half_type(dtype) && is_half_type(out.dtype()) && !choice;

  Walk walk;
  walk.sizes = Dims(out.dims());
  walk.add(out.strides());
  for (const Tensor& t : operands) walk.add(broadcast_strides(t.dims(), t.strides(), out.dims()));
  walk.collapse();
  plan.sizes = walk.sizes;
  size_t rank = walk.sizes.size();
  int64_t inner = rank ? walk.sizes[rank - 1] : 1;
  const int64_t limit = dtype_size(dtype) > 8 ? kBlock / 2 : kBlock;

  bool runs_only = inner >= kLongRun && !plan.narrow;
  bool any_repeating = false;
  for (int k = 0; k < plan.arity; ++k) {
    const Tensor& t = operands[static_cast<size_t>(k)];
    Feed& f = plan.feeds[static_cast<size_t>(k)];
    const Dims& strides = walk.strides[k + 1];
    f.data = t.raw();
    f.dtype = t.dtype();
    f.element = dtype_size(t.dtype());
    f.single = std::all_of(strides.begin(), strides.end(), [](int64_t s) { return s == 0; });
    f.flat = !f.single && is_flat(t, out);
    f.repeating = !f.single && !f.flat && rank >= 2 && inner <= limit &&
                  std::all_of(strides.begin(), strides.end() - 1, [](int64_t s) { return s == 0; });
    f.widen = is_half_type(t.dtype()) && !choice;
    f.strides = strides.data();
    any_repeating |= f.repeating;
    int64_t s = rank ? strides[rank - 1] : 0;
    runs_only &= !f.widen && (s == 0 || s == 1);
  }

  if (runs_only) {  // every row of the innermost dimension goes to the loop as it lies
    int64_t rows = out.size() / inner;
    in_parallel(context, out.size(), kElementGrain, [&](int64_t first, int64_t last) {
      // Chunks count elements; a row belongs to the chunk it begins in.
      int64_t from = (first + inner - 1) / inner, to = std::min(rows, (last + inner - 1) / inner);
      for (int64_t row = from; row < to; ++row) {
        const std::byte* in[kMaxArity];
        int64_t step[kMaxArity];
        for (int k = 0; k < plan.arity; ++k) {
          int64_t offset = 0;
          for (int64_t d = static_cast<int64_t>(rank) - 2, r = row; d >= 0; --d) {
            auto u = static_cast<size_t>(d);
            offset += r % walk.sizes[u] * walk.strides[k + 1][u];
            r /= walk.sizes[u];
          }
          const Feed& f = plan.feeds[static_cast<size_t>(k)];
          in[k] = f.data + offset * static_cast<int64_t>(f.element);
          step[k] = walk.strides[k + 1][rank - 1];
        }
        plan.loop(inner, plan.out + row * inner * static_cast<int64_t>(plan.out_element), in, step);
      }
    });
    return;
  }
  // A block of whole rows lets an operand that repeats with the rows be packed once.
  plan.block = any_repeating ? limit / inner * inner : limit;
  int64_t grain = kElementGrain / plan.block * plan.block;
  in_parallel(context, out.size(), grain, [&](int64_t first, int64_t last) { plan.run(first, last); });
}

// The element type whose loop serves: moves look at sizes only, half types compute in f32.
DType loop_type(Op op, DType dtype) {
  if (!is_half_type(dtype)) return dtype;
  return op_info(op).types == TypeClass::choice ? DType::U16 : DType::F32;
}

}  // namespace

bool reads_across(const Tensor& t) {
  constexpr int64_t kLarge = 1 << 12, kFar = 16, kWide = 8;  // elements, from one to the next, of a tile's side
  if (t.contiguous() || t.size() < kLarge) return false;
  int64_t dense = INT64_MAX, width = 0, last = 0;
  for (int i = 0; i < t.rank(); ++i) {
    const int64_t stride = std::abs(t.strides()[static_cast<size_t>(i)]);
    if (t.dim(i) == 1) continue;
    if (stride == 0) return false;  // less in memory than it stands for
    if (stride < dense) dense = stride, width = t.dim(i);
    last = stride;
  }
  return last >= kFar * dense && width >= kWide;
}

void run_elementwise(Context& context, Op op, std::span<const Tensor> operands, Tensor& out) {
  size_t arity = operands.size();
  DType dtype = operands[arity - 1].dtype();
  DType type = loop_type(op, dtype);
  ElementwiseLoop loop = elementwise_loops(context.isa()).of[static_cast<int>(type)][static_cast<int>(op)];
  int64_t n = out.size();
  if (n == 0) return;

  const std::byte* in[kMaxArity] = {};
  int64_t step[kMaxArity] = {};
  bool direct = type == dtype;
  for (size_t k = 0; direct && k < arity; ++k) {
    const Tensor& t = operands[k];
    in[k] = t.raw();
    if (t.size() == 1) {
      step[k] = 0;
    } else {
      step[k] = 1;
      direct = is_flat(t, out);
    }
  }
  if (!direct) return run_planned(context, op, dtype, loop, operands, out);
  if (n <= kSmallElements) return loop(n, out.raw(), in, step);

  size_t out_element = dtype_size(out.dtype());
  size_t element[kMaxArity];
  for (size_t k = 0; k < arity; ++k) element[k] = dtype_size(operands[k].dtype());
  in_parallel(context, n, kElementGrain, [&](int64_t first, int64_t last) {
    const std::byte* from[kMaxArity];
    for (size_t k = 0; k < arity; ++k) from[k] = in[k] + first * step[k] * static_cast<int64_t>(element[k]);
    loop(last - first, out.raw() + first * static_cast<int64_t>(out_element), from, step);
  });
}

}  // namespace tfl
