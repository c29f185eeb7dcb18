// What the names of a script stand for: modules and what is imported from them, its own functions, constants.
#include <unistd.h>

#include <utility>

#include "frontend/core/advice.h"
#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/operations.h"
#include "frontend/interpreter/check/checker.h"

namespace tfl::check {

using ast::StmtKind;
using scope::Scope;
using scope::Storage;
using scope::Symbol;

const Symbol* Checker::symbol_of(std::string_view id, const Scope*& owner) const {
  std::string_view mangled = scopes_.mangle(*scope_, id);
  const Symbol* here = scope_->find(mangled);
  owner = scope_;
  if (!here) return nullptr;
  bool own = scope_->kind == scope::ScopeKind::Module || here->storage == Storage::Local || here->storage == Storage::Cell;
  if (own) return here;
  if (here->storage == Storage::Global) {
    owner = &scopes_.module();
    return owner->find(mangled);
  }
  if (here->storage == Storage::Free) {
    for (const Scope* s = scope_->parent; s; s = s->parent) {
      const Symbol* sym = s->is_function() ? s->find(mangled) : nullptr;
      if (sym && sym->storage == Storage::Cell) {
        owner = s;
        return sym;
      }
    }
  }
  // A class's own names: they may come from around it.
  owner = nullptr;
  return here;
}

Known Checker::known_of(const Symbol* symbol) {
  auto it = definitions_.find(symbol);
  if (it == definitions_.end() || it->second.busy) return {};
  Definition& d = it->second;
  if (d.done) return d.known;
  d.busy = true;
  const Scope* before = scope_;
  bool certain = std::exchange(certain_, false);  // what is wrong there is told there
  scope_ = d.scope;
  Known known;
  switch (d.statement->kind) {
    case StmtKind::Import:
    case StmtKind::ImportFrom: known = imported(d); break;
    case StmtKind::FunctionDef: known = own_function(ast::as<ast::FunctionDef>(d.statement)); break;
    case StmtKind::ClassDef: known = own_class(ast::as<ast::ClassDef>(d.statement)); break;
    case StmtKind::Assign: {
      known = evaluate(ast::as<ast::Assign>(d.statement)->value);
      bool fixed = known.value.is(Kind::Free) || known.value.is_str() || known.value.is_tensor() || known.value.is(Kind::Bytes) ||
                   known.value.is(Kind::Module) || known.value.is(Kind::Type) || known.value.is(Kind::Function) ||
                   known.value.is(Kind::NativeFunction);
      known.type_only |= !fixed;
      break;
    }
    default: break;
  }
  scope_ = before;
  certain_ = certain;
  Definition& same = definitions_[symbol];
  same.busy = false;
  same.done = true;
  same.known = known;
  return known;
}

Known Checker::imported(const Definition& d) {
  if (d.statement->kind == StmtKind::Import) {
    if (!is_module(d.alias->name)) return {};
    auto module = interp_.import_module(d.alias->name, false);
    if (!module) return {};
    if (!d.alias->asname.empty()) return {*module};
    auto root = interp_.import_module(d.alias->name.substr(0, d.alias->name.find('.')), false);
    return root ? Known{*root} : Known{};
  }
  auto* from = ast::as<ast::ImportFrom>(d.statement);
  if (!is_module(from->module)) return {};
  auto module = interp_.import_module(from->module, false);
  if (!module) return {};
  auto found = import_from(interp_, *module, interp_.intern(d.alias->name), false);
  return found ? Known{.value = *found, .pure = only_computes(module->as<Module>()->name->text, d.alias->name, *found)} : Known{};
}

/// Only what calls the function as it was written.
Known Checker::own_function(const ast::FunctionDef* def) {
  for (const ast::Expr* e : def->decorators) {
    const ast::Expr* f = e->kind == ast::ExprKind::Call ? ast::as<ast::Call>(e)->function : e;
    if (called_name(f) != "function" || f->kind != ast::ExprKind::Attribute) return {};
    // A signature binds in words of its own.
    if (e != f) return {};
  }
  auto code = codes_.find((static_cast<uint64_t>(def->span.line) << 32) | def->span.column);
  if (code == codes_.end() || code->second->name->text != def->name) return {};
  Function* f = interp_.allocate<Function>(interp_.types.function);
  f->code = Value::share(code->second);
  f->name = interp_.str(code->second->name);
  f->qualname = interp_.str(code->second->qualname);
  std::vector<Value> defaults;
  Value by_name;
  for (const ast::Parameter& p : def->params) {
    if (!p.default_value) continue;
    if (p.kind == ast::ParamKind::KeywordOnly) {
      if (by_name.is_empty()) by_name = interp_.dict();
      dict_set_str(by_name.as<Dict>(), interp_.intern(p.name), dummy_);
    } else {
      defaults.push_back(dummy_);
    }
  }
  if (!defaults.empty()) f->defaults = interp_.tuple(std::span<const Value>(defaults));
  f->kw_defaults = by_name;
  return {.value = Value::adopt(f), .own = true};
}

/// A class without base and decorators: its __init__, which takes the object first.
Known Checker::own_class(const ast::ClassDef* c) {
  if (c->base || !c->decorators.empty()) return {};
  const ast::FunctionDef* init = nullptr;
  for (const ast::Stmt* s : c->body) {
    if (s->kind != StmtKind::FunctionDef) continue;
    auto* d = ast::as<ast::FunctionDef>(s);
    if (d->name == "__new__") return {};
    if (d->name == "__init__") init = init ? nullptr : d;
  }
  if (!init || !init->decorators.empty()) return {};
  Known known = own_function(init);
  // Marked as a method by what it is bound to.
  if (!known) return {};
  known.value = interp_.bound_method(known.value, dummy_);
  return known;
}

/// The error of `import name` where it certainly fails: that names the first part that is missing. Nothing where it depends on the script.
Result<void> Checker::find_module(std::string_view name) {
  if (name.starts_with('_') || name.empty() || is_module(name)) return {};
  if (!dict_get_str(interp_.modules.as<Dict>(), interp_.intern(name)).is_empty()) return {};
  std::string_view root = name.substr(0, name.find('.'));
  if (is_module(root)) {
    auto found = interp_.import_module(name, false);
    if (!found && error_is(found.error(), ErrorKind::ModuleNotFoundError)) return found.failure();
    return {};
  }
  if (paths_changed_ || root != name) return {};
  std::string beside = folder_ + std::string(root);
  for (const char* extension : {".tfl", ".py", ""}) {
    if (access((beside + extension).c_str(), F_OK) == 0) return {};
  }
  return module_not_found(interp_, name);
}

}  // namespace tfl::check
