// The value type that records: the templates of runtime/math take Rec<T> in place of Vec<T, N>, and what they compute is appended
// to a formula. It is included first, and only by files that record: it sets the names under which the templates are compiled
// there.
// This header must not know operations.
#pragma once

#ifdef TFL_ISA
#error "rec.h comes before the headers of runtime/math"
#endif
#define TFL_ISA recorded
#define TFL_INLINE inline

#include <array>
#include <bit>
#include <tuple>
#include <type_traits>

#include "codegen/formula/recorder.h"
#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {

using formula::Elem;
using formula::Prim;
using formula::Term;

template <class T>
constexpr Elem elem_tag() {
  if constexpr (std::is_same_v<T, float>) {
    return Elem::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return Elem::f64;
  } else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
    constexpr int first = static_cast<int>(std::is_signed_v<T> ? Elem::i8 : Elem::u8);
    return static_cast<Elem>(first + std::countr_zero(sizeof(T)));
  }
}
template <class T>
constexpr uint64_t bits_from(T x) {
  return static_cast<uint64_t>(std::bit_cast<unsigned_of<T>>(x));
}

struct RecMask {
  Term term;
  RecMask() = default;
  explicit RecMask(const Term& t) : term(t) {}
  explicit RecMask(bool b) : term(formula::known_term(b)) {}
};

template <class T>
struct Rec {
  using elem = T;
  using mask = RecMask;
  template <class U>
  using with = Rec<U>;

  Term term;
  Rec() = default;
  explicit Rec(const Term& t) : term(t) {}
  template <class S>
    requires std::is_arithmetic_v<S>
  Rec(S scalar) : term(formula::known_term(bits_from(static_cast<T>(scalar)))) {}  // NOLINT: literals mix with values
};

template <class T>
Rec<T> record_unary(Prim prim, const Rec<T>& a) {
  return Rec<T>(formula::record(prim, elem_tag<T>(), elem_tag<T>(), a.term));
}
template <class T>
Rec<T> record_binary(Prim prim, const Rec<T>& a, const Rec<T>& b) {
  return Rec<T>(formula::record(prim, elem_tag<T>(), elem_tag<T>(), a.term, b.term));
}
template <class T>
RecMask record_comparison(Prim prim, const Rec<T>& a, const Rec<T>& b) {
  return RecMask(formula::record(prim, Elem::mask, elem_tag<T>(), a.term, b.term));
}

#define TFL_REC_BINARY(op, prim)                         \
  template <class T>                                     \
  Rec<T> operator op(const Rec<T>& a, const Rec<T>& b) { \
    return record_binary(Prim::prim, a, b);              \
  }                                                      \
  template <class T, class S>                            \
    requires std::is_arithmetic_v<S>                     \
  Rec<T> operator op(const Rec<T>& a, S b) {             \
    return record_binary(Prim::prim, a, Rec<T>(b));      \
  }                                                      \
  template <class T, class S>                            \
    requires std::is_arithmetic_v<S>                     \
  Rec<T> operator op(S a, const Rec<T>& b) {             \
    return record_binary(Prim::prim, Rec<T>(a), b);      \
  }
TFL_REC_BINARY(+, add)
TFL_REC_BINARY(-, subtract)
TFL_REC_BINARY(*, multiply)
TFL_REC_BINARY(/, divide)
TFL_REC_BINARY(&, bit_and)
TFL_REC_BINARY(|, bit_or)
TFL_REC_BINARY(^, bit_xor)
#undef TFL_REC_BINARY

#define TFL_REC_COMPARE(op, prim)                         \
  template <class T>                                      \
  RecMask operator op(const Rec<T>& a, const Rec<T>& b) { \
    return record_comparison(Prim::prim, a, b);           \
  }                                                       \
  template <class T, class S>                             \
    requires std::is_arithmetic_v<S>                      \
  RecMask operator op(const Rec<T>& a, S b) {             \
    return record_comparison(Prim::prim, a, Rec<T>(b));   \
  }
TFL_REC_COMPARE(==, equal)
TFL_REC_COMPARE(!=, not_equal)
TFL_REC_COMPARE(<, less)
TFL_REC_COMPARE(<=, less_equal)
TFL_REC_COMPARE(>, greater)
TFL_REC_COMPARE(>=, greater_equal)
#undef TFL_REC_COMPARE

