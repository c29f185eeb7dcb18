// The walk over a script: what each expression certainly is, and what using it certainly raises.
// This header must not know how findings are shown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontend/core/interp.h"
#include "frontend/interpreter/check/certainty.h"
#include "frontend/interpreter/check/check.h"
#include "frontend/syntax/scope/scope.h"

namespace tfl::check {

/// What is known of an expression. `value` Empty: nothing. `type_only`: the value may have changed since, its type has not.
struct Known {
  Value value;
  bool type_only = false;
  bool own = false;   // a function or class of the script: it has parameters and is not called
  bool pure = false;  // a function of the library that only computes
  explicit operator bool() const { return !value.is_empty(); }
};

/// Whether calling what `module` has as `name` does nothing but give a value, or say what is wrong with its arguments.
bool only_computes(std::string_view module, std::string_view name, const Value& v);

class Checker {
 public:
  Checker(Interp& interp, scope::ScopeTree& scopes, const ast::Module& module, const Value& code,
          std::vector<Diagnostic>& diagnostics, const Seen* seen = nullptr);
  void run(const ast::Module& module);

 private:
  struct Definition {
    const ast::Stmt* statement = nullptr;  // Import, ImportFrom, FunctionDef, ClassDef, Assign
    const ast::Alias* alias = nullptr;
    const scope::Scope* scope = nullptr;
    bool busy = false, done = false;
    Known known;
  };

  // checker.cpp: statements
  void collect_definitions(ast::Block block, const scope::Scope& scope);
  void define(const scope::Scope& scope, std::string_view id, const ast::Stmt* s, const ast::Alias* alias = nullptr);
  void block(ast::Block block);
  void statement(const ast::Stmt* s);
  void target(const ast::Expr* e);
  void function(const ast::FunctionDef* d);
  void class_(const ast::ClassDef* c);
  void imports(const ast::Stmt* s);
  void uncertainly(bool uncertain, auto&& f) {
    bool before = certain_;
    certain_ = before && !uncertain;
    f();
    certain_ = before;
  }
  void inside(const void* node, auto&& f) {
    const scope::Scope* before = scope_;
    if (auto it = scopes_.by_node.find(node); it != scopes_.by_node.end()) scope_ = it->second;
    f();
    scope_ = before;
  }

  // evaluate.cpp: expressions
  Known evaluate(const ast::Expr* e);
  Known evaluate_inner(const ast::Expr* e);
  void walk(const ast::Expr* e) {
    if (e) evaluate(e);
  }
  Known name(const ast::Name* e);
  Known attribute(const ast::Attribute* e);
  Known display(const ast::Expr* e);
  Known binary(const ast::Binary* e);
  Known subscript(const ast::Subscript* e);
  Known call(const ast::Call* e);
  void comprehension(const ast::Comprehension* e);
  Known compute(const ast::Expr* e, Result<Value> made);

  // definitions.cpp: what names stand for
  const scope::Symbol* symbol_of(std::string_view id, const scope::Scope*& owner) const;
  Known known_of(const scope::Symbol* symbol);
  Known imported(const Definition& d);
  Known own_function(const ast::FunctionDef* d);
  Known own_class(const ast::ClassDef* c);
  Result<void> find_module(std::string_view name);

  Result<void> bind(const Known& callee, const ast::Call* c);

  void report(Span span, Failure failure);
  void would_raise(Span span, std::string_view error, std::string message, std::string hint);
  void report(DiagnosticId id, Span span, std::initializer_list<std::string_view> args);

  Interp& interp_;
  scope::ScopeTree& scopes_;
  Certainty certainty_;
  std::vector<Diagnostic>& diagnostics_;
  const Seen* seen_;
  std::unordered_map<const scope::Symbol*, Definition> definitions_;
  std::unordered_map<uint64_t, Code*> codes_;     // of the script's functions, by where they stand
  std::unordered_set<std::string_view> rebound_;  // names that inner scopes assign to
  std::unordered_set<const scope::Symbol*> told_;
  const scope::Scope* scope_ = nullptr;
  Value dummy_;
  std::string folder_;  // of the script, with a slash
  bool certain_ = true;
  bool paths_changed_ = false;  // the script changes where modules are looked for
  bool star_ = false;           // the script imports names that nobody knows, or may make such
  int depth_ = 0;
};

}  // namespace tfl::check
