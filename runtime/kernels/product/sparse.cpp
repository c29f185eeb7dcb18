// A matrix that is given by its elements, times a dense one. Each element of the result adds its products in the order in which the
// elements are given, whatever the number of threads: threads share rows and blocks of columns of the result.
#include <algorithm>

#include "runtime/kernels/index/segment_loops.h"
#include "runtime/kernels/parallel.h"
#include "runtime/ops/structural.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/copy.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl {

namespace {

constexpr int64_t kColumns = 512;  // of the result that one thread computes at a time

template <class T>
using Sum = std::conditional_t<is_half<T>, float, T>;

template <class T>
Sum<T> widened(T v) {
  if constexpr (is_half<T>)
    return to_f32(v);
  else
    return v;
}

template <class T>
T rounded(Sum<T> v) {
  if constexpr (std::is_same_v<T, f16>)
    return to_f16(v);
  else if constexpr (std::is_same_v<T, bf16>)
    return to_bf16(v);
  else
    return v;
}

/// Where the elements of each row of the result stand: `order[starts[r] .. starts[r + 1])`.
struct ByRow {
  const int64_t* starts;
  const int64_t* order;
  const int64_t* inner;  // of each element the row of b
};

template <class W>
W with_product(W sum, W a, W b) {
  if constexpr (std::is_integral_v<W>)
    return static_cast<W>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return sum + a * b;
}

template <class T>
void compute_block(const ByRow& rows, int64_t row, int64_t first, int64_t last, const T* values, const T* b, int64_t width,
                   T* out) {
  Sum<T> sums[kColumns];
  std::fill(sums, sums + (last - first), Sum<T>(0));
  for (int64_t at = rows.starts[row]; at < rows.starts[row + 1]; ++at) {
    int64_t element = rows.order[at];
    Sum<T> a = widened(values[element]);
    const T* from = b + rows.inner[element] * width;
    for (int64_t j = first; j < last; ++j) sums[j - first] = with_product(sums[j - first], a, widened(from[j]));
  }
  for (int64_t j = first; j < last; ++j) out[row * width + j] = rounded<T>(sums[j - first]);
}

}  // namespace

Result<void> run_sparse_dense_matmul(RunCall& call) {
  Tensor indices = TFL_TRY(contiguous(call.context, call.operands[0])),
         values = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor b = TFL_TRY(contiguous(call.context, call.operands[3]));
  Tensor out = TFL_TRY(call.allocate());
  int64_t rows = out.dim(0), width = out.dim(1), inner = b.dim(0), n = values.size();
  int row_column = call.attrs.get_bool(Attr::adjoint) ? 1 : 0;
  Tensor room = TFL_TRY(Tensor::empty(call.context, DType::I64, Dims{2 * n + (out.size() > 0 ? rows + 2 : 0)}));
  int64_t *order = room.data<int64_t>(), *from = order + n, *starts = from + n;
  for (int64_t i = 0; i < n; ++i) {
    int64_t row = index_at(indices.dtype(), indices.raw(), 2 * i + row_column);
    from[i] = index_at(indices.dtype(), indices.raw(), 2 * i + 1 - row_column);
    if (from[i] < 0 || from[i] >= inner)
      return shape_rules::invalid(call.op, "k ({}) from index[{},{}] out of bounds (>={})", from[i], i, 1 - row_column, inner);
    if (row < 0 || row >= rows)
      return shape_rules::invalid(call.op, "m ({}) from index[{},{}] out of bounds (>={})", row, i, row_column, rows);
  }
  if (out.size() == 0) return call.give(std::move(out));
  // Counted by row, then each put behind those of its row that came before it.
  std::fill(starts, starts + rows + 2, int64_t{0});
  for (int64_t i = 0; i < n; ++i) ++starts[index_at(indices.dtype(), indices.raw(), 2 * i + row_column) + 2];
  for (int64_t r = 2; r < rows + 2; ++r) starts[r] += starts[r - 1];
  for (int64_t i = 0; i < n; ++i) order[starts[index_at(indices.dtype(), indices.raw(), 2 * i + row_column) + 1]++] = i;
  ByRow by_row{starts, order, from};
  int64_t blocks = (width + kColumns - 1) / kColumns;
  int64_t cost = std::max<int64_t>(1, (n / rows + 1) * std::min(width, kColumns) / 4);
  segments::with_number_type(values.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    in_parallel(
        call.context, rows * blocks, std::max<int64_t>(1, kElementGrain / cost),
        [&](int64_t first, int64_t last) {
          for (int64_t unit = first; unit < last; ++unit) {
            int64_t row = unit / blocks, column = unit % blocks * kColumns;
            compute_block<T>(by_row, row, column, std::min(width, column + kColumns), values.data<T>(), b.data<T>(), width,
                             out.data<T>());
          }
        },
        cost);
  });
  TFL_TRY(check_whole(call.context));
  return call.give(std::move(out));
}

}  // namespace tfl
