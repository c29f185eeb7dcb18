#include "frontend/interpreter/object/class.h"

#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/registry.h"

namespace tfl {

namespace {

constexpr int kMaxClassDepth = 100;  // length of a chain of classes

bool mutable_container(const Slots* slots) {
  return slots->kind == Kind::List || slots->kind == Kind::Dict || slots == &set_slots;
}

bool may_be_base(Interp& interp, const Type* base) {
  const Types& t = interp.types;
  for (const Type* no : {t.bool_, t.none_type, t.ellipsis_type, t.not_implemented_type, t.range, t.slice, t.function,
                         t.native_function, t.method_descriptor, t.method, t.module, t.cell, t.code, t.generator, t.type}) {
    if (base == no) return false;
  }
  return true;
}

}  // namespace

void refresh_type_flags(Interp& interp, Type* changed) {
  Symbols& sym = interp.sym;
  for (Type* type : interp.all_types()) {
    if (!type->script || !type->is_subtype_of(changed)) continue;
    auto has = [&](Str* name) { return script_lookup(interp, type, name) != nullptr; };
    type->has_getattribute = has(sym.__getattribute__);
    type->has_getattr = has(sym.__getattr__);
    type->has_setattr = has(sym.__setattr__) || has(sym.__delattr__);
    type->has_del = has(sym.__del__);
    type->has_get = has(sym.__get__);
    type->has_set = has(sym.__set__) || has(sym.__delete__);
  }
}

Type* Interp::new_type(std::string_view name, Type* base, Value dict, std::string_view module) {
  Type* t = allocate<Type>(types.type);
  t->name = t->qualname = intern(name);
  t->module = intern(module);
  t->base = base ? base : types.object;
  t->slots = t->base->slots;
  t->dict = std::move(dict);
  t->script = true;
  t->error_kind = t->base->error_kind;
  t->version = ++type_epoch;
  all_types_.push_back(t);  // its first reference: types live as long as the interpreter
  Dict* d = t->dict.as<Dict>();
  if (dict_entry(d, sym.__eq__) && !dict_entry(d, sym.__hash__)) dict_set_str(d, sym.__hash__, Value::none());
  if (const Value* qualname = dict_entry(d, sym.__qualname__); qualname && qualname->is_str()) {
    t->qualname = intern(qualname->as<Str>()->text);
    dict_remove_str(d, sym.__qualname__);
  }
  if (const Value* m = dict_entry(d, sym.__module__)) {
    if (m->is_str()) t->module = intern(m->as<Str>()->text);
  } else {
    dict_set_str(d, sym.__module__, str(t->module));
  }
  if (!dict_entry(d, sym.__doc__)) dict_set_str(d, sym.__doc__, Value::none());
  // These two are class methods and a static method without saying so.
  for (Str* implicit : {sym.__init_subclass__, sym.__class_getitem__, sym.__new__}) {
    const Value* f = dict_entry(d, implicit);
    if (!f || !f->is(Kind::Function)) continue;
    Wrapper* w = allocate<Wrapper>(implicit == sym.__new__ ? types.staticmethod : types.classmethod);
    w->kind = static_cast<uint8_t>(implicit == sym.__new__ ? Kind::StaticMethod : Kind::ClassMethod);
    w->function = *f;
    dict_set_str(d, implicit, Value::adopt(w));
  }
  if (const Value* slot_names = dict_entry(d, sym.__slots__)) {
    Value names = *slot_names;
    if (names.is_str()) names = tuple({names});
    if (names.is(Kind::List)) names = tuple(std::span<const Value>(names.as<List>()->items));
    bool plain_base = t->base == types.object || !t->base->slot_names.is_empty();
    if (names.is(Kind::Tuple) && plain_base) t->slot_names = names;
  }
  refresh_type_flags(*this, t);
  return t;
}

Result<Value> make_class(Interp& interp, const Value& name, const Value& base, Value dict, const Value& keywords) {
  Type* base_type = interp.types.object;
  if (!base.is_empty()) {
    if (!base.is(Kind::Type)) {
      return fail(ErrorKind::TypeError, "the base of a class must be a class, not '{}'", interp.type_name(base));
    }
    base_type = base.as<Type>();
    if (!may_be_base(interp, base_type)) {
      if (base_type == interp.types.type) {
        return fail(ErrorKind::TypeError, "metaclasses are not supported: a class cannot derive from 'type'")
            .with_hint("use a class decorator or __init_subclass__");
      }
      return fail(ErrorKind::TypeError, "type '{}' is not an acceptable base type", base_type->name->text);
    }
  }
  int depth = 0;
  for (Type* t = base_type; t; t = t->base) ++depth;
  if (depth > kMaxClassDepth)
    return fail(ErrorKind::RecursionError, "classes derive from each other more than {} deep", kMaxClassDepth);
  std::string module = "builtins";
  if (const Value* m = dict_entry(dict.as<Dict>(), interp.sym.__module__); m && m->is_str()) module = m->as<Str>()->text;
  Type* type = interp.new_type(name.as<Str>()->text, base_type, std::move(dict), module);
  Value cls = Value::share(type);

  // By number: the methods called here may change the dictionary.
  for (size_t i = 0; i < type->dict.as<Dict>()->entries.size(); ++i) {
    Value key = type->dict.as<Dict>()->entries[i].key;
    Value entry = type->dict.as<Dict>()->entries[i].value;
    if (entry.is(Kind::Property)) {
      if (entry.as<Property>()->name.is_empty()) entry.as<Property>()->name = key;
    } else if (entry.is_object() && !entry.is_tensor() && entry.object()->type->script) {
      TFL_TRY(call_special(interp, entry, interp.sym.__set_name__, {cls, key}));
    }
  }
  if (const Value* hook = script_lookup(interp, base_type, interp.sym.__init_subclass__)) {
    Value bound = TFL_TRY(bind_attribute(interp, Value(*hook), {}, type));
    std::vector<Value> values;
    std::vector<Str*> names;
    if (keywords.is(Kind::Dict)) {
      for (const Dict::Entry& e : keywords.as<Dict>()->entries) {
        if (!e.key.is_str()) continue;
        names.push_back(interp.intern(e.key.as<Str>()->text));
        values.push_back(e.value);
      }
    }
    CallArgs args{values.data(), 0, names};
    TFL_TRY(interp.call(bound, args));
  } else if (keywords.is(Kind::Dict) && keywords.as<Dict>()->live > 0) {
    return fail(ErrorKind::TypeError, "{}.__init_subclass__() takes no keyword arguments", type->qualname->text);
  }
  return cls;
}

const Value* script_init(Interp& interp, Type* type) { return script_lookup(interp, type, interp.sym.__init__); }

Failure init_not_none(Interp& interp, const Value& result) {
  return fail(ErrorKind::TypeError, "__init__() should return None, not '{}'", interp.type_name(result));
}

Result<Value> new_instance(Interp& interp, Type* type, CallArgs& args) {
  if (const Value* maker = script_lookup(interp, type, interp.sym.__new__)) {
    Value callee = maker->is(Kind::StaticMethod) ? maker->as<Wrapper>()->function : *maker;
    std::vector<Value> values;
    values.reserve(args.total() + 1);
    values.push_back(Value::share(type));
    for (uint32_t i = 0; i < args.total(); ++i) values.push_back(args.values[i]);
    CallArgs with_type{values.data(), args.count + 1, args.keywords};
    return interp.call(callee, with_type);
  }
  if (!type->slots->construct) return fail(ErrorKind::TypeError, "cannot create '{}' instances", type->name->text);
  if (type->script && mutable_container(type->slots) && script_init(interp, type)) {
    // The native __init__ fills it, when the script's calls that.
    CallArgs none;
    return type->slots->construct(interp, type, none);
  }
  if (type->script && script_init(interp, type)) {
    // Arguments are for __init__, and are still needed there.
    std::vector<Value> copy(args.values, args.values + args.total());
    CallArgs copied{copy.data(), args.count, args.keywords};
    return type->slots->construct(interp, type, copied);
  }
  return type->slots->construct(interp, type, args);
}

Result<Value> call_type(Interp& interp, Type* type, CallArgs& args) {
  if (!type->script) {
    if (type == interp.types.type && args.count == 1 && args.keywords.empty())
      return Value::share(interp.type_of(args.values[0]));
    if (!type->slots->construct) return fail(ErrorKind::TypeError, "cannot create '{}' instances", type->name->text);
    return type->slots->construct(interp, type, args);
  }
  const Value* init = script_init(interp, type);
  Value self = TFL_TRY(new_instance(interp, type, args));
  if (!init || !interp.type_of(self)->is_subtype_of(type)) return self;
  std::vector<Value> values;
  values.reserve(args.total() + 1);
  values.push_back(self);
  for (uint32_t i = 0; i < args.total(); ++i) values.push_back(std::move(args.values[i]));
  CallArgs with_self{values.data(), args.count + 1, args.keywords};
  init = script_init(interp, interp.type_of(self));
  if (!init) return self;
  Value callee = *init;
  if (!callee.is(Kind::Function) && !(callee.is(Kind::NativeFunction) && callee.as<NativeFunction>()->owner)) {
    callee = TFL_TRY(bind_attribute(interp, callee, self, type));
    with_self = {values.data() + 1, args.count, args.keywords};
  }
  Value result = TFL_TRY(interp.call(callee, with_self));
  if (!result.is_none()) return init_not_none(interp, result);
  return self;
}

namespace {

/// A class of the library that counts others among its own by what they can do.
Result<bool> decided_by_class(Interp& interp, const Value& cls, const char* hook, const Value& v) {
  if (!cls.as<Type>()->script) return false;
  Value answer = TFL_TRY(class_hook(interp, cls, hook, {v}));
  return answer.is_empty() ? false : truth(interp, answer);
}

}  // namespace

bool slot_allows(const Type* type, Str* name) {
  for (const Type* t = type; t && t->script; t = t->base) {
    if (t->slot_names.is_empty()) return true;
    for (Value& v : t->slot_names.as<Tuple>()->span()) {
      if (v.counted() == name || (v.is_str() && (v.as<Str>()->text == name->text || v.as<Str>()->text == "__dict__")))
        return true;
    }
  }
  return false;
}

/// Whether instances of `type` are instances of the class `cls`: NumPy's float64 is a subclass of `float` there, and a class apart here.
static bool counts_as(Interp& interp, const Type* type, const Type* cls) {
  return type->is_subtype_of(cls) || (cls == interp.types.float_ && type == interp.types.np_float64);
}

Result<bool> is_subclass_of(Interp& interp, const Value& v, const Value& classes) {
  if (!v.is(Kind::Type)) return fail(ErrorKind::TypeError, "issubclass() arg 1 must be a class");
  if (classes.is(Kind::Tuple)) {
    Nesting nesting(interp);
    if (!nesting.ok()) return fail(ErrorKind::RecursionError, "maximum recursion depth exceeded in __subclasscheck__");
    for (Value& c : classes.as<Tuple>()->span()) {
      bool yes = TFL_TRY(is_subclass_of(interp, v, c));
      if (yes) return true;
    }
    return false;
  }
  if (classes.is(Kind::Type)) {
    if (counts_as(interp, v.as<Type>(), classes.as<Type>())) return true;
    return decided_by_class(interp, classes, "__class_subclasscheck__", v);
  }
  if (interp.type_of(classes) == interp.types.union_type) return is_subclass_of(interp, v, union_members(classes));
  Value answer = TFL_TRY(call_special(interp, classes, interp.sym.__subclasscheck__, {v}));
  if (!answer.is_empty()) return truth(interp, answer);
  return fail(ErrorKind::TypeError, "issubclass() arg 2 must be a class, a tuple of classes, or a union");
}

Result<bool> is_instance_of(Interp& interp, const Value& v, const Value& classes) {
  if (classes.is(Kind::Type)) {
    if (counts_as(interp, interp.type_of(v), classes.as<Type>())) return true;
    return decided_by_class(interp, classes, "__class_instancecheck__", v);
  }
  if (classes.is(Kind::Tuple)) {
    Nesting nesting(interp);
    if (!nesting.ok()) return fail(ErrorKind::RecursionError, "maximum recursion depth exceeded in __instancecheck__");
    for (Value& c : classes.as<Tuple>()->span()) {
      bool yes = TFL_TRY(is_instance_of(interp, v, c));
      if (yes) return true;
    }
    return false;
  }
  if (classes.is_none()) {
    return fail(ErrorKind::TypeError, "isinstance() arg 2 must be a type, a tuple of types, or a union");
  }
  if (interp.type_of(classes) == interp.types.union_type) {
    for (const Value& c : union_members(classes).as<Tuple>()->span()) {
      if (c.is_none() ? v.is_none() : c.is(Kind::Type) && counts_as(interp, interp.type_of(v), c.as<Type>())) return true;
    }
    return false;
  }
  Value answer = TFL_TRY(call_special(interp, classes, interp.sym.__instancecheck__, {v}));
  if (!answer.is_empty()) return truth(interp, answer);
  return fail(ErrorKind::TypeError, "isinstance() arg 2 must be a type, a tuple of types, or a union");
}

}  // namespace tfl