inline RecMask record_mask(Prim prim, const RecMask& a, const RecMask& b) {
  return RecMask(formula::record(prim, Elem::mask, Elem::mask, a.term, b.term));
}
inline RecMask operator&(const RecMask& a, const RecMask& b) { return record_mask(Prim::bit_and, a, b); }
inline RecMask operator|(const RecMask& a, const RecMask& b) { return record_mask(Prim::bit_or, a, b); }
inline RecMask operator^(const RecMask& a, const RecMask& b) { return record_mask(Prim::bit_xor, a, b); }
inline RecMask operator~(const RecMask& a) { return a ^ RecMask(true); }
inline RecMask and_not(const RecMask& a, const RecMask& b) { return a & ~b; }
template <class T>
RecMask convert_mask(const RecMask& m) {
  return m;
}

template <class T>
Rec<T> operator~(const Rec<T>& a) {
  return a ^ Rec<T>(-1);
}
template <class T>
Rec<T> shl(const Rec<T>& a, const Rec<T>& count) {
  return record_binary(Prim::shift_left, a, count);
}
template <class T>
Rec<T> shr(const Rec<T>& a, const Rec<T>& count) {
  return record_binary(Prim::shift_right, a, count);
}
template <class T>
Rec<T> shl(const Rec<T>& a, int count) {
  return record_binary(Prim::shift_left, a, Rec<T>(count));
}
template <class T>
Rec<T> shr(const Rec<T>& a, int count) {
  return record_binary(Prim::shift_right, a, Rec<T>(count));
}

template <class U, class T>
Rec<U> bitcast(const Rec<T>& a) {
  static_assert(sizeof(U) == sizeof(T));
  if constexpr (std::is_same_v<U, T>) {
    return a;
  } else {
    return Rec<U>(formula::record(Prim::bitcast, elem_tag<U>(), elem_tag<T>(), a.term));
  }
}
template <class U, class T>
Rec<U> convert(const Rec<T>& a) {
  if constexpr (std::is_same_v<U, T>) {
    return a;
  } else {
    return Rec<U>(formula::record(Prim::convert, elem_tag<U>(), elem_tag<T>(), a.term));
  }
}

template <class T>
Rec<T> select(const RecMask& m, const Rec<T>& a, const Rec<T>& b) {
  return Rec<T>(formula::record(Prim::select, elem_tag<T>(), elem_tag<T>(), m.term, a.term, b.term));
}
template <class T, class S>
  requires std::is_arithmetic_v<S>
Rec<T> select(const RecMask& m, const Rec<T>& a, S b) {
  return select(m, a, Rec<T>(b));
}
template <class T, class S>
  requires std::is_arithmetic_v<S>
Rec<T> select(const RecMask& m, S a, const Rec<T>& b) {
  return select(m, Rec<T>(a), b);
}

template <class T>
Rec<T> fma(const Rec<T>& a, const Rec<T>& b, const Rec<T>& c) {
  return Rec<T>(formula::record(Prim::fma, elem_tag<T>(), elem_tag<T>(), a.term, b.term, c.term));
}
template <class T, class A, class B>
Rec<T> fma(const Rec<T>& a, const A& b, const B& c) {
  return fma(a, Rec<T>(b), Rec<T>(c));
}
#define TFL_REC_UNARY(name)             \
  template <class T>                    \
  Rec<T> name(const Rec<T>& a) {        \
    return record_unary(Prim::name, a); \
  }
TFL_REC_UNARY(sqrt)
TFL_REC_UNARY(floor)
TFL_REC_UNARY(ceil)
TFL_REC_UNARY(trunc)
TFL_REC_UNARY(rint)
#undef TFL_REC_UNARY

template <class T>
Rec<T> neg(const Rec<T>& a) {
  if constexpr (std::is_floating_point_v<T>) {
    return record_unary(Prim::neg, a);
  } else {
    return Rec<T>(0) - a;
  }
}
template <class T>
Rec<T> operator-(const Rec<T>& a) {
  return neg(a);
}
template <class T>
Rec<T> abs(const Rec<T>& a) {
  if constexpr (std::is_floating_point_v<T>) {
    return record_unary(Prim::abs, a);
  } else if constexpr (std::is_signed_v<T>) {
    return select(a < 0, Rec<T>(0) - a, a);
  } else {
    return a;
  }
}
template <class T>
Rec<T> copysign(const Rec<T>& a, const Rec<T>& b) {
  return record_binary(Prim::copysign, a, b);
}
template <class T>
Rec<T> flipsign(const Rec<T>& a, const Rec<T>& b) {
  using U = unsigned_of<T>;
  return bitcast<T>(bitcast<U>(a) ^ (bitcast<U>(b) & Rec<U>(detail::kSignBit<T>)));
}
template <class T>
RecMask sign_bit(const Rec<T>& a) {
  return bitcast<signed_of<T>>(a) < 0;
}
#define TFL_REC_EXTREME(name, prim, op)                                                \
  template <class T>                                                                   \
  Rec<T> name(const Rec<T>& a, const Rec<T>& b) {                                      \
    if constexpr (std::is_floating_point_v<T>) return record_binary(Prim::prim, a, b); \
    return select(a op b, a, b);                                                       \
  }                                                                                    \
  template <class T, class S>                                                          \
    requires std::is_arithmetic_v<S>                                                   \
  Rec<T> name(const Rec<T>& a, S b) {                                                  \
    return name(a, Rec<T>(b));                                                         \
  }
