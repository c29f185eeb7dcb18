// The first half of scope analysis: walks the tree once, makes the scopes and notes what each binds and uses.
// Must not decide where names live (resolve.cpp does).
#pragma once

#include <string_view>
#include <vector>

#include "frontend/syntax/scope/scope.h"

namespace tfl::scope {

class Collector {
 public:
  Collector(ScopeTree& tree, std::vector<Diagnostic>& diagnostics) : tree_(tree), diagnostics_(diagnostics) {}
  void module(const ast::Module& module);

 private:
  // collect.cpp: statements
  void block(ast::Block statements);
  void statement(const ast::Stmt* s);
  void if_chain(const ast::If* s);
  void try_statement(const ast::Try* s);
  void import(const ast::Import* s);
  void import_from(const ast::ImportFrom* s);
  void declare(const ast::Stmt* s, ast::List<ast::Identifier> names, bool global);
  void function(const ast::FunctionDef* s);
  void class_(const ast::ClassDef* s);
  void annotated(const ast::AnnAssign* s);
  void future(const ast::ImportFrom* s);
  // collect_expressions.cpp
  void expression(const ast::Expr* e);
  void chain(const ast::Expr* e);
  void optional(const ast::Expr* e) {
    if (e) expression(e);
  }
  void display(ast::List<ast::Expr*> items) {
    for (const ast::Expr* e : items) expression(e);
  }
  void target(const ast::Expr* e, bool iteration = false);
  void remove_target(const ast::Expr* e);
  void annotation(const ast::Expr* e);
  void defaults(ast::List<ast::Parameter> params);
  void parameters(ast::List<ast::Parameter> params);
  void lambda(const ast::Lambda* e);
  void comprehension(const ast::Comprehension* e);
  void named(const ast::NamedExpr* e);

  Symbol& symbol(Scope& scope, std::string_view name);
  Symbol& bind(std::string_view id, Span span);
  void use(std::string_view id, Span span);
  Scope* enter(ScopeKind kind, const void* node, std::string_view name);
  void leave() { scope_ = scope_->parent; }
  bool too_deep(Span span);
  void report(DiagnosticId id, Span span, std::initializer_list<std::string_view> args = {}) {
    diagnostics_.push_back(make_diagnostic(id, span, args));
  }

  ScopeTree& tree_;
  std::vector<Diagnostic>& diagnostics_;
  Scope* scope_ = nullptr;
  int depth_ = 0;
  bool too_deep_ = false;
  bool future_allowed_ = true;
  bool weak_ = false;  // inside an annotation: a name that nothing binds is no finding
};

}  // namespace tfl::scope
