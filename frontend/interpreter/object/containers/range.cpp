// range: an arithmetic sequence of ints that is never stored.
#include "frontend/core/hashing.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/iterators.h"
#include "frontend/interpreter/object/containers/list.h"
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
  int64_t bounds[3] = {0, 0, 1};
  for (uint32_t i = 0; i < args.count; ++i) bounds[args.count == 1 ? 1 : i] = TFL_TRY(to_index(interp, args.values[i]));
  if (bounds[2] == 0) return fail(ErrorKind::ValueError, "range() arg 3 must not be zero");
  return make_range(interp, bounds[0], bounds[1], bounds[2]);
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  Range* r = self.as<Range>();
  if (r->step == 1) return interp.strf("range({}, {})", r->start, r->stop);
  return interp.strf("range({}, {}, {})", r->start, r->stop, r->step);
}

Result<int64_t> length_slot(Interp&, const Value& self) {
  uint64_t n = item_count(*self.as<Range>());
  if (n > INT64_MAX) return fail(ErrorKind::OverflowError, "Python int too large to convert to C ssize_t");
  return static_cast<int64_t>(n);
}

Result<bool> truth_slot(Interp&, const Value& self) { return item_count(*self.as<Range>()) != 0; }

Result<uint64_t> hash_slot(Interp&, const Value& self) {
  Range* r = self.as<Range>();
  uint64_t n = item_count(*r);
  TupleHash h;
  h.add(n);
  h.add(n == 0 ? 0 : hash_int(r->start));
  h.add(n <= 1 ? 0 : hash_int(r->step));
  return h.finish();
}

int64_t item_at(const Range& r, int64_t i) {
  return static_cast<int64_t>(static_cast<uint64_t>(r.start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(r.step));
}

Result<Value> get_item_slot(Interp& interp, const Value& self, const Value& key) {
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
  if (number.is == Number::Is::Float) {
    if (number.f != std::floor(number.f) || !(std::fabs(number.f) < 9.3e18)) return int64_t{-1};
    auto whole = float_to_int(number.f);
    return whole ? find(r, *whole) : int64_t{-1};
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
  int64_t i = TFL_TRY(find_value(interp, self, item));
  return i >= 0;
}

Result<Value> iter_slot(Interp& interp, const Value& self) {
  Range* r = self.as<Range>();
  int64_t n = TFL_TRY(length_slot(interp, self));
  return make_range_iterator(interp, r->start, n, r->step);
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!a.is(Kind::Range) || !b.is(Kind::Range) || (op != CompareOp::Eq && op != CompareOp::Ne)) return interp.not_implemented;
  Range *x = a.as<Range>(), *y = b.as<Range>();
  uint64_t n = item_count(*x);
  bool same = n == item_count(*y) && (n == 0 || (x->start == y->start && (n == 1 || x->step == y->step)));
  return Value::boolean(same == (op == CompareOp::Eq));
}

Result<Value> get_start(Interp&, Value* a) { return Value::integer(a[0].as<Range>()->start); }
Result<Value> get_stop(Interp&, Value* a) { return Value::integer(a[0].as<Range>()->stop); }
Result<Value> get_step(Interp&, Value* a) { return Value::integer(a[0].as<Range>()->step); }

Result<Value> index(Interp& interp, Value* a) {
  int64_t i = TFL_TRY(find_value(interp, a[0], a[1]));
  if (i >= 0) return Value::integer(i);
  if (number_of(a[1]).is != Number::Is::Int) return fail(ErrorKind::ValueError, "sequence.index(x): x not in sequence");
  std::string text = TFL_TRY(repr_text(interp, a[1]));
  return fail(ErrorKind::ValueError, "{} is not in range", text);
}

Result<Value> count(Interp& interp, Value* a) {
  int64_t i = TFL_TRY(find_value(interp, a[0], a[1]));
  return Value::integer(i >= 0);
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
                           .destroy = destroy_object<Range>,
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
