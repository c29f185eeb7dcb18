// Rows combined by id, in the order of the rows.
#include <limits>
#include <type_traits>

#include "runtime/kernels/dispatch.h"
#include "runtime/ops/infer_util.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

enum class Fold : uint8_t { Sum, Product, Most, Least };

// What an element is while it is combined: half types are kept in f32 until the end.
template <class T>
using Working = std::conditional_t<is_half<T>, float, T>;

template <class T>
Working<T> neutral(Fold fold) {
  if (fold == Fold::Sum) return 0;
  if (fold == Fold::Product) return 1;
  if constexpr (is_half<T>) {
    float most = std::is_same_v<T, f16> ? 65504.0f : 3.38953138925153547590470800371487867e38f;
    return fold == Fold::Most ? -most : most;
  } else {
    using L = std::numeric_limits<T>;
    return fold == Fold::Most ? L::lowest() : L::max();
  }
}

template <class W>
W combined(Fold fold, W a, W b) {
  switch (fold) {
    case Fold::Sum:
      if constexpr (std::is_integral_v<W>) return static_cast<W>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      else return a + b;
    case Fold::Product:
      if constexpr (std::is_integral_v<W>) return static_cast<W>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      else return a * b;
    case Fold::Most: return b != b || a < b ? b : a;
    case Fold::Least: return b != b || b < a ? b : a;
  }
  return a;
}

template <class T>
Result<void> fold_rows(RunCall& call, Fold fold, const Tensor& x, const Tensor& ids, Tensor& out) {
  int64_t rows = ids.size(), segments = out.dim(0);
  int64_t width = 1;
  for (int i = 1; i < out.rank(); ++i) width *= out.dim(i);
  using W = Working<T>;
  Tensor held;
  W* sums;
  if constexpr (is_half<T>) {
    held = TFL_TRY(Tensor::empty(call.context, DType::F32, out.dims()));
    sums = held.data<float>();
  } else {
    sums = out.data<T>();
  }
  std::fill(sums, sums + segments * width, neutral<T>(fold));
  size_t id_size = dtype_size(ids.dtype());
  for (int64_t r = 0; r < rows; ++r) {
    int64_t id = load_int(ids.dtype(), ids.raw() + static_cast<size_t>(r) * id_size);
    if (id < 0) continue;
    if (id >= segments) return shape_rules::invalid(call.op, "segment_ids[{}] = {} is out of range [0, {})", r, id, segments);
    W* to = sums + id * width;
    const T* from = x.data<T>() + r * width;
    for (int64_t i = 0; i < width; ++i) {
      if constexpr (is_half<T>) to[i] = combined<W>(fold, to[i], to_f32(from[i]));
      else to[i] = combined<W>(fold, to[i], from[i]);
    }
  }
  if constexpr (is_half<T>) {
    for (int64_t i = 0; i < segments * width; ++i) store_double(out.dtype(), sums[i], out.raw() + static_cast<size_t>(i) * sizeof(T));
  }
  return {};
}

Result<void> run_segment(RunCall& call, Fold fold) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0])), ids = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor out = TFL_TRY(call.allocate());
  switch (x.dtype()) {
#define TFL_CASE(id, type) \
  case DType::id: TFL_TRY(fold_rows<type>(call, fold, x, ids, out)); break;
    TFL_CASE(F16, f16) TFL_CASE(BF16, bf16) TFL_CASE(F32, float) TFL_CASE(F64, double) TFL_CASE(I8, int8_t) TFL_CASE(I16, int16_t) TFL_CASE(I32, int32_t)
    TFL_CASE(I64, int64_t) TFL_CASE(U8, uint8_t) TFL_CASE(U16, uint16_t) TFL_CASE(U32, uint32_t) TFL_CASE(U64, uint64_t)
#undef TFL_CASE
    default: return fail(ErrorKind::InternalError, "segments of {}", dtype_name(x.dtype()));
  }
  return call.give(std::move(out));
}

}  // namespace

Result<void> run_unsorted_segment_sum(RunCall& call) { return run_segment(call, Fold::Sum); }
Result<void> run_unsorted_segment_prod(RunCall& call) { return run_segment(call, Fold::Product); }
Result<void> run_unsorted_segment_max(RunCall& call) { return run_segment(call, Fold::Most); }
Result<void> run_unsorted_segment_min(RunCall& call) { return run_segment(call, Fold::Least); }

}  // namespace tfl
