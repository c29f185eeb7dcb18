// Setting and deleting attributes.
#include "frontend/core/attributes.h"
#include "frontend/interpreter/object/class.h"
#include "frontend/interpreter/object/slots.h"

namespace tfl {

namespace {

bool is_getter(const Value& raw) {
  return raw.is(Kind::NativeFunction) && raw.as<NativeFunction>()->def->how == NativeDef::How::Getter;
}

Failure read_only(Interp& interp, const Value& v, Str* name) {
  return fail(ErrorKind::AttributeError, "'{}' object attribute '{}' is read-only", interp.type_name(v), name->text);
}

Result<void> set_property(Interp& interp, Property* p, const Value& v, const Value& value) {
  if (p->is_slot()) return set_slot(interp, p, v, value);
  bool deleting = value.is_empty();
  const Value& f = deleting ? p->del : p->set;
  if (f.is_empty() || f.is_none()) {
    std::string name = p->name.is_str()
                           ? "property '" + p->name.as<Str>()->text + "' of '" + interp.type_of(v)->qualname->text + "' object"
                           : std::string("property of '") + interp.type_of(v)->qualname->text + "' object";
    return fail(ErrorKind::AttributeError, "{} has no {}", name, deleting ? "deleter" : "setter");
  }
  Value callee = f;
  if (deleting) {
    TFL_TRY(interp.call(callee, {v}));
  } else {
    TFL_TRY(interp.call(callee, {v, value}));
  }
  return {};
}

/// Sets what a property or a descriptor of the script stands for.
Result<void> set_through(Interp& interp, const Value& descriptor, const Value& v, const Value& value) {
  if (descriptor.is(Kind::Property)) return set_property(interp, descriptor.as<Property>(), v, value);
  if (value.is_empty()) {
    Value done = TFL_TRY(call_special(interp, descriptor, interp.sym.__delete__, {v}));
    if (done.is_empty()) return fail(ErrorKind::AttributeError, "__delete__");
    return {};
  }
  Value done = TFL_TRY(call_special(interp, descriptor, interp.sym.__set__, {v, value}));
  if (done.is_empty()) return fail(ErrorKind::AttributeError, "__set__");
  return {};
}

}  // namespace

Result<void> generic_set_attr(Interp& interp, const Value& v, Str* name, const Value& value) {
  Type* type = interp.type_of(v);
  const Value* entry = lookup(interp, type, name);
  if (entry) {
    bool descriptor = entry->is(Kind::Instance) && entry->object()->type->has_set;
    if (entry->is(Kind::Property) || descriptor) return set_through(interp, Value(*entry), v, value);
  }
  if (type->slots->set_attr) {
    bool handled = TFL_TRY(type->slots->set_attr(interp, v, name, value));
    if (handled) return {};
  }
  if (entry && is_getter(*entry)) {
    if (type->script || v.is(Kind::Instance)) {
      if (name == interp.sym.__class__) return fail(ErrorKind::TypeError, "__class__ assignment is not supported");
      if (name == interp.sym.__dict__ && type->slotted) return no_attribute(interp, v, name);
      if (name == interp.sym.__dict__ && value.is(Kind::Dict) && v.is(Kind::Instance)) {
        v.as<Instance>()->dict = value;
        return {};
      }
    }
    return fail(ErrorKind::AttributeError, "attribute '{}' of '{}' objects is not writable", name->text, type->name->text);
  }
  Dict* own = type->slotted ? nullptr : instance_dict(interp, v, !value.is_empty());
  if (!own) {
    if (entry && !value.is_empty()) return read_only(interp, v, name);
    return no_attribute(interp, v, name);
  }
  if (value.is_empty()) {
    if (!dict_remove_str(own, name)) return no_attribute(interp, v, name);
    return {};
  }
  dict_set_str(own, name, value);
  return {};
}

Result<void> set_attr(Interp& interp, const Value& v, Str* name, const Value& value) {
  Type* type = interp.type_of(v);
  if (type->has_setattr) [[unlikely]] {
    if (script_lookup(interp, type, interp.sym.__setattr__)) {
      TFL_TRY(call_special(interp, v, interp.sym.__setattr__, {interp.str(name), value}));
      return {};
    }
  }
  if (v.is(Kind::Type)) return class_set_attr(interp, v.as<Type>(), name, value);
  return generic_set_attr(interp, v, name, value);
}

Result<void> del_attr(Interp& interp, const Value& v, Str* name) {
  Type* type = interp.type_of(v);
  if (type->has_setattr) [[unlikely]] {
    if (script_lookup(interp, type, interp.sym.__delattr__)) {
      TFL_TRY(call_special(interp, v, interp.sym.__delattr__, {interp.str(name)}));
      return {};
    }
  }
  if (v.is(Kind::Type)) return class_set_attr(interp, v.as<Type>(), name, Value());
  return generic_set_attr(interp, v, name, Value());
}

Result<void> class_set_attr(Interp& interp, Type* type, Str* name, const Value& value) {
  if (!type->script) {
    return fail(ErrorKind::TypeError, "cannot set '{}' attribute of immutable type '{}'", name->text, type->name->text);
  }
  Symbols& sym = interp.sym;
  if (name == sym.__name__ || name == sym.__qualname__) {
    if (!value.is_str()) {
      return fail(ErrorKind::TypeError, "can only assign string to {}.{}, not '{}'", type->name->text, name->text,
                  interp.type_name(value));
    }
    (name == sym.__name__ ? type->name : type->qualname) = interp.intern(value.as<Str>()->text);
    return {};
  }
  // Something of the metaclass that is set in its own way: a property, a descriptor.
  if (const Value* meta = type->type->script ? script_lookup(interp, type->type, name) : nullptr) {
    if (is_data_descriptor(*meta)) return set_through(interp, Value(*meta), Value::share(type), value);
  }
  Dict* d = type->dict.as<Dict>();
  if (value.is_empty()) {
    if (!dict_remove_str(d, name)) {
      return fail(ErrorKind::AttributeError, "type object '{}' has no attribute '{}'", type->name->text, name->text);
    }
  } else {
    if (dict_entry(d, name)) {
      dict_set_str(d, name, value);  // caches hold the place, which stays
    } else {
      dict_set_str(d, name, value);
      ++interp.type_epoch;
    }
    if (name == sym.__module__ && value.is_str()) type->module = interp.intern(value.as<Str>()->text);
  }
  if (value.is_empty()) ++interp.type_epoch;
  type->version = interp.type_epoch;
  if (name == sym.__abstractmethods__) type->special_call = makes_calls_special(interp, type);
  if (name->text.starts_with("__")) refresh_type_flags(interp, type);
  return {};
}

}  // namespace tfl
