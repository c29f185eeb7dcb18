// The interpreter: one running program with its types, interned names, modules and options. Natives get it as their first
// parameter. Everything that makes host objects is here; what objects do is in frontend/core/protocol.h.
#pragma once

#include <fmt/core.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/core/object.h"
#include "frontend/core/streams.h"
#include "runtime/core/context.h"
#include "runtime/files/sandbox.h"
#include "runtime/files/whole_folder.h"

namespace tfl {

struct Frame;
struct Source;
struct Sink;
struct TensorState;
struct TensorStateDeleter {
  void operator()(TensorState* state) const;
};

/// Bits of Context::interrupt.
inline constexpr uint32_t kInterruptKeyboard = 1;  // Ctrl-C: KeyboardInterrupt
inline constexpr uint32_t kInterruptTimeout = 2;   // the run ends where it is; no handler of the script sees it

struct InterpOptions {
  int max_depth = 1000;  // RecursionError beyond
  std::vector<std::string> argv;
  std::string script_folder;  // where `import` looks; empty: the working directory
  std::vector<std::string> allow_read, allow_write;
  bool allow_all = false;
  bool use_cache = true;         // bytecode cache on disk
  bool rewrite_asserts = false;  // `tfl test`: a failing assert shows its values
  bool color = false;
};

/// One entry of a cache of attribute lookups: what `name` is in the chain of `type`, as of `epoch`.
struct TypeCacheEntry {
  const Type* type = nullptr;
  Str* name = nullptr;
  uint32_t epoch = 0;
  const Value* entry = nullptr;
};

/// Storage of frames that end in the order they began: chunks used as a stack.
class FrameStack {
 public:
  FrameStack() = default;
  FrameStack(const FrameStack&) = delete;
  FrameStack& operator=(const FrameStack&) = delete;
  ~FrameStack();
  void* push(size_t bytes) {
    bytes = (bytes + 15) & ~size_t{15};
    if (static_cast<size_t>(end_ - top_) < bytes) [[unlikely]]
      return push_slow(bytes);
    char* p = top_;
    top_ += bytes;
    return p;
  }
  /// Gives back the frame pushed last.
  void pop(void* frame) {
    top_ = static_cast<char*>(frame);
    if (top_ == begin_) [[unlikely]]
      pop_slow();
  }
  void swap(FrameStack& other) {
    std::swap(begin_, other.begin_), std::swap(end_, other.end_), std::swap(top_, other.top_);
    chunks_.swap(other.chunks_);
    std::swap(current_, other.current_);
  }

 private:
  struct Chunk {
    char *begin, *end, *top;
  };
  void* push_slow(size_t bytes);
  void pop_slow();
  char *begin_ = nullptr, *end_ = nullptr, *top_ = nullptr;
  std::vector<Chunk> chunks_;
  size_t current_ = 0;
};

/// What an iterator said when it ended: the StopIteration of a script's __next__, or what a generator returned. `next` forgets it
/// before it asks an iterator, so that whoever is told of an end finds here what belongs to it.
struct Ended {
  Value value;
  std::unique_ptr<Error> error;

  void forget() {
    if (!value.is_empty()) [[unlikely]]
      value = Value();
    if (error) [[unlikely]]
      error.reset();
  }
};

class Interp {
 public:
  Interp(Context& context, InterpOptions options);
  ~Interp();
  Interp(const Interp&) = delete;
  Interp& operator=(const Interp&) = delete;

  Context& context;
  InterpOptions options;
  Types types;
  Symbols sym;
  Streams streams;
  Value not_implemented;  // the NotImplemented singleton
  Value ellipsis;
  Value standard_streams[3];  // stdin, stdout and stderr as file objects, made on first use (file.h)
  Value builtins;             // Module
  Value modules;              // Dict: sys.modules
  Value hidden_modules;       // Dict: those of the library that no script gets hold of
  Value empty_tuple;
  Frame* frame = nullptr;         // the innermost running frame
  int depth = 0;                  // host calls in progress, native re-entries included
  int64_t max_str_digits = 4300;  // of an int as decimal text, either way; 0: any number (sys.set_int_max_str_digits)
  bool stopped = false;           // the time is up: everything unwinds, no handler of the script runs
  int undivided =
      0;  // steps in progress that are to be whole (transaction.h): an interrupt waits for their end as long as it may
  FrameStack frames;
  /// What __getattr__ raised for an attribute that find_attr then reported as absent.
  std::unique_ptr<Error> missing_attribute;
  Ended ended;
  /// Changes whenever a name comes into or goes out of a type's dictionary.
  uint32_t type_epoch = 1;
  static constexpr size_t kTypeCacheSize = 1024;
  TypeCacheEntry type_cache[kTypeCacheSize];     // the whole chain of a type
  TypeCacheEntry special_cache[kTypeCacheSize];  // the part of it that scripts define
  const char* stack_limit = nullptr;             // natives must not recurse below this address

