// The dunder methods of native types, for scripts that name them: list.__getitem__, super().__setattr__, x.__len__(). Each calls the
// slot of the native type, never the script's own method.
#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/class.h"

namespace tfl {

namespace {

const Slots& slots_of(Interp& interp, const Value& v) { return *interp.type_of(v)->slots; }

/// A sequence's own + and * have no other side that might know better: they raise.
Result<Value> sequence_method(Interp& interp, BinaryOp op, const Value& self, const Value& other) {
  if (op == BinaryOp::Add) return binary_error(interp, op, self, other, false);
  return slots_of(interp, self).binary(interp, op, self, Value::integer(TFL_TRY(to_index(interp, other))));
}
bool is_sequence_operation(BinaryOp op, const Value& v) {
  return (op == BinaryOp::Add || op == BinaryOp::Mul) &&
         (v.is_str() || v.is(Kind::List) || v.is(Kind::Tuple) || v.is(Kind::Bytes) || v.is(Kind::ByteArray));
}

template <BinaryOp op>
Result<Value> binary_method(Interp& interp, Value* args) {
  const Slots& s = slots_of(interp, args[0]);
  Value r = interp.not_implemented;
  if (s.binary) r = TFL_TRY(s.binary(interp, op, args[0], args[1]));
  if (is_sequence_operation(op, args[0]) && is_not_implemented(interp, r)) return sequence_method(interp, op, args[0], args[1]);
  return r;
}
template <BinaryOp op>
Result<Value> reflected_method(Interp& interp, Value* args) {
  const Slots& s = slots_of(interp, args[0]);
  Value r = interp.not_implemented;
  if (s.binary) r = TFL_TRY(s.binary(interp, op, args[1], args[0]));
  if (is_sequence_operation(op, args[0]) && is_not_implemented(interp, r)) return sequence_method(interp, op, args[0], args[1]);
  return r;
}
template <BinaryOp op>
Result<Value> inplace_method(Interp& interp, Value* args) {
  const Slots& s = slots_of(interp, args[0]);
  return s.inplace ? s.inplace(interp, op, args[0], args[1]) : Result<Value>(interp.not_implemented);
}
template <CompareOp op>
Result<Value> compare_method(Interp& interp, Value* args) {
  const Slots& s = slots_of(interp, args[0]);
  if (s.compare) {
    Value r = TFL_TRY(s.compare(interp, op, args[0], args[1]));
    if (!is_not_implemented(interp, r)) return r;
  }
  if (op == CompareOp::Eq && args[0].identical(args[1])) return Value::boolean(true);
  if (op == CompareOp::Ne) {
    // As object does it: the opposite of what == says.
    Value r = TFL_TRY(call_special(interp, args[0], interp.sym.__eq__, {args[1]}));
    if (!r.is_empty() && !is_not_implemented(interp, r)) {
      bool same = TFL_TRY(truth(interp, r));
      return Value::boolean(!same);
    }
  }
  return interp.not_implemented;
}
template <UnaryOp op>
Result<Value> unary_method(Interp& interp, Value* args) {
  return slots_of(interp, args[0]).unary(interp, op, args[0]);
}

Result<Value> repr_method(Interp& interp, Value* args) {
  if (auto f = slots_of(interp, args[0]).repr) return f(interp, args[0]);
  return object_slots.repr(interp, args[0]);
}
Result<Value> str_method(Interp& interp, Value* args) {
  const Slots& s = slots_of(interp, args[0]);
  if (s.str) return s.str(interp, args[0]);
  return repr(interp, args[0]);
}
Result<Value> format_method(Interp& interp, Value* args) {
  if (!args[1].is_str())
    return fail(ErrorKind::TypeError, "__format__() argument must be str, not {}", interp.type_name(args[1]));
  const Slots& s = slots_of(interp, args[0]);
  if (s.format) return s.format(interp, args[0], args[1].as<Str>()->text);
  if (args[1].as<Str>()->text.empty()) return to_str(interp, args[0]);
  return fail(ErrorKind::TypeError, "unsupported format string passed to {}.__format__", interp.type_name(args[0]));
}
Result<Value> hash_method(Interp& interp, Value* args) {
  const Slots& s = slots_of(interp, args[0]);
  if (!s.hash) {
    if (!args[0].is_object()) return Value::integer(static_cast<int64_t>(TFL_TRY(hash_value(interp, args[0]))));
    return fail(ErrorKind::TypeError, "unhashable type: '{}'", interp.type_name(args[0]));
  }
  uint64_t h = TFL_TRY(s.hash(interp, args[0]));
  return Value::integer(static_cast<int64_t>(h));
}
Result<Value> bool_method(Interp& interp, Value* args) {
  bool yes = TFL_TRY(truth(interp, unboxed(args[0])));
  return Value::boolean(yes);
}
Result<Value> len_method(Interp& interp, Value* args) {
  int64_t n = TFL_TRY(slots_of(interp, args[0]).length(interp, args[0]));
  return Value::integer(n);
}
Result<Value> getitem_method(Interp& interp, Value* args) {
  auto r = slots_of(interp, args[0]).get_item(interp, args[0], args[1]);
  if (!r && args[0].is(Kind::Dict) && error_is(r.error(), ErrorKind::KeyError)) {
    Value made = TFL_TRY(call_special(interp, args[0], interp.sym.__missing__, {args[1]}));
    if (!made.is_empty()) return made;
  }
  return r;
}
Result<Value> setitem_method(Interp& interp, Value* args) {
  TFL_TRY(slots_of(interp, args[0]).set_item(interp, args[0], args[1], args[2]));
  return Value::none();
}
Result<Value> delitem_method(Interp& interp, Value* args) {
  TFL_TRY(slots_of(interp, args[0]).set_item(interp, args[0], args[1], Value()));
  return Value::none();
}
Result<Value> contains_method(Interp& interp, Value* args) {
  bool yes = TFL_TRY(slots_of(interp, args[0]).contains(interp, args[0], args[1]));
  return Value::boolean(yes);
}
Result<Value> iter_method(Interp& interp, Value* args) { return slots_of(interp, args[0]).iter(interp, args[0]); }
Result<Value> next_method(Interp& interp, Value* args) {
  interp.ended.forget();
  Value item = TFL_TRY(slots_of(interp, args[0]).next(interp, args[0]));
  if (item.is_empty()) return stop_iteration(interp);
  return item;
}
Result<Value> call_method(Interp& interp, CallArgs& args) {
  if (args.count == 0) return fail(ErrorKind::TypeError, "descriptor '__call__' needs an argument");
  Value self = args.values[0];
  CallArgs rest{args.values + 1, args.count - 1, args.keywords};
  if (self.is(Kind::Type)) return construct_instance(interp, self.as<Type>(), rest);
  return interp.call(self, rest);
}
Result<Value> number_method(Interp&, Value* args) {
  const Value& v = unboxed(args[0]);
  return v.is_bool() ? Value::integer(v.as_int()) : v;
}
Result<Value> float_method(Interp& interp, Value* args) {
  double v = TFL_TRY(to_double(interp, unboxed(args[0])));
  return Value::real(v);
}
Result<Value> int_method(Interp& interp, Value* args) { return to_int_value(interp, unboxed(args[0])); }

// ------------------------------------------------------------------------------------------------------------- object's

Result<Str*> name_argument(Interp& interp, const Value& v) {
  if (!v.is_str()) return fail(ErrorKind::TypeError, "attribute name must be string, not '{}'", interp.type_name(v));
  return interp.intern(v.as<Str>()->text);
}
Result<Value> getattribute_method(Interp& interp, Value* args) {
  Str* name = TFL_TRY(name_argument(interp, args[1]));
  Value found;
  if (args[0].is(Kind::Type) || args[0].is(Kind::Module) || args[0].is(Kind::Super)) {
    found = TFL_TRY(find_attr(interp, args[0], name));
  } else {
    found = TFL_TRY(generic_find_attr(interp, args[0], interp.type_of(args[0]), name));
  }
  if (found.is_empty()) return no_attribute(interp, args[0], name);
  return found;
}
Result<Value> setattr_method(Interp& interp, Value* args) {
  Str* name = TFL_TRY(name_argument(interp, args[1]));
  if (args[0].is(Kind::Type))
    TFL_TRY(class_set_attr(interp, args[0].as<Type>(), name, args[2]));
  else
    TFL_TRY(generic_set_attr(interp, args[0], name, args[2]));
  return Value::none();
}
Result<Value> delattr_method(Interp& interp, Value* args) {
  Str* name = TFL_TRY(name_argument(interp, args[1]));
  if (args[0].is(Kind::Type))
    TFL_TRY(class_set_attr(interp, args[0].as<Type>(), name, Value()));
  else
    TFL_TRY(generic_set_attr(interp, args[0], name, Value()));
  return Value::none();
}
Result<Value> dir_method(Interp& interp, Value* args) {
  std::vector<Value> names = TFL_TRY(attribute_names(interp, args[0]));
  return interp.list(std::move(names));
}
Result<Value> class_getter(Interp& interp, Value* args) { return Value::share(interp.type_of(args[0])); }
Result<Value> dict_getter(Interp& interp, Value* args) {
  if (interp.type_of(args[0])->slotted) return no_attribute(interp, args[0], interp.sym.__dict__);
  if (args[0].is(Kind::Module)) return visible_names(interp, args[0].as<Module>());
  Dict* d = instance_dict(interp, args[0], true);
  if (!d) return no_attribute(interp, args[0], interp.sym.__dict__);
  return Value::share(d);
}

Result<Value> init_subclass(Interp&, CallArgs& args) {
  if (args.keywords.empty()) return Value::none();
  bool known = args.count > 0 && args.values[0].is(Kind::Type);
  return fail(ErrorKind::TypeError, "{}.__init_subclass__() takes no keyword arguments",
              known ? args.values[0].as<Type>()->qualname->text : "object");
}

Result<Value> new_method(Interp& interp, CallArgs& args) {
  if (args.count == 0) return fail(ErrorKind::TypeError, "object.__new__(): not enough arguments");
  if (!args.values[0].is(Kind::Type)) {
    return fail(ErrorKind::TypeError, "object.__new__(X): X is not a type object ({})", interp.type_name(args.values[0]));
  }
  Type* type = args.values[0].as<Type>();
  CallArgs rest{args.values + 1, args.count - 1, args.keywords};
  if (!type->slots->construct) return fail(ErrorKind::TypeError, "cannot create '{}' instances", type->name->text);
  return type->slots->construct(interp, type, rest);
}

Result<Value> init_method(Interp& interp, CallArgs& args) {
  if (args.count == 0) return fail(ErrorKind::TypeError, "descriptor '__init__' of 'object' object needs an argument");
  Value self = args.values[0];
  CallArgs rest{args.values + 1, args.count - 1, args.keywords};
  if (self.is(Kind::List)) {
    Value made = TFL_TRY(list_slots.construct(interp, interp.types.list, rest));
    self.as<List>()->items.swap(made.as<List>()->items);
  } else if (self.is(Kind::Dict)) {
    Value made = TFL_TRY(dict_slots.construct(interp, interp.types.dict, rest));
    Dict* a = self.as<Dict>();
    Dict* b = made.as<Dict>();
    if (a->live == 0) {
      a->entries.swap(b->entries);
      a->index.swap(b->index);
      std::swap(a->live, b->live);
      std::swap(a->head, b->head);
      ++a->keys_version;
    } else {
      for (const Dict::Entry& e : b->entries) {
        if (!e.key.is_empty()) TFL_TRY(dict_set(interp, a, e.key, e.value));
      }
    }
  } else if (interp.type_of(self)->slots == &set_slots) {
    Value made = TFL_TRY(set_slots.construct(interp, interp.types.set, rest));
    TFL_TRY(for_each(interp, made, [&](Value item) -> Result<bool> {
      TFL_TRY(set_add(interp, self, item));
      return true;
    }));
  } else if (self.is(Kind::Instance) && interp.type_of(self)->slots == &object_slots && rest.total() > 0) {
    Type* type = interp.type_of(self);
    std::string_view name = script_init(interp, type) ? std::string_view("object") : std::string_view(type->name->text);
    return fail(ErrorKind::TypeError, "{}.__init__() takes exactly one argument (the instance to initialize)", name);
  }
  return Value::none();
}

// ------------------------------------------------------------------------------------------------------------ the table

bool always(const Type*) { return true; }
bool is_object(const Type* t) { return t->base == nullptr; }
bool is_number(const Type* t) { return t->slots == &int_slots || t->slots == &float_slots; }
bool is_int(const Type* t) { return t->slots == &int_slots; }
bool is_float(const Type* t) { return t->slots == &float_slots; }
bool has_length(const Type* t) { return t->slots->length && t->slots->kind != Kind::Type; }
bool has_get_item(const Type* t) { return t->slots->get_item; }
bool has_set_item(const Type* t) { return t->slots->set_item; }
bool has_contains(const Type* t) { return t->slots->contains && t->slots->kind != Kind::Type; }
bool has_iter(const Type* t) { return t->slots->iter && t->slots->kind != Kind::Type; }
bool has_next(const Type* t) { return t->slots->next; }
bool has_hash(const Type* t) { return t->slots->hash && t->base; }
bool has_truth(const Type* t) { return t->slots->truth && t->slots->kind != Kind::Type; }
bool has_compare(const Type* t) { return t->slots->compare; }
bool has_equality(const Type* t) { return t->slots->compare || !t->base; }
bool has_repr(const Type* t) { return t->slots->repr; }
bool has_str(const Type* t) { return t->slots->str || !t->base; }
bool has_format(const Type* t) { return t->slots->format || !t->base; }
bool has_inplace(const Type* t) { return t->slots->inplace; }
bool has_construct(const Type* t) { return t->slots->construct; }
bool is_callable_type(const Type* t) {
  return t->slots->call || t->slots->kind == Kind::Type || t->slots->kind == Kind::Function ||
         t->slots->kind == Kind::NativeFunction || t->slots->kind == Kind::BoundMethod;
}

/// Which operators a type has, as far as its kind tells.
template <BinaryOp op>
bool has_binary(const Type* t) {
  if (!t->slots->binary) return false;
  bool additive = op == BinaryOp::Add || op == BinaryOp::Mul;
  switch (t->slots->kind) {
    case Kind::List:
    case Kind::Tuple: return additive;
    case Kind::Str:
    case Kind::ByteArray:
    case Kind::Bytes: return additive || op == BinaryOp::Mod;
    case Kind::Set:
    case Kind::DictView: return op == BinaryOp::Sub || op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor;
    case Kind::Dict:
    case Kind::Type: return op == BinaryOp::BitOr;
    default: break;
  }
  if (t->slots == &float_slots) return op <= BinaryOp::Pow;
  if (t->slots == &int_slots) return op != BinaryOp::MatMul;
  return true;
}
template <BinaryOp op>
bool has_reflected(const Type* t) {
  if (!has_binary<op>(t)) return false;
  Kind k = t->slots->kind;
  return !(op == BinaryOp::Add &&
           (k == Kind::List || k == Kind::Tuple || k == Kind::Str || k == Kind::Bytes || k == Kind::ByteArray));
}
template <BinaryOp op>
bool has_inplace_op(const Type* t) {
  return has_inplace(t) && has_binary<op>(t);
}
bool has_unary(const Type* t) { return t->slots->unary; }
bool has_invert(const Type* t) { return t->slots->unary && t->slots != &float_slots; }

struct WrapperRow {
  NativeDef def;
  bool (*applies)(const Type*);
};

constexpr NativeDef::How kGetter = NativeDef::How::Getter;
constexpr NativeDef::How kMethod = NativeDef::How::Method;
constexpr NativeDef::How kStatic = NativeDef::How::StaticMethod;

#define TFL_BINARY(name, op)                                                                                                   \
  {{"__" #name "__", "self, other, /", binary_method<BinaryOp::op>, nullptr, kMethod}, has_binary<BinaryOp::op>},              \
      {{"__r" #name "__", "self, other, /", reflected_method<BinaryOp::op>, nullptr, kMethod}, has_reflected<BinaryOp::op>}, { \
    {"__i" #name "__", "self, other, /", inplace_method<BinaryOp::op>, nullptr, kMethod}, has_inplace_op<BinaryOp::op>         \
  }

constexpr WrapperRow kWrappers[] = {
    {{"__class__", "self", class_getter, nullptr, kGetter}, is_object},
    {{"__dict__", "self", dict_getter, nullptr, kGetter}, is_object},
    {{"__getattribute__", "self, name, /", getattribute_method, nullptr, kMethod}, is_object},
    {{"__setattr__", "self, name, value, /", setattr_method, nullptr, kMethod}, is_object},
    {{"__delattr__", "self, name, /", delattr_method, nullptr, kMethod}, is_object},
    {{"__dir__", "self, /", dir_method, nullptr, kMethod}, is_object},
    {{"__init_subclass__", "", nullptr, init_subclass, NativeDef::How::ClassMethod}, is_object},
    {{"__new__", "", nullptr, new_method, kStatic}, has_construct},
    {{"__init__", "", nullptr, init_method, kMethod}, always},
    {{"__repr__", "self, /", repr_method, nullptr, kMethod}, has_repr},
    {{"__str__", "self, /", str_method, nullptr, kMethod}, has_str},
    {{"__format__", "self, format_spec, /", format_method, nullptr, kMethod}, has_format},
    {{"__hash__", "self, /", hash_method, nullptr, kMethod}, is_object},
    {{"__hash__", "self, /", hash_method, nullptr, kMethod}, has_hash},
    {{"__bool__", "self, /", bool_method, nullptr, kMethod}, has_truth},
    {{"__bool__", "self, /", bool_method, nullptr, kMethod}, is_number},
    {{"__len__", "self, /", len_method, nullptr, kMethod}, has_length},
    {{"__getitem__", "self, key, /", getitem_method, nullptr, kMethod}, has_get_item},
    {{"__setitem__", "self, key, value, /", setitem_method, nullptr, kMethod}, has_set_item},
    {{"__delitem__", "self, key, /", delitem_method, nullptr, kMethod}, has_set_item},
    {{"__contains__", "self, key, /", contains_method, nullptr, kMethod}, has_contains},
    {{"__iter__", "self, /", iter_method, nullptr, kMethod}, has_iter},
    {{"__next__", "self, /", next_method, nullptr, kMethod}, has_next},
    {{"__call__", "", nullptr, call_method, kMethod}, is_callable_type},
    {{"__eq__", "self, other, /", compare_method<CompareOp::Eq>, nullptr, kMethod}, has_equality},
    {{"__ne__", "self, other, /", compare_method<CompareOp::Ne>, nullptr, kMethod}, has_equality},
    {{"__lt__", "self, other, /", compare_method<CompareOp::Lt>, nullptr, kMethod}, has_compare},
    {{"__le__", "self, other, /", compare_method<CompareOp::Le>, nullptr, kMethod}, has_compare},
    {{"__gt__", "self, other, /", compare_method<CompareOp::Gt>, nullptr, kMethod}, has_compare},
    {{"__ge__", "self, other, /", compare_method<CompareOp::Ge>, nullptr, kMethod}, has_compare},
    {{"__neg__", "self, /", unary_method<UnaryOp::Minus>, nullptr, kMethod}, has_unary},
    {{"__pos__", "self, /", unary_method<UnaryOp::Plus>, nullptr, kMethod}, has_unary},
    {{"__invert__", "self, /", unary_method<UnaryOp::Invert>, nullptr, kMethod}, has_invert},
    {{"__int__", "self, /", number_method, nullptr, kMethod}, is_int},
    {{"__index__", "self, /", number_method, nullptr, kMethod}, is_int},
    {{"__int__", "self, /", int_method, nullptr, kMethod}, is_float},
    {{"__trunc__", "self, /", int_method, nullptr, kMethod}, is_number},
    {{"__float__", "self, /", float_method, nullptr, kMethod}, is_number},
    TFL_BINARY(add, Add),
    TFL_BINARY(sub, Sub),
    TFL_BINARY(mul, Mul),
    TFL_BINARY(truediv, Div),
    TFL_BINARY(floordiv, FloorDiv),
    TFL_BINARY(mod, Mod),
    TFL_BINARY(pow, Pow),
    TFL_BINARY(matmul, MatMul),
    TFL_BINARY(lshift, LShift),
    TFL_BINARY(rshift, RShift),
    TFL_BINARY(and, BitAnd),
    TFL_BINARY(or, BitOr),
    TFL_BINARY(xor, BitXor),
};
#undef TFL_BINARY

}  // namespace

void install_wrappers(Interp& interp, Type* type) {
  type->wrappers = true;
  if (type->base && type->base->slots == type->slots) return;  // the base's methods serve
  Dict* d = type->dict.as<Dict>();
  for (const WrapperRow& row : kWrappers) {
    if (!row.applies(type) || dict_entry(d, interp.intern(row.def.name))) continue;
    add_methods(interp, type, {&row.def, 1});
  }
  if (!type->slots->hash && type->base && type->slots->compare) dict_set_str(d, interp.sym.__hash__, Value::none());
  ++interp.type_epoch;
}

std::span<const NativeDef> object_methods() { return {}; }

}  // namespace tfl
