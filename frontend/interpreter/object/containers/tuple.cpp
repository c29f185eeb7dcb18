// tuple: construction, items, operators, methods.
#include <algorithm>

#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/iterators.h"
#include "frontend/interpreter/object/containers/keys.h"
#include "frontend/interpreter/object/containers/list.h"

namespace tfl {

Tuple* new_tuple(Interp& interp, Type* type, int64_t size) {
  size_t bytes = sizeof(Tuple) + static_cast<size_t>(size > 1 ? size - 1 : 0) * sizeof(Value);
  Tuple* t = interp.allocate<Tuple>(type, bytes);
  t->size = size;
  for (int64_t i = 1; i < size; ++i) new (t->items + i) Value();
  return t;
}

namespace {

void destroy_slot(Object* o) {
  auto* t = static_cast<Tuple*>(o);
  int64_t size = t->size;
  for (int64_t i = 1; i < size; ++i) t->items[i].~Value();
  t->items[0].~Value();
  Heap::release(o, sizeof(Tuple) + static_cast<size_t>(size > 1 ? size - 1 : 0) * sizeof(Value));
}

Result<Value> construct(Interp& interp, Type* type, CallArgs& args) {
  Value out[1];
  if (type->script && has_script_init(interp, type)) args.keywords = {};  // they are for __init__
  TFL_TRY(take_arguments(interp, "tuple", args, {"iterable"}, 0, 1, out));
  bool plain = type == interp.types.tuple;
  if (out[0].is_empty() && plain) return interp.empty_tuple;
  if (plain && out[0].is(Kind::Tuple) && out[0].object()->type == type) return out[0];
  std::vector<Value> items;
  if (!out[0].is_empty()) items = TFL_TRY(to_vector(interp, out[0]));
  if (plain && items.empty()) return interp.empty_tuple;
  Tuple* t = new_tuple(interp, type, static_cast<int64_t>(items.size()));
  std::move(items.begin(), items.end(), t->items);
  return Value::adopt(t);
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  Tuple* t = self.as<Tuple>();
  std::string text = TFL_TRY(repr_items(interp, t, nullptr, t->span(), "(", t->size == 1 ? ",)" : ")", "(...)"));
  return interp.str(std::move(text));
}

Result<uint64_t> hash_slot(Interp& interp, const Value& self) {
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep("");
  TupleHash h;
  for (const Value& item : self.as<Tuple>()->span()) {
    uint64_t lane = TFL_TRY(hash_key(interp, item));
    h.add(lane);
  }
  return h.finish();
}

Result<bool> truth_slot(Interp&, const Value& self) { return self.as<Tuple>()->size != 0; }
Result<int64_t> length_slot(Interp&, const Value& self) { return self.as<Tuple>()->size; }

Result<Value> get_item_slot(Interp& interp, const Value& self, const Value& key) {
  Tuple* t = self.as<Tuple>();
  if (key.is(Kind::Slice)) {
    int64_t start, stop, step;
    TFL_TRY(slice_bounds(interp, *key.as<Slice>(), t->size, start, stop, step));
    int64_t n = slice_length(start, stop, step);
    if (n == t->size && step == 1 && self.object()->type == interp.types.tuple) return self;
    if (step == 1) return interp.tuple(t->span().subspan(static_cast<size_t>(start), static_cast<size_t>(n)));
    std::vector<Value> out;
    for (int64_t i = 0; i < n; ++i) out.push_back(t->items[start + i * step]);
    return interp.tuple(out);
  }
  int64_t i = TFL_TRY(sequence_index(interp, key, t->size, "tuple"));
  return t->items[i];
}

Result<bool> contains_slot(Interp& interp, const Value& self, const Value& item) {
  for (const Value& candidate : self.as<Tuple>()->span()) {
    bool same = TFL_TRY(equals(interp, candidate, item));
    if (same) return true;
  }
  return false;
}

Result<Value> iter_slot(Interp& interp, const Value& self) { return make_tuple_iterator(interp, self); }

Result<Value> binary_slot(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::Add && a.is(Kind::Tuple) && b.is(Kind::Tuple)) {
    Tuple *x = a.as<Tuple>(), *y = b.as<Tuple>();
    if (x->size == 0 && b.object()->type == interp.types.tuple) return b;
    if (y->size == 0 && a.object()->type == interp.types.tuple) return a;
    TFL_TRY(guard_memory(interp, static_cast<size_t>(x->size + y->size) * sizeof(Value)));
    Tuple* t = new_tuple(interp, interp.types.tuple, x->size + y->size);
    std::copy(x->items, x->items + x->size, t->items);
    std::copy(y->items, y->items + y->size, t->items + x->size);
    return Value::adopt(t);
  }
  if (op == BinaryOp::Mul) {
    const Value& self = a.is(Kind::Tuple) ? a : b;
    Value times = unboxed(a.is(Kind::Tuple) ? b : a);
    if (times.is_int() || times.is_bool()) {
      Tuple* x = self.as<Tuple>();
      size_t total = TFL_TRY(guard_repeat(interp, static_cast<size_t>(x->size), times.as_int(), sizeof(Value)));
      if (total == 0) return interp.empty_tuple;
      Tuple* t = new_tuple(interp, interp.types.tuple, static_cast<int64_t>(total));
      for (size_t i = 0; i < total; ++i) t->items[i] = x->items[i % static_cast<size_t>(x->size)];
      return Value::adopt(t);
    }
  }
  return interp.not_implemented;
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!a.is(Kind::Tuple) || !b.is(Kind::Tuple)) return interp.not_implemented;
  return compare_sequences(interp, op, a, b);
}

Result<Value> index(Interp& interp, Value* a) {
  Tuple* t = a[0].as<Tuple>();
  int64_t start = TFL_TRY(search_bound(interp, a[2], t->size));
  int64_t stop = TFL_TRY(search_bound(interp, a[3], t->size));
  for (int64_t i = start; i < stop && i < t->size; ++i) {
    bool same = TFL_TRY(equals(interp, t->items[i], a[1]));
    if (same) return Value::integer(i);
  }
  return fail(ErrorKind::ValueError, "tuple.index(x): x not in tuple");
}

Result<Value> count(Interp& interp, Value* a) {
  int64_t n = 0;
  for (const Value& item : a[0].as<Tuple>()->span()) {
    bool same = TFL_TRY(equals(interp, item, a[1]));
    n += same;
  }
  return Value::integer(n);
}

constexpr NativeDef kMethods[] = {
    method("index", "self, value, start=0, stop=9223372036854775807, /", index),
    method("count", "self, value, /", count),
};

}  // namespace

extern const Slots tuple_slots;

const Slots tuple_slots = {.kind = Kind::Tuple,
                           .destroy = destroy_slot,
                           .construct = construct,
                           .repr = repr_slot,
                           .hash = hash_slot,
                           .truth = truth_slot,
                           .length = length_slot,
                           .get_item = get_item_slot,
                           .contains = contains_slot,
                           .iter = iter_slot,
                           .binary = binary_slot,
                           .compare = compare_slot};

std::span<const NativeDef> tuple_methods() { return kMethods; }

}  // namespace tfl
