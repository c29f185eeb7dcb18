// Heap objects of the host language and what a type can do (Slots). A native type is a Slots table and a method table; a class
// of the script is a Type whose `slots` are its nearest native ancestor's. Behaviour is reached through protocol.h, which looks
// for the script's dunder methods first.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/core/value.h"
#include "frontend/syntax/ast/ast.h"
#include "runtime/support/result.h"

namespace tfl {

class Interp;
struct Str;
struct Tuple;
struct Dict;
struct Module;
struct Code;
struct Signature;

struct Object : Counted {
  Type* type;  // not counted: types live until the interpreter ends
};

/// Arguments of a call: `count` positional values, then one value for each of `keywords` (interned Str).
struct CallArgs {
  Value* values = nullptr;
  uint32_t count = 0;
  std::span<Str* const> keywords = {};
  uint32_t total() const { return count + static_cast<uint32_t>(keywords.size()); }
};

using ast::BinaryOp;
using ast::CompareOp;
using ast::UnaryOp;

/// What a native layout can do. Null: not supported (the protocol raises CPython's error).
struct Slots {
  Kind kind;
  void (*destroy)(Object* self);  // runs the C++ destructor and gives the storage back to the heap
  Result<Value> (*construct)(Interp&, Type* type, CallArgs& args);  // T(...), with `type` T or a subclass; __init__ comes after
  Result<Value> (*repr)(Interp&, const Value& self);                // a Str
  Result<Value> (*str)(Interp&, const Value& self);                 // null: as repr
  Result<Value> (*format)(Interp&, const Value& self, std::string_view spec);
  Result<uint64_t> (*hash)(Interp&, const Value& self);  // null: unhashable
  Result<bool> (*truth)(Interp&, const Value& self);     // null: by length, else true
  Result<int64_t> (*length)(Interp&, const Value& self);
  Result<Value> (*get_item)(Interp&, const Value& self, const Value& key);
  Result<void> (*set_item)(Interp&, const Value& self, const Value& key, const Value& value);  // value Empty: delete
  Result<bool> (*contains)(Interp&, const Value& self, const Value& item);
  Result<Value> (*iter)(Interp&, const Value& self);
  Result<Value> (*next)(Interp&, const Value& self);  // Empty: exhausted
  Result<Value> (*call)(Interp&, const Value& self, CallArgs& args);
  Result<Value> (*unary)(Interp&, UnaryOp op, const Value& self);
  /// One of a and b has this type. NotImplemented (interp.not_implemented) when the pair is not supported.
  Result<Value> (*binary)(Interp&, BinaryOp op, const Value& a, const Value& b);
  Result<Value> (*inplace)(Interp&, BinaryOp op, const Value& self, const Value& b);  // null: as binary
  Result<Value> (*compare)(Interp&, CompareOp op, const Value& a, const Value& b);    // Eq .. Ge
  /// Attributes that are neither in the type's table nor in the object's dictionary. Empty: there is none.
  Result<Value> (*get_attr)(Interp&, const Value& self, Str* name);
  /// False: not handled here. value Empty: delete.
  Result<bool> (*set_attr)(Interp&, const Value& self, Str* name, const Value& value);
  bool has_dict;  // instances of this very type (not a subclass) take arbitrary attributes
  bool binds;     // as an entry of a class they are methods: read through an object they get it as their first argument
};

/// Native code behind a function: `args` are bound to the parameters of its signature, in order; *args is a Tuple, **kwargs
/// a Dict, an omitted optional parameter is its literal default or Empty.
using NativeFn = Result<Value> (*)(Interp&, Value* args);
/// Native code that takes the arguments of a call as they are.
using RawNativeFn = Result<Value> (*)(Interp&, CallArgs& args);

/// One row of a method or module table. `signature` is Python's: "self, iterable, /, *, key=None, reverse=False"; defaults may
/// be None, True, False, numbers, quoted strings or `...` (Empty). Exactly one of fn and raw is set.
struct NativeDef {
  const char* name;
  const char* signature;
  NativeFn fn = nullptr;
  RawNativeFn raw = nullptr;
  enum class How : uint8_t { Function, Method, Getter, StaticMethod, ClassMethod } how = How::Function;
};

struct Str : Object {
  std::string text;  // UTF-8
  uint64_t hash;     // 0: not computed yet
  int64_t length;    // in characters; -1: not counted yet
  bool interned;
  std::unique_ptr<std::vector<uint32_t>>
      places;  // byte offsets of every so many characters, as far as asked for (str.cpp); null: not asked
  bool ascii() const { return length == static_cast<int64_t>(text.size()); }
};

struct Bytes : Object {
  std::string data;
};

struct List : Object {
  std::vector<Value> items;
};

struct Tuple : Object {
  int64_t size;
  Value items[1];  // `size` of them
  std::span<Value> span() { return {items, static_cast<size_t>(size)}; }
};

/// Insertion-ordered hash table. Up to 8 entries are searched in line; interned string keys compare by pointer first.
struct Dict : Object {
  struct Entry {
    Value key;  // Empty: deleted
    Value value;
    uint64_t hash;
  };
  std::vector<Entry> entries;
  std::vector<uint32_t> index;  // open addressing: entry number + 1, 0 free, ~0u deleted; empty while entries are few
  int64_t live = 0;
  size_t head = 0;            // entries before this one are deleted
  uint32_t keys_version = 0;  // changes with every insertion and removal of a key; used by the VM's name caches
  Value factory;              // defaultdict's default_factory; Empty otherwise
};

/// CPython's table, so that iteration order is CPython's wherever hashes are: linear probes of 9, then a perturbed jump.
struct Set : Object {  // set and frozenset
  struct Entry {
    Value key;  // Empty: free (hash 0) or deleted (hash ~0)
    uint64_t hash = 0;
  };
  std::vector<Entry> table;  // a power of two
  int64_t used = 0;          // keys
  int64_t fill = 0;          // keys and deleted entries
  uint64_t finger = 0;       // where pop() goes on looking
};

struct DictView : Object {  // dict_keys, dict_values, dict_items: the type says which
  Value dict;
};

/// Every native iterator but zip, map, filter and enumerate. For a range iterator: position is the next value, stop how many are left, step; for list, tuple,
/// str and bytes iterators, `state` is the sequence (Empty when exhausted) and `position` the index (str: byte offset).
struct Iterator : Object {
  Result<Value> (*advance)(Interp&, Iterator& self) = nullptr;
  Result<Value> (*step_native)(Interp&, Value& state, int64_t& position) = nullptr;  // make_iterator's
  Value state;
  int64_t position = 0;
  int64_t stop = 0;  // dict and set iterators: the size it must keep
  int64_t step = 0;
  Value last;  // over a dict's items: the tuple given last, made again in place when nobody else has it
};

struct Range : Object {
  int64_t start, stop, step;
};

struct Slice : Object {
  Value start, stop, step;
};

struct ComplexObject : Object {
  double re, im;
};

/// An int that 64 bits do not hold: sign and magnitude, as libtommath has it. Its type is int (or that of an int in a Boxed).
struct BigInt : Object {
  bool negative;
  int32_t used;
  uint64_t digits[1];  // `used` of them, 60 bits each, the lowest first; the last is not 0
};

struct Cell : Object {
  Value value;
};

struct Module : Object {
  Str* name;
  Value file;  // Str or None
  Value dict;  // Dict: the module's names
  /// Called for a name that is not there yet (submodules and natives loaded on first use). Empty: no such name.
  Result<Value> (*lazy)(Interp&, Module*, Str* name);
  bool loading;  // its code is running: a circle of imports sees it so
  bool library;  // embedded in the program
  bool hidden;   // ... and for the library alone: no script gets hold of it
};
/// A module that scripts must not see.
bool is_hidden(const Value& v);

struct Type : Object {
  Str* name;
  Str* qualname;
  Str* module;
  Type* base;  // null for object; of several the one whose layout instances have
  std::unique_ptr<Type*[]>
      order;    // several bases here or further up: where names are looked up (C3), from this type on, ended by null
  Value bases;  // Tuple, where there are several; else Empty
  const Slots* slots;
  Value dict;        // Dict: methods and class attributes
  bool script;       // defined by a class statement: protocol functions look for dunder methods
  bool has_getattr;  // defines (or inherits) __getattr__ / __setattr__ / __getattribute__
  bool has_setattr;
  uint32_t version;  // changes when any attribute of this type or a base changes
  // What the script's part of the chain defines, so that the common case asks no dictionary:
  bool has_getattribute;
  bool has_del;           // __del__
  bool has_get, has_set;  // its instances are descriptors
  bool special_call;      // it is abstract, or its metaclass says what a call of it does
  bool wrappers;          // native: the dunder methods that stand for its slots are in `dict` (made on first need)
  ErrorKind error_kind;   // exception classes: the nearest native one
  bool slotted;           // __slots__ says all: instances have no dictionary, their slots' values lie where it would be
  bool has_slots;         // it or a base has slots
  bool unwatched;         // no weak references to instances: __slots__ leaves them out
  Value doc_code;         // of a class of the library: the Code that knows its docstring; else Empty
  bool is_subtype_of(const Type* t) const {
    if (order) [[unlikely]] {
      for (Type* const* s = order.get(); *s; ++s) {
        if (*s == t) return true;
      }
      return false;
    }
    for (const Type* s = this; s; s = s->base) {
      if (s == t) return true;
    }
    return false;
  }
};

/// A walk through the types in which a name of `type` is looked up, in order: for (Lineage l(type); l.at; l.next()).
struct Lineage {
  Type* at;
  Type* const* rest;
  explicit Lineage(const Type* type) : at(const_cast<Type*>(type)), rest(type->order ? type->order.get() : nullptr) {}
  void next() { at = rest ? *++rest : at->base; }
};

struct Instance : Object {
  Value dict;  // Dict, or Empty until the first attribute is set
};

/// An instance of a script class that derives from int or float, whose own values are unboxed.
struct Boxed : Instance {
  Value value;
};
/// The number behind such an instance (its kind is Kind::Boxed); any other value is itself.
inline Value unboxed(const Value& v) { return v.is(Kind::Boxed) ? v.as<Boxed>()->value : v; }

/// Bits of Counted::flags.
inline constexpr uint8_t kHasSideDict = 1;  // Interp::side_dict knows this object
inline constexpr uint8_t kFinalized = 2;    // __del__ has run

struct Function : Object {
  Value code;         // Code
  Value module;       // Module: globals
  Value defaults;     // Tuple of the last positional defaults, or Empty
  Value kw_defaults;  // Dict of keyword-only defaults, or Empty
  Value closure;      // Tuple of Cells, or Empty
  Value annotations;  // Dict, or Empty
  Value dict;         // attributes, or Empty
  Value name, qualname;
  Value doc;  // Empty: what the code says
};

struct NativeFunction : Object {
  const NativeDef* def;
  Signature* signature;  // parsed on first call; owned
  Value self;            // the bound object of a module-level native, or Empty
  Type* owner;           // the type whose method this is, or null
};

struct BoundMethod : Object {
  Value function;
  Value self;
};

/// A property; one whose `get` is an int is a field of a named tuple, one whose `get` is a Str the slot of that name of the class `set`.
struct Property : Object {
  Value get, set, del, doc;
  Value name;  // Str once the class it stands in is made
  bool is_slot() const { return get.is_str(); }
};

struct Wrapper : Object {  // StaticMethod, ClassMethod
  Value function;
};

struct Super : Object {
  Type* after;  // look behind this type in the chain of self's type
  Value self;   // an instance, or a Type for class methods
};

struct TraceEntry {
  Code* code;  // counted by the exception
  Span span;
  Span anchor;  // the operator within it; all 0: none
};

struct Exception : Object {
  Value args;     // Tuple
  Value cause;    // Exception or Empty
  Value context;  // Exception or Empty
  bool suppress_context;
  std::string hint;
  Value name, obj;                // of AttributeError, NameError, ImportError: what was looked for, and where; else Empty
  std::vector<TraceEntry> trace;  // innermost first, as it grows while unwinding
  Value dict;
};

/// e.__traceback__: a view of the entries of an exception, outermost first.
struct Traceback : Object {
  Value exception;
  int64_t index;  // in Exception::trace
};

/// Names used by the VM and the protocols, interned once: symbols.def holds one row each.
struct Symbols {
#define TFL_SYMBOL(name) Str* name;
#include "frontend/core/symbols.def"
#undef TFL_SYMBOL
};

/// The native types: types.def holds one row each (id, script name, module, base).
struct Types {
#define TFL_TYPE(id, name, module, base, slots, methods) Type* id;
#include "frontend/core/types.def"
#undef TFL_TYPE
};

}  // namespace tfl
