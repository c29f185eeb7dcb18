// Casts and roundings to half types, by the conversions of runtime/math/cast.h.
#include "codegen/formula/rec.h"

#include "codegen/formula/record.h"
#include "codegen/formula/round.h"
#include "runtime/math/cast.h"

namespace tfl::formula {

namespace {

template <class From, class To>
void record_as(Recorder& r, const Operand& x) {
  using C = compute_type<From>;
  constexpr Elem type = elem_tag<C>();
  Rec<C> value(x ? known_term(*x) : r.argument(0, type));
  if constexpr (std::is_same_v<To, bool>) {
    r.finish((value != 0).term, Elem::mask);
  } else {
    auto result = math::cast<To, From>(value);
    if constexpr (is_half<To> && !std::is_same_v<From, To>) {
      constexpr DType half = std::is_same_v<To, f16> ? DType::F16 : DType::BF16;
      r.finish(rounded_to(half, result).term, Elem::f32);
    } else {
      r.finish(result.term, elem_tag<compute_type<To>>());
    }
  }
}

using CastRecorder = void (*)(Recorder&, const Operand&);

#define TFL_FROM(From)                                                                                        \
  {record_as<From, f16>,     record_as<From, bf16>,     record_as<From, float>,    record_as<From, double>,   \
   record_as<From, int8_t>,  record_as<From, int16_t>,  record_as<From, int32_t>,  record_as<From, int64_t>,  \
   record_as<From, uint8_t>, record_as<From, uint16_t>, record_as<From, uint32_t>, record_as<From, uint64_t>, \
   record_as<From, bool>}
// In the order of dtypes.def.
constexpr CastRecorder kCasts[13][13] = {
    TFL_FROM(f16),      TFL_FROM(bf16),     TFL_FROM(float),   TFL_FROM(double),  TFL_FROM(int8_t),
    TFL_FROM(int16_t),  TFL_FROM(int32_t),  TFL_FROM(int64_t), TFL_FROM(uint8_t), TFL_FROM(uint16_t),
    TFL_FROM(uint32_t), TFL_FROM(uint64_t), TFL_FROM(bool),
};
#undef TFL_FROM

}  // namespace

Formula record_cast(DType from, DType to, Operand x) {
  Formula f;
  Recorder r(f);
  kCasts[static_cast<int>(from)][static_cast<int>(to)](r, x);
  prune(f);
  return f;
}

Formula record_rounding(DType half) {
  Formula f;
  Recorder r(f);
  r.finish(rounded_to(half, Rec<float>(r.argument(0, Elem::f32))).term, Elem::f32);
  prune(f);
  return f;
}

}  // namespace tfl::formula
