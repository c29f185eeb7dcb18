// The abstract syntax tree: what the parser makes, AutoGraph rewrites, and the bytecode compiler reads.
// Nodes are plain structs owned by an Arena; lists are spans into the same arena; names are interned text of the arena.
// This header must not know about parsing, values or bytecode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tfl {

/// A region of source text. Lines count from 1, columns from 0 in characters (not bytes), the end is exclusive.
struct Span {
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t end_line = 0;
  uint32_t end_column = 0;
  bool operator==(const Span&) const = default;
};

}  // namespace tfl

namespace tfl::ast {

/// Owns nodes, lists and names of one tree. Nothing is freed before the arena is; nodes are trivially destructible.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }
  template <class T>
  std::span<T> list(const std::vector<T>& items) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (items.empty()) return {};
    T* p = static_cast<T*>(allocate(sizeof(T) * items.size(), alignof(T)));
    std::memcpy(static_cast<void*>(p), items.data(), sizeof(T) * items.size());
    return {p, items.size()};
  }
  /// The one copy of `text` in this arena.
  std::string_view intern(std::string_view text) {
    auto it = names_.find(text);
    if (it != names_.end()) return *it;
    char* p = static_cast<char*>(allocate(text.size() + 1, 1));
    std::memcpy(p, text.data(), text.size());
    p[text.size()] = 0;
    return *names_.insert(std::string_view(p, text.size())).first;
  }

 private:
  void* allocate(size_t size, size_t align) {
    size_t at = (used_ + align - 1) & ~(align - 1);
    if (blocks_.empty() || at + size > capacity_) {
      capacity_ = size > kBlock ? size : kBlock;
      blocks_.push_back(std::make_unique<std::byte[]>(capacity_));
      at = 0;
    }
    used_ = at + size;
    return blocks_.back().get() + at;
  }
  static constexpr size_t kBlock = 32 * 1024;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  size_t used_ = 0;
  size_t capacity_ = 0;
  std::unordered_set<std::string_view> names_;
};

template <class T>
using List = std::span<T>;
using Identifier = std::string_view;  // interned in the arena

// ---------------------------------------------------------------------------------------------------- expressions

enum class ExprKind : uint8_t {
  Constant,
  FormattedString,
  Name,
  Attribute,
  Subscript,
  Slice,
  Call,
  Unary,
  Binary,
  BoolOp,
  Compare,
  Conditional,
  Lambda,
  NamedExpr,
  Starred,
  Tuple,
  ListDisplay,
  SetDisplay,
  DictDisplay,
  Comprehension,
  Yield,
  YieldFrom,
};

struct Expr {
  ExprKind kind;
  Span span;
};

enum class ConstantKind : uint8_t { None, True, False, Ellipsis, Int, Float, Imaginary, String, Bytes };

struct Constant : Expr {
  ConstantKind constant;
  int64_t integer = 0;    // Int; the largest where 64 bits do not hold it
  double real = 0;        // Float, Imaginary
  std::string_view text;  // String: UTF-8; Bytes: raw bytes; Int that 64 bits do not hold: as it is written
};

/// One part of an f-string: literal text (value == nullptr) or a replacement field.
struct FormatPart {
  std::string_view literal;
  Expr* value = nullptr;
  char conversion = 0;   // 'r', 's', 'a' or 0
  Expr* spec = nullptr;  // Constant or FormattedString; nullptr when there is none
  // `{x=}` is already split by the parser: a literal "x=" and the field (conversion 'r' unless given or a spec is there).
};

struct FormattedString : Expr {
  List<FormatPart> parts;
};

struct Name : Expr {
  Identifier id;
};

struct Attribute : Expr {
  Expr* value;
  Identifier name;
  Span name_span;
};

struct Subscript : Expr {
  Expr* value;
  Expr* index;  // `a[1, 2:3]` is a Tuple with a Slice in it
};

struct Slice : Expr {
  Expr* lower;  // each may be nullptr
  Expr* upper;
  Expr* step;
};

/// `name=value`; `**value` when name is empty.
struct Keyword {
  Identifier name;
  Expr* value;
  Span span;
};

struct Call : Expr {
  Expr* function;
  List<Expr*> args;  // Starred for `*xs`; in source order among themselves
  List<Keyword> keywords;
};

enum class UnaryOp : uint8_t { Not, Invert, Plus, Minus };

struct Unary : Expr {
  UnaryOp op;
  Expr* operand;
};

enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, FloorDiv, Mod, Pow, MatMul, LShift, RShift, BitAnd, BitOr, BitXor };

struct Binary : Expr {
  BinaryOp op;
  Expr* left;
  Expr* right;
  Span op_span;
};

enum class BoolOpKind : uint8_t { And, Or };

struct BoolOp : Expr {
  BoolOpKind op;
  List<Expr*> values;  // two or more
};

enum class CompareOp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Is, IsNot, In, NotIn };

struct Compare : Expr {
  Expr* left;
  List<CompareOp> ops;
  List<Expr*> comparators;
};

struct Conditional : Expr {
  Expr* condition;
  Expr* then_value;
  Expr* else_value;
};

enum class ParamKind : uint8_t { PositionalOnly, PositionalOrKeyword, VarPositional, KeywordOnly, VarKeyword };

