// property, staticmethod, classmethod, super.
#include "frontend/core/attributes.h"
#include "frontend/core/frame.h"
#include "frontend/core/native.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/class.h"

namespace tfl {

namespace {

Value or_none(const Value& v) { return v.is_empty() ? Value::none() : v; }

// ------------------------------------------------------------------------------------------------------------- property

Result<Value> construct_property(Interp& interp, Type* type, CallArgs& args) {
  Value out[4];
  TFL_TRY(take_arguments(interp, "property", args, {"fget", "fset", "fdel", "doc"}, 0, 0, out));
  Property* p = interp.allocate<Property>(type);
  p->get = out[0];
  p->set = out[1];
  p->del = out[2];
  p->doc = out[3];
  return Value::adopt(p);
}

Result<Value> get_property(Interp& interp, const Value& self, Str* name) {
  Property* p = self.as<Property>();
  Symbols& sym = interp.sym;
  if (name == sym.fget) return or_none(p->get);
  if (name == sym.fset) return or_none(p->set);
  if (name == sym.fdel) return or_none(p->del);
  if (name == sym.__doc__) {
    if (!p->doc.is_empty() && !p->doc.is_none()) return p->doc;
    if (p->get.is_empty() || p->get.is_none()) return Value::none();
    Value doc = TFL_TRY(find_attr(interp, p->get, sym.__doc__));
    return or_none(doc);
  }
  return Value();
}

template <Value Property::* part>
Result<Value> with_part(Interp& interp, Value* args) {
  Property* p = args[0].as<Property>();
  Property* copy = interp.allocate<Property>(p->type);
  copy->get = p->get;
  copy->set = p->set;
  copy->del = p->del;
  copy->doc = p->doc;
  copy->name = p->name;
  copy->*part = args[1];
  return Value::adopt(copy);
}

Result<Value> property_get(Interp& interp, Value* args) {
  if (args[1].is_none()) return args[0];
  return bind_attribute(interp, args[0], args[1], interp.type_of(args[1]));
}

constexpr NativeDef kPropertyMethods[] = {
    method("getter", "self, fget, /", with_part<&Property::get>),
    method("setter", "self, fset, /", with_part<&Property::set>),
    method("deleter", "self, fdel, /", with_part<&Property::del>),
    method("__get__", "self, instance, owner=None, /", property_get),
};

// ------------------------------------------------------------------------------------------ staticmethod and classmethod

Result<Value> construct_wrapper(Interp& interp, Type* type, CallArgs& args) {
  Value out[1];
  TFL_TRY(take_arguments(interp, type->name->text, args, {"function"}, 1, 1, out));
  Wrapper* w = interp.allocate<Wrapper>(type);
  w->kind = static_cast<uint8_t>(type->is_subtype_of(interp.types.staticmethod) ? Kind::StaticMethod : Kind::ClassMethod);
  w->function = out[0];
  return Value::adopt(w);
}

Result<Value> repr_wrapper(Interp& interp, const Value& self) {
  std::string inner = TFL_TRY(repr_text(interp, self.as<Wrapper>()->function));
  return interp.strf("<{}({})>", interp.type_name(self), inner);
}

Result<Value> get_wrapper(Interp& interp, const Value& self, Str* name) {
  if (name == interp.intern("__func__") || name == interp.sym.__wrapped__) return self.as<Wrapper>()->function;
  return find_attr(interp, self.as<Wrapper>()->function, name);
}

Result<Value> call_wrapper(Interp& interp, const Value& self, CallArgs& args) {
  if (self.is(Kind::ClassMethod)) return fail(ErrorKind::TypeError, "'classmethod' object is not callable");
  return interp.call(self.as<Wrapper>()->function, args);
}

// ---------------------------------------------------------------------------------------------------------------- super

/// The class and the first argument of the function that calls super() without arguments.
Result<Value> super_of_frame(Interp& interp, Value& self) {
  Frame* f = interp.frame;
  if (!f || f->code->params.empty()) return fail(ErrorKind::RuntimeError, "super(): no arguments");
  self = f->registers[0];
  if (f->code->positional == 0 && f->code->var_positional) {
    if (self.is(Kind::Tuple) && self.as<Tuple>()->size > 0) self = Value(self.as<Tuple>()->items[0]);
  }
  if (self.is(Kind::Cell)) self = Value(self.as<Cell>()->value);
  if (self.is_empty()) return fail(ErrorKind::RuntimeError, "super(): arg[0] deleted");
  for (size_t i = 0; i < f->code->free_names.size(); ++i) {
    if (f->code->free_names[i] != interp.sym.__class__) continue;
    const Value& cell = f->registers[f->code->free_registers[i]];
    if (!cell.is(Kind::Cell) || cell.as<Cell>()->value.is_empty())
      return fail(ErrorKind::RuntimeError, "super(): empty __class__ cell");
    return cell.as<Cell>()->value;
  }
  return fail(ErrorKind::RuntimeError, "super(): __class__ cell not found");
}

Result<Value> construct_super(Interp& interp, Type* type, CallArgs& args) {
  Value after, self;
  if (!args.keywords.empty()) return fail(ErrorKind::TypeError, "super() takes no keyword arguments");
  if (args.count > 2) return fail(ErrorKind::TypeError, "super() expected at most 2 arguments, got {}", args.count);
  if (args.count == 0) {
    after = TFL_TRY(super_of_frame(interp, self));
  } else {
    after = args.values[0];
    if (!after.is(Kind::Type))
      return fail(ErrorKind::TypeError, "super() argument 1 must be a type, not {}", interp.type_name(after));
    if (args.count < 2) return fail(ErrorKind::TypeError, "super() needs an object as its second argument");
    self = args.values[1];
  }
  Type* cls = after.as<Type>();
  bool fits = interp.type_of(self)->is_subtype_of(cls) || (self.is(Kind::Type) && self.as<Type>()->is_subtype_of(cls));
  if (!fits) return fail(ErrorKind::TypeError, "super(type, obj): obj must be an instance or subtype of type");
  Super* s = interp.allocate<Super>(type);
  s->after = cls;
  s->self = std::move(self);
  return Value::adopt(s);
}

Result<Value> repr_super(Interp& interp, const Value& self) {
  Super* s = self.as<Super>();
  Type* t = s->self.is(Kind::Type) ? s->self.as<Type>() : interp.type_of(s->self);
  return interp.strf("<super: <class '{}'>, <{} object>>", s->after->name->text, t->name->text);
}

}  // namespace

extern const Slots property_slots, wrapper_slots, super_slots;
const Slots property_slots = {.kind = Kind::Property,
                              .destroy = destroy_object<Property>,
                              .construct = construct_property,
                              .hash = identity_hash,
                              .get_attr = get_property};
const Slots wrapper_slots = {.kind = Kind::StaticMethod,
                             .destroy = destroy_object<Wrapper>,
                             .construct = construct_wrapper,
                             .repr = repr_wrapper,
                             .hash = identity_hash,
                             .call = call_wrapper,
                             .get_attr = get_wrapper};
const Slots super_slots = {.kind = Kind::Super,
                           .destroy = destroy_object<Super>,
                           .construct = construct_super,
                           .repr = repr_super,
                           .hash = identity_hash};

std::span<const NativeDef> property_methods() { return kPropertyMethods; }
std::span<const NativeDef> wrapper_methods() { return {}; }

}  // namespace tfl
