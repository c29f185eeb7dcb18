// The order of values as sorting, heaps and searches ask for it most: numbers, text and tuples of them without the protocol.
#pragma once

#include "frontend/core/native.h"

namespace tfl {

enum class Plain : uint8_t { Less, Equal, Greater, Unknown };

/// Two ints, two floats or two texts; everything else, and NaN, is Unknown.
inline Plain plain_order(const Interp& interp, const Value& a, const Value& b) {
  auto of = [](const auto& x, const auto& y) {
    return x < y ? Plain::Less : x == y ? Plain::Equal : x > y ? Plain::Greater : Plain::Unknown;
  };
  if (a.tag() != b.tag()) return Plain::Unknown;
  if (a.is_int()) return of(a.as_int(), b.as_int());
  if (a.is_float()) return of(a.as_float(), b.as_float());
  if (!a.is_str() || !b.is_str() || a.object()->type != interp.types.str || b.object()->type != interp.types.str)
    return Plain::Unknown;
  int c = text_of(a).compare(text_of(b));
  return c < 0 ? Plain::Less : c == 0 ? Plain::Equal : Plain::Greater;
}

/// Two plain tuples of such items, as far as their order depends on these.
inline Plain plain_tuple_order(const Interp& interp, const Value& a, const Value& b) {
  if (!a.is(Kind::Tuple) || !b.is(Kind::Tuple) || a.object()->type != interp.types.tuple ||
      b.object()->type != interp.types.tuple)
    return Plain::Unknown;
  std::span<const Value> x = a.as<Tuple>()->span(), y = b.as<Tuple>()->span();
  for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
    Plain order = plain_order(interp, x[i], y[i]);
    if (order != Plain::Equal) return order;
  }
  return x.size() < y.size() ? Plain::Less : x.size() == y.size() ? Plain::Equal : Plain::Greater;
}

/// less() for values that are mostly plain.
inline Result<bool> quick_less(Interp& interp, const Value& a, const Value& b) {
  Plain order = plain_order(interp, a, b);
  if (order == Plain::Unknown) order = plain_tuple_order(interp, a, b);
  if (order != Plain::Unknown) return order == Plain::Less;
  return less(interp, a, b);
}

}  // namespace tfl
