// The module `_collections`: what stdlib/python/collections.tfl is built of. deque is in deque.cpp.
#include "frontend/core/registry.h"
#include "frontend/interpreter/modules/deque.h"
#include "frontend/interpreter/object/containers/dict.h"
#include "frontend/interpreter/object/containers/iterators.h"

namespace tfl::containers {

namespace {

Dict* dict_of(const Value& v) { return v.as<Dict>(); }

// ---------------------------------------------------------------------------------------------------- defaultdict

Result<void> begin(Interp& interp, const Value& self, CallArgs& args, uint32_t first) {
  Value factory = Value::none();
  if (args.count > first) {
    factory = args.values[first];
    if (!factory.is_none() && !is_callable(interp, factory))
      return fail(ErrorKind::TypeError, "first argument must be callable or None");
    ++first;
  }
  dict_of(self)->factory = std::move(factory);
  return dict_update_call(interp, "defaultdict", dict_of(self), args, first);
}

Value empty_one(Interp& interp, Type* type) {
  Dict* d = interp.allocate<Dict>(type);
  d->keys_version = 1;
  d->factory = Value::none();
  return Value::adopt(d);
}

Result<Value> default_new(Interp& interp, Type* type, CallArgs& args) {
  Value self = empty_one(interp, type);
  if (!(type->script && has_script_init(interp, type))) TFL_TRY(begin(interp, self, args, 0));
  return self;
}

Result<Value> default_init(Interp& interp, CallArgs& args) {
  if (args.count == 0 || !args.values[0].is(Kind::Dict))
    return fail(ErrorKind::TypeError, "descriptor '__init__' needs a defaultdict");
  Value self = args.values[0];
  TFL_TRY(begin(interp, self, args, 1));
  return Value::none();
}

Result<Value> default_missing(Interp& interp, Value* a) {
  Value factory = dict_of(a[0])->factory;
  if (factory.is_empty() || factory.is_none()) return key_error(interp, a[1]);
  Value made = TFL_TRY(interp.call(factory, {}));
  TFL_TRY(set_item(interp, a[0], a[1], made));
  return made;
}

Result<Value> default_repr(Interp& interp, const Value& self) {
  Value factory = dict_of(self)->factory;
  std::string text = self.object()->type->name->text + "(";
  text += self.object()->flags & kReprActive ? "..." : TFL_TRY(repr_text(interp, factory));
  Value inside = TFL_TRY(dict_slots.repr(interp, self));
  return interp.str(text + ", " + text_of(inside) + ")");
}

Result<Value> default_copy(Interp& interp, Value* a) {
  Value factory = dict_of(a[0])->factory;
  return interp.call(Value::share(a[0].object()->type), {factory, a[0]});
}

bool is_default(const Value& v);

Result<Value> default_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (op != BinaryOp::BitOr || !a.is(Kind::Dict) || !b.is(Kind::Dict)) return interp.not_implemented;
  Value self = is_default(a) ? a : b;
  Value made = TFL_TRY(interp.call(Value::share(self.object()->type), {dict_of(self)->factory, a}));
  if (!made.is(Kind::Dict)) return interp.not_implemented;
  TFL_TRY(dict_update(interp, dict_of(made), b));
  return made;
}

Result<Value> default_attr(Interp&, const Value& self, Str* name) {
  if (name->text == "default_factory") return dict_of(self)->factory;
  return Value();
}

Result<bool> default_set_attr(Interp&, const Value& self, Str* name, const Value& value) {
  if (name->text != "default_factory") return false;
  Value old = std::exchange(dict_of(self)->factory, value.is_empty() ? Value::none() : value);
  return true;
}

Slots default_slots() {
  Slots slots = dict_slots;
  slots.construct = default_new;
  slots.repr = default_repr;
  slots.binary = default_binary;
  slots.get_attr = default_attr;
  slots.set_attr = default_set_attr;
  return slots;
}
const Slots kDefault = default_slots();
bool is_default(const Value& v) { return v.object()->type->slots == &kDefault; }

constexpr NativeDef kDefaultMethods[] = {
    {"__init__", nullptr, nullptr, default_init, NativeDef::How::Method},
    method("__missing__", "self, key, /", default_missing),
    method("copy", "self, /", default_copy),
    method("__copy__", "self, /", default_copy),
};

// ---------------------------------------------------------------------------------------------------- OrderedDict

Result<Value> move_to_end(Interp& interp, Value* a) {
  bool last = TFL_TRY(truth(interp, a[2]));
  bool there = TFL_TRY(dict_move(interp, dict_of(a[0]), a[1], last));
  if (!there) return key_error(interp, a[1]);
  return Value::none();
}

Result<Value> pop_item(Interp& interp, Value* a) {
  bool last = TFL_TRY(truth(interp, a[1]));
  Dict* d = dict_of(a[0]);
  if (d->live == 0) return error_with(interp, ErrorKind::KeyError, interp.str("dictionary is empty"));
  size_t at = 0;
  Dict::Entry* e = last ? &d->entries.back() : dict_next(d, at);
  Value key = e->key;
  Value value = TFL_TRY(dict_pop(interp, d, key));
  return interp.tuple({key, value});
}

// ---------------------------------------------------------------------------------------- Counter and named tuples

/// count(counter, iterable): counter[x] += 1 for each item.
Result<Value> count(Interp& interp, Value* a) {
  Dict* d = dict_of(a[0]);
  TFL_TRY(for_each(interp, a[1], [&](Value item) -> Result<bool> {
    Value* place = TFL_TRY(dict_place(interp, d, item));
    if (place && place->is_int() && place->as_int() < INT64_MAX) {
      *place = Value::integer(place->as_int() + 1);
    } else if (!place) {
      TFL_TRY(dict_set(interp, d, item, Value::integer(1)));
    } else {
      Value before = *place;
      Value sum = TFL_TRY(binary(interp, BinaryOp::Add, before, Value::integer(1)));
      TFL_TRY(dict_set(interp, d, item, std::move(sum)));
    }
    return true;
  }));
  return Value::none();
}

/// field(number, doc, set, delete): the property of a field of a named tuple.
Result<Value> field(Interp& interp, Value* a) {
  int64_t number = TFL_TRY(to_index(interp, a[0]));
  if (number < 0) return fail(ErrorKind::ValueError, "a field has a number");
  auto* p = interp.allocate<Property>(interp.types.property);
  Value self = Value::adopt(p);
  p->get = Value::integer(number);
  p->set = a[2];
  p->del = a[3];
  p->doc = a[1];
  return self;
}

// Behind a named tuple's __new__ stands what it is bound to: (number of fields, function for calls that do not give each by position).
Result<Value> record(Interp& interp, CallArgs& args) {
  const Value& state = args.values[0];
  if (args.keywords.empty() && args.count >= 2 && args.values[1].is(Kind::Type) &&
      state.as<Tuple>()->items[0].as_int() == args.count - 2 && args.values[1].as<Type>()->slots == &tuple_slots) {
    Tuple* t = new_tuple(interp, args.values[1].as<Type>(), args.count - 2);
    for (uint32_t i = 2; i < args.count; ++i) t->items[i - 2] = std::move(args.values[i]);
    return Value::adopt(t);
  }
  Value otherwise = state.as<Tuple>()->items[1];
  CallArgs rest{args.values + 1, args.count - 1, args.keywords};
  return interp.call(otherwise, rest);
}

constexpr NativeDef kRecord = raw_function("__new__", record);

Result<Value> record_maker(Interp& interp, Value* a) {
  int64_t fields = TFL_TRY(to_index(interp, a[0]));
  return interp.native(kRecord, interp.tuple({Value::integer(fields), a[1]}));
}

constexpr NativeDef kOrdered[] = {
    method("move_to_end", "self, key, last=True", move_to_end),
    method("popitem", "self, last=True", pop_item),
};
constexpr NativeDef kFunctions[] = {
    function("count", "counter: dict, iterable, /", count),
    function("field", "number, doc, set, delete, /", field),
    function("record_maker", "fields, otherwise, /", record_maker),
};

}  // namespace

}  // namespace tfl::containers

namespace tfl {

Result<void> init_collections(Interp& interp, Module& module) {
  using namespace containers;
  deques::define(interp, module);
  define_all(interp, module, kFunctions);
  define_native_type(interp, module, "defaultdict", kDefault, kDefaultMethods, "collections", interp.types.dict);
  define_native_type(interp, module, "_Ordered", dict_slots, kOrdered, "collections", interp.types.dict);
  return {};
}

}  // namespace tfl