TFL_REC_EXTREME(min, minimum, <)
TFL_REC_EXTREME(max, maximum, >)
#undef TFL_REC_EXTREME

template <class I, class T, std::size_t K>
Rec<T> table(const Rec<I>& index, const std::array<T, K>& values) {
  formula::Table t{elem_tag<T>(), {}};
  for (T v : values) t.values.push_back(bits_from(v));
  return Rec<T>(formula::record_table(index.term, elem_tag<I>(), std::move(t)));
}

// ---- regions ---------------------------------------------------------------------------------------------------------------

template <class... V, class Slow>
std::tuple<V...> rarely(const RecMask& m, Slow slow, const std::tuple<V...>& fast) {
  if (m.term.known()) return m.term.bits ? slow() : fast;
  formula::Recorder& r = *m.term.recorder;
  uint32_t number = r.open();
  std::tuple<V...> values = slow();
  std::vector<formula::Id> results;
  std::apply([&](auto&... v) { (results.push_back(r.id_of(v.term, elem_tag<elem_of<V>>())), ...); }, values);
  r.close();
  std::vector<formula::Id> inputs;
  std::apply([&](auto&... v) { (inputs.push_back(r.id_of(v.term, elem_tag<elem_of<V>>())), ...); }, fast);
  r.region(number).results = std::move(results);
  r.region(number).inputs = std::move(inputs);
  formula::Id all = r.append({Prim::rarely, Elem::mask, m.term.id, formula::kNoId, formula::kNoId, number}).id;
  uint64_t k = 0;
  return std::tuple<V...>{V(r.append({Prim::result, elem_tag<elem_of<V>>(), all, formula::kNoId, formula::kNoId, k++}))...};
}
template <class V, class Slow>
V rarely(const RecMask& m, Slow slow, const V& fast) {
  return std::get<0>(rarely(m, [&] { return std::tuple<V>(slow()); }, std::tuple<V>(fast)));
}

template <class Body, class... V>
void iterate(int limit, RecMask active, std::tuple<V...>& state, Body body) {
  // A round that all lanes go through is recorded in line; so a loop over what is known is unrolled.
  while (active.term.known()) {
    if (!active.term.bits || limit <= 0) return;
    active = body(state);
    --limit;
  }
  formula::Recorder& r = *active.term.recorder;
  std::vector<formula::Id> inputs, params, results;
  std::apply([&](auto&... v) { (inputs.push_back(r.id_of(v.term, elem_tag<elem_of<V>>())), ...); }, state);
  uint32_t number = r.open();
  uint64_t k = 0;
  auto parameter = [&](Elem type) {
    return r.append({Prim::parameter, type, formula::kNoId, formula::kNoId, formula::kNoId, k++});
  };
  std::tuple<V...> next{V(parameter(elem_tag<elem_of<V>>()))...};
  std::apply([&](auto&... v) { (params.push_back(v.term.id), ...); }, next);
  RecMask go_on = body(next);
  std::apply([&](auto&... v) { (results.push_back(r.id_of(v.term, elem_tag<elem_of<V>>())), ...); }, next);
  formula::Id again = r.id_of(go_on.term, Elem::mask);
  r.close();
  formula::Region& region = r.region(number);
  region.inputs = std::move(inputs);
  region.params = std::move(params);
  region.results = std::move(results);
  region.go_on = again;
  region.limit = limit;
  formula::Id all = r.append({Prim::iterate, Elem::mask, active.term.id, formula::kNoId, formula::kNoId, number}).id;
  k = 0;
  state = std::tuple<V...>{V(r.append({Prim::result, elem_tag<elem_of<V>>(), all, formula::kNoId, formula::kNoId, k++}))...};
}

}  // namespace TFL_ISA
}  // namespace tfl
