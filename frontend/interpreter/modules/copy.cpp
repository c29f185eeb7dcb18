// The module `_copy`: copies of the built-in containers and of plain instances, for stdlib/python/copy.tfl, which has the rest.
#include "frontend/core/attributes.h"
#include "frontend/core/native_module.h"
#include "frontend/interpreter/object/containers/dict.h"

namespace tfl::copies {

namespace {

/// Values that copies may share.
bool shared(const Value& v) {
  switch (v.kind()) {
    case Kind::Str:
    case Kind::Bytes:
    case Kind::Range:
    case Kind::Slice:
    case Kind::Type:
    case Kind::Module: return !v.object()->type->script;
    case Kind::Function:
    case Kind::BigInt:
    case Kind::NativeFunction: return true;
    default: return !v.is_object();
  }
}

/// deepcopy in progress: what the library's function does with what is not known here, and what has been copied.
struct Walk {
  Interp& interp;
  Value otherwise;  // deepcopy(x, memo) of the library
  Value memo;       // Dict from ids
  Value kept;       // List of what was copied: its id must stay taken while the copy runs

  Result<Value> known(const Value& v) { return dict_get(interp, memo.as<Dict>(), key_of(v)); }

  Result<void> note(const Value& v, const Value& copy) {
    TFL_TRY(dict_set(interp, memo.as<Dict>(), key_of(v), copy));
    if (kept.is_empty()) {
      kept = interp.list();
      TFL_TRY(dict_set(interp, memo.as<Dict>(), key_of(memo), kept));
    }
    kept.as<List>()->items.push_back(v);
    return {};
  }

  Result<Value> copied(const Value& v) {
    if (shared(v)) return v;
    if (v.is_tensor()) return interp.call(otherwise, {v, memo});
    const Type* type = v.object()->type;
    bool list = type == interp.types.list, dict = type == interp.types.dict, tuple = type == interp.types.tuple;
    if (!list && !dict && !tuple && !plain_instance(v)) return interp.call(otherwise, {v, memo});
    Value there = TFL_TRY(known(v));
    if (!there.is_empty()) return there;
    Nesting nesting(interp);
    if (!nesting.ok()) return too_deep("");
    if (list) return of_list(v);
    if (dict) return of_dict(v);
    if (tuple) return of_tuple(v);
    return of_instance(v);
  }

  Result<Value> of_list(const Value& v) {
    Value out = interp.list();
    TFL_TRY(note(v, out));
    for (size_t i = 0; i < v.as<List>()->items.size(); ++i) {
      Value item = TFL_TRY(copied(Value(v.as<List>()->items[i])));
      out.as<List>()->items.push_back(std::move(item));
    }
    return out;
  }

  Result<void> fill(Dict* from, Dict* to) {
    uint32_t version = from->keys_version;
    size_t at = 0;
    while (Dict::Entry* e = dict_next(from, at)) {
      Value key = e->key, value = e->value;
      key = TFL_TRY(copied(key));
      value = TFL_TRY(copied(value));
      TFL_TRY(dict_set(interp, to, key, std::move(value)));
      if (from->keys_version != version) return fail(ErrorKind::RuntimeError, "dictionary changed size during iteration");
    }
    return {};
  }

  Result<Value> of_dict(const Value& v) {
    Value out = interp.dict();
    TFL_TRY(note(v, out));
    TFL_TRY(fill(v.as<Dict>(), out.as<Dict>()));
    return out;
  }

  Result<Value> of_tuple(const Value& v) {
    std::vector<Value> items;
    bool same = true;
    for (const Value& item : v.as<Tuple>()->span()) {
      items.push_back(TFL_TRY(copied(item)));
      same = same && items.back().identical(item);
    }
    // A tuple that holds itself has been copied on the way.
    Value there = TFL_TRY(known(v));
    if (!there.is_empty()) return there;
    if (same) return v;
    Value out = interp.tuple(items);
    TFL_TRY(note(v, out));
    return out;
  }

  Result<Value> of_instance(const Value& v) {
    Instance* made = interp.allocate<Instance>(v.object()->type);
    Value out = Value::adopt(made);
    TFL_TRY(note(v, out));
    Value from = v.as<Instance>()->dict;
    if (from.is_empty()) return out;
    made->dict = interp.dict();
    Value to = made->dict;
    TFL_TRY(fill(from.as<Dict>(), to.as<Dict>()));
    return out;
  }

  /// An instance of a class of the script that says nothing about how it is made or copied.
  bool plain_instance(const Value& v) {
    Type* type = v.object()->type;
    if (type->has_slots) return false;
    if (!v.is(Kind::Instance) || !type->script || type->has_getattr || type->has_getattribute || type->has_setattr) return false;
    for (const char* name :
         {"__deepcopy__", "__new__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__call__", "__copy__"}) {
      if (script_lookup(interp, type, interp.intern(name))) return false;
    }
    Dict* own = v.as<Instance>()->dict.is_empty() ? nullptr : v.as<Instance>()->dict.as<Dict>();
    return !own || dict_find_str(own, interp.intern("__deepcopy__")) < 0;
  }

  static Value key_of(const Value& v) { return Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(v.counted()))); }
};

/// deepcopy(x, memo, otherwise)
Result<Value> deepcopy(Interp& interp, Value* a) {
  if (!a[1].is(Kind::Dict)) return fail(ErrorKind::TypeError, "memo must be a dictionary");
  Walk walk{interp, a[2], a[1], Value()};
  walk.kept = TFL_TRY(dict_get(interp, a[1].as<Dict>(), Walk::key_of(a[1])));
  if (!walk.kept.is(Kind::List)) walk.kept = Value();
  return walk.copied(a[0]);
}

/// copy(x) of a built-in container or of what copies may share; NotImplemented for others.
Result<Value> copy(Interp& interp, Value* a) {
  const Value& v = a[0];
  if (shared(v)) return v;
  if (v.is_tensor()) return interp.not_implemented;
  const Type* type = v.object()->type;
  if (type == interp.types.list) return interp.list(v.as<List>()->items);
  if (type == interp.types.dict) return dict_copy(interp, v.as<Dict>());
  if (type == interp.types.tuple) return v;
  return interp.not_implemented;
}

constexpr NativeDef kFunctions[] = {function("deepcopy", "x, memo, otherwise, /", deepcopy), function("copy", "x, /", copy)};

}  // namespace

}  // namespace tfl::copies

namespace tfl {

Result<void> init_copy(Interp& interp, Module& module) {
  define_all(interp, module, copies::kFunctions);
  return {};
}

}  // namespace tfl
