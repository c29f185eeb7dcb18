// The types `object` and `type`.
#include <algorithm>

#include "frontend/core/attributes.h"
#include "frontend/core/code.h"
#include "frontend/core/frame.h"
#include "frontend/core/native.h"
#include "frontend/core/operations.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/bases.h"
#include "frontend/interpreter/object/class.h"

namespace tfl {

namespace {

// ------------------------------------------------------------------------------------------------------------- object

void destroy_instance(Object* o) {
  auto* i = static_cast<Instance*>(o);
  i->~Instance();
  Heap::release(i, sizeof(Instance));
}

Result<Value> construct_object(Interp& interp, Type* type, CallArgs& args) {
  if (type->special_call && is_abstract(interp, type)) return abstract_class(interp, type);
  if (args.total() > 0) {
    bool own_new = script_lookup(interp, type, interp.sym.__new__) != nullptr;
    bool own_init = script_init(interp, type) != nullptr;
    if (own_new) {
      return fail(ErrorKind::TypeError, "object.__new__() takes exactly one argument (the type to instantiate)");
    }
    if (!own_init) return fail(ErrorKind::TypeError, "{}() takes no arguments", type->name->text);
  }
  return Value::adopt(interp.allocate<Instance>(type));
}

Result<Value> repr_object(Interp& interp, const Value& self) {
  Type* t = self.object()->type;
  std::string name = t->module->text == "builtins" ? t->qualname->text : t->module->text + "." + t->qualname->text;
  return interp.strf("<{} object at {:#x}>", name, reinterpret_cast<uintptr_t>(self.counted()));
}

// --------------------------------------------------------------------------------------------------------------- type

void destroy_type(Object* o) {
  auto* t = static_cast<Type*>(o);
  t->~Type();
  Heap::release(t, sizeof(Type));
}

Result<Value> construct_type(Interp& interp, Type* metaclass, CallArgs& args) {
  if (args.count != 3) {
    if (metaclass == interp.types.type) return fail(ErrorKind::TypeError, "type() takes 1 or 3 arguments");
    return fail(ErrorKind::TypeError, "type.__new__() takes exactly 3 arguments ({} given)", args.count);
  }
  const Value& name = args.values[0];
  const Value& bases = args.values[1];
  const Value& space = args.values[2];
  if (!name.is_str()) return fail(ErrorKind::TypeError, "type.__new__() argument 1 must be str, not {}", interp.type_name(name));
  if (!bases.is(Kind::Tuple))
    return fail(ErrorKind::TypeError, "type.__new__() argument 2 must be tuple, not {}", interp.type_name(bases));
  if (!space.is(Kind::Dict))
    return fail(ErrorKind::TypeError, "type.__new__() argument 3 must be dict, not {}", interp.type_name(space));
  for (const Value& base : bases.as<Tuple>()->span()) {
    if (base.is(Kind::Type)) continue;
    return fail(ErrorKind::TypeError, "bases must be types");
  }
  Type* chosen = TFL_TRY(resolve_metaclass(interp, metaclass, bases));
  if (chosen != metaclass && script_lookup(interp, chosen, interp.sym.__new__)) {
    // A base's metaclass is more derived than the one that was called.
    std::vector<Value> values = {Value::share(chosen)};
    values.insert(values.end(), args.values, args.values + args.total());
    CallArgs with_type{values.data(), args.count + 1, args.keywords};
    Value maker = TFL_TRY(get_attr(interp, Value::share(chosen), interp.sym.__new__));
    return interp.call(maker, with_type);
  }
  Value dict = interp.dict();
  for (const Dict::Entry& e : space.as<Dict>()->entries) {
    if (!e.key.is_empty())
      TFL_TRY(
          dict_set(interp, dict.as<Dict>(), e.key.is_str() ? interp.str(interp.intern(e.key.as<Str>()->text)) : e.key, e.value));
  }
  if (!dict_entry(dict.as<Dict>(), interp.sym.__module__)) {
    // The module of the script that asks: a class that namedtuple makes belongs to who called that.
    const Frame* asking = interp.frame;
    while (asking && of_library(asking->code)) asking = asking->back;
    Value module = asking ? dict_get_str(asking->globals, interp.sym.__name__) : Value();
    dict_set_str(dict.as<Dict>(), interp.sym.__module__, module.is_str() ? module : interp.str(interp.sym.__main__));
  }
  Value keywords;
  if (!args.keywords.empty()) {
    keywords = interp.dict();
    for (size_t i = 0; i < args.keywords.size(); ++i)
      dict_set_str(keywords.as<Dict>(), args.keywords[i], args.values[args.count + i]);
  }
  return make_class(interp, chosen, interp.str(interp.intern(name.as<Str>()->text)), bases, std::move(dict), keywords);
}

Result<Value> repr_type(Interp& interp, const Value& self) {
  Type* t = self.as<Type>();
  if (t->module->text == "builtins") return interp.strf("<class '{}'>", t->qualname->text);
  return interp.strf("<class '{}.{}'>", t->module->text, t->qualname->text);
}

Result<Value> get_type_item(Interp& interp, const Value& self, const Value& key) {
  Type* t = self.as<Type>();
  const Value* entry = lookup(interp, t, interp.sym.__class_getitem__);
  if (entry) {
    Value bound = TFL_TRY(bind_attribute(interp, Value(*entry), {}, t));
    return interp.call(bound, {key});
  }
  const Types& types = interp.types;
  for (const Type* generic : {types.list, types.dict, types.tuple, types.set, types.frozenset, types.type, types.enumerate}) {
    if (t == generic || (t->script && t->is_subtype_of(generic))) return generic_alias(interp, self, key);
  }
  return fail(ErrorKind::TypeError, "type '{}' is not subscriptable", t->name->text);
}

Result<bool> truth_type(Interp&, const Value&) { return true; }

Result<Value> binary_type(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::BitOr) return union_type(interp, a, b);
  return interp.not_implemented;
}

template <Value (*get)(Interp&, Type*)>
Result<Value> type_getter(Interp& interp, Value* args) {
  if (!args[0].is(Kind::Type)) return Value::none();
  return get(interp, args[0].as<Type>());
}

Value get_name(Interp& interp, Type* t) { return interp.str(t->name); }
Value get_qualname(Interp& interp, Type* t) { return interp.str(t->qualname); }
Value get_module(Interp& interp, Type* t) { return interp.str(t->module); }
Value get_base(Interp&, Type* t) { return t->base ? Value::share(t->base) : Value::none(); }
Value get_bases(Interp& interp, Type* t) {
  if (!t->bases.is_empty()) return t->bases;
  if (!t->base) return interp.empty_tuple;
  return interp.tuple({Value::share(t->base)});
}
Value get_mro(Interp& interp, Type* t) {
  std::vector<Value> chain;
  for (Lineage l(t); l.at; l.next()) chain.push_back(Value::share(l.at));
  return interp.tuple(chain);
}
Result<Value> get_doc(Interp& interp, Value* args) {
  return args[0].is(Kind::Type) ? doc_of_type(interp, args[0].as<Type>()) : Result<Value>(Value::none());
}
Value get_dict(Interp& interp, Type* t) {
  // A copy: the names of a class change through the class, which keeps the caches right.
  Value copy = interp.dict();
  for (const Dict::Entry& e : t->dict.as<Dict>()->entries) {
    if (e.key.is_str()) dict_set_str(copy.as<Dict>(), e.key.as<Str>(), e.value);
  }
  return copy;
}
Value get_annotations(Interp& interp, Type* t) {
  Dict* d = t->dict.as<Dict>();
  if (const Value* own = dict_entry(d, interp.sym.__annotations__)) return *own;
  Value made = interp.dict();
  if (t->script) {
    dict_set_str(d, interp.sym.__annotations__, made);
    ++interp.type_epoch;
  }
  return made;
}

Result<Value> mro(Interp& interp, Value* args) {
  Value chain = get_mro(interp, args[0].as<Type>());
  return to_list(interp, chain);
}

Result<Value> subclasses(Interp& interp, Value* args) {
  std::vector<Value> found;
  for (Type* t : interp.all_types()) {
    bool direct = t->base == args[0].as<Type>();
    if (!t->bases.is_empty()) {
      auto bases = t->bases.as<Tuple>()->span();
      direct = std::any_of(bases.begin(), bases.end(), [&](const Value& b) { return b.identical(args[0]); });
    }
    if (direct) found.push_back(Value::share(t));
  }
  return interp.list(std::move(found));
}

Result<Value> instance_check(Interp& interp, Value* args) {
  return Value::boolean(TFL_TRY(is_plain_instance(interp, args[1], args[0])));
}
Result<Value> subclass_check(Interp& interp, Value* args) {
  if (!args[1].is(Kind::Type)) return fail(ErrorKind::TypeError, "issubclass() arg 1 must be a class");
  return Value::boolean(TFL_TRY(is_plain_subclass(interp, args[1], args[0])));
}

constexpr NativeDef::How kGetter = NativeDef::How::Getter;
constexpr NativeDef::How kMethod = NativeDef::How::Method;
constexpr NativeDef kTypeMethods[] = {
    {"__name__", "self", type_getter<get_name>, nullptr, kGetter},
    {"__qualname__", "self", type_getter<get_qualname>, nullptr, kGetter},
    {"__module__", "self", type_getter<get_module>, nullptr, kGetter},
    {"__base__", "self", type_getter<get_base>, nullptr, kGetter},
    {"__bases__", "self", type_getter<get_bases>, nullptr, kGetter},
    {"__mro__", "self", type_getter<get_mro>, nullptr, kGetter},
    {"__dict__", "self", type_getter<get_dict>, nullptr, kGetter},
    {"__doc__", "self", get_doc, nullptr, kGetter},
    {"__annotations__", "self", type_getter<get_annotations>, nullptr, kGetter},
    {"mro", "self, /", mro, nullptr, kMethod},
    {"__instancecheck__", "self, instance, /", instance_check, nullptr, kMethod},
    {"__subclasscheck__", "self, subclass, /", subclass_check, nullptr, kMethod},
    {"__subclasses__", "self, /", subclasses, nullptr, kMethod},
};

}  // namespace

