#include "frontend/interpreter/object/containers/range_large.h"

#include <cmath>

#include "frontend/core/big_int.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/list.h"
#include "frontend/interpreter/object/numbers/number.h"

namespace tfl {

namespace {

Result<Value> add(Interp& interp, const Value& a, const Value& b) { return int_binary(interp, BinaryOp::Add, a, b); }
Result<Value> sub(Interp& interp, const Value& a, const Value& b) { return int_binary(interp, BinaryOp::Sub, a, b); }
Result<Value> mul(Interp& interp, const Value& a, const Value& b) { return int_binary(interp, BinaryOp::Mul, a, b); }

/// How many items; never negative.
Result<Value> count_of(Interp& interp, const Value& start, const Value& stop, const Value& step) {
  const bool down = int_negative(step);
  const Value &low = down ? stop : start, &high = down ? start : stop;
  if (int_compare(low, high) >= 0) return Value::integer(0);
  Value width = TFL_TRY(sub(interp, high, low));
  width = TFL_TRY(sub(interp, width, Value::integer(1)));
  Value by = down ? TFL_TRY(int_negate(interp, step)) : step;
  Value whole = TFL_TRY(int_binary(interp, BinaryOp::FloorDiv, width, by));
  return add(interp, whole, Value::integer(1));
}

Result<Value> item_at(Interp& interp, const RangeParts& r, const Value& i) {
  Value distance = TFL_TRY(mul(interp, i, r.step));
  return add(interp, r.start, distance);
}

/// A bound of a slice as the number of an item, cut to [low, high].
Result<Value> bound(Interp& interp, const Value& given, const Value& otherwise, const Value& size, const Value& low,
                    const Value& high) {
  if (given.is_none()) return otherwise;
  Value i = TFL_TRY(to_index_value(interp, given));
  if (int_negative(i)) {
    i = TFL_TRY(add(interp, i, size));
    return int_compare(i, low) < 0 ? low : i;
  }
  return int_compare(i, high) > 0 ? high : i;
}

Result<Value> part(Interp& interp, const RangeParts& r, const Slice& s) {
  Value step = s.step.is_none() ? Value::integer(1) : TFL_TRY(to_index_value(interp, s.step));
  if (int_compare(step, Value::integer(0)) == 0) return fail(ErrorKind::ValueError, "slice step cannot be zero");
  const bool down = int_negative(step);
  Value low = Value::integer(down ? -1 : 0);
  Value high = down ? TFL_TRY(sub(interp, r.size, Value::integer(1))) : r.size;
  Value first = TFL_TRY(bound(interp, s.start, down ? high : low, r.size, low, high));
  Value last = TFL_TRY(bound(interp, s.stop, down ? low : high, r.size, low, high));
  Value start = TFL_TRY(item_at(interp, r, first));
  Value stop = TFL_TRY(item_at(interp, r, last));
  Value by = TFL_TRY(mul(interp, r.step, step));
  return range_value(interp, start, stop, by);
}

Result<Value> next_item(Interp& interp, Value& state, int64_t& position) {
  const auto* r = state.as<LargeRange>();
  if (int_compare(Value::integer(position), r->size) >= 0) return Value();
  return item_at(interp, {r->start, r->stop, r->step, r->size}, Value::integer(position++));
}

}  // namespace

RangeParts range_parts(Interp& interp, const Value& range) {
  if (!range.is(Kind::Range)) {
    const auto* r = range.as<LargeRange>();
    return {r->start, r->stop, r->step, r->size};
  }
  const auto* r = range.as<Range>();
  RangeParts parts{Value::integer(r->start), Value::integer(r->stop), Value::integer(r->step), Value()};
  auto size = count_of(interp, parts.start, parts.stop, parts.step);
  parts.size = size ? size.take() : Value::integer(0);  // such small numbers always have one
  return parts;
}

Result<Value> range_value(Interp& interp, const Value& start, const Value& stop, const Value& step) {
  if (start.is_int() && stop.is_int() && step.is_int()) {
    auto* r = interp.allocate<Range>(interp.types.range);
    r->start = start.as_int();
    r->stop = stop.as_int();
    r->step = step.as_int();
    return Value::adopt(r);
  }
  Value size = TFL_TRY(count_of(interp, start, stop, step));
  auto* r = interp.allocate<LargeRange>(interp.types.range);
  r->kind = static_cast<uint8_t>(Kind::Native);
  r->start = start;
  r->stop = stop;
  r->step = step;
  r->size = size;
  return Value::adopt(r);
}

Result<Value> large_range_item(Interp& interp, const Value& range, const Value& key) {
  RangeParts r = range_parts(interp, range);
  if (key.is(Kind::Slice)) return part(interp, r, *key.as<Slice>());
  auto index = to_index_value(interp, key);
  if (!index && index.error().kind == ErrorKind::TypeError && !index.error().payload)
    return fail(ErrorKind::TypeError, "range indices must be integers or slices, not {}", interp.type_name(key));
  Value i = TFL_TRY(std::move(index));
  if (int_negative(i)) i = TFL_TRY(add(interp, i, r.size));
  if (int_negative(i) || int_compare(i, r.size) >= 0) return fail(ErrorKind::IndexError, "range object index out of range");
  return item_at(interp, r, i);
}

Result<Value> large_range_find(Interp& interp, const Value& range, const Value& item) {
  RangeParts r = range_parts(interp, range);
  Number n = number_of(item);
  if (n.whole()) {
    Value distance = TFL_TRY(sub(interp, n.value(), r.start));
    Value rest = TFL_TRY(int_binary(interp, BinaryOp::Mod, distance, r.step));
    if (int_compare(rest, Value::integer(0)) != 0) return Value();
    Value i = TFL_TRY(int_binary(interp, BinaryOp::FloorDiv, distance, r.step));
    return int_negative(i) || int_compare(i, r.size) >= 0 ? Value() : i;
  }
  if (n.is == Number::Is::Float) {
    if (!std::isfinite(n.f) || n.f != std::floor(n.f)) return Value();
    return large_range_find(interp, range, TFL_TRY(int_of_double(interp, n.f)));
  }
  for (int64_t i = 0; int_compare(Value::integer(i), r.size) < 0; ++i) {
    if (i % 4096 == 0) TFL_TRY(interp.check_interrupt());
    Value at = TFL_TRY(item_at(interp, r, Value::integer(i)));
    bool same = TFL_TRY(equals(interp, at, item));
    if (same) return Value::integer(i);
  }
  return Value();
}

Result<Value> large_range_iter(Interp& interp, const Value& range) {
  return make_iterator(interp, interp.types.sequence_iterator, next_item, range);
}

}  // namespace tfl
