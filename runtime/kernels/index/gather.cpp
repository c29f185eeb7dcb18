// Reads by index: gather along an axis and gather of slices at index tuples. All indices are checked before anything is read, so
// that the error is that of the lowest bad position whatever the threads do.
#include <cstring>

#include "runtime/kernels/text/index_text.h"
#include "runtime/ops/structural.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/copy.h"
#include "runtime/tensor/dtype_dispatch.h"
#include "runtime/threads/thread_pool.h"

namespace tfl {

using shape_rules::invalid;

std::string index_position(std::span<const int64_t> dims, int64_t flat) {
  if (dims.empty()) return {};
  SmallVec<int64_t, 6> at(dims.size(), 0);
  for (size_t i = dims.size(); i-- > 0;) {
    at[i] = flat % dims[i];
    flat /= dims[i];
  }
  std::string text = "[";
  for (size_t i = 0; i < at.size(); ++i) text += fmt::format("{}{}", i ? "," : "", at[i]);
  return text + "]";
}

namespace {

/// What a loss says of a label that is no class: `text` names the loss.
template <class I>
Failure bad_label(std::string_view loss, const I* labels, int64_t count, int64_t bad, int64_t classes) {
  constexpr int64_t kShown = 64;
  std::string shown;
  for (int64_t i = 0; i < std::min(count, kShown); ++i)
    shown += fmt::format("{}{}", i ? " " : "", static_cast<int64_t>(labels[i]));
  return shape_rules::invalid_in(
             "SparseSoftmaxCrossEntropyWithLogits",
             fmt::format("Received a label value of {} which is outside the valid range of [0, {}).  Label values: {}{}",
                         static_cast<int64_t>(labels[bad]), classes, shown, count > kShown ? " ..." : ""))
      .with_hint(fmt::format("{} takes labels from 0 to {} for the {} classes of its predictions; number the classes "
                             "from 0, or give the last layer more units",
                             loss, classes - 1, classes));
}

constexpr int64_t kGatherThreadBytes = 1 << 19;

struct GatherPlan {
  int64_t batch, outer, size, inner;  // x is [batch, outer, size, inner]
  int64_t count;                      // indices in a batch
};

// Elements of one vector.
template <class I, class T>
void gather_elements(const I* indices, const T* x, T* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = x[static_cast<int64_t>(indices[i])];
}

// Rows of `inner` elements of one matrix.
template <class I, class T>
void gather_short_rows(const I* indices, const T* x, T* out, int64_t count, int64_t inner) {
  for (int64_t i = 0; i < count; ++i, out += inner) {
    const T* from = x + static_cast<int64_t>(indices[i]) * inner;
    for (int64_t k = 0; k < inner; ++k) out[k] = from[k];
  }
}

template <class I, class T>
void gather_rows(const GatherPlan& p, const I* indices, const T* x, T* out, int64_t first, int64_t last) {
  constexpr int64_t kShort = 8;
  // Rows of the result are counted over [batch, outer, count].
  for (int64_t row = first, end; row < last; row = end) {
    const int64_t matrix = row / p.count, j = row - matrix * p.count, count = std::min(last - row, p.count - j);
    const I* at = indices + matrix / p.outer * p.count + j;
    const T* from = x + matrix * p.size * p.inner;
    T* to = out + row * p.inner;
    end = row + count;
    if (p.inner == 1) {
      gather_elements(at, from, to, count);
    } else if (p.inner < kShort || !std::is_trivially_copyable_v<T>) {
      gather_short_rows(at, from, to, count, p.inner);
    } else {
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(static_cast<void*>(to + i * p.inner), from + static_cast<int64_t>(at[i]) * p.inner,
                    static_cast<size_t>(p.inner) * sizeof(T));
    }
  }
}

template <class F>
decltype(auto) with_index_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::I16: return f(TypeTag<int16_t>{});
    case DType::I32: return f(TypeTag<int32_t>{});
    default: return f(TypeTag<int64_t>{});
  }
}

// The position of the first index outside [0, size), or -1.
template <class I>
int64_t first_bad(const I* indices, int64_t n, int64_t size) {
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    bool bad = false;
    for (int64_t j = i; j < i + 64; ++j)
      bad |= static_cast<uint64_t>(static_cast<int64_t>(indices[j])) >= static_cast<uint64_t>(size);
    if (bad) break;
  }
  for (; i < n; ++i) {
    if (static_cast<uint64_t>(static_cast<int64_t>(indices[i])) >= static_cast<uint64_t>(size)) return i;
  }
  return -1;
}

}  // namespace

