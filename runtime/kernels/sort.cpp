// Sorting along an axis. Elements become unsigned keys of the same order, a key and its position one entry, and entries are
// sorted: so every sort is stable, -0 equals +0, and NaN comes after everything else (first when descending).
#include <algorithm>

#include "runtime/kernels/copy.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/ops/infer_util.h"
#include "runtime/ops/structural.h"
#include "runtime/threads/thread_pool.h"

namespace tfl {

namespace {

template <class T>
inline constexpr bool kNarrow = sizeof(T) <= 4;  // key and position fit one word

struct WideEntry {
  uint64_t key;
  int64_t at;
  bool operator<(const WideEntry& o) const { return key != o.key ? key < o.key : at < o.at; }
};

template <class T>
using Entry = std::conditional_t<kNarrow<T>, uint64_t, WideEntry>;

template <class U, class T>
U float_key(T x) {
  constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
  if (x != x) return ~U{0};
  U bits = x == 0 ? U{0} : __builtin_bit_cast(U, x);
  return bits & kSign ? ~bits : bits | kSign;
}

template <class T>
auto key_of(T x) {
  if constexpr (is_half<T>) {
    return float_key<uint32_t>(to_f32(x));
  } else if constexpr (std::is_same_v<T, float>) {
    return float_key<uint32_t>(x);
  } else if constexpr (std::is_same_v<T, double>) {
    return float_key<uint64_t>(x);
  } else {
    using U = std::conditional_t<kNarrow<T>, uint32_t, uint64_t>;
    if constexpr (std::is_signed_v<T>)
      return static_cast<U>(static_cast<U>(x) ^ (U{1} << (8 * sizeof(U) - 1)));
    else
      return static_cast<U>(x);
  }
}

template <class T>
Entry<T> make_entry(T x, int64_t at, bool descending) {
  auto key = key_of(x);
  if (descending) key = ~key;
  if constexpr (kNarrow<T>) {
    return static_cast<uint64_t>(key) << 32 | static_cast<uint64_t>(at);
  } else {
    return {key, at};
  }
}
template <class E>
int64_t position(const E& e) {
  if constexpr (std::is_same_v<E, uint64_t>)
    return static_cast<int64_t>(e & 0xffffffffu);
  else
    return e.at;
}

// x with `axis` moved to the end, row-major.
Result<Tensor> rows_of(Context& context, const Tensor& x, int64_t axis) {
  if (axis == x.rank() - 1) return contiguous(context, x);
  Dims dims(x.dims()), strides(x.strides());
  std::rotate(dims.begin() + axis, dims.begin() + axis + 1, dims.end());
  std::rotate(strides.begin() + axis, strides.begin() + axis + 1, strides.end());
  return contiguous(context, Tensor::view(context, x, dims, strides, 0));
}

// The opposite: a view whose last axis is back at `axis`.
Tensor put_back(Context& context, const Tensor& rows, int64_t axis) {
  if (axis == rows.rank() - 1) return rows;
  Dims dims(rows.dims()), strides(rows.strides());
  std::rotate(dims.begin() + axis, dims.end() - 1, dims.end());
  std::rotate(strides.begin() + axis, strides.end() - 1, strides.end());
  return Tensor::view(context, rows, dims, strides, 0);
}

Result<void> check_length(Op op, int64_t n) {
  if (n > INT32_MAX) return shape_rules::invalid(op, "cannot sort {} elements along one axis", n);
  return {};
}

// For every row of `x` (n elements each): sorts its first `k` entries into order and calls take(row, sorted entries).
template <class T, class Take>
Result<void> sort_rows(Context& context, const Tensor& x, int64_t n, int64_t k, bool descending, Take take) {
  using E = Entry<T>;
  if (x.size() == 0) return {};
  int64_t rows = x.size() / n;
  Tensor scratch = TFL_TRY(Tensor::empty(context, DType::U64, Dims{x.size(), static_cast<int64_t>(sizeof(E) / 8)}));
  E* entries = scratch.data<E>();
  const T* from = x.data<T>();
  auto body = [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      E* e = entries + row * n;
      for (int64_t i = 0; i < n; ++i) e[i] = make_entry<T>(from[row * n + i], i, descending);
      if (k < n) std::nth_element(e, e + k, e + n);
      std::sort(e, e + std::min(k, n));
      take(row, e);
    }
  };
  if (rows == 1 || x.size() < (1 << 14)) {
    body(0, rows);
  } else {
    context.threads().parallel_for(rows, std::max<int64_t>(1, (1 << 13) / n), body);
  }
  return {};
}

}  // namespace

