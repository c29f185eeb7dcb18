// Scopes of one source file: which names each function, class body and comprehension binds, and where each name it uses lives.
// Made before anything is compiled. This header must not know about bytecode, values or the interpreter.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/syntax/ast/ast.h"
#include "frontend/syntax/diagnostics/diagnostic.h"

namespace tfl::scope {

enum class ScopeKind : uint8_t { Module, Function, Lambda, Class, Comprehension };

/// Where the value of a name is kept, seen from one scope.
enum class Storage : uint8_t {
  Global,           // the module's names, then the built-ins
  Local,            // a register
  Cell,             // a cell this scope makes, because an inner function uses the name
  Free,             // a cell that came with the closure
  Namespace,        // a class body's own name: its namespace, then globals and built-ins
  NamespaceOrFree,  // read in a class body: its namespace, then the closure's cell
};

struct Symbol {
  std::string_view name;  // mangled where Python mangles
  Storage storage = Storage::Global;
  bool bound = false;  // assigned, imported, defined, a parameter, a target, deleted …
  bool parameter = false;
  uint32_t bindings = 0;  // places that bind it in this scope
  bool used = false;
  bool global = false;    // declared so
  bool nonlocal = false;  // declared so, or the target of := inside a comprehension
  bool annotated = false;
  bool unbound = false;    // `del` or the end of an `except … as` may unbind it
  bool walrus = false;     // a target of := in this scope or in a comprehension within
  bool iteration = false;  // a target of a comprehension's `for`
  bool captured = false;   // an inner scope uses it
  Span first_use;          // line 0: never used
  Span first_binding;
};

struct Scope {
  ScopeKind kind = ScopeKind::Module;
  ast::ComprehensionKind comprehension = ast::ComprehensionKind::List;
  const void* node = nullptr;  // the definition's tree node; null for the module
  Scope* parent = nullptr;
  std::string name;  // "<lambda>", "<listcomp>", …
  std::string qualname;
  std::string_view private_class;  // names like __x are mangled for this class; empty outside classes
  std::deque<Symbol> symbols;      // parameters first, in register order; then in order of appearance
  std::unordered_map<std::string_view, Symbol*> index;
  std::vector<std::string_view> free;  // names whose cells the closure brings, in order
  bool generator = false;              // it yields
  bool asynchronous = false;           // `async def`, or a comprehension that awaits
  Span returns{};                      // the first return of a value in `async def`
  bool class_cell = false;             // a class whose methods use __class__ or super()
  bool has_annotations = false;        // module or class body: makes __annotations__
  bool star_import = false;
  bool helper = false;     // AutoGraph's: it stands for a part of the function around it
  int iterable_depth = 0;  // while collecting: inside iterables of comprehensions

  bool is_function() const { return kind != ScopeKind::Module && kind != ScopeKind::Class; }
  const Symbol* find(std::string_view id) const {
    auto it = index.find(id);
    return it == index.end() ? nullptr : it->second;
  }
  Symbol* find(std::string_view id) { return const_cast<Symbol*>(std::as_const(*this).find(id)); }
};

/// All scopes of a file; `scopes[0]` is the module's, parents come before what they contain.
struct ScopeTree {
  std::deque<Scope> scopes;
  std::unordered_map<const void*, Scope*> by_node;
  std::unordered_map<std::string_view, bool> module_names;  // every name bound at module level, from wherever
  ast::Arena names;                                         // text of mangled names
  bool future_annotations = false;

  Scope& module() { return scopes.front(); }
  Scope& of(const void* node) const { return *by_node.at(node); }
  /// `id` as it is called inside `scope`: __x becomes _Class__x in a class.
  std::string_view mangle(const Scope& scope, std::string_view id);
};

/// How deep a tree may be nested: the analysis and the compiler recurse over it.
inline constexpr int kMaxTreeDepth = 1000;

/// Collects and resolves all names. What is wrong with them goes to `diagnostics`; the tree is usable when none is an error.
std::unique_ptr<ScopeTree> analyse_scopes(const ast::Module& module, std::vector<Diagnostic>& diagnostics);

/// The second half of it: decides every symbol's storage.
void resolve_scopes(ScopeTree& tree, std::vector<Diagnostic>& diagnostics);

/// Refuses built-ins the language does not have.
void check_names(const ScopeTree& tree, std::vector<Diagnostic>& diagnostics);

}  // namespace tfl::scope
