// The order of the rows of a matrix, compared element by element.
#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/kernels/parallel.h"
#include "runtime/ops/structural.h"
#include "runtime/tensor/copy.h"

namespace tfl {

namespace {

struct Rows {
  const int64_t* at;
  int64_t count, width;

  int compare(int64_t a, int64_t b) const {
    const int64_t *x = at + a * width, *y = at + b * width;
    for (int64_t k = 0; k < width; ++k) {
      if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    }
    return 0;
  }
};

bool in_order_already(const Rows& rows) {
  for (int64_t i = 1; i < rows.count; ++i) {
    if (rows.compare(i - 1, i) > 0) return false;
  }
  return true;
}

/// A number for each row that orders as the rows do, where 63 bits hold one; false where they do not.
bool packed(const Rows& rows, std::pair<uint64_t, int64_t>* out) {
  for (int64_t i = 0; i < rows.count; ++i) out[i] = {0, i};
  uint64_t all = 1;
  for (int64_t k = 0; k < rows.width; ++k) {
    int64_t low = rows.at[k], high = low;
    for (int64_t i = 1; i < rows.count; ++i) {
      low = std::min(low, rows.at[i * rows.width + k]);
      high = std::max(high, rows.at[i * rows.width + k]);
    }
    uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    if (range >= uint64_t{1} << 62 || __builtin_mul_overflow(all, range + 1, &all) || all >> 63) return false;
    for (int64_t i = 0; i < rows.count; ++i)
      out[i].first =
          out[i].first * (range + 1) + (static_cast<uint64_t>(rows.at[i * rows.width + k]) - static_cast<uint64_t>(low));
  }
  return true;
}

}  // namespace

Result<void> run_argsort_rows(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Rows rows{x.data<int64_t>(), x.dim(0), x.dim(1)};
  Tensor out = TFL_TRY(Tensor::empty(call.context, DType::I64, Dims{rows.count}));
  int64_t* order = out.data<int64_t>();
  std::iota(order, order + rows.count, int64_t{0});
  if (rows.count < 2 || in_order_already(rows)) return call.give(std::move(out));
  using Entry = std::pair<uint64_t, int64_t>;
  static_assert(sizeof(Entry) == 16);
  Tensor room = TFL_TRY(Tensor::empty(call.context, DType::U64, Dims{rows.count, 2}));
  Entry* entries = reinterpret_cast<Entry*>(room.raw());
  if (packed(rows, entries)) {
    std::sort(entries, entries + rows.count);
    in_order(call.context, rows.count, [&](int64_t i) { order[i] = entries[i].second; });
  } else {
    std::sort(order, order + rows.count, [&](int64_t a, int64_t b) {
      int c = rows.compare(a, b);
      return c != 0 ? c < 0 : a < b;
    });
  }
  TFL_TRY(check_whole(call.context));
  return call.give(std::move(out));
}

}  // namespace tfl
