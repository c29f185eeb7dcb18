// slice objects, and what a slice means for a sequence of a given length.
#include <algorithm>

#include "frontend/core/attributes.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/list.h"

namespace tfl {

namespace {

/// Whether to_index failed because v is no number, and not in v's own __index__.
bool not_a_number(Interp& interp, const Value& v, const Error& e) {
  return e.kind == ErrorKind::TypeError && !e.payload && !script_lookup(interp, interp.type_of(v), interp.sym.__index__);
}

/// A bound of a slice: None, or something with __index__.
Result<int64_t> bound(Interp& interp, const Value& v, int64_t if_none) {
  if (v.is_int()) return v.as_int();
  if (v.is_none()) return if_none;
  auto i = to_clamped_index(interp, v);
  if (!i && not_a_number(interp, v, i.error())) {
    return fail(ErrorKind::TypeError, "slice indices must be integers or None or have an __index__ method");
  }
  return i;
}

}  // namespace

Result<int64_t> search_bound(Interp& interp, const Value& v, int64_t n) {
  auto i = to_clamped_index(interp, v);
  if (!i && not_a_number(interp, v, i.error()))
    return fail(ErrorKind::TypeError, "slice indices must be integers or have an __index__ method");
  if (i && *i < 0) return std::max<int64_t>(0, *i < -n ? 0 : *i + n);
  return i;
}

Result<void> slice_unpack(Interp& interp, const Slice& s, int64_t& start, int64_t& stop, int64_t& step) {
  step = TFL_TRY(bound(interp, s.step, 1));
  if (step == 0) return fail(ErrorKind::ValueError, "slice step cannot be zero");
  if (step == INT64_MIN) step = -INT64_MAX;
  bool down = step < 0;
  start = TFL_TRY(bound(interp, s.start, down ? INT64_MAX : 0));
  stop = TFL_TRY(bound(interp, s.stop, down ? INT64_MIN : INT64_MAX));
  return {};
}

void slice_adjust(int64_t length, int64_t& start, int64_t& stop, int64_t step) {
  bool down = step < 0;
  int64_t low = down ? -1 : 0, high = down ? length - 1 : length;
  auto clamp = [&](int64_t v) { return v < -length ? low : v < 0 ? std::max(v + length, low) : std::min(v, high); };
  start = clamp(start);
  stop = clamp(stop);
}

Result<void> slice_bounds(Interp& interp, const Slice& s, int64_t length, int64_t& start, int64_t& stop, int64_t& step) {
  TFL_TRY(slice_unpack(interp, s, start, stop, step));
  slice_adjust(length, start, stop, step);
  return {};
}

namespace {

Result<Value> construct(Interp& interp, Type*, CallArgs& args) {
  Value out[3];
  TFL_TRY(take_arguments(interp, "slice", args, {"start", "stop", "step"}, 0, 3, out));
  if (out[0].is_empty()) return fail(ErrorKind::TypeError, "slice expected at least 1 argument, got 0");
  if (out[1].is_empty()) return interp.slice(Value::none(), out[0], Value::none());
  return interp.slice(out[0], out[1], out[2].is_empty() ? Value::none() : out[2]);
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  Slice* s = self.as<Slice>();
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" while getting the repr of an object");
  std::string a = TFL_TRY(repr_text(interp, s->start));
  std::string b = TFL_TRY(repr_text(interp, s->stop));
  std::string c = TFL_TRY(repr_text(interp, s->step));
  return interp.strf("slice({}, {}, {})", a, b, c);
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!a.is(Kind::Slice) || !b.is(Kind::Slice)) return interp.not_implemented;
  Slice *x = a.as<Slice>(), *y = b.as<Slice>();
  return compare_sequences(interp, op, interp.tuple({x->start, x->stop, x->step}), interp.tuple({y->start, y->stop, y->step}));
}

Result<Value> get_start(Interp&, Value* a) { return a[0].as<Slice>()->start; }
Result<Value> get_stop(Interp&, Value* a) { return a[0].as<Slice>()->stop; }
Result<Value> get_step(Interp&, Value* a) { return a[0].as<Slice>()->step; }

Result<Value> indices(Interp& interp, Value* a) {
  int64_t length = TFL_TRY(to_index(interp, a[1]));
  if (length < 0) return fail(ErrorKind::ValueError, "length should not be negative");
  int64_t start, stop, step;
  TFL_TRY(slice_bounds(interp, *a[0].as<Slice>(), length, start, stop, step));
  return interp.tuple({Value::integer(start), Value::integer(stop), Value::integer(step)});
}

constexpr NativeDef kMethods[] = {
    getter("start", get_start),
    getter("stop", get_stop),
    getter("step", get_step),
    method("indices", "self, length, /", indices),
};

}  // namespace

extern const Slots slice_slots;

const Slots slice_slots = {
    .kind = Kind::Slice, .destroy = destroy_object<Slice>, .construct = construct, .repr = repr_slot, .compare = compare_slot};

std::span<const NativeDef> slice_methods() { return kMethods; }

}  // namespace tfl