  // ------------------------------------------------------------------------------------------------- making values
  /// The one Str of this text; identifiers and attribute names are always interned.
  Str* intern(std::string_view text);
  Value str(std::string text);
  Value str(Str* s) { return Value::share(s); }
  /// The text of one character below U+0100; there is one object for each.
  Value character(unsigned char c) { return characters_[c] ? Value::share(characters_[c]) : make_character(c); }
  /// A text that is ASCII.
  Value ascii(std::string text);
  template <class... Args>
    requires(sizeof...(Args) > 0)
  Value strf(fmt::format_string<Args...> f, Args&&... args) {
    return str(fmt::vformat(f, fmt::make_format_args(args...)));
  }
  Value bytes(std::string data);
  Value list(std::vector<Value> items = {});
  Value tuple(std::span<const Value> items);
  Value tuple(std::initializer_list<Value> items) { return tuple(std::span<const Value>(items.begin(), items.size())); }
  Value dict();
  Value set();
  Value slice(Value start, Value stop, Value step);
  Value cell(Value v = {});
  Value bound_method(const Value& function, const Value& self);
  Value native(const NativeDef& def, Value self = {}, Type* owner = nullptr);
  Value module(std::string_view name);
  /// A class as a class statement makes it. `several`: its bases where there are more than one; `order`: room for itself and what follows.
  Type* new_type(std::string_view name, Type* base, Value dict, std::string_view module, Type* metaclass = nullptr,
                 Value several = {}, std::unique_ptr<Type*[]> order = {});
  /// Storage for an object of `type`, header filled in, refs 1; the caller constructs the rest in place.
  template <class T>
  T* allocate(Type* type, size_t bytes = sizeof(T)) {
    T* o = static_cast<T*>(context.heap.allocate(bytes));
    new (o) T();
    o->refs = 1;
    o->kind = static_cast<uint8_t>(type->slots->kind);
    o->flags = 0;
    o->extra = 0;
    o->type = type;
    return o;
  }
  static Interp& of(void* object) { return *static_cast<Interp*>(Heap::of(object).host); }

  // ------------------------------------------------------------------------------------------------------ types
  Type* type_of(const Value& v) const {
    switch (v.tag()) {
      case Tag::Object: return v.is_tensor() ? types.tensor : v.object()->type;
      case Tag::Int: return types.int_;
      case Tag::Float: return types.float_;
      case Tag::Bool: return types.bool_;
      case Tag::None:
      case Tag::Empty: break;
    }
    return types.none_type;
  }
  std::string_view type_name(const Value& v) const;
  bool is_instance(const Value& v, const Type* t) const { return type_of(v)->is_subtype_of(t); }
  Type* exception_type(ErrorKind kind) const { return exception_types_[static_cast<int>(kind)]; }
  /// Attributes of objects whose layout has no dictionary (subclasses of list, dict, str, ...).
  Value& side_dict(Object* o) {
    o->flags |= kHasSideDict;
    return side_dicts_[o];
  }
  Value* find_side_dict(Object* o);
  void drop_side_dict(Object* o);
  const std::vector<Type*>& all_types() const { return all_types_; }

  // ------------------------------------------------------------------------------------------------------ running
  /// Calls anything callable. `args` are consumed (moved from).
  Result<Value> call(const Value& callee, CallArgs& args);
  Result<Value> call(const Value& callee, std::initializer_list<Value> args);
  /// Calls method `name` of `self`.
  Result<Value> call_method(const Value& self, Str* name, std::initializer_list<Value> args);
  /// Runs a module's code with `module`'s dictionary as globals.
  Result<void> run_module(const Value& code, const Value& module);
  /// Imports by dotted name: built in, stdlib, then files beside the script.
  /// What begins with `_` of the library is for the library alone.
  Result<Value> import_module(std::string_view name, bool for_library = true);
  /// A module of the library, which must have been imported; Empty when it has not.
  Value find_module(std::string_view name);
  /// The exception object of an error (made on first need), for `except`, tracebacks and exit codes.
  Value exception_of(Error& error);
  /// An error that carries this exception object.
  Failure raise(Value exception);
  /// The traceback as CPython 3.11 prints it, with hints and causes.
  std::string format_traceback(const Value& exception);
  /// Gives the system what files hold back, before a process ends without destroying its objects.
  void write_files();
  /// KeyboardInterrupt, timeout or other pending interruption as an error; called by long-running natives. What is asked for and not yet
  /// urgent (Context::interrupt_request) stops scripts between their own statements only, and `between_steps`.
  Result<void> check_interrupt(bool between_steps = false);
  bool asked_to_stop() const {
    return (context.interrupt_request.load(std::memory_order_relaxed) | context.interrupt.load(std::memory_order_relaxed)) != 0;
  }

  // Extension points injected by the program: another layer's services without a link dependency.
  Sandbox sandbox;                                    // which files the script may touch (builtins/file_access.h)
  std::vector<std::unique_ptr<WholeFolder>> folders;  // begun and not yet ended
  Value watched;                                      // Dict: the objects that have weak references, by number (object/weak.cpp)
  std::vector<Value> roots;                           // values natives keep alive for the life of the interpreter
  Sink* sink = nullptr;                               // receives tensor operations while a function is traced; null: they run now
  std::unique_ptr<TensorState, TensorStateDeleter> tensors;  // made by init_tensors

 private:
  friend struct InterpSetup;
  struct StrHash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  struct StrEq {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
  };
  std::unordered_map<std::string_view, Str*, StrHash, StrEq> interned_;
  Value make_character(unsigned char c);
  Str* characters_[256] = {};
  std::unordered_map<Object*, Value> side_dicts_;
  std::vector<Type*> exception_types_;
  std::vector<Type*> all_types_;
};

/// Counts one level of native recursion over the script's values (repr of a list in a list ...). Not `ok`: too deep.
class Nesting {
 public:
  explicit Nesting(Interp& interp) : interp_(interp) {
    ++interp.depth;
    ok_ = interp.depth <= interp.options.max_depth + 64 &&
          static_cast<const char*>(__builtin_frame_address(0)) > interp.stack_limit;
  }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  ~Nesting() { --interp_.depth; }
  bool ok() const { return ok_; }

 private:
  Interp& interp_;
  bool ok_;
};

}  // namespace tfl
