// How attributes are found and bound: the pieces protocol.h's get_attr and set_attr are made of, for the VM's fast paths and for
// the types that have their own rules (classes, modules, super). Knows nothing of instructions.
#pragma once

#include "frontend/core/protocol.h"

namespace tfl {

/// The entry of `name` among what scripts define in the chain of `type`, or null.
const Value* script_lookup_slow(Interp& interp, const Type* type, Str* name);
inline const Value* script_lookup(Interp& interp, const Type* type, Str* name) {
  if (!type->script) return nullptr;
  size_t slot = (reinterpret_cast<uintptr_t>(type) / 16 * 5 + reinterpret_cast<uintptr_t>(name) / 16) % Interp::kTypeCacheSize;
  const TypeCacheEntry& e = interp.special_cache[slot];
  if (e.type == type && e.name == name && e.epoch == interp.type_epoch) [[likely]]
    return e.entry;
  return script_lookup_slow(interp, type, name);
}
/// type_lookup with a cache in front.
const Value* lookup_slow(Interp& interp, const Type* type, Str* name);
inline const Value* lookup(Interp& interp, const Type* type, Str* name) {
  size_t slot = (reinterpret_cast<uintptr_t>(type) / 16 * 5 + reinterpret_cast<uintptr_t>(name) / 16) % Interp::kTypeCacheSize;
  const TypeCacheEntry& e = interp.type_cache[slot];
  if (e.type == type && e.name == name && e.epoch == interp.type_epoch) [[likely]]
    return e.entry;
  return lookup_slow(interp, type, name);
}

/// The value of interned `name` in `d`, or null. Does not count a reference.
inline const Value* dict_entry(Dict* d, Str* name) {
  if (d->index.empty()) {
    bool foreign = false;  // a key that was not made from an identifier may be equal all the same
    for (const Dict::Entry& e : d->entries) {
      if (!e.key.is_object()) continue;
      if (e.key.counted() == name) return &e.value;
      foreign |= !e.key.is_str() || !e.key.as<Str>()->interned;
    }
    if (!foreign) return nullptr;
  }
  int64_t at = dict_find_str(d, name);
  return at < 0 ? nullptr : &d->entries[static_cast<size_t>(at)].value;
}

/// What an entry of a class gives when it is read through `self` (Empty: through the class itself) of type `type`.
Result<Value> bind_attribute(Interp& interp, const Value& raw, const Value& self, Type* type);
/// Does the entry come before the instance's dictionary?
bool is_data_descriptor(const Value& raw);
/// Is it asked before the instance's own dictionary? One that can only be set is not.
bool reads_first(const Value& raw);
/// The dictionary of an object's own attributes, null when it has none (yet, unless `create`).
Dict* instance_dict(Interp& interp, const Value& v, bool create);
/// Attributes without __getattr__ and __getattribute__. Empty: none.
Result<Value> generic_find_attr(Interp& interp, const Value& v, Type* type, Str* name);
Result<void> generic_set_attr(Interp& interp, const Value& v, Str* name, const Value& value);
/// Attributes of a class. Empty: none.
Result<Value> class_find_attr(Interp& interp, const Value& v, Str* name);
Result<void> class_set_attr(Interp& interp, Type* type, Str* name, const Value& value);
/// What __dict__ of a module is: the names of one of the library without those that scripts must not see, as a copy.
Value visible_names(Interp& interp, Module* m);
Result<Value> module_find_attr(Interp& interp, Module* m, Str* name);
Result<Value> super_find_attr(Interp& interp, Super* s, Str* name);

/// Calls the raw entry of a special method on `self`.
Result<Value> call_entry(Interp& interp, const Value& entry, const Value& self, std::initializer_list<Value> args);
/// Calls the script's special method `name` of `v`. Empty: there is none.
Result<Value> call_special(Interp& interp, const Value& v, Str* name, std::initializer_list<Value> args);

/// The AttributeError of reading or deleting, with "Did you mean".
Failure no_attribute(Interp& interp, const Value& v, Str* name);
/// Every name that v.<name> could be, for dir() and for hints; sorted.
Result<std::vector<Value>> attribute_names(Interp& interp, const Value& v);
/// Fills in the dunder methods that stand for a native type's slots.
void install_wrappers(Interp& interp, Type* type);

bool is_not_implemented(Interp& interp, const Value& v);

}  // namespace tfl