Result<Value> doc_of_type(Interp& interp, Type* t) {
  const Value* doc = t->script ? dict_entry(t->dict.as<Dict>(), interp.sym.__doc__) : nullptr;
  if (doc && !doc->is_none()) return *doc;
  if (!t->doc_code.is_empty()) return doc_of(interp, *t->doc_code.as<Code>());
  // What a native module makes with new_type() has None there.
  Value module = interp.find_module(t->module->text);
  bool made_here = !t->script || (module.is(Kind::Module) && module.as<Module>()->library);
  return made_here ? native_doc(interp, t, Value()) : Value::none();
}

Result<Value> class_hook(Interp& interp, const Value& cls, std::string_view name, std::initializer_list<Value> args) {
  Str* hook = interp.intern(name);
  const Value* entry = script_lookup(interp, cls.as<Type>(), hook);
  if (!entry) return cls.as<Type>()->type->script ? call_special(interp, cls, hook, args) : Result<Value>(Value());
  Value bound = TFL_TRY(bind_attribute(interp, Value(*entry), {}, cls.as<Type>()));
  return interp.call(bound, args);
}

Result<uint64_t> identity_hash(Interp&, const Value& self) { return reinterpret_cast<uintptr_t>(self.counted()) >> 4; }

const Slots object_slots = {.kind = Kind::Instance,
                            .destroy = destroy_instance,
                            .construct = construct_object,
                            .repr = repr_object,
                            .hash = identity_hash};

const Slots type_slots = {.kind = Kind::Type,
                          .destroy = destroy_type,
                          .construct = construct_type,
                          .repr = repr_type,
                          .hash = identity_hash,
                          .truth = truth_type,
                          .get_item = get_type_item,
                          .binary = binary_type};

std::span<const NativeDef> type_methods() { return kTypeMethods; }

}  // namespace tfl
