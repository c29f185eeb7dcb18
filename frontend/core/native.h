// What the native types share: rows of method tables, arguments of constructors, errors that carry a value, the guard against
// running out of memory. This header must not know about any one type.
#pragma once

#include "frontend/core/protocol.h"

namespace tfl {

constexpr NativeDef method(const char* name, const char* signature, NativeFn fn) {
  return {name, signature, fn, nullptr, NativeDef::How::Method};
}
constexpr NativeDef raw_method(const char* name, RawNativeFn fn) { return {name, nullptr, nullptr, fn, NativeDef::How::Method}; }
constexpr NativeDef getter(const char* name, NativeFn fn) { return {name, "self, /", fn, nullptr, NativeDef::How::Getter}; }
constexpr NativeDef static_method(const char* name, const char* signature, NativeFn fn) {
  return {name, signature, fn, nullptr, NativeDef::How::StaticMethod};
}
constexpr NativeDef class_method(const char* name, const char* signature, NativeFn fn) {
  return {name, signature, fn, nullptr, NativeDef::How::ClassMethod};
}
constexpr NativeDef function(const char* name, const char* signature, NativeFn fn) { return {name, signature, fn}; }
constexpr NativeDef raw_function(const char* name, RawNativeFn fn) { return {name, nullptr, nullptr, fn}; }

/// Binds the arguments of a constructor: `names` in order, the first `positional_only` of them not by keyword (all of them when
/// it is the number of names), at least `required`. What is not given stays Empty.
Result<void> take_arguments(Interp& interp, std::string_view function, CallArgs& args,
                            std::initializer_list<std::string_view> names, size_t required, size_t positional_only, Value* out);
/// For natives that take the call as it is and no keywords.
Result<void> no_keywords(std::string_view function, const CallArgs& args);

/// KeyError(key), StopIteration(value) and the like.
Failure error_with(Interp& interp, ErrorKind kind, const Value& argument);
inline Failure key_error(Interp& interp, const Value& key) { return error_with(interp, ErrorKind::KeyError, key); }
Failure too_deep(const char* where);  // " in comparison", ""

/// MemoryError when `bytes` more would pass the memory limit; asked before a container or text grows by that much.
Result<void> guard_memory_slow(Interp& interp, size_t bytes);
inline constexpr size_t kSmallGrowth = 64 * 1024;
inline Result<void> guard_memory(Interp& interp, size_t bytes) {
  if (bytes < kSmallGrowth) [[likely]]
    return {};
  return guard_memory_slow(interp, bytes);
}
/// The product of a length and a repetition count, checked against the limit for items of `item_size`.
Result<size_t> guard_repeat(Interp& interp, size_t length, int64_t times, size_t item_size);

/// Gives back an object without a payload of its own; others destroy theirs first.
template <class T>
void destroy_object(Object* o) {
  static_cast<T*>(o)->~T();
  Heap::release(o, sizeof(T));
}

/// A tuple (or an instance of a class derived from it) whose `size` items are Empty: the caller fills them in.
Tuple* new_tuple(Interp& interp, Type* type, int64_t size);
/// The docstring of a native function, of a method of the native type `owner`, or (`function` Empty) of that type: what the library's
/// module _docs says, Str or None.
Result<Value> native_doc(Interp& interp, Type* owner, const Value& function);
/// Does a script's class define __init__ itself? Then a mutable container's constructor leaves the arguments to it.
bool has_script_init(Interp& interp, const Type* type);

/// Item index of a sequence: counted from the end when negative. `what` begins the messages: "list".
Result<int64_t> sequence_index(Interp& interp, const Value& key, int64_t length, std::string_view what,
                               std::string_view wording = "index");

/// "[" + items joined + "]" with the guard against recursion: `self` already being written gives `loop`.
Result<std::string> repr_items(Interp& interp, Object* self, const std::vector<Value>* vector, std::span<const Value> items,
                               std::string_view open, std::string_view close, std::string_view loop);
/// Marks an object whose repr is being made.
inline constexpr uint8_t kReprActive = 0x80;

/// a <op> b of two sequences of values, as tuples and lists compare.
Result<Value> compare_sequences(Interp& interp, CompareOp op, const Value& a, const Value& b);

/// Is `v` NotImplemented?
inline bool not_implemented(const Interp& interp, const Value& v) { return v.identical(interp.not_implemented); }

/// Number of characters.
int64_t count_str(Str* s);
inline int64_t str_length(Str* s) { return s->length >= 0 ? s->length : count_str(s); }
inline const std::string& text_of(const Value& v) { return v.as<Str>()->text; }

}  // namespace tfl
