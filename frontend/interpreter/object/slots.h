// __slots__: the attributes that instances of a class have beside or in place of a dictionary. Each is a Property of the type
// member_descriptor in the class's namespace. Knows nothing of instructions.
#pragma once

#include <vector>

#include "frontend/core/protocol.h"

namespace tfl {

/// The names that __slots__ in the namespace of a class under construction gives, checked as CPython checks them; none without it.
Result<std::vector<Str*>> slots_of(Interp& interp, const Value& class_name, const Type* layout, Dict* space);
/// Puts the descriptors into the new class and sets what it says of its instances.
void add_slots(Interp& interp, Type* type, const std::vector<Str*>& names);

Result<Value> get_slot(Interp& interp, const Property* slot, const Value& v);
/// value Empty: delete.
Result<void> set_slot(Interp& interp, const Property* slot, const Value& v, const Value& value);

}  // namespace tfl
