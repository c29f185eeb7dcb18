// range: an arithmetic sequence of ints that is never stored.
#include <algorithm>

#include "frontend/core/big_int.h"
#include "frontend/core/hashing.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/iterators.h"
#include "frontend/interpreter/object/containers/list.h"
#include "frontend/interpreter/object/containers/range_large.h"
#include "frontend/interpreter/object/numbers/number.h"

namespace tfl {

namespace {

uint64_t item_count(const Range& r) {
  auto distance = [](int64_t from, int64_t to) { return static_cast<uint64_t>(to) - static_cast<uint64_t>(from); };
  if (r.step > 0) return r.start < r.stop ? (distance(r.start, r.stop) - 1) / static_cast<uint64_t>(r.step) + 1 : 0;
  return r.start > r.stop ? (distance(r.stop, r.start) - 1) / (uint64_t{0} - static_cast<uint64_t>(r.step)) + 1 : 0;
}

Value make_range(Interp& interp, int64_t start, int64_t stop, int64_t step) {
  Range* r = interp.allocate<Range>(interp.types.range);
  r->start = start;
  r->stop = stop;
  r->step = step;
  return Value::adopt(r);
}

Result<Value> construct(Interp& interp, Type*, CallArgs& args) {
  TFL_TRY(no_keywords("range", args));
  if (args.count == 0) return fail(ErrorKind::TypeError, "range expected at least 1 argument, got 0");
  if (args.count > 3) return fail(ErrorKind::TypeError, "range expected at most 3 arguments, got {}", args.count);
  Value bounds[3] = {Value::integer(0), Value::integer(0), Value::integer(1)};
  for (uint32_t i = 0; i < args.count; ++i) bounds[args.count == 1 ? 1 : i] = TFL_TRY(to_index_value(interp, args.values[i]));
  if (int_compare(bounds[2], Value::integer(0)) == 0) return fail(ErrorKind::ValueError, "range() arg 3 must not be zero");
  return range_value(interp, bounds[0], bounds[1], bounds[2]);
}

bool is_large(const Value& range) { return !range.is(Kind::Range); }

void destroy(Object* o) {
  if (o->kind == static_cast<uint8_t>(Kind::Range)) return destroy_object<Range>(o);
  destroy_object<LargeRange>(o);
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  if (is_large(self)) {
    RangeParts parts = range_parts(interp, self);
    std::string start = TFL_TRY(int_text(interp, parts.start)), stop = TFL_TRY(int_text(interp, parts.stop));
    if (parts.step.is_int() && parts.step.as_int() == 1) return interp.strf("range({}, {})", start, stop);
    std::string step = TFL_TRY(int_text(interp, parts.step));
    return interp.strf("range({}, {}, {})", start, stop, step);
  }
  Range* r = self.as<Range>();
  if (r->step == 1) return interp.strf("range({}, {})", r->start, r->stop);
  return interp.strf("range({}, {}, {})", r->start, r->stop, r->step);
}

Result<int64_t> length_slot(Interp& interp, const Value& self) {
  if (is_large(self)) return to_index(interp, self.as<LargeRange>()->size);
  uint64_t n = item_count(*self.as<Range>());
  if (n > INT64_MAX) return fail(ErrorKind::OverflowError, "Python int too large to convert to C ssize_t");
  return static_cast<int64_t>(n);
}

Result<bool> truth_slot(Interp&, const Value& self) {
  if (is_large(self)) return int_compare(self.as<LargeRange>()->size, Value::integer(0)) != 0;
  return item_count(*self.as<Range>()) != 0;
}

Result<uint64_t> hash_slot(Interp& interp, const Value& self) {
  RangeParts r = range_parts(interp, self);
  const bool none = int_compare(r.size, Value::integer(0)) == 0, one = int_compare(r.size, Value::integer(1)) == 0;
  uint64_t nothing = TFL_TRY(hash_value(interp, Value::none()));
  TupleHash h;
  h.add(int_hash_value(r.size));
  h.add(none ? nothing : int_hash_value(r.start));
  h.add(none || one ? nothing : int_hash_value(r.step));
  return h.finish();
}

int64_t item_at(const Range& r, int64_t i) {
  return static_cast<int64_t>(static_cast<uint64_t>(r.start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(r.step));
}

Result<Value> get_item_slot(Interp& interp, const Value& self, const Value& key) {
  const bool large_slice =
      key.is(Kind::Slice) && (key.as<Slice>()->start.is(Kind::BigInt) || key.as<Slice>()->stop.is(Kind::BigInt) ||
                              key.as<Slice>()->step.is(Kind::BigInt));
  if (is_large(self) || large_slice || item_count(*self.as<Range>()) > INT64_MAX) return large_range_item(interp, self, key);
  Range* r = self.as<Range>();
  int64_t n = TFL_TRY(length_slot(interp, self));
  if (key.is(Kind::Slice)) {
    int64_t start, stop, step;
    TFL_TRY(slice_bounds(interp, *key.as<Slice>(), n, start, stop, step));
    return make_range(interp, item_at(*r, start), item_at(*r, stop),
                      static_cast<int64_t>(static_cast<uint64_t>(r->step) * static_cast<uint64_t>(step)));
  }
  int64_t i = TFL_TRY(sequence_index(interp, key, n, "range", "object index"));
  return Value::integer(item_at(*r, i));
}

/// Index of v, -1 when it is not an item.
int64_t find(const Range& r, int64_t v) {
  if (r.step > 0 ? v < r.start || v >= r.stop : v > r.start || v <= r.stop) return -1;
  uint64_t distance = r.step > 0 ? static_cast<uint64_t>(v) - static_cast<uint64_t>(r.start)
                                 : static_cast<uint64_t>(r.start) - static_cast<uint64_t>(v);
  uint64_t step = r.step > 0 ? static_cast<uint64_t>(r.step) : uint64_t{0} - static_cast<uint64_t>(r.step);
  return distance % step == 0 ? static_cast<int64_t>(distance / step) : -1;
}

/// Index of an equal item; others than ints are compared one by one.
Result<int64_t> find_value(Interp& interp, const Value& self, const Value& item) {
  const Range& r = *self.as<Range>();
  Number number = number_of(item);
  if (number.is == Number::Is::Int) return find(r, number.i);
  if (number.is == Number::Is::Big) return int64_t{-1};
  if (number.is == Number::Is::Float) {
    if (number.f != std::floor(number.f) || !(std::fabs(number.f) < 9.3e18)) return int64_t{-1};
    Value whole = TFL_TRY(int_of_double(interp, number.f));
    return whole.is_int() ? find(r, whole.as_int()) : int64_t{-1};
  }
  int64_t n = TFL_TRY(length_slot(interp, self));
  for (int64_t i = 0; i < n; ++i) {
    if (i % 4096 == 0) TFL_TRY(interp.check_interrupt());
    bool same = TFL_TRY(equals(interp, Value::integer(item_at(r, i)), item));
    if (same) return i;
  }
  return int64_t{-1};
}

Result<bool> contains_slot(Interp& interp, const Value& self, const Value& item) {
  if (item.is_str() || item.is_none()) return false;
  if (is_large(self)) return !TFL_TRY(large_range_find(interp, self, item)).is_empty();
  int64_t i = TFL_TRY(find_value(interp, self, item));
  return i >= 0;
}

Result<Value> iter_slot(Interp& interp, const Value& self) {
  if (is_large(self)) return large_range_iter(interp, self);
  Range* r = self.as<Range>();
  const uint64_t n = std::min<uint64_t>(item_count(*r), INT64_MAX);  // nobody comes to the end of more
  return make_range_iterator(interp, r->start, static_cast<int64_t>(n), r->step);
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (interp.type_of(a) != interp.type_of(b) || (op != CompareOp::Eq && op != CompareOp::Ne)) return interp.not_implemented;
  RangeParts x = range_parts(interp, a), y = range_parts(interp, b);
  const bool none = int_compare(x.size, Value::integer(0)) == 0, one = int_compare(x.size, Value::integer(1)) == 0;
  bool same = int_compare(x.size, y.size) == 0 &&
              (none || (int_compare(x.start, y.start) == 0 && (one || int_compare(x.step, y.step) == 0)));
  return Value::boolean(same == (op == CompareOp::Eq));
}

Result<Value> get_start(Interp& interp, Value* a) { return range_parts(interp, a[0]).start; }
Result<Value> get_stop(Interp& interp, Value* a) { return range_parts(interp, a[0]).stop; }
Result<Value> get_step(Interp& interp, Value* a) { return range_parts(interp, a[0]).step; }

/// The number of an equal item; Empty: there is none.
Result<Value> found(Interp& interp, const Value& range, const Value& item) {
  if (is_large(range)) return large_range_find(interp, range, item);
  int64_t i = TFL_TRY(find_value(interp, range, item));
  return i < 0 ? Value() : Value::integer(i);
}

Result<Value> index(Interp& interp, Value* a) {
  Value i = TFL_TRY(found(interp, a[0], a[1]));
  if (!i.is_empty()) return i;
  if (!number_of(a[1]).whole()) return fail(ErrorKind::ValueError, "sequence.index(x): x not in sequence");
  std::string text = TFL_TRY(repr_text(interp, a[1]));
  return fail(ErrorKind::ValueError, "{} is not in range", text);
}

Result<Value> count(Interp& interp, Value* a) {
  Value i = TFL_TRY(found(interp, a[0], a[1]));
  return Value::integer(i.is_empty() ? 0 : 1);
}

constexpr NativeDef kMethods[] = {
    getter("start", get_start),
    getter("stop", get_stop),
    getter("step", get_step),
    method("index", "self, value, /", index),
    method("count", "self, value, /", count),
};

}  // namespace

extern const Slots range_slots;

const Slots range_slots = {.kind = Kind::Range,
                           .destroy = destroy,
                           .construct = construct,
                           .repr = repr_slot,
                           .hash = hash_slot,
                           .truth = truth_slot,
                           .length = length_slot,
                           .get_item = get_item_slot,
                           .contains = contains_slot,
                           .iter = iter_slot,
                           .compare = compare_slot};

std::span<const NativeDef> range_methods() { return kMethods; }

}  // namespace tfl
