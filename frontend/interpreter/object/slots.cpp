#include "frontend/interpreter/object/slots.h"

#include <algorithm>

#include "frontend/core/attributes.h"
#include "frontend/core/native.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/class.h"
#include "frontend/text/unicode.h"

namespace tfl {

namespace {

/// Where values of slots lie: in place of the dictionary that slotted objects have not, else beside it.
Dict* slot_values(Interp& interp, const Value& v, bool create) {
  bool own = v.is(Kind::Instance) || v.is(Kind::Boxed) || v.is(Kind::Exception);
  if (interp.type_of(v)->slotted || !own) return instance_dict(interp, v, create);
  Value* place = create ? &interp.side_dict(v.object()) : interp.find_side_dict(v.object());
  if (!place) return nullptr;
  if (place->is_empty()) *place = interp.dict();
  return place->as<Dict>();
}

Result<void> check_owner(Interp& interp, const Property* slot, const Value& v) {
  if (interp.is_instance(v, slot->set.as<Type>())) return {};
  return fail(ErrorKind::TypeError, "descriptor '{}' for '{}' objects doesn't apply to a '{}' object", text_of(slot->get),
              slot->set.as<Type>()->name->text, interp.type_name(v));
}

/// Do instances of a base have a dictionary?
bool has_dictionary(const Interp& interp, const Type* base) {
  if (base->script) return !base->slotted;
  return base->slots->has_dict || base->is_subtype_of(interp.exception_type(ErrorKind::BaseException));
}

Result<Value> repr_member(Interp& interp, const Value& self) {
  auto* p = self.as<Property>();
  return interp.strf("<member '{}' of '{}' objects>", text_of(p->get), p->set.as<Type>()->name->text);
}

Result<Value> get_member(Interp& interp, const Value& self, Str* name) {
  auto* p = self.as<Property>();
  if (name == interp.sym.__name__) return p->get;
  if (name == interp.sym.__qualname__) return interp.strf("{}.{}", p->set.as<Type>()->qualname->text, text_of(p->get));
  if (name->text == "__objclass__") return p->set;
  return Value();
}

Result<Value> member_get(Interp& interp, Value* a) {
  if (a[1].is_none()) return a[0];
  return get_slot(interp, a[0].as<Property>(), a[1]);
}
Result<Value> member_set(Interp& interp, Value* a) {
  TFL_TRY(set_slot(interp, a[0].as<Property>(), a[1], a[2]));
  return Value::none();
}
Result<Value> member_delete(Interp& interp, Value* a) {
  TFL_TRY(set_slot(interp, a[0].as<Property>(), a[1], Value()));
  return Value::none();
}

constexpr NativeDef kMemberMethods[] = {
    method("__get__", "self, instance, owner=None, /", member_get),
    method("__set__", "self, instance, value, /", member_set),
    method("__delete__", "self, instance, /", member_delete),
};

}  // namespace

Result<std::vector<Str*>> slots_of(Interp& interp, const Value& class_name, const Type* layout, Dict* space) {
  std::vector<Str*> names;
  const Value* given = dict_entry(space, interp.sym.__slots__);
  if (!given) return names;
  std::vector<Value> items;
  if (given->is_str())
    items.push_back(*given);
  else
    items = TFL_TRY(to_vector(interp, Value(*given)));
  Kind kind = layout->slots->kind;
  bool varies = layout->is_subtype_of(interp.types.int_) || kind == Kind::Bytes || kind == Kind::Tuple;
  if (varies && !items.empty())
    return fail(ErrorKind::TypeError, "nonempty __slots__ not supported for subtype of '{}'", layout->name->text);
  for (const Value& item : items) {
    if (!item.is_str()) return fail(ErrorKind::TypeError, "__slots__ items must be strings, not '{}'", interp.type_name(item));
    std::string name = text_of(item);
    if (!unicode::is_identifier(name)) return fail(ErrorKind::TypeError, "__slots__ must be identifiers");
    if (name == "__dict__" && has_dictionary(interp, layout))
      return fail(ErrorKind::TypeError, "__dict__ slot disallowed: we already got one");
    if (name.starts_with("__") && !name.ends_with("__")) {
      // Private names stand under the name of the class, as in its methods.
      size_t from = text_of(class_name).find_first_not_of('_');
      if (from != std::string::npos) name = "_" + text_of(class_name).substr(from) + name;
    }
    names.push_back(interp.intern(name));
    bool special = name == "__dict__" || name == "__weakref__" || name == "__qualname__" || name == "__classcell__";
    if (!special && dict_entry(space, names.back()))
      return fail(ErrorKind::ValueError, "'{}' in __slots__ conflicts with class variable", name);
  }
  return names;
}

void add_slots(Interp& interp, Type* type, const std::vector<Str*>& names) {
  Dict* space = type->dict.as<Dict>();
  bool dictionary = !dict_entry(space, interp.sym.__slots__), watched = dictionary;
  for (Str* name : names) {
    dictionary |= name->text == "__dict__";
    watched |= name->text == "__weakref__";
    if (name->text == "__dict__" || name->text == "__weakref__") continue;
    auto* p = interp.allocate<Property>(interp.types.member_descriptor);
    p->get = interp.str(name);
    p->set = Value::share(type);
    p->name = p->get;
    dict_set_str(space, name, Value::adopt(p));
    type->has_slots = true;
  }
  Lineage above(type);
  for (above.next(); above.at; above.next()) {
    if (above.at == interp.types.object) continue;
    type->has_slots |= above.at->has_slots;
    dictionary |= has_dictionary(interp, above.at);
    watched |= above.at->script ? !above.at->unwatched : false;
  }
  type->slotted = !dictionary;
  type->unwatched = !watched;
  if (!names.empty()) ++interp.type_epoch;
}

Result<Value> get_slot(Interp& interp, const Property* slot, const Value& v) {
  TFL_TRY(check_owner(interp, slot, v));
  Dict* values = slot_values(interp, v, false);
  const Value* found = values ? dict_entry(values, slot->get.as<Str>()) : nullptr;
  if (!found) return no_attribute(interp, v, slot->get.as<Str>());
  return *found;
}

Result<void> set_slot(Interp& interp, const Property* slot, const Value& v, const Value& value) {
  TFL_TRY(check_owner(interp, slot, v));
  Dict* values = slot_values(interp, v, !value.is_empty());
  if (!value.is_empty()) {
    dict_set_str(values, slot->get.as<Str>(), value);
  } else if (!values || !dict_remove_str(values, slot->get.as<Str>())) {
    return fail(ErrorKind::AttributeError, "{}", text_of(slot->get));
  }
  return {};
}

extern const Slots member_slots;
const Slots member_slots = {.kind = Kind::Property,
                            .destroy = destroy_object<Property>,
                            .repr = repr_member,
                            .hash = identity_hash,
                            .get_attr = get_member};
std::span<const NativeDef> member_methods() { return kMemberMethods; }

}  // namespace tfl
