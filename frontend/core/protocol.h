// What Python's operators and built-in functions mean for any value: the script's dunder methods first, then the type's
// slots, else CPython's error. Natives use these and never look into another type's layout.
#pragma once

#include "frontend/core/interp.h"

namespace tfl {

// Text
Result<Value> repr(Interp&, const Value& v);    // a Str
Result<Value> to_str(Interp&, const Value& v);  // str(v)
Result<std::string> repr_text(Interp&, const Value& v);
Result<std::string> str_text(Interp&, const Value& v);
Result<Value> format_value(Interp&, const Value& v, std::string_view spec);  // format(v, spec)

// Truth, identity, comparison
Result<bool> truth(Interp&, const Value& v);
Result<uint64_t> hash_value(Interp&, const Value& v);
Result<bool> equals(Interp&, const Value& a, const Value& b);  // identity first, then ==, as containers compare
Result<Value> compare(Interp&, CompareOp op, const Value& a, const Value& b);
Result<bool> less(Interp&, const Value& a, const Value& b);  // a < b as a truth value
Result<bool> contains(Interp&, const Value& container, const Value& item);

// Arithmetic
Result<Value> binary(Interp&, BinaryOp op, const Value& a, const Value& b);
Result<Value> inplace(Interp&, BinaryOp op, const Value& a, const Value& b);
Result<Value> unary(Interp&, UnaryOp op, const Value& v);
/// The TypeError of an operation that neither side knows.
Failure binary_error(Interp&, BinaryOp op, const Value& a, const Value& b, bool inplace);
std::string_view binary_symbol(BinaryOp op);    // "+", "//"
std::string_view compare_symbol(CompareOp op);  // "<", "is not"

// Items
Result<int64_t> length(Interp&, const Value& v);
Result<Value> get_item(Interp&, const Value& v, const Value& key);
Result<void> set_item(Interp&, const Value& v, const Value& key, const Value& value);
Result<void> del_item(Interp&, const Value& v, const Value& key);

// Attributes
Result<Value> get_attr(Interp&, const Value& v, Str* name);
/// Empty when there is no such attribute (an error raised by a property is still an error).
Result<Value> find_attr(Interp&, const Value& v, Str* name);
Result<void> set_attr(Interp&, const Value& v, Str* name, const Value& value);
Result<void> del_attr(Interp&, const Value& v, Str* name);
/// The raw entry in the type's chain, null when there is none.
const Value* type_lookup(const Type* type, Str* name);
/// A special method as Python looks it up: on the type, bound to v. Empty when absent. Only script types are searched.
Result<Value> special(Interp&, const Value& v, Str* name);

// Iteration
Result<Value> iter(Interp&, const Value& v);
Result<Value> next(Interp&, const Value& iterator);  // Empty: exhausted
/// Calls f(Value) for each item; f returns Result<bool>, false stops.
template <class F>
Result<void> for_each(Interp& interp, const Value& iterable, F&& f) {
  if (iterable.is(Kind::List) && iterable.object()->type == interp.types.list) {
    Value keep = iterable;
    const std::vector<Value>& items = keep.as<List>()->items;
    for (size_t i = 0; i < items.size(); ++i) {
      if (interp.context.interrupt.load(std::memory_order_relaxed) != 0) [[unlikely]]
        TFL_TRY(interp.check_interrupt());
      bool go_on = TFL_TRY(f(Value(items[i])));
      if (!go_on) return {};
    }
    return {};
  }
  Value it = TFL_TRY(iter(interp, iterable));
  for (;;) {
    Value item = TFL_TRY(next(interp, it));
    if (item.is_empty()) return {};
    bool go_on = TFL_TRY(f(std::move(item)));
    if (!go_on) return {};
  }
}
Result<std::vector<Value>> to_vector(Interp&, const Value& iterable);
/// A native iterator (iterators.cpp): `next` gets `state` (a Tuple, List or other object it may change).
Value make_iterator(Interp&, Type* type, Result<Value> (*next)(Interp&, Value& state, int64_t& position), Value state,
                    int64_t position = 0);

// Conversion of arguments (conversion.cpp)
Result<int64_t> to_index(Interp&, const Value& v);  // __index__: int, bool, integer tensors and NumPy integers; TypeError else
/// The same of any size, as an int.
Result<Value> to_index_value(Interp&, const Value& v);
/// The same cut to what fits, as bounds of slices are.
Result<int64_t> to_clamped_index(Interp&, const Value& v);
Result<double> to_double(Interp&, const Value& v);    // int, float, bool, __float__, scalars
Result<Value> to_int_value(Interp&, const Value& v);  // int(v)
/// start, stop, step of a slice (slice.cpp) over `length` items, clamped as CPython does.
Result<void> slice_bounds(Interp&, const Slice& s, int64_t length, int64_t& start, int64_t& stop, int64_t& step);
bool is_callable(Interp&, const Value& v);

// Containers (dict_table.cpp, set_table.cpp)
Result<Value> dict_get(Interp&, Dict* d, const Value& key);  // Empty when absent
Value dict_get_str(Dict* d, Str* key);                       // by interned name, no errors possible
Result<void> dict_set(Interp&, Dict* d, const Value& key, Value value);
void dict_set_str(Dict* d, Str* key, Value value);
Result<Value> dict_pop(Interp&, Dict* d, const Value& key);  // Empty when absent
bool dict_remove_str(Dict* d, Str* key);
/// Takes every key away.
void dict_clear(Dict* d);
Result<bool> set_add(Interp&, const Value& set, const Value& item);  // false: it was there
Result<bool> set_contains(Interp&, const Set* set, const Value& item);
Result<bool> set_remove(Interp&, Set* set, const Value& item);  // false: it was not there
/// Iteration by hand: the next live entry at or after `at` (which moves behind it), or null.
inline Dict::Entry* dict_next(Dict* d, size_t& at) {
  if (at < d->head) at = d->head;
  while (at < d->entries.size()) {
    Dict::Entry& e = d->entries[at++];
    if (!e.key.is_empty()) return &e;
  }
  return nullptr;
}
inline const Set::Entry* set_next(const Set* s, size_t& at) {
  while (at < s->table.size()) {
    const Set::Entry& e = s->table[at++];
    if (!e.key.is_empty()) return &e;
  }
  return nullptr;
}
/// Entry number of an interned name in d->entries, or -1: for the VM's caches.
int64_t dict_find_str(Dict* d, Str* key);

// Arguments
/// Binds a call to a signature (native tables); messages are CPython's.
Result<void> bind_arguments(Interp&, std::string_view function, const Signature& signature, CallArgs& args, Value* out);

}  // namespace tfl
