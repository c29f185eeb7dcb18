// The methods of dict.
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/dict.h"
#include "frontend/interpreter/object/containers/iterators.h"

namespace tfl {

namespace {

Dict* self_dict(Value* a) { return a[0].as<Dict>(); }

Value make_view(Interp& interp, Type* type, const Value& dict) {
  auto* view = interp.allocate<DictView>(type);
  view->dict = dict;
  return Value::adopt(view);
}

Result<Value> keys(Interp& interp, Value* a) { return make_view(interp, interp.types.dict_keys, a[0]); }
Result<Value> values(Interp& interp, Value* a) { return make_view(interp, interp.types.dict_values, a[0]); }
Result<Value> items(Interp& interp, Value* a) { return make_view(interp, interp.types.dict_items, a[0]); }

Result<Value> get(Interp& interp, Value* a) {
  Value found = TFL_TRY(dict_get(interp, self_dict(a), a[1]));
  return found.is_empty() ? a[2] : found;
}

Result<Value> pop(Interp& interp, Value* a) {
  Value found;
  if (self_dict(a)->live > 0)
    found = TFL_TRY(dict_pop(interp, self_dict(a), a[1]));  // an empty one hashes nothing, as in CPython
  if (!found.is_empty()) return found;
  if (!a[2].is_empty()) return a[2];
  return key_error(interp, a[1]);
}

Result<Value> popitem(Interp& interp, Value* a) {
  Dict* d = self_dict(a);
  if (d->live == 0) return fail(ErrorKind::KeyError, "popitem(): dictionary is empty");
  size_t i = d->entries.size();
  while (d->entries[i - 1].key.is_empty()) --i;
  Value key = d->entries[i - 1].key, value = d->entries[i - 1].value;
  TFL_TRY(dict_pop(interp, d, key));
  return interp.tuple({std::move(key), std::move(value)});
}

Result<Value> setdefault(Interp& interp, Value* a) {
  Dict* d = self_dict(a);
  Value found = TFL_TRY(dict_get(interp, d, a[1]));
  if (!found.is_empty()) return found;
  TFL_TRY(dict_set(interp, d, a[1], a[2]));
  return a[2];
}

Result<Value> update(Interp& interp, CallArgs& args) {
  TFL_TRY(dict_update_call(interp, "update", args.values[0].as<Dict>(), args, 1));
  return Value::none();
}

Result<Value> init(Interp& interp, CallArgs& args) {
  TFL_TRY(dict_update_call(interp, "dict", args.values[0].as<Dict>(), args, 1));
  return Value::none();
}

Result<Value> clear(Interp&, Value* a) {
  dict_clear(self_dict(a));
  return Value::none();
}

Result<Value> copy(Interp& interp, Value* a) { return dict_copy(interp, self_dict(a)); }

Result<Value> fromkeys(Interp& interp, Value* a) {
  Value out;
  if (a[0].identical(Value::share(interp.types.dict)))
    out = interp.dict();
  else
    out = TFL_TRY(interp.call(a[0], {}));
  TFL_TRY(for_each(interp, a[1], [&](Value key) -> Result<bool> {
    if (out.is(Kind::Dict))
      TFL_TRY(dict_set(interp, out.as<Dict>(), key, a[2]));
    else
      TFL_TRY(set_item(interp, out, key, a[2]));
    return true;
  }));
  return out;
}

Result<Value> reversed(Interp& interp, Value* a) { return make_dict_iterator(interp, a[0], DictPart::Keys, true); }

constexpr NativeDef kMethods[] = {
    raw_method("__init__", init),
    method("keys", "self, /", keys),
    method("values", "self, /", values),
    method("items", "self, /", items),
    method("get", "self, key, default=None, /", get),
    method("pop", "self, key, default=..., /", pop),
    method("popitem", "self, /", popitem),
    method("setdefault", "self, key, default=None, /", setdefault),
    raw_method("update", update),
    method("clear", "self, /", clear),
    method("copy", "self, /", copy),
    class_method("fromkeys", "cls, iterable, value=None, /", fromkeys),
    method("__reversed__", "self, /", reversed),
};

}  // namespace

std::span<const NativeDef> dict_methods() { return kMethods; }

}  // namespace tfl