Result<void> run_gather(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor indices = TFL_TRY(contiguous(call.context, call.operands[1]));
  int64_t batch_dims = call.attrs.get_int(Attr::batch_dims);
  if (batch_dims < 0) batch_dims += indices.rank();
  int64_t axis = shape_rules::front_axis(call.attrs.get_int(Attr::axis, batch_dims), x.rank());
  GatherPlan p{1, 1, x.dim(static_cast<int>(axis)), 1, 1};
  for (int i = 0; i < x.rank(); ++i) {
    if (i < batch_dims)
      p.batch *= x.dim(i);
    else if (i < axis)
      p.outer *= x.dim(i);
    else if (i > axis)
      p.inner *= x.dim(i);
  }
  for (int i = static_cast<int>(batch_dims); i < indices.rank(); ++i) p.count *= indices.dim(i);
  return with_index_type(indices.dtype(), [&](auto index_tag) -> Result<void> {
    using I = typename decltype(index_tag)::type;
    const I* at = indices.data<I>();
    int64_t bad = first_bad(at, indices.size(), p.size);
    if (bad >= 0) {
      if (std::string_view loss = call.attrs.get_text(Attr::text); !loss.empty())
        return bad_label(loss, at, indices.size(), bad, p.size);
      return invalid(call.op, "indices{} = {} is not in [0, {})", index_position(indices.dims(), bad),
                     static_cast<int64_t>(at[bad]), p.size);
    }
    Tensor out = TFL_TRY(call.allocate());
    if (out.size() == 0) return call.give(std::move(out));
    with_storage_type(x.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = x.data<T>();
      T* to = out.template data<T>();
      int64_t rows = out.size() / p.inner;
      auto body = [&](int64_t first, int64_t last) {
        if (call.context.interrupt.load(std::memory_order_relaxed)) return;
        gather_rows(p, at, from, to, first, last);
      };
      int64_t row_bytes = p.inner * static_cast<int64_t>(sizeof(T));
      if (rows * row_bytes < 2 * kGatherThreadBytes) {
        body(0, rows);
      } else {
        call.context.threads().parallel_for(rows, std::max<int64_t>(1, kGatherThreadBytes / row_bytes), body);
      }
    });
    return call.give(std::move(out));
  });
}

Result<void> run_gather_nd(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor indices = TFL_TRY(contiguous(call.context, call.operands[1]));
  int64_t batch_dims = call.attrs.get_int(Attr::batch_dims);
  int64_t depth = indices.dim(indices.rank() - 1);
  std::span<const int64_t> outer = indices.dims().first(static_cast<size_t>(indices.rank() - 1));
  int64_t tuples = 1, per_batch = 1, inner = 1, batch_size = 1;
  for (size_t i = 0; i < outer.size(); ++i) {
    tuples *= outer[i];
    if (static_cast<int64_t>(i) >= batch_dims) per_batch *= outer[i];
  }
  for (int i = static_cast<int>(batch_dims); i < x.rank(); ++i) batch_size *= x.dim(i);
  for (int i = static_cast<int>(batch_dims + depth); i < x.rank(); ++i) inner *= x.dim(i);
  std::span<const int64_t> indexed = x.dims().subspan(static_cast<size_t>(batch_dims), static_cast<size_t>(depth));
  Tensor out = TFL_TRY(call.allocate());
  const size_t bytes = dtype_size(x.dtype());
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t at = 0;
    bool inside = true;
    for (int64_t d = 0; d < depth; ++d) {
      int64_t index = index_at(indices.dtype(), indices.raw(), t * depth + d);
      inside &= index >= 0 && index < indexed[d];
      at = inside ? at * indexed[d] + index : 0;
    }
    if (!inside) {
      std::string tuple;
      if (batch_dims > 0) {  // TensorFlow puts the batch's own position in front
        int64_t b = t / per_batch;
        SmallVec<int64_t, 4> lead(static_cast<size_t>(batch_dims), 0);
        for (int64_t i = batch_dims; i-- > 0;) {
          lead[i] = b % outer[i];
          b /= outer[i];
        }
        for (int64_t v : lead) tuple += fmt::format("{}, ", v);
      }
      for (int64_t d = 0; d < depth; ++d)
        tuple += fmt::format("{}{}", d ? ", " : "", index_at(indices.dtype(), indices.raw(), t * depth + d));
      return invalid(call.op, "indices{} = [{}] does not index into param shape {}, node name: GatherNd",
                     index_position(outer, t), tuple, shape_rules::shape_words(x.dims()));
    }
    if (out.size() == 0) continue;
    int64_t from = t / per_batch * batch_size + at * inner;
    copy_run(x.dtype(), out.raw() + t * inner * static_cast<int64_t>(bytes), x.raw() + from * static_cast<int64_t>(bytes), inner);
  }
  return call.give(std::move(out));
}

}  // namespace tfl
