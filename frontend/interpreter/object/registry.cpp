#include "frontend/core/registry.h"

#include "frontend/core/protocol.h"

namespace tfl {

std::span<const NativeDef> no_methods() { return {}; }

namespace {

Type* bare_type(Interp& interp, const Slots& slots) {
  // Not allocate(): the type of types does not exist while the first ones are made.
  Type* t = static_cast<Type*>(interp.context.heap.allocate(sizeof(Type)));
  new (t) Type();
  t->refs = 1;  // never given back: types live as long as the interpreter
  t->kind = static_cast<uint8_t>(Kind::Type);
  t->type = interp.types.type;
  t->slots = &slots;
  return t;
}

void name_type(Interp& interp, Type* t, std::string_view name, std::string_view module, Type* base) {
  t->name = t->qualname = interp.intern(name);
  t->module = interp.intern(module);
  t->base = base;
  t->dict = interp.dict();
  t->version = 1;
  if (base) t->error_kind = base->error_kind;
}

}  // namespace

void make_types(Interp& interp, std::vector<Type*>& all) {
  interp.types.type = nullptr;
  interp.types.type = bare_type(interp, type_slots);
  interp.types.type->type = interp.types.type;
  auto make = [&](Type*& place, const Slots& slots) {
    if (&place != &interp.types.type) place = bare_type(interp, slots);
    all.push_back(place);
  };
#define TFL_TYPE(id, name, module, base, slots, methods) make(interp.types.id, slots);
#include "frontend/core/types.def"
#undef TFL_TYPE
}

void add_methods(Interp& interp, Type* type, std::span<const NativeDef> methods) {
  Dict* d = type->dict.as<Dict>();
  d->entries.reserve(d->entries.size() + methods.size());
  for (const NativeDef& def : methods) {
    using How = NativeDef::How;
    bool method = def.how != How::StaticMethod && def.how != How::ClassMethod;
    Value f = interp.native(def, {}, method ? type : nullptr);
    if (!method) {
      Wrapper* w = interp.allocate<Wrapper>(def.how == How::StaticMethod ? interp.types.staticmethod : interp.types.classmethod);
      w->kind = static_cast<uint8_t>(def.how == How::StaticMethod ? Kind::StaticMethod : Kind::ClassMethod);
      w->function = std::move(f);
      f = Value::adopt(w);
    }
    dict_set_str(d, interp.intern(def.name), std::move(f));
  }
}

void fill_types(Interp& interp) {
  struct Bases : Types {
    Type* none = nullptr;  // what object derives from
  };
  Bases types;
  static_cast<Types&>(types) = interp.types;
#define TFL_TYPE(id, name, module, base, slots, methods) \
  name_type(interp, types.id, name, module, types.base); \
  add_methods(interp, types.id, methods());
#include "frontend/core/types.def"
#undef TFL_TYPE
  add_methods(interp, interp.types.bytearray, bytes_methods());
}

void make_exception_types(Interp& interp, std::vector<Type*>& by_kind, std::vector<Type*>& all) {
  int count = 0;
#define TFL_ERROR_KIND(name, base, module) ++count;
#include "runtime/support/error_kinds.def"
#undef TFL_ERROR_KIND
  for (int i = 0; i < count; ++i) {
    auto kind = static_cast<ErrorKind>(i);
    Type* t = bare_type(interp, exception_slots);
    ErrorKind base = error_kind_base(kind);
    name_type(interp, t, error_kind_name(kind), error_kind_module(kind),
              base == kind ? interp.types.object : by_kind[static_cast<size_t>(base)]);
    t->error_kind = kind;
    if (i == 0) add_methods(interp, t, exception_methods());
    by_kind.push_back(t);
    all.push_back(t);
  }
}

Type* define_native_type(Interp& interp, Module& module, std::string_view name, const Slots& slots,
                         std::span<const NativeDef> methods, std::string_view shown_module, Type* base) {
  Type* t = bare_type(interp, slots);
  name_type(interp, t, name, shown_module.empty() ? std::string_view(module.name->text) : shown_module,
            base ? base : interp.types.object);
  add_methods(interp, t, methods);
  interp.roots.push_back(Value::adopt(t));
  dict_set_str(module.dict.as<Dict>(), interp.intern(name), interp.roots.back());
  return t;
}

}  // namespace tfl
