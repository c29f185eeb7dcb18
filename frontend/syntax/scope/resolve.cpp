#include "frontend/syntax/scope/collect.h"

namespace tfl::scope {

std::string_view ScopeTree::mangle(const Scope& scope, std::string_view id) {
  std::string_view owner = scope.private_class;
  if (owner.empty() || !id.starts_with("__") || id.ends_with("__") || id.find('.') != id.npos) return id;
  size_t first = owner.find_first_not_of('_');
  if (first == owner.npos) return id;
  return names.intern("_" + std::string(owner.substr(first)) + std::string(id));
}

namespace {

/// The function scope around `from` that keeps `name`; null when it is a global one.
Scope* find_owner(Scope* from, std::string_view name) {
  for (Scope* s = from->parent; s; s = s->parent) {
    if (s->kind == ScopeKind::Class && name == "__class__") return s;
    if (!s->is_function()) continue;
    const Symbol* sym = s->find(name);
    if (!sym) continue;
    if (sym->global) return nullptr;
    if (sym->bound && !sym->nonlocal) return s;
  }
  return nullptr;
}

/// `from` and every scope between it and `owner` get the cell with their closure.
void pass_cell(Scope* from, Scope* owner, std::string_view name) {
  for (Scope* s = from; s != owner; s = s->parent) {
    bool there = false;
    for (std::string_view f : s->free) there = there || f == name;
    if (there) return;  // then those further out have it too
    s->free.push_back(name);
  }
  if (owner->kind == ScopeKind::Class) {
    owner->class_cell = true;
    return;
  }
  Symbol* sym = owner->find(name);
  sym->captured = true;
  sym->storage = Storage::Cell;
}

void resolve(Scope& scope, Symbol& sym, std::vector<Diagnostic>& diagnostics) {
  if (scope.kind == ScopeKind::Module || sym.global) {
    sym.storage = Storage::Global;
    return;
  }
  if (sym.bound && !sym.nonlocal) {
    // A cell already when an inner scope was resolved first; that cannot be, as outer scopes come first.
    sym.storage = scope.kind == ScopeKind::Class ? Storage::Namespace : Storage::Local;
    return;
  }
  Scope* owner = find_owner(&scope, sym.name);
  if (!owner) {
    if (sym.nonlocal) diagnostics.push_back(make_diagnostic(DiagnosticId::NoNonlocalBinding, sym.first_binding, {sym.name}));
    sym.storage = scope.kind == ScopeKind::Class ? Storage::Namespace : Storage::Global;
    return;
  }
  pass_cell(&scope, owner, sym.name);
  sym.storage = scope.kind == ScopeKind::Class && !sym.nonlocal ? Storage::NamespaceOrFree : Storage::Free;
}

}  // namespace

void resolve_scopes(ScopeTree& tree, std::vector<Diagnostic>& diagnostics) {
  for (Scope& scope : tree.scopes) {
    for (Symbol& sym : scope.symbols) resolve(scope, sym, diagnostics);
    // super() without arguments finds its class in the cell of __class__.
    const Symbol* super = scope.is_function() ? scope.find("super") : nullptr;
    if (super && super->used && super->storage == Storage::Global && !scope.find("__class__")) {
      if (Scope* owner = find_owner(&scope, "__class__")) pass_cell(&scope, owner, "__class__");
    }
  }
}

std::unique_ptr<ScopeTree> analyse_scopes(const ast::Module& module, std::vector<Diagnostic>& diagnostics) {
  auto tree = std::make_unique<ScopeTree>();
  Collector(*tree, diagnostics).module(module);
  resolve_scopes(*tree, diagnostics);
  return tree;
}

}  // namespace tfl::scope
