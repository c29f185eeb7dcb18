// The algebra of sets, for set, frozenset and the views of dicts. Results are plain sets in CPython's order.
#pragma once

#include "frontend/interpreter/object/containers/set_table.h"

namespace tfl {

/// A set or frozenset: subclasses give their native type.
Value new_set(Interp& interp, Type* type);
/// Adds every item of an iterable.
Result<void> set_update(Interp& interp, Set* s, const Value& from);
Result<Value> set_copy_as(Interp& interp, Type* type, const Set* s);
Result<Value> set_intersection(Interp& interp, Type* type, const Value& a, const Value& b);
Result<Value> set_difference(Interp& interp, Type* type, const Value& a, const Value& b);
Result<void> set_difference_update(Interp& interp, Set* s, const Value& from);
Result<Value> set_symmetric_difference(Interp& interp, Type* type, const Value& a, const Value& b);
Result<void> set_symmetric_update(Interp& interp, Set* s, const Set* other);
/// Is every key of a in b?
Result<bool> set_is_subset(Interp& interp, const Set* a, const Set* b);
/// A set of the items of an iterable; `v` itself when it is one.
Result<Value> as_set(Interp& interp, const Value& v);
/// <, <=, ==, ... of two sets.
Result<Value> set_compare(Interp& interp, CompareOp op, const Set* a, const Set* b);

}  // namespace tfl
