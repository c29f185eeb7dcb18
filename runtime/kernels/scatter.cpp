// Writes by index. Updates are applied one after the other in row-major order, so duplicates have one defined result.
#include "runtime/kernels/copy.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/kernels/index_text.h"
#include "runtime/ops/infer_util.h"
#include "runtime/ops/structural.h"

namespace tfl {

namespace {

using shape_rules::invalid;

enum class Combine { Set, Add, Sub, Min, Max };

template <class T>
T combine(Combine how, T a, T b) {
  if (how == Combine::Set) return b;
  if constexpr (std::is_same_v<T, std::string>) {
    return a + b;
  } else if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (is_half<T>) {
    float x = to_f32(a), y = to_f32(b);
    float r = how == Combine::Add   ? x + y
              : how == Combine::Sub ? x - y
              : how == Combine::Min ? (y < x || y != y ? y : x)
                                    : (y > x || y != y ? y : x);
    if constexpr (std::is_same_v<T, f16>)
      return to_f16(r);
    else
      return to_bf16(r);
  } else if constexpr (std::is_floating_point_v<T>) {
    switch (how) {
      case Combine::Add: return a + b;
      case Combine::Sub: return a - b;
      case Combine::Min: return b < a || b != b ? b : a;
      default: return b > a || b != b ? b : a;
    }
  } else {
    using U = std::make_unsigned_t<T>;
    switch (how) {
      case Combine::Add: return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
      case Combine::Sub: return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
      case Combine::Min: return b < a ? b : a;
      default: return b > a ? b : a;
    }
  }
}

// Applies `updates` to the contiguous tensor `out`.
Result<void> scatter_into(RunCall& call, Tensor& out, const Tensor& indices, const Tensor& updates, Combine how) {
  int64_t depth = indices.dim(indices.rank() - 1);
  std::span<const int64_t> outer = indices.dims().first(static_cast<size_t>(indices.rank() - 1));
  int64_t tuples = 1, inner = 1;
  for (int64_t d : outer) tuples *= d;
  for (int i = static_cast<int>(depth); i < out.rank(); ++i) inner *= out.dim(i);
  // All positions are checked first: a failed scatter has written nothing.
  auto offset_of = [&](int64_t t, bool& inside) {
    int64_t at = 0;
    inside = true;
    for (int64_t d = 0; d < depth; ++d) {
      int64_t index = index_at(indices.dtype(), indices.raw(), t * depth + d), size = out.dim(static_cast<int>(d));
      inside &= index >= 0 && index < size;
      at = inside ? at * size + index : 0;
    }
    return at * inner;
  };
  bool inside = true;
  for (int64_t t = 0; t < tuples; ++t) {
    offset_of(t, inside);
    if (inside) continue;
    std::string tuple;
    for (int64_t d = 0; d < depth; ++d)
      tuple += fmt::format("{}{}", d ? ", " : "", index_at(indices.dtype(), indices.raw(), t * depth + d));
    return invalid(call.op, "indices{} = [{}] does not index into shape {}", index_position(outer, t), tuple,
                   shape_rules::shape_words(out.dims()));
  }
  if (out.size() == 0 || updates.size() == 0) return {};
  with_element_type(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = out.data<T>();
    const T* from = updates.data<T>();
    for (int64_t t = 0; t < tuples; ++t) {
      T* row = to + offset_of(t, inside);
      const T* update = from + t * inner;
      for (int64_t i = 0; i < inner; ++i) row[i] = combine<T>(how, row[i], update[i]);
    }
  });
  return {};
}

Result<void> run_tensor_scatter(RunCall& call, Combine how) {
  const Tensor& x = call.operands[0];
  Tensor indices = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor updates = TFL_TRY(contiguous(call.context, call.operands[2]));
  Tensor out = TFL_TRY(call.allocate());
  copy_strided(call.context, x.dtype(), x.dims(), out.raw(), out.strides(), x.raw(), x.strides());
  TFL_TRY(scatter_into(call, out, indices, updates, how));
  return call.give(std::move(out));
}

}  // namespace

Result<void> run_scatter_nd(RunCall& call) {
  Tensor indices = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor updates = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor out = TFL_TRY(call.allocate());
  if (out.dtype() != DType::String && out.size() > 0) {
    constexpr uint64_t kZero = 0;
    fill_elements(call.context, out.dtype(), out.raw(), out.size(), reinterpret_cast<const std::byte*>(&kZero));
  }
  TFL_TRY(scatter_into(call, out, indices, updates, Combine::Add));
  return call.give(std::move(out));
}

Result<void> run_tensor_scatter_update(RunCall& call) { return run_tensor_scatter(call, Combine::Set); }
Result<void> run_tensor_scatter_add(RunCall& call) { return run_tensor_scatter(call, Combine::Add); }
Result<void> run_tensor_scatter_sub(RunCall& call) { return run_tensor_scatter(call, Combine::Sub); }
Result<void> run_tensor_scatter_min(RunCall& call) { return run_tensor_scatter(call, Combine::Min); }
Result<void> run_tensor_scatter_max(RunCall& call) { return run_tensor_scatter(call, Combine::Max); }

}  // namespace tfl
