// Widening and narrowing of half types, and the table of all elementwise loops of this level.
#include "runtime/kernels/isa/elementwise_loops.h"
#include "runtime/math/half.h"

namespace tfl {
inline namespace TFL_ISA {

namespace {

constexpr int N = kLanes<float>;

template <class Half>
void widen(std::int64_t n, const std::byte* from, float* to) {
  auto* p = reinterpret_cast<const Half*>(from);
  for (; n >= N; n -= N, p += N, to += N) load<Half, N>(p).store(to);
  if (n > 0) load_partial<Half, N>(p, static_cast<int>(n)).store_partial(to, static_cast<int>(n));
}
template <class Half>
void narrow(std::int64_t n, const float* from, std::byte* to) {
  auto* p = reinterpret_cast<Half*>(to);
  for (; n >= N; n -= N, p += N, from += N) store<Half, N>(p, Vec<float, N>::load(from));
  if (n > 0) store_partial<Half, N>(p, Vec<float, N>::load_partial(from, static_cast<int>(n)), static_cast<int>(n));
}

}  // namespace

extern const HalfLoops kHalfLoops;
const HalfLoops kHalfLoops = {widen<f16>, widen<bf16>, narrow<f16>, narrow<bf16>};

extern const ElementwiseLoops kElementwiseLoops;
const ElementwiseLoops kElementwiseLoops = {{
    nullptr,
    nullptr,
    kLoopsF32,
    kLoopsF64,
    kLoopsI8,
    kLoopsI16,
    kLoopsI32,
    kLoopsI64,
    kLoopsU8,
    kLoopsU16,
    kLoopsU32,
    kLoopsU64,
    kLoopsBool,
    kLoopsC64,
    kLoopsC128,
    nullptr,
}};

}  // namespace TFL_ISA
}  // namespace tfl
