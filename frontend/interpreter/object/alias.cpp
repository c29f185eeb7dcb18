// What annotations evaluate to: list[int] and int | None.
#include "frontend/core/attributes.h"
#include "frontend/core/native.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/class.h"

namespace tfl {

namespace {

struct Alias : Object {
  Value origin;  // GenericAlias only
  Value args;    // Tuple
};

void destroy_alias(Object* o) {
  auto* a = static_cast<Alias*>(o);
  a->~Alias();
  Heap::release(a, sizeof(Alias));
}

Result<std::string> part_text(Interp& interp, const Value& v) {
  if (v.identical(interp.ellipsis)) return std::string("...");
  if (v.is_none()) return std::string("None");
  if (v.is(Kind::Type)) {
    Type* t = v.as<Type>();
    return t->module->text == "builtins" ? t->qualname->text : t->module->text + "." + t->qualname->text;
  }
  return repr_text(interp, v);
}

Result<Value> repr_generic(Interp& interp, const Value& self) {
  Alias* a = self.as<Alias>();
  std::string text = TFL_TRY(part_text(interp, a->origin));
  text += '[';
  bool first = true;
  for (Value& v : a->args.as<Tuple>()->span()) {
    if (!first) text += ", ";
    first = false;
    std::string part = TFL_TRY(part_text(interp, v));
    text += part;
  }
  if (a->args.as<Tuple>()->size == 0) text += "()";
  text += ']';
  return interp.str(std::move(text));
}

Result<Value> repr_union(Interp& interp, const Value& self) {
  std::string text;
  for (Value& v : self.as<Alias>()->args.as<Tuple>()->span()) {
    if (!text.empty()) text += " | ";
    std::string part = TFL_TRY(part_text(interp, v));
    text += part;
  }
  return interp.str(std::move(text));
}

/// types.GenericAlias(origin, args).
Result<Value> construct_generic(Interp& interp, Type* type, CallArgs& args) {
  Value out[2];
  TFL_TRY(take_arguments(interp, "GenericAlias", args, {"origin", "args"}, 2, 2, out));
  auto* a = interp.allocate<Alias>(type);
  Value made = Value::adopt(a);
  a->origin = out[0];
  a->args = out[1].is(Kind::Tuple) ? out[1] : interp.tuple({out[1]});
  return made;
}

Result<Value> call_generic(Interp& interp, const Value& self, CallArgs& args) {
  return interp.call(self.as<Alias>()->origin, args);
}

Result<Value> get_generic(Interp& interp, const Value& self, Str* name) {
  if (name->text == "__origin__") return self.as<Alias>()->origin;
  if (name->text == "__args__") return self.as<Alias>()->args;
  return find_attr(interp, self.as<Alias>()->origin, name);
}

Result<Value> get_union(Interp&, const Value& self, Str* name) {
  if (name->text == "__args__") return self.as<Alias>()->args;
  return Value();
}

Result<Value> binary_alias(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::BitOr) return union_type(interp, a, b);
  return interp.not_implemented;
}

Result<Value> compare_alias(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if ((op != CompareOp::Eq && op != CompareOp::Ne) || interp.type_of(a) != interp.type_of(b)) return interp.not_implemented;
  bool same = true;
  if (!a.as<Alias>()->origin.is_empty()) same = TFL_TRY(equals(interp, a.as<Alias>()->origin, b.as<Alias>()->origin));
  if (same) same = TFL_TRY(equals(interp, a.as<Alias>()->args, b.as<Alias>()->args));
  return Value::boolean(same == (op == CompareOp::Eq));
}

Result<uint64_t> hash_alias(Interp& interp, const Value& self) { return hash_value(interp, self.as<Alias>()->args); }

bool may_be_in_union(Interp& interp, const Value& v) {
  Type* t = interp.type_of(v);
  return v.is(Kind::Type) || v.is_none() || t == interp.types.generic_alias || t == interp.types.union_type;
}

}  // namespace

Value generic_alias(Interp& interp, const Value& origin, const Value& item) {
  Alias* a = interp.allocate<Alias>(interp.types.generic_alias);
  a->origin = origin;
  a->args = item.is(Kind::Tuple) ? item : interp.tuple({item});
  return Value::adopt(a);
}

Value union_type(Interp& interp, const Value& a, const Value& b) {
  if (!may_be_in_union(interp, a) || !may_be_in_union(interp, b)) return interp.not_implemented;
  std::vector<Value> members;
  auto add = [&](const Value& v) {
    for (const Value& m : members) {
      if (m.identical(v)) return;
    }
    members.push_back(v);
  };
  for (const Value* side : {&a, &b}) {
    if (interp.type_of(*side) == interp.types.union_type) {
      for (Value& v : side->as<Alias>()->args.as<Tuple>()->span()) add(v);
    } else {
      add(*side);
    }
  }
  if (members.size() == 1) return members[0];
  Alias* u = interp.allocate<Alias>(interp.types.union_type);
  u->args = interp.tuple(members);
  return Value::adopt(u);
}

Value union_members(const Value& u) { return u.as<Alias>()->args; }

extern const Slots generic_alias_slots, union_type_slots;
const Slots generic_alias_slots = {.kind = Kind::Native,
                                   .destroy = destroy_alias,
                                   .construct = construct_generic,
                                   .repr = repr_generic,
                                   .hash = hash_alias,
                                   .call = call_generic,
                                   .binary = binary_alias,
                                   .compare = compare_alias,
                                   .get_attr = get_generic};
const Slots union_type_slots = {.kind = Kind::Native,
                                .destroy = destroy_alias,
                                .repr = repr_union,
                                .hash = hash_alias,
                                .binary = binary_alias,
                                .compare = compare_alias,
                                .get_attr = get_union};

}  // namespace tfl
