// The types `object` and `type`.
#include "frontend/core/attributes.h"
#include "frontend/core/code.h"
#include "frontend/core/native.h"
#include "frontend/core/registry.h"
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

Result<Value> construct_type(Interp& interp, Type*, CallArgs& args) {
  if (args.count != 3 || !args.keywords.empty()) return fail(ErrorKind::TypeError, "type() takes 1 or 3 arguments");
  const Value& name = args.values[0];
  const Value& bases = args.values[1];
  const Value& space = args.values[2];
  if (!name.is_str()) return fail(ErrorKind::TypeError, "type.__new__() argument 1 must be str, not {}", interp.type_name(name));
  if (!bases.is(Kind::Tuple))
    return fail(ErrorKind::TypeError, "type.__new__() argument 2 must be tuple, not {}", interp.type_name(bases));
  if (!space.is(Kind::Dict))
    return fail(ErrorKind::TypeError, "type.__new__() argument 3 must be dict, not {}", interp.type_name(space));
  Value base;
  auto given = bases.as<Tuple>()->span();
  if (given.size() > 1) {
    return fail(ErrorKind::TypeError, "multiple inheritance is not supported: '{}' has {} bases", name.as<Str>()->text,
                given.size());
  }
  if (given.size() == 1) base = given[0];
  Value dict = interp.dict();
  for (const Dict::Entry& e : space.as<Dict>()->entries) {
    if (!e.key.is_empty())
      TFL_TRY(
          dict_set(interp, dict.as<Dict>(), e.key.is_str() ? interp.str(interp.intern(e.key.as<Str>()->text)) : e.key, e.value));
  }
  if (!dict_entry(dict.as<Dict>(), interp.sym.__module__)) {
    dict_set_str(dict.as<Dict>(), interp.sym.__module__, interp.str(interp.sym.__main__));
  }
  return make_class(interp, interp.str(interp.intern(name.as<Str>()->text)), base, std::move(dict), Value());
}

Result<Value> repr_type(Interp& interp, const Value& self) {
  Type* t = self.as<Type>();
  if (t->script) {
    Value own = TFL_TRY(class_hook(interp, self, "__class_repr__", {}));
    if (own.is_str()) return own;
  }
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

Result<Value> iter_type(Interp& interp, const Value& self) {
  Value it = TFL_TRY(class_hook(interp, self, "__class_iter__", {}));
  if (it.is_empty()) return fail(ErrorKind::TypeError, "'type' object is not iterable");
  return it;
}

Result<int64_t> length_type(Interp& interp, const Value& self) {
  Value n = TFL_TRY(class_hook(interp, self, "__class_len__", {}));
  if (n.is_empty()) return fail(ErrorKind::TypeError, "object of type 'type' has no len()");
  return to_index(interp, n);
}

Result<bool> truth_type(Interp&, const Value&) { return true; }

Result<bool> contains_type(Interp& interp, const Value& self, const Value& item) {
  Value yes = TFL_TRY(class_hook(interp, self, "__class_contains__", {item}));
  if (yes.is_empty()) return fail(ErrorKind::TypeError, "argument of type 'type' is not iterable");
  return truth(interp, yes);
}

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
Value get_bases(Interp& interp, Type* t) { return t->base ? interp.tuple({Value::share(t->base)}) : interp.empty_tuple; }
Value get_mro(Interp& interp, Type* t) {
  std::vector<Value> chain;
  for (Type* s = t; s; s = s->base) chain.push_back(Value::share(s));
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
    if (t->base == args[0].as<Type>()) found.push_back(Value::share(t));
  }
  return interp.list(std::move(found));
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
  const Value* entry = script_lookup(interp, cls.as<Type>(), interp.intern(name));
  if (!entry) return Value();
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
                          .length = length_type,
                          .get_item = get_type_item,
                          .contains = contains_type,
                          .iter = iter_type,
                          .binary = binary_type};

std::span<const NativeDef> type_methods() { return kTypeMethods; }

}  // namespace tfl
