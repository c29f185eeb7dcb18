// Functions, native functions, bound methods: attributes and text. How they are called is the VM's.
#include "frontend/core/attributes.h"
#include "frontend/core/frame.h"
#include "frontend/core/native.h"
#include "frontend/core/registry.h"
#include "frontend/core/signature.h"
#include "frontend/interpreter/object/class.h"

namespace tfl {

namespace {

Value or_none(const Value& v) { return v.is_empty() ? Value::none() : v; }

// ------------------------------------------------------------------------------------------------------------ functions

Result<Value> repr_function(Interp& interp, const Value& self) {
  return interp.strf("<function {} at {:#x}>", self.as<Function>()->qualname.as<Str>()->text,
                     reinterpret_cast<uintptr_t>(self.counted()));
}

Result<Value> call_value(Interp& interp, const Value& self, CallArgs& args) { return interp.call(self, args); }

Result<Value> get_function(Interp& interp, const Value& self, Str* name) {
  Function* f = self.as<Function>();
  Symbols& sym = interp.sym;
  if (name == sym.__name__) return f->name;
  if (name == sym.__qualname__) return f->qualname;
  if (name == sym.__doc__) return f->doc.is_empty() ? doc_of(interp, *f->code.as<Code>()) : f->doc;
  if (name == sym.__module__) {
    Value m = dict_get_str(f->module.as<Module>()->dict.as<Dict>(), sym.__name__);
    return or_none(m);
  }
  if (name == sym.__defaults__) return or_none(f->defaults);
  if (name == sym.__kwdefaults__) return or_none(f->kw_defaults);
  if (name == sym.__code__) return f->code;
  if (name == sym.__closure__) return or_none(f->closure);
  if (name == sym.__globals__) return visible_names(interp, f->module.as<Module>());
  if (name == sym.__annotations__) {
    if (f->annotations.is_empty()) f->annotations = interp.dict();
    return f->annotations;
  }
  if (name == sym.__dict__) {
    if (f->dict.is_empty()) f->dict = interp.dict();
    return f->dict;
  }
  return Value();
}

Result<bool> set_function(Interp& interp, const Value& self, Str* name, const Value& value) {
  Function* f = self.as<Function>();
  Symbols& sym = interp.sym;
  if (name == sym.__name__ || name == sym.__qualname__) {
    if (!value.is_str()) return fail(ErrorKind::TypeError, "{} must be set to a string object", name->text);
    (name == sym.__name__ ? f->name : f->qualname) = value;
    return true;
  }
  if (name == sym.__doc__) {
    f->doc = value.is_empty() ? Value::none() : value;
    return true;
  }
  if (name == sym.__defaults__) {
    if (!value.is(Kind::Tuple) && !value.is_none() && !value.is_empty()) {
      return fail(ErrorKind::TypeError, "__defaults__ must be set to a tuple object");
    }
    f->defaults = value.is(Kind::Tuple) ? value : Value();
    return true;
  }
  if (name == sym.__kwdefaults__) {
    f->kw_defaults = value.is(Kind::Dict) ? value : Value();
    return true;
  }
  if (name == sym.__annotations__) {
    if (!value.is(Kind::Dict)) return fail(ErrorKind::TypeError, "__annotations__ must be set to a dict object");
    f->annotations = value;
    return true;
  }
  if (name == sym.__dict__) {
    if (!value.is(Kind::Dict))
      return fail(ErrorKind::TypeError, "__dict__ must be set to a dictionary, not a '{}'", interp.type_name(value));
    f->dict = value;
    return true;
  }
  if (name == sym.__code__ || name == sym.__globals__ || name == sym.__closure__) {
    return fail(ErrorKind::AttributeError, "readonly attribute");
  }
  return false;  // __module__ and the rest: the dictionary
}

// ------------------------------------------------------------------------------------------------------ native functions

void destroy_native_function(Object* o) {
  auto* f = static_cast<NativeFunction*>(o);
  delete f->signature;
  f->~NativeFunction();
  Heap::release(f, sizeof(NativeFunction));
}

Result<Value> repr_native(Interp& interp, const Value& self) {
  NativeFunction* f = self.as<NativeFunction>();
  if (f->owner) {
    if (f->def->how == NativeDef::How::Getter)
      return interp.strf("<attribute '{}' of '{}' objects>", f->def->name, f->owner->name->text);
    std::string_view name = f->def->name;
    if (name.starts_with("__")) return interp.strf("<slot wrapper '{}' of '{}' objects>", name, f->owner->name->text);
    return interp.strf("<method '{}' of '{}' objects>", f->def->name, f->owner->name->text);
  }
  return interp.strf("<built-in function {}>", f->def->name);
}

Result<Value> get_native(Interp& interp, const Value& self, Str* name) {
  NativeFunction* f = self.as<NativeFunction>();
  Symbols& sym = interp.sym;
  if (name == sym.__name__) return interp.str(interp.intern(f->def->name));
  if (name == sym.__qualname__) {
    if (f->owner) return interp.str(f->owner->name->text + "." + f->def->name);
    return interp.str(interp.intern(f->def->name));
  }
  if (name == sym.__doc__) return native_doc(interp, f->owner, self);
  if (name == sym.__module__) return f->owner ? Value() : interp.str(sym.builtins);
  if (name == sym.__self__) return or_none(f->self);
  return Value();
}

// -------------------------------------------------------------------------------------------------------- bound methods

Result<std::string> qualified_name(Interp& interp, const Value& f) {
  Value name = TFL_TRY(find_attr(interp, f, interp.sym.__qualname__));
  if (name.is_empty()) name = TFL_TRY(find_attr(interp, f, interp.sym.__name__));
  return name.is_str() ? name.as<Str>()->text : std::string("?");
}

Result<Value> repr_method(Interp& interp, const Value& self) {
  BoundMethod* m = self.as<BoundMethod>();
  if (m->function.is(Kind::NativeFunction)) {
    NativeFunction* f = m->function.as<NativeFunction>();
    if (std::string_view(f->def->name).starts_with("__")) {
      return interp.strf("<method-wrapper '{}' of {} object at {:#x}>", f->def->name, interp.type_name(m->self),
                         reinterpret_cast<uintptr_t>(m->self.is_object() ? m->self.counted() : nullptr));
    }
    return interp.strf("<built-in method {} of {} object at {:#x}>", f->def->name, interp.type_name(m->self),
                       reinterpret_cast<uintptr_t>(m->self.is_object() ? m->self.counted() : nullptr));
  }
  std::string name = TFL_TRY(qualified_name(interp, m->function));
  std::string of = TFL_TRY(repr_text(interp, m->self));
  return interp.str("<bound method " + name + " of " + of + ">");
}

Result<Value> get_method(Interp& interp, const Value& self, Str* name) {
  BoundMethod* m = self.as<BoundMethod>();
  if (name == interp.sym.__self__) return m->self;
  if (name == interp.intern("__func__")) return m->function;
  return find_attr(interp, m->function, name);
}

Result<bool> set_method(Interp& interp, const Value&, Str* name, const Value&) {
  (void)interp;
  return fail(ErrorKind::AttributeError, "'method' object has no attribute '{}'", name->text);
}

Result<Value> compare_method(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!a.is(Kind::BoundMethod) || !b.is(Kind::BoundMethod) || (op != CompareOp::Eq && op != CompareOp::Ne))
    return interp.not_implemented;
  BoundMethod* x = a.as<BoundMethod>();
  BoundMethod* y = b.as<BoundMethod>();
  bool same = x->function.identical(y->function) && x->self.identical(y->self);
  return Value::boolean(same == (op == CompareOp::Eq));
}

Result<uint64_t> hash_method(Interp&, const Value& self) {
  BoundMethod* m = self.as<BoundMethod>();
  auto bits = [](const Value& v) {
    return v.is_object() ? reinterpret_cast<uintptr_t>(v.counted()) >> 4 : static_cast<uintptr_t>(v.as_int());
  };
  return bits(m->function) * 31 + bits(m->self);
}

}  // namespace

extern const Slots function_slots, native_function_slots, bound_method_slots;
const Slots function_slots = {.kind = Kind::Function,
                              .destroy = destroy_object<Function>,
                              .repr = repr_function,
                              .hash = identity_hash,
                              .call = call_value,
                              .get_attr = get_function,
                              .set_attr = set_function,
                              .has_dict = true};
const Slots native_function_slots = {.kind = Kind::NativeFunction,
                                     .destroy = destroy_native_function,
                                     .repr = repr_native,
                                     .hash = identity_hash,
                                     .call = call_value,
                                     .get_attr = get_native};
const Slots bound_method_slots = {.kind = Kind::BoundMethod,
                                  .destroy = destroy_object<BoundMethod>,
                                  .repr = repr_method,
                                  .hash = hash_method,
                                  .call = call_value,
                                  .compare = compare_method,
                                  .get_attr = get_method,
                                  .set_attr = set_method};

std::span<const NativeDef> function_methods() { return {}; }
std::span<const NativeDef> native_function_methods() { return {}; }
std::span<const NativeDef> bound_method_methods() { return {}; }

}  // namespace tfl
