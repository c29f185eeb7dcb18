#include "frontend/core/attributes.h"

#include <algorithm>

#include "frontend/core/exception.h"
#include "frontend/interpreter/object/class.h"
#include "frontend/interpreter/object/slots.h"

namespace tfl {

namespace {

size_t cache_slot(const Type* type, Str* name) {
  return (reinterpret_cast<uintptr_t>(type) / 16 * 5 + reinterpret_cast<uintptr_t>(name) / 16) % Interp::kTypeCacheSize;
}

bool is_dunder(Str* name) { return name->text.size() > 4 && name->text[0] == '_' && name->text[1] == '_'; }

/// Does a native type define `name` itself?
bool has_own(Interp& interp, Type* type, Str* name) {
  if (!type->wrappers && is_dunder(name)) install_wrappers(interp, type);
  return dict_entry(type->dict.as<Dict>(), name) != nullptr;
}

bool is_getter(const Value& raw) {
  return raw.is(Kind::NativeFunction) && raw.as<NativeFunction>()->def->how == NativeDef::How::Getter;
}

}  // namespace

bool is_not_implemented(Interp& interp, const Value& v) { return v.identical(interp.not_implemented); }

const Value* script_lookup_slow(Interp& interp, const Type* type, Str* name) {
  const Value* found = nullptr;
  for (Lineage l(type); l.at && !found; l.next()) {
    if (l.at->script) {
      found = dict_entry(l.at->dict.as<Dict>(), name);
    } else if (!type->order || has_own(interp, l.at, name)) {
      break;  // what a native type can do is reached through its slots
    }
  }
  interp.special_cache[cache_slot(type, name)] = {type, name, interp.type_epoch, found};
  return found;
}

const Value* type_lookup(const Type* type, Str* name) {
  for (Lineage l(type); l.at; l.next()) {
    const Type* t = l.at;
    if (const Value* v = dict_entry(t->dict.as<Dict>(), name)) return v;
    if (!t->script && !t->wrappers && is_dunder(name)) {
      // The methods that stand for a native type's slots are made when one is first asked for.
      install_wrappers(Interp::of(const_cast<Type*>(t)), const_cast<Type*>(t));
      if (const Value* v = dict_entry(t->dict.as<Dict>(), name)) return v;
    }
  }
  return nullptr;
}

const Value* lookup_slow(Interp& interp, const Type* type, Str* name) {
  const Value* found = type_lookup(type, name);
  interp.type_cache[cache_slot(type, name)] = {type, name, interp.type_epoch, found};
  return found;
}

bool is_data_descriptor(const Value& raw) {
  switch (raw.kind()) {
    case Kind::Property: return true;
    case Kind::NativeFunction: return is_getter(raw);
    case Kind::Instance:
    case Kind::Native: return raw.object()->type->has_set;
    default: return false;
  }
}

bool reads_first(const Value& raw) {
  if (!is_data_descriptor(raw)) return false;
  return !(raw.is(Kind::Instance) || raw.is(Kind::Native)) || raw.object()->type->has_get;
}

Result<Value> bind_attribute(Interp& interp, const Value& raw, const Value& self, Type* type) {
  switch (raw.kind()) {
    case Kind::Function:
      if (self.is_empty()) return raw;
      return interp.bound_method(raw, self);
    case Kind::NativeFunction: {
      NativeFunction* f = raw.as<NativeFunction>();
      if (self.is_empty() || !f->owner) return raw;
      if (f->def->how == NativeDef::How::Getter) {
        Value v = self;
        CallArgs args{&v, 1};
        return interp.call(raw, args);
      }
      return interp.bound_method(raw, self);
    }
    case Kind::StaticMethod: return raw.as<Wrapper>()->function;
    case Kind::ClassMethod: {
      Value cls = Value::share(type);
      const Value& inner = raw.as<Wrapper>()->function;
      if (inner.is(Kind::Function) || inner.is(Kind::NativeFunction)) return interp.bound_method(inner, cls);
      return bind_attribute(interp, inner, cls, interp.types.type);
    }
    case Kind::Property: {
      if (self.is_empty()) return raw;
      Property* p = raw.as<Property>();
      if (p->is_slot()) return get_slot(interp, p, self);
      if (p->get.is_int()) {  // a field of a named tuple: which item it is
        if (self.is(Kind::Tuple) && p->get.as_int() < self.as<Tuple>()->size) return self.as<Tuple>()->items[p->get.as_int()];
        return fail(ErrorKind::TypeError, "descriptor for index '{}' for tuple subclasses doesn't apply to '{}' object",
                    p->get.as_int(), interp.type_name(self));
      }
      if (p->get.is_empty() || p->get.is_none()) {
        std::string name = p->name.is_str() ? "property '" + p->name.as<Str>()->text + "'" : "unreadable attribute";
        if (!p->name.is_str()) return fail(ErrorKind::AttributeError, "unreadable attribute");
        return fail(ErrorKind::AttributeError, "{} of '{}' object has no getter", name, type->qualname->text);
      }
      return interp.call(p->get, {self});
    }
    case Kind::Instance:
    case Kind::Native: {
      if (raw.object()->type->slots->binds && !self.is_empty()) return interp.bound_method(raw, self);
      if (!raw.object()->type->has_get) return raw;
      return call_special(interp, raw, interp.intern("__get__"), {self.is_empty() ? Value::none() : self, Value::share(type)});
    }
    default: return raw;
  }
}

Dict* instance_dict(Interp& interp, const Value& v, bool create) {
  if (!v.is_object()) return nullptr;
  Value* place = nullptr;
  Object* o = v.object();
  switch (v.kind()) {
    case Kind::Instance:
    case Kind::Boxed:
      if (!o->type->script) return nullptr;
      place = &v.as<Instance>()->dict;
      break;
    case Kind::Exception: place = &v.as<Exception>()->dict; break;
    case Kind::Function: place = &v.as<Function>()->dict; break;
    case Kind::Module: place = &v.as<Module>()->dict; break;
    case Kind::Tensor: return nullptr;
    default:
      if (!create) {
        Value* side = interp.find_side_dict(o);
        return side && !side->is_empty() ? side->as<Dict>() : nullptr;
      }
      if (!o->type->script && !o->type->slots->has_dict) return nullptr;
      place = &interp.side_dict(o);
  }
  if (place->is_empty()) {
    if (!create) return nullptr;
    *place = interp.dict();
  }
  return place->as<Dict>();
}

Result<Value> generic_find_attr(Interp& interp, const Value& v, Type* type, Str* name) {
  const Value* entry = lookup(interp, type, name);
  if (entry && reads_first(*entry)) return bind_attribute(interp, Value(*entry), v, type);
  if (Dict* d = instance_dict(interp, v, false)) {
    if (const Value* own = dict_entry(d, name); own && !is_hidden(*own)) return *own;
  }
  if (entry) return bind_attribute(interp, Value(*entry), v, type);
  Result<Value> own = type->slots->get_attr ? type->slots->get_attr(interp, v, name) : Value();
  if (own && own->is_empty() && name == interp.sym.__doc__) return doc_of_type(interp, type);
  return own;
}

namespace {

/// What __getattr__ of `type` says of an attribute that is not there.
Result<Value> ask_getattr(Interp& interp, const Value& v, Type* type, Str* name) {
  if (!script_lookup(interp, type, interp.sym.__getattr__)) return Value();
  auto r = call_special(interp, v, interp.sym.__getattr__, {interp.str(name)});
  if (!r && error_is(r.error(), ErrorKind::AttributeError)) {
    // Callers that look for an attribute take its absence as an answer; get_attr asks for the error itself.
    interp.missing_attribute = r.failure().error;
    return Value();
  }
  return r;
}

}  // namespace

Result<Value> find_attr(Interp& interp, const Value& v, Str* name) {
  if (v.is(Kind::Type)) return class_find_attr(interp, v, name);
  if (v.is(Kind::Super)) return super_find_attr(interp, v.as<Super>(), name);
  if (v.is(Kind::Module)) {
    Value found = TFL_TRY(module_find_attr(interp, v.as<Module>(), name));
    if (!found.is_empty()) return found;
  }
  Type* type = interp.type_of(v);
  if (type->has_getattribute) [[unlikely]] {
    auto r = call_special(interp, v, interp.sym.__getattribute__, {interp.str(name)});
    if (r) return r;
    if (!error_is(r.error(), ErrorKind::AttributeError)) return r.failure();
    if (!type->has_getattr) return Value();
  } else {
    auto r = generic_find_attr(interp, v, type, name);
    if (!type->has_getattr) return r;
    if (r && !r->is_empty()) return r;
    if (!r && !error_is(r.error(), ErrorKind::AttributeError)) return r.failure();
  }
  return ask_getattr(interp, v, type, name);
}

/// An AttributeError of a getter or of __getattr__ says what was looked for and where, unless it does so itself.
Failure with_context(Interp& interp, const Value& v, Str* name, Failure failure) {
  if (!error_is(*failure.error, ErrorKind::AttributeError)) return failure;
  Value raised = interp.exception_of(*failure.error);
  auto* e = raised.as<Exception>();
  if (!e->name.is_empty() || !e->obj.is_empty()) return failure;
  e->name = interp.str(name);
  if (!is_hidden(v)) e->obj = v;
  return failure;
}

Result<Value> get_attr(Interp& interp, const Value& v, Str* name) {
  interp.missing_attribute.reset();
  auto found = find_attr(interp, v, name);
  if (!found) return with_context(interp, v, name, found.failure());
  if (!found->is_empty()) return found;
  if (interp.missing_attribute) return with_context(interp, v, name, Failure{std::move(interp.missing_attribute)});
  return no_attribute(interp, v, name);
}

Result<Value> class_find_attr(Interp& interp, const Value& v, Str* name) {
  Type* type = v.as<Type>();
  Type* metaclass = type->type;
  const Value* meta = lookup(interp, metaclass, name);
  // The getters of `type` come before what the class holds under the same name, as data descriptors do.
  if (meta && reads_first(*meta)) return bind_attribute(interp, Value(*meta), v, metaclass);
  if (const Value* entry = lookup(interp, type, name)) {
    Value raw = *entry;
    if (raw.is(Kind::Instance) && !raw.object()->type->has_get) return raw;
    return bind_attribute(interp, raw, {}, type);
  }
  if (meta) return bind_attribute(interp, Value(*meta), v, metaclass);
  return metaclass->has_getattr ? ask_getattr(interp, v, metaclass, name) : Result<Value>(Value());
}

bool is_hidden(const Value& v) { return v.is(Kind::Module) && v.as<Module>()->hidden; }

Value visible_names(Interp& interp, Module* m) {
  if (!m->library) return m->dict;
  Value copy = interp.dict();
  for (const Dict::Entry& e : m->dict.as<Dict>()->entries) {
    if (e.key.is_str() && !is_hidden(e.value)) dict_set_str(copy.as<Dict>(), e.key.as<Str>(), e.value);
  }
  return copy;
}

Result<Value> module_find_attr(Interp& interp, Module* m, Str* name) {
  // Code of the library finds its modules with an instruction (op_GetAttr); whoever asks here may ask for a script.
  if (const Value* own = dict_entry(m->dict.as<Dict>(), name)) return is_hidden(*own) ? Value() : *own;
  if (m->lazy) {
    Value found = TFL_TRY(m->lazy(interp, m, name));
    if (!found.is_empty()) return found;
  }
  if (name == interp.sym.__dict__) return visible_names(interp, m);
  if (const Value* getter = dict_entry(m->dict.as<Dict>(), interp.sym.__getattr__))
    return interp.call(*getter, {interp.str(name)});
  return Value();
}

Result<Value> super_find_attr(Interp& interp, Super* s, Str* name) {
  if (name == interp.sym.__class__) return Value::share(interp.types.super);
  Value self = s->self;
  bool through_class = self.is(Kind::Type) && self.as<Type>()->is_subtype_of(s->after);
  Type* type = through_class ? self.as<Type>() : interp.type_of(self);
  Lineage l(type);
  while (l.at && l.at != s->after) l.next();
  if (l.at) l.next();
  for (; l.at; l.next()) {
    Type* t = l.at;
    if (!t->script && !t->wrappers && is_dunder(name)) install_wrappers(interp, t);
    const Value* entry = dict_entry(t->dict.as<Dict>(), name);
    if (!entry) continue;
    return bind_attribute(interp, Value(*entry), through_class ? Value() : self, type);
  }
  if (through_class) {
    // A class method that derives from `type`'s own: super().__new__ is found above, as object's.
    return Value();
  }
  if (type->slots->get_attr) return type->slots->get_attr(interp, self, name);
  return Value();
}

Result<Value> call_entry(Interp& interp, const Value& entry, const Value& self, std::initializer_list<Value> args) {
  Value callee = entry;
  Value values[6];
  uint32_t n = 0;
  if (entry.is(Kind::Function) || (entry.is(Kind::NativeFunction) && entry.as<NativeFunction>()->owner)) {
    values[n++] = self;
  } else {
    callee = TFL_TRY(bind_attribute(interp, callee, self, interp.type_of(self)));
  }
  for (const Value& a : args) values[n++] = a;
  CallArgs call_args{values, n};
  return interp.call(callee, call_args);
}

Result<Value> call_special(Interp& interp, const Value& v, Str* name, std::initializer_list<Value> args) {
  const Value* entry = script_lookup(interp, interp.type_of(v), name);
  if (!entry) return Value();
  return call_entry(interp, *entry, v, args);
}

Result<Value> special(Interp& interp, const Value& v, Str* name) {
  Type* type = interp.type_of(v);
  const Value* entry = script_lookup(interp, type, name);
  if (!entry) return Value();
  return bind_attribute(interp, Value(*entry), v, type);
}

}  // namespace tfl