Result<void> run_sort(RunCall& call) {
  const Tensor& input = call.operands[0];
  int64_t axis = shape_rules::front_axis(call.attrs.get_int(Attr::axis, -1), input.rank());
  bool descending = call.attrs.get_bool(Attr::descending);
  int64_t n = input.dim(static_cast<int>(axis));
  TFL_TRY(check_length(call.op, n));
  Tensor x = TFL_TRY(rows_of(call.context, input, axis));
  Tensor out = TFL_TRY(Tensor::empty(call.context, x.dtype(), x.dims()));
  TFL_TRY(with_element_type(x.dtype(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
      return {};
    } else {
      const T* from = x.data<T>();
      T* to = out.template data<T>();
      return sort_rows<T>(call.context, x, n, n, descending, [&](int64_t row, const Entry<T>* e) {
        for (int64_t i = 0; i < n; ++i) to[row * n + i] = from[row * n + position(e[i])];
      });
    }
  }));
  return call.give(put_back(call.context, out, axis));
}

Result<void> run_argsort(RunCall& call) {
  const Tensor& input = call.operands[0];
  int64_t axis = shape_rules::front_axis(call.attrs.get_int(Attr::axis, -1), input.rank());
  bool descending = call.attrs.get_bool(Attr::descending);
  int64_t n = input.dim(static_cast<int>(axis));
  TFL_TRY(check_length(call.op, n));
  Tensor x = TFL_TRY(rows_of(call.context, input, axis));
  Tensor out = TFL_TRY(Tensor::empty(call.context, DType::I32, x.dims()));
  TFL_TRY(with_element_type(x.dtype(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
      return {};
    } else {
      int32_t* to = out.template data<int32_t>();
      return sort_rows<T>(call.context, x, n, n, descending, [&](int64_t row, const Entry<T>* e) {
        for (int64_t i = 0; i < n; ++i) to[row * n + i] = static_cast<int32_t>(position(e[i]));
      });
    }
  }));
  return call.give(put_back(call.context, out, axis));
}

Result<void> run_top_k(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  int64_t n = x.dim(x.rank() - 1), k = call.types[0].dims.back();
  TFL_TRY(check_length(call.op, n));
  Tensor values = TFL_TRY(call.allocate(0));
  Tensor indices = TFL_TRY(call.allocate(1));
  if (values.size() > 0) {
    TFL_TRY(with_element_type(x.dtype(), [&](auto tag) -> Result<void> {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
        return {};
      } else {
        const T* from = x.data<T>();
        T* to = values.template data<T>();
        bool wide = indices.dtype() == DType::I64;
        return sort_rows<T>(call.context, x, n, k, true, [&](int64_t row, const Entry<T>* e) {
          for (int64_t i = 0; i < k; ++i) {
            int64_t at = position(e[i]);
            to[row * k + i] = from[row * n + at];
            if (wide)
              indices.template data<int64_t>()[row * k + i] = at;
            else
              indices.template data<int32_t>()[row * k + i] = static_cast<int32_t>(at);
          }
        });
      }
    }));
  }
  TFL_TRY(call.give(std::move(values)));
  return call.give(std::move(indices));
}

}  // namespace tfl
