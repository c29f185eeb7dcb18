// Classes: making one from a class statement, calling one. Knows nothing of instructions.
#pragma once

#include "frontend/core/protocol.h"

namespace tfl {

/// A class from the namespace of its body: __set_name__ and __init_subclass__ are called. `base` Empty: object.
Result<Value> make_class(Interp& interp, const Value& name, const Value& base, Value dict, const Value& keywords);
/// T(...).
Result<Value> call_type(Interp& interp, Type* type, CallArgs& args);
/// The object that __init__ is then called on: __new__ of the script, or the native constructor.
Result<Value> new_instance(Interp& interp, Type* type, CallArgs& args);
/// Does the script define __init__ for this type? Null when not.
const Value* script_init(Interp& interp, Type* type);
/// Brings the has_... flags of `type` and of what derives from it up to date.
void refresh_type_flags(Interp& interp, Type* type);
Failure init_not_none(Interp& interp, const Value& result);

/// Whether objects of `type` may have the attribute `name` of their own: __slots__ says so for classes that have it.
bool slot_allows(const Type* type, Str* name);

Result<bool> is_instance_of(Interp& interp, const Value& v, const Value& classes);
Result<bool> is_subclass_of(Interp& interp, const Value& v, const Value& classes);

/// What a class itself answers where Python would ask its metaclass: calls the class method `name` (__class_iter__, __class_len__,
/// __class_contains__, __class_reversed__, __class_repr__, __class_getattr__, __class_setattr__: the library's enumerations define
/// them). Empty: it has none.
Result<Value> class_hook(Interp& interp, const Value& cls, std::string_view name, std::initializer_list<Value> args);

/// The docstring of a class, Str or None.
Result<Value> doc_of_type(Interp& interp, Type* type);

Result<uint64_t> identity_hash(Interp&, const Value& self);

/// list[int]: prints as it was written and calls as its origin.
Value generic_alias(Interp& interp, const Value& origin, const Value& item);
/// int | None, for annotations and isinstance. NotImplemented when a side is no class.
Value union_type(Interp& interp, const Value& a, const Value& b);
/// The classes of a union, as a tuple.
Value union_members(const Value& u);
/// A list of an iterable's items.
Result<Value> to_list(Interp& interp, const Value& iterable);

}  // namespace tfl
