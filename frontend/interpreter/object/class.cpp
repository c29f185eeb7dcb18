#include "frontend/interpreter/object/class.h"

#include <algorithm>

#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/native.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/bases.h"
#include "frontend/interpreter/object/slots.h"

namespace tfl {

namespace {

bool mutable_container(const Slots* slots) {
  return slots->kind == Kind::List || slots->kind == Kind::Dict || slots == &set_slots;
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

Type* Interp::new_type(std::string_view name, Type* base, Value dict, std::string_view module, Type* metaclass, Value several,
                       std::unique_ptr<Type*[]> order) {
  Type* t = allocate<Type>(metaclass ? metaclass : types.type);
  t->name = t->qualname = intern(name);
  t->module = intern(module);
  t->base = base ? base : types.object;
  t->slots = t->base->slots;
  t->bases = std::move(several);
  t->order = std::move(order);
  if (t->order) t->order[0] = t;
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
  refresh_type_flags(*this, t);
  return t;
}

namespace {

/// A __set_name__ that raises is reported as CPython 3.11 does.
Failure set_name_failed(Interp& interp, Failure failure, const Value& entry, const Value& key, const Type* type) {
  Value cause = interp.exception_of(*failure.error);
  Value text = interp.strf("Error calling __set_name__ on '{}' instance '{}' in '{}'", interp.type_name(entry),
                           key.is_str() ? text_of(key) : std::string("?"), type->name->text);
  Value e = make_exception(interp, interp.exception_type(ErrorKind::RuntimeError), {&text, 1});
  e.as<Exception>()->cause = std::move(cause);
  return interp.raise(std::move(e));
}

}  // namespace

bool is_abstract(Interp& interp, const Type* type) {
  const Value* left = type->script ? dict_entry(type->dict.as<Dict>(), interp.sym.__abstractmethods__) : nullptr;
  if (!left) return false;
  auto any = truth(interp, *left);
  return any && *any;
}

bool makes_calls_special(Interp& interp, const Type* type) {
  return script_lookup(interp, type->type, interp.sym.__call__) || is_abstract(interp, type);
}

Failure abstract_class(Interp& interp, const Type* type) {
  std::string names;
  size_t count = 0;
  Value left = *dict_entry(type->dict.as<Dict>(), interp.sym.__abstractmethods__);
  auto all = to_vector(interp, left);
  if (!all) return all.failure();
  std::vector<std::string> sorted;
  for (const Value& v : *all) sorted.push_back(v.is_str() ? text_of(v) : std::string("?"));
  std::sort(sorted.begin(), sorted.end());
  for (const std::string& n : sorted) names += (count++ ? ", " : "") + n;
  return fail(ErrorKind::TypeError, "Can't instantiate abstract class {} with abstract method{} {}", type->name->text,
              count > 1 ? "s" : "", names);
}

Result<Value> make_class(Interp& interp, Type* metaclass, const Value& name, const Value& bases, Value dict,
                         const Value& keywords) {
  Bases resolved = TFL_TRY(resolve_bases(interp, bases));
  std::string module = "builtins";
  if (const Value* m = dict_entry(dict.as<Dict>(), interp.sym.__module__); m && m->is_str()) module = m->as<Str>()->text;
  Value cell;
  if (const Value* own = dict_entry(dict.as<Dict>(), interp.sym.__classcell__)) {
    cell = *own;
    dict_remove_str(dict.as<Dict>(), interp.sym.__classcell__);
  }
  std::vector<Str*> slots = TFL_TRY(slots_of(interp, name, resolved.layout, dict.as<Dict>()));
  Type* type = interp.new_type(name.as<Str>()->text, resolved.layout, std::move(dict), module, metaclass,
                               std::move(resolved.several), std::move(resolved.order));
  add_slots(interp, type, slots);
  type->special_call = makes_calls_special(interp, type);
  Value cls = Value::share(type);
  // The methods called below may need it already: super() in __init_subclass__ of a base.
  if (cell.is(Kind::Cell)) cell.as<Cell>()->value = cls;

  // By number: the methods called here may change the dictionary.
  for (size_t i = 0; i < type->dict.as<Dict>()->entries.size(); ++i) {
    Value key = type->dict.as<Dict>()->entries[i].key;
    Value entry = type->dict.as<Dict>()->entries[i].value;
    if (entry.is(Kind::Property)) {
      if (entry.as<Property>()->name.is_empty()) entry.as<Property>()->name = key;
    } else if (entry.is_object() && !entry.is_tensor() && entry.object()->type->script) {
      auto named = call_special(interp, entry, interp.sym.__set_name__, {cls, key});
      if (!named) return set_name_failed(interp, named.failure(), entry, key, type);
    }
  }
  const Value* hook = nullptr;
  Lineage above(type);
  for (above.next(); above.at && !hook; above.next()) {
    if (above.at->script) hook = dict_entry(above.at->dict.as<Dict>(), interp.sym.__init_subclass__);
  }
  if (hook) {
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

namespace {

[[gnu::noinline]] Result<Value> call_by_metaclass(Interp& interp, Type* type, CallArgs& args) {
  const Value* entry = script_lookup(interp, type->type, interp.sym.__call__);
  if (!entry) return construct_instance(interp, type, args);
  Nesting nesting(interp);
  if (!nesting.ok()) return fail(ErrorKind::RecursionError, "maximum recursion depth exceeded");
  Value bound = TFL_TRY(bind_attribute(interp, Value(*entry), Value::share(type), type->type));
  return interp.call(bound, args);
}

}  // namespace

Result<Value> call_type(Interp& interp, Type* type, CallArgs& args) {
  if (type->special_call) [[unlikely]]
    return call_by_metaclass(interp, type, args);
  return construct_instance(interp, type, args);
}

Result<Value> construct_instance(Interp& interp, Type* type, CallArgs& args) {
  if (!type->script) {
    if (type == interp.types.type && args.count == 1 && args.keywords.empty())
      return Value::share(interp.type_of(args.values[0]));
    if (!type->slots->construct) return fail(ErrorKind::TypeError, "cannot create '{}' instances", type->name->text);
    return type->slots->construct(interp, type, args);
  }
  const Value* init = script_init(interp, type);
  Value self = TFL_TRY(new_instance(interp, type, args));
  if (!interp.type_of(self)->is_subtype_of(type)) return self;
  if (!init) {
    if (mutable_container(type->slots) && script_lookup(interp, type, interp.sym.__new__)) {
      // The script has made it empty: the native __init__ is given the arguments.
      Value filler = TFL_TRY(get_attr(interp, self, interp.sym.__init__));
      TFL_TRY(interp.call(filler, args));
    }
    return self;
  }
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

/// Whether instances of `type` are instances of the class `cls`: NumPy's float64 is a subclass of `float` there, and a class apart here.
static bool counts_as(Interp& interp, const Type* type, const Type* cls) {
  return type->is_subtype_of(cls) || (cls == interp.types.float_ && type == interp.types.np_float64);
}

/// The same for a value, whose class may also be what its attribute __class__ says (a proxy's).
static Result<bool> is_or_claims(Interp& interp, const Value& v, const Type* cls) {
  const Type* type = interp.type_of(v);
  if (counts_as(interp, type, cls)) return true;
  if (!type->script || (!type->has_getattribute && !script_lookup(interp, type, interp.sym.__class__))) return false;
  auto said = find_attr(interp, v, interp.sym.__class__);
  if (!said) return error_is(said.error(), ErrorKind::AttributeError) ? Result<bool>(false) : said.failure();
  return said->is(Kind::Type) && counts_as(interp, said->as<Type>(), cls);
}

/// Does a class of the script say by __subclasshook__ what counts as its subclass, so that its bases do not decide?
static bool has_hook(Interp& interp, const Type* cls) {
  return cls->type->script && script_lookup(interp, cls, interp.intern("__subclasshook__"));
}

Result<bool> is_plain_subclass(Interp& interp, const Value& v, const Value& cls) {
  if (!has_hook(interp, cls.as<Type>()) && counts_as(interp, v.as<Type>(), cls.as<Type>())) return true;
  return decided_by_class(interp, cls, "__class_subclasscheck__", v);
}

Result<bool> is_plain_instance(Interp& interp, const Value& v, const Value& cls) {
  if (!has_hook(interp, cls.as<Type>())) {
    bool is = TFL_TRY(is_or_claims(interp, v, cls.as<Type>()));
    if (is) return true;
  }
  return decided_by_class(interp, cls, "__class_instancecheck__", v);
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
    Value answer = TFL_TRY(call_special(interp, classes, interp.sym.__subclasscheck__, {v}));
    if (!answer.is_empty()) return truth(interp, answer);
    return is_plain_subclass(interp, v, classes);
  }
  if (interp.type_of(classes) == interp.types.union_type) return is_subclass_of(interp, v, union_members(classes));
  Value answer = TFL_TRY(call_special(interp, classes, interp.sym.__subclasscheck__, {v}));
  if (!answer.is_empty()) return truth(interp, answer);
  return fail(ErrorKind::TypeError, "issubclass() arg 2 must be a class, a tuple of classes, or a union");
}

Result<bool> is_instance_of(Interp& interp, const Value& v, const Value& classes) {
  if (classes.is(Kind::Type)) {
    const Type* cls = classes.as<Type>();
    if (!cls->type->script) [[likely]] {
      bool is = TFL_TRY(is_or_claims(interp, v, cls));
      if (is) return true;
      return cls->script ? decided_by_class(interp, classes, "__class_instancecheck__", v) : Result<bool>(false);
    }
    if (interp.type_of(v) == cls) return true;
    Value answer = TFL_TRY(call_special(interp, classes, interp.sym.__instancecheck__, {v}));
    if (!answer.is_empty()) return truth(interp, answer);
    return is_plain_instance(interp, v, classes);
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
      bool is = c.is_none() ? v.is_none() : c.is(Kind::Type) ? TFL_TRY(is_or_claims(interp, v, c.as<Type>())) : false;
      if (is) return true;
    }
    return false;
  }
  Value answer = TFL_TRY(call_special(interp, classes, interp.sym.__instancecheck__, {v}));
  if (!answer.is_empty()) return truth(interp, answer);
  return fail(ErrorKind::TypeError, "isinstance() arg 2 must be a type, a tuple of types, or a union");
}

}  // namespace tfl
