// argmax and argmin, written for any processor. An element wins only by being strictly better than all before it, beginning with the lowest
// finite value (the highest for argmin), so NaN never wins and the first of equals does: as runtime/kernels/isa/reduce_arg.cpp, which
// is faster. This header must not know tensors.
#pragma once

#include <algorithm>
#include <limits>

#include "runtime/kernels/routine.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl::args {

template <bool Smallest, class T, class I>
void find(const Workers& workers, const T* x, I* out, int64_t outer, int64_t n, int64_t inner) {
  using C = std::conditional_t<is_half<T>, float, T>;
  constexpr C kStart = Smallest ? std::numeric_limits<C>::max() : std::numeric_limits<C>::lowest();
  constexpr int64_t kColumns = 64;
  auto value = [](const T* p) -> C {
    if constexpr (is_half<T>)
      return to_f32(*p);
    else
      return *p;
  };
  int64_t strips = (inner + kColumns - 1) / kColumns;
  in_parts(workers, outer * strips, std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, n * std::min(kColumns, inner))),
           n * std::min(kColumns, inner), [&](int64_t first, int64_t last) {
             for (int64_t unit = first; unit < last; ++unit) {
               int64_t column = unit % strips * kColumns, width = std::min(kColumns, inner - column);
               const T* row = x + unit / strips * n * inner + column;
               C best[kColumns];
               int64_t at[kColumns];
               std::fill_n(best, width, kStart);
               std::fill_n(at, width, 0);
               for (int64_t r = 0; r < n; ++r, row += inner) {
                 for (int64_t c = 0; c < width; ++c) {
                   C v = value(row + c);
                   bool wins = Smallest ? v < best[c] : v > best[c];
                   best[c] = wins ? v : best[c];
                   at[c] = wins ? r : at[c];
                 }
               }
               for (int64_t c = 0; c < width; ++c) out[unit / strips * inner + column + c] = static_cast<I>(at[c]);
             }
           });
}

inline bool run(const Workers& workers, const RoutineCall& call) {
  with_element_type(static_cast<DType>(call.dtype), [&](auto tag) {
    using T = std::conditional_t<std::is_same_v<typename decltype(tag)::type, bool>, uint8_t, typename decltype(tag)::type>;
    if constexpr (!std::is_same_v<T, std::string> && !is_complex_number<T>) {
      auto* x = static_cast<const T*>(call.at[0]);
      auto to = [&](auto* out) {
        if (call.flags & 1)
          find<true>(workers, x, out, call.sizes[0], call.sizes[1], call.sizes[2]);
        else
          find<false>(workers, x, out, call.sizes[0], call.sizes[1], call.sizes[2]);
      };
      if (static_cast<DType>(call.index_dtype) == DType::I64)
        to(static_cast<int64_t*>(call.at[1]));
      else
        to(static_cast<int32_t*>(call.at[1]));
    }
  });
  return true;
}

}  // namespace tfl::args
