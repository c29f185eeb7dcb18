// Distinct elements in the order they first appear, and places in sorted rows.
#include <algorithm>
#include <bit>
#include <string_view>

#include "runtime/kernels/parallel.h"
#include "runtime/ops/structural.h"
#include "runtime/tensor/copy.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl {

namespace {

uint64_t mix(uint64_t x) {  // the finaliser of MurmurHash3
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

template <class T>
uint64_t hash_of(const T& v) {
  if constexpr (std::is_same_v<T, std::string>) {
    return std::hash<std::string_view>()(v);
  } else if constexpr (is_half<T>) {
    return mix((v.bits & 0x7fff) == 0 ? 0 : v.bits);
  } else if constexpr (is_complex_number<T>) {
    return mix(hash_of(v.re)) + hash_of(v.im);
  } else if constexpr (std::is_floating_point_v<T>) {
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    return mix(v == 0 ? 0 : __builtin_bit_cast(U, v));
  } else {
    return mix(static_cast<uint64_t>(v));
  }
}
template <class T>
bool equal(const T& a, const T& b) {
  if constexpr (is_half<T>) {
    return to_f32(a) == to_f32(b);
  } else {
    return a == b;
  }
}

void put(Tensor& t, int64_t i, int64_t v) {
  if (t.dtype() == DType::I64)
    t.data<int64_t>()[i] = v;
  else
    t.data<int32_t>()[i] = static_cast<int32_t>(v);
}

Result<void> run_unique_kind(RunCall& call, bool counts) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  int64_t n = x.size();
  Tensor index = TFL_TRY(call.allocate(1));
  // An open-addressing table of the positions of distinct values, and those positions in order.
  int64_t slots = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n + 1)));
  Tensor table = TFL_TRY(Tensor::empty(call.context, DType::I64, Dims{slots}));
  Tensor first = TFL_TRY(Tensor::empty(call.context, DType::I64, Dims{n}));
  Tensor seen = TFL_TRY(Tensor::empty(call.context, DType::I64, Dims{counts ? n : 0}));
  int64_t* at = table.data<int64_t>();
  int64_t* order = first.data<int64_t>();
  in_parallel(call.context, slots, kElementGrain, [&](int64_t from, int64_t to) { std::fill(at + from, at + to, int64_t{-1}); });
  TFL_TRY(check_whole(call.context));
  int64_t found = 0;
  with_element_type(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* p = x.data<T>();
    in_order(call.context, n, [&](int64_t i) {
      uint64_t slot = hash_of<T>(p[i]) & static_cast<uint64_t>(slots - 1);
      while (at[slot] >= 0 && !equal<T>(p[order[at[slot]]], p[i])) slot = (slot + 1) & static_cast<uint64_t>(slots - 1);
      if (at[slot] < 0) {
        at[slot] = found;
        if (counts) seen.data<int64_t>()[found] = 0;
        order[found++] = i;
      }
      if (counts) ++seen.data<int64_t>()[at[slot]];
      put(index, i, at[slot]);
    });
  });
  TFL_TRY(check_whole(call.context));
  Tensor values = TFL_TRY(Tensor::empty(call.context, x.dtype(), Dims{found}));
  with_storage_type(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    in_order(call.context, found, [&](int64_t i) { values.template data<T>()[i] = x.data<T>()[order[i]]; });
  });
  call.results.push_back(std::move(values));
  call.results.push_back(std::move(index));
  if (!counts) return {};
  Tensor total = TFL_TRY(Tensor::empty(call.context, call.types[2].dtype, Dims{found}));
  for (int64_t i = 0; i < found; ++i) put(total, i, seen.data<int64_t>()[i]);
  return call.give(std::move(total));
}

}  // namespace

Result<void> run_unique(RunCall& call) { return run_unique_kind(call, false); }
Result<void> run_unique_with_counts(RunCall& call) { return run_unique_kind(call, true); }

namespace {

/// Of values i, i + 1 ... the numbers of elements of a sorted row that lie before them: as many searches as there are at once, without branches.
template <int Together, class T, class Before>
void search(const T* row, int64_t n, const T* values, const Before& before, int64_t* places) {
  const T* base[Together];
  for (int k = 0; k < Together; ++k) base[k] = row;
  for (int64_t left = n; left > 1; left -= left / 2) {
    const int64_t half = left / 2;
    for (int k = 0; k < Together; ++k) base[k] += before(base[k][half - 1], values[k]) ? half : 0;
  }
  for (int k = 0; k < Together; ++k) places[k] = base[k] - row + (n > 0 && before(*base[k], values[k]));
}

template <class T, class I, class Before>
void search_rows(Context& context, const T* rows, int64_t n, const T* values, int64_t count, int64_t m, const Before& before,
                 I* out) {
  constexpr int64_t kSearchCost = 16;  // of one search, in cheap operations
  constexpr int kTogether = 8;
  in_parallel(
      context, count, kElementGrain / kSearchCost,
      [&](int64_t first, int64_t last) {
        int64_t places[kTogether];
        for (int64_t i = first; i < last;) {
          const T* row = rows + i / m * n;
          const int64_t end = std::min(last, (i / m + 1) * m);
          for (; i + kTogether <= end; i += kTogether) {
            search<kTogether>(row, n, values + i, before, places);
            for (int k = 0; k < kTogether; ++k) out[i + k] = static_cast<I>(places[k]);
          }
          for (; i < end; ++i) {
            search<1>(row, n, values + i, before, places);
            out[i] = static_cast<I>(places[0]);
          }
        }
      },
      kSearchCost);
}

}  // namespace

Result<void> run_searchsorted(RunCall& call) {
  Tensor rows = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor values = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor out = TFL_TRY(call.allocate());
  bool right = call.attrs.get_bool(Attr::right);
  int64_t n = rows.dim(rows.rank() - 1), m = values.dim(values.rank() - 1);
  with_element_type(rows.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, std::string> && !is_complex_number<T>) {
      auto less = [](const T& a, const T& b) {
        if constexpr (is_half<T>)
          return to_f32(a) < to_f32(b);
        else
          return a < b;
      };
      auto find = [&](const auto& before) {
        auto to = [&](auto* places) {
          search_rows(call.context, rows.data<T>(), n, values.data<T>(), values.size(), m, before, places);
        };
        if (out.dtype() == DType::I64)
          to(out.data<int64_t>());
        else
          to(out.data<int32_t>());
      };
      if (right)
        find([&](const T& element, const T& value) { return !less(value, element); });
      else
        find([&](const T& element, const T& value) { return less(element, value); });
    }
  });
  return call.give(std::move(out));
}

}  // namespace tfl
