// The methods of set and frozenset.
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/set.h"

namespace tfl {

namespace {

Set* self_set(Value* a) { return a[0].as<Set>(); }
Type* type_of_result(Interp& interp, const Value& self) {
  return self.object()->type->is_subtype_of(interp.types.frozenset) ? interp.types.frozenset : interp.types.set;
}
std::span<Value> others(Value* a) { return a[1].as<Tuple>()->span(); }
/// Becomes what `from` (a new set) holds.
void take_over(Set* s, Set* from) {
  s->table.swap(from->table);
  std::swap(s->used, from->used);
  std::swap(s->fill, from->fill);
}

Result<Value> add(Interp& interp, Value* a) {
  TFL_TRY(set_add(interp, a[0], a[1]));
  return Value::none();
}

/// Removes a key; a set stands for the frozenset that is equal to it.
Result<bool> remove_key(Interp& interp, Value* a) {
  if (a[1].is(Kind::Set) && a[1].object()->type->is_subtype_of(interp.types.set)) {
    Value frozen = TFL_TRY(set_copy_as(interp, interp.types.frozenset, a[1].as<Set>()));
    return set_remove(interp, self_set(a), frozen);
  }
  return set_remove(interp, self_set(a), a[1]);
}

Result<Value> remove(Interp& interp, Value* a) {
  bool found = TFL_TRY(remove_key(interp, a));
  if (!found) return key_error(interp, a[1]);
  return Value::none();
}

Result<Value> discard(Interp& interp, Value* a) {
  TFL_TRY(remove_key(interp, a));
  return Value::none();
}

Result<Value> pop(Interp&, Value* a) {
  Value key = set_pop_any(self_set(a));
  if (key.is_empty()) return fail(ErrorKind::KeyError, "pop from an empty set");
  return key;
}

Result<Value> clear(Interp&, Value* a) {
  set_clear(self_set(a));
  return Value::none();
}

Result<Value> copy(Interp& interp, Value* a) {
  if (a[0].object()->type == interp.types.frozenset) return a[0];
  return set_copy_as(interp, type_of_result(interp, a[0]), self_set(a));
}

Result<Value> update(Interp& interp, Value* a) {
  for (const Value& other : others(a)) TFL_TRY(set_update(interp, self_set(a), other));
  return Value::none();
}

Result<Value> union_(Interp& interp, Value* a) {
  Value out = TFL_TRY(set_copy_as(interp, type_of_result(interp, a[0]), self_set(a)));
  for (const Value& other : others(a)) TFL_TRY(set_update(interp, out.as<Set>(), other));
  return out;
}

Result<Value> intersection(Interp& interp, Value* a) {
  Type* type = type_of_result(interp, a[0]);
  Value out = a[0];
  if (others(a).empty()) return set_copy_as(interp, type, self_set(a));
  for (const Value& other : others(a)) out = TFL_TRY(set_intersection(interp, type, out, other));
  return out;
}

Result<Value> intersection_update(Interp& interp, Value* a) {
  Value out = TFL_TRY(intersection(interp, a));
  take_over(self_set(a), out.as<Set>());
  return Value::none();
}

Result<Value> difference(Interp& interp, Value* a) {
  Type* type = type_of_result(interp, a[0]);
  auto more = others(a);
  if (more.empty()) return set_copy_as(interp, type, self_set(a));
  Value out = TFL_TRY(set_difference(interp, type, a[0], more[0]));
  for (const Value& other : more.subspan(1)) TFL_TRY(set_difference_update(interp, out.as<Set>(), other));
  return out;
}

Result<Value> difference_update(Interp& interp, Value* a) {
  for (const Value& other : others(a)) TFL_TRY(set_difference_update(interp, self_set(a), other));
  return Value::none();
}

Result<Value> symmetric_difference(Interp& interp, Value* a) {
  return set_symmetric_difference(interp, type_of_result(interp, a[0]), a[0], a[1]);
}

Result<Value> symmetric_difference_update(Interp& interp, Value* a) {
  Value other = TFL_TRY(as_set(interp, a[1]));
  TFL_TRY(set_symmetric_update(interp, self_set(a), other.as<Set>()));
  return Value::none();
}

Result<Value> isdisjoint(Interp& interp, Value* a) {
  bool disjoint = true;
  TFL_TRY(for_each(interp, a[1], [&](Value item) -> Result<bool> {
    bool found = TFL_TRY(set_contains(interp, self_set(a), item));
    disjoint = !found;
    return disjoint;
  }));
  return Value::boolean(disjoint);
}

Result<Value> issubset(Interp& interp, Value* a) {
  Value other = TFL_TRY(as_set(interp, a[1]));
  bool r = TFL_TRY(set_is_subset(interp, self_set(a), other.as<Set>()));
  return Value::boolean(r);
}

Result<Value> issuperset(Interp& interp, Value* a) {
  Value other = TFL_TRY(as_set(interp, a[1]));
  bool r = TFL_TRY(set_is_subset(interp, other.as<Set>(), self_set(a)));
  return Value::boolean(r);
}

Result<Value> init(Interp& interp, CallArgs& args) {
  if (args.count == 0 || !args.values[0].is(Kind::Set))
    return fail(ErrorKind::TypeError, "descriptor '__init__' of 'set' object needs an argument");
  Value self = args.values[0], iterable;
  CallArgs rest{args.values + 1, args.count - 1, args.keywords};
  std::string_view name = rest.keywords.empty() ? interp.type_name(self) : std::string_view("set");
  TFL_TRY(take_arguments(interp, name, rest, {"iterable"}, 0, 1, &iterable));
  set_clear(self.as<Set>());
  if (!iterable.is_empty()) TFL_TRY(set_update(interp, self.as<Set>(), iterable));
  return Value::none();
}

constexpr NativeDef kFrozenMethods[] = {
    method("copy", "self, /", copy),
    method("union", "self, /, *others", union_),
    method("intersection", "self, /, *others", intersection),
    method("difference", "self, /, *others", difference),
    method("symmetric_difference", "self, other, /", symmetric_difference),
    method("isdisjoint", "self, other, /", isdisjoint),
    method("issubset", "self, other, /", issubset),
    method("issuperset", "self, other, /", issuperset),
};

constexpr NativeDef kMethods[] = {
    raw_method("__init__", init),
    method("add", "self, object, /", add),
    method("remove", "self, object, /", remove),
    method("discard", "self, object, /", discard),
    method("pop", "self, /", pop),
    method("clear", "self, /", clear),
    method("copy", "self, /", copy),
    method("update", "self, /, *others", update),
    method("union", "self, /, *others", union_),
    method("intersection", "self, /, *others", intersection),
    method("intersection_update", "self, /, *others", intersection_update),
    method("difference", "self, /, *others", difference),
    method("difference_update", "self, /, *others", difference_update),
    method("symmetric_difference", "self, other, /", symmetric_difference),
    method("symmetric_difference_update", "self, other, /", symmetric_difference_update),
    method("isdisjoint", "self, other, /", isdisjoint),
    method("issubset", "self, other, /", issubset),
    method("issuperset", "self, other, /", issuperset),
};

}  // namespace

std::span<const NativeDef> set_methods() { return kMethods; }
std::span<const NativeDef> frozenset_methods() { return kFrozenMethods; }

}  // namespace tfl
