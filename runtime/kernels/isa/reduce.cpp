// The reductions of this level.
#include "runtime/kernels/isa/reduce_loops.h"

namespace tfl {
inline namespace TFL_ISA {

namespace {

template <class R, class T>
constexpr ReduceLoop plain() {
  if constexpr (R::kModular && std::is_unsigned_v<T>) {  // the bits are those of signed numbers, but for the quotient at the end
    using S = std::make_signed_t<T>;
    ReduceLoop loop = Reduce<R, S, S>::loop();
    loop.finish = Reduce<R, T, T>::finish;
    return loop;
  }
  return Reduce<R, T, compute_type<T>>::loop();
}
template <class T>
constexpr ReduceLoop wide() {
  return Reduce<reducers::Sum, T, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>::loop();
}

}  // namespace

// In the order of dtypes.def; bool elements are reduced as bytes, by max (any) and min (all).
#define TFL_REDUCE_ROW(R, Bool)                                                                                                  \
  {                                                                                                                              \
    plain<R, f16>(), plain<R, bf16>(), plain<R, float>(), plain<R, double>(), plain<R, std::int8_t>(), plain<R, std::int16_t>(), \
        plain<R, std::int32_t>(), plain<R, std::int64_t>(), plain<R, std::uint8_t>(), plain<R, std::uint16_t>(),                 \
        plain<R, std::uint32_t>(), plain<R, std::uint64_t>(), Bool, ReduceLoop{}, ReduceLoop{}, ReduceLoop {}                    \
  }
extern const ReduceLoops kReduceLoops;
const ReduceLoops kReduceLoops = {{
    TFL_REDUCE_ROW(reducers::Sum, ReduceLoop{}),
    TFL_REDUCE_ROW(reducers::Prod, ReduceLoop{}),
    TFL_REDUCE_ROW(reducers::Max, (plain<reducers::Max, std::uint8_t>())),
    TFL_REDUCE_ROW(reducers::Min, (plain<reducers::Min, std::uint8_t>())),
    {ReduceLoop{}, ReduceLoop{}, ReduceLoop{}, ReduceLoop{}, wide<std::int8_t>(), wide<std::int16_t>(), wide<std::int32_t>(),
     wide<std::int64_t>(), wide<std::uint8_t>(), wide<std::uint16_t>(), wide<std::uint32_t>(), wide<std::uint64_t>(),
     ReduceLoop{}, ReduceLoop{}, ReduceLoop{}, ReduceLoop{}},
}};
#undef TFL_REDUCE_ROW

}  // namespace TFL_ISA
}  // namespace tfl