struct Parameter {
  ParamKind kind;
  Identifier name;
  Expr* annotation;     // nullptr when absent
  Expr* default_value;  // nullptr when absent
  Span span;
};

struct Lambda : Expr {
  List<Parameter> params;
  Expr* body;
};

struct NamedExpr : Expr {  // target := value
  Name* target;
  Expr* value;
};

struct Starred : Expr {
  Expr* value;
};

struct Tuple : Expr {
  List<Expr*> items;
  bool parenthesised = false;
};

struct ListDisplay : Expr {
  List<Expr*> items;
};

struct SetDisplay : Expr {
  List<Expr*> items;
};

struct DictItem {
  Expr* key;  // nullptr for `**value`
  Expr* value;
};

struct DictDisplay : Expr {
  List<DictItem> items;
};

enum class ComprehensionKind : uint8_t { List, Set, Dict, Generator };

struct ComprehensionFor {
  Expr* target;
  Expr* iterable;
  List<Expr*> conditions;
  bool asynchronous = false;
};

struct Comprehension : Expr {
  ComprehensionKind comprehension;
  Expr* element;  // the key for Dict
  Expr* value;    // Dict only
  List<ComprehensionFor> clauses;
};

struct Yield : Expr {
  Expr* value;  // may be nullptr
};

struct YieldFrom : Expr {
  Expr* value;
  bool await = false;  // `await value`
};

// ----------------------------------------------------------------------------------------------------- statements

enum class StmtKind : uint8_t {
  Expression,
  Assign,
  AugAssign,
  AnnAssign,
  If,
  While,
  For,
  Break,
  Continue,
  Pass,
  Return,
  FunctionDef,
  ClassDef,
  With,
  Try,
  Raise,
  Assert,
  Import,
  ImportFrom,
  Global,
  Nonlocal,
  Delete,
};

struct Stmt {
  StmtKind kind;
  Span span;  // of the whole statement; for compound ones up to the end of the last body
};

using Block = List<Stmt*>;

struct Expression : Stmt {
  Expr* value;
};

struct Assign : Stmt {
  List<Expr*> targets;  // several for a = b = value, left to right
  Expr* value;
};

struct AugAssign : Stmt {
  Expr* target;  // Name, Attribute or Subscript
  BinaryOp op;
  Expr* value;
  Span op_span;
};

struct AnnAssign : Stmt {
  Expr* target;
  Expr* annotation;
  Expr* value;  // may be nullptr
  bool simple;  // the target is a bare, unparenthesised name
};

struct If : Stmt {
  Expr* condition;
  Block body;
  Block orelse;  // `elif` is one nested If
};

struct While : Stmt {
  Expr* condition;
  Block body;
  Block orelse;
};

struct For : Stmt {
  Expr* target;
  Expr* iterable;
  Block body;
  Block orelse;
  bool asynchronous = false;
};

struct Break : Stmt {};
struct Continue : Stmt {};
struct Pass : Stmt {};

struct Return : Stmt {
  Expr* value;  // may be nullptr
};

struct FunctionDef : Stmt {
  Identifier name;
  Span name_span;
  List<Expr*> decorators;
  List<Parameter> params;
  Expr* returns;  // annotation, may be nullptr
  Block body;
  bool asynchronous = false;
};

struct ClassDef : Stmt {
  Identifier name;
  Span name_span;
  List<Expr*> decorators;
  Expr* base;  // may be nullptr; several bases and keywords: class_arguments.h
  Block body;
};

struct WithItem {
  Expr* context;
  Expr* target;  // may be nullptr
};

struct With : Stmt {
  List<WithItem> items;
  Block body;
  bool asynchronous = false;
};

struct ExceptHandler {
  Expr* type;       // nullptr for a bare `except:`
  Identifier name;  // empty when there is no `as`
  Block body;
  Span span;
};

struct Try : Stmt {
  Block body;
  List<ExceptHandler> handlers;
  Block orelse;
  Block finally;
  bool groups = false;  // the handlers are `except*`
};

struct Raise : Stmt {
  Expr* exception;  // may be nullptr
  Expr* cause;      // may be nullptr
};

struct Assert : Stmt {
  Expr* condition;
  Expr* message;  // may be nullptr
};

struct Alias {
  Identifier name;    // dotted for Import; `*` for a star import
  Identifier asname;  // empty when absent
  Span span;
};

struct Import : Stmt {
  List<Alias> names;
};

struct ImportFrom : Stmt {
  Identifier module;  // dotted; of a relative import with its dots in front
  List<Alias> names;
};

struct Global : Stmt {
  List<Identifier> names;
};

struct Nonlocal : Stmt {
  List<Identifier> names;
};

struct Delete : Stmt {
  List<Expr*> targets;
};

/// A whole source file. `docstring`s stay ordinary Expression statements.
struct Module {
  Block body;
};

/// Downcast after looking at `kind`.
template <class T>
T* as(Expr* e) {
  return static_cast<T*>(e);
}
template <class T>
T* as(Stmt* s) {
  return static_cast<T*>(s);
}
template <class T>
const T* as(const Expr* e) {
  return static_cast<const T*>(e);
}
template <class T>
const T* as(const Stmt* s) {
  return static_cast<const T*>(s);
}

}  // namespace tfl::ast
