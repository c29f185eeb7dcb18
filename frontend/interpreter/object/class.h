// Classes: making one from a class statement, calling one. Knows nothing of instructions.
#pragma once

#include "frontend/core/protocol.h"

namespace tfl {

/// A class from the namespace of its body: __set_name__ and __init_subclass__ are called. `bases`: Tuple, Empty for object.
Result<Value> make_class(Interp& interp, Type* metaclass, const Value& name, const Value& bases, Value dict,
                         const Value& keywords);
/// T(...): what the metaclass says that it does.
Result<Value> call_type(Interp& interp, Type* type, CallArgs& args);
/// ... and what it does where no metaclass says so: __new__, then __init__.
Result<Value> construct_instance(Interp& interp, Type* type, CallArgs& args);
/// Has the class abstract methods left? Then it makes no instances.
bool is_abstract(Interp& interp, const Type* type);
Failure abstract_class(Interp& interp, const Type* type);
/// What Type::special_call of `type` is to be.
bool makes_calls_special(Interp& interp, const Type* type);
/// The object that __init__ is then called on: __new__ of the script, or the native constructor.
Result<Value> new_instance(Interp& interp, Type* type, CallArgs& args);
/// Does the script define __init__ for this type? Null when not.
const Value* script_init(Interp& interp, Type* type);
/// Brings the has_... flags of `type` and of what derives from it up to date.
void refresh_type_flags(Interp& interp, Type* type);
Failure init_not_none(Interp& interp, const Value& result);

Result<bool> is_instance_of(Interp& interp, const Value& v, const Value& classes);
Result<bool> is_subclass_of(Interp& interp, const Value& v, const Value& classes);
/// The same for one class, without asking its metaclass.
Result<bool> is_plain_instance(Interp& interp, const Value& v, const Value& cls);
Result<bool> is_plain_subclass(Interp& interp, const Value& v, const Value& cls);

/// What a class or its metaclass says by the method `name` about what counts as its own (__class_instancecheck__,
/// __class_subclasscheck__: the library's abstract classes define them). Empty: there is none.
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
