#include "frontend/interpreter/check/checker.h"

#include "frontend/core/advice.h"
#include "frontend/core/code.h"
#include "frontend/core/exception.h"
#include "frontend/core/operations.h"
#include "frontend/interpreter/check/check.h"
#include "frontend/syntax/ast/walk.h"
#include "frontend/syntax/diagnostics/source.h"

namespace tfl::check {

using namespace ast;
using ast::List;
using ast::Module;
using ast::Tuple;

namespace {

uint64_t place_key(const Span& s) { return (static_cast<uint64_t>(s.line) << 32) | s.column; }

bool has_yield(const Stmt* s) {
  bool found = false;
  ast::each_expression(const_cast<Stmt*>(s), [&](Expr*& e) {
    ast::each_node(e, [&](const Expr* n) {
      found |= n->kind == ExprKind::Yield || n->kind == ExprKind::YieldFrom;
      return !found;
    });
  });
  ast::each_block(const_cast<Stmt*>(s), [&](Block& b) {
    for (const Stmt* inner : b) found = found || has_yield(inner);
  });
  return found;
}

}  // namespace

Checker::Checker(Interp& interp, scope::ScopeTree& scopes, const Module& module, const Value& code,
                 std::vector<Diagnostic>& diagnostics, const Seen* seen)
    : interp_(interp), scopes_(scopes), certainty_(module), diagnostics_(diagnostics), seen_(seen), scope_(&scopes.module()) {
  dummy_ = interp.str("");
  std::vector<Code*> open{code.as<Code>()};
  while (!open.empty()) {
    Code* c = open.back();
    open.pop_back();
    codes_.emplace(place_key(c->span), c);
    for (const Value& v : c->constants) {
      if (v.is(Kind::Code)) open.push_back(v.as<Code>());
    }
  }
  for (const scope::Scope& s : scopes.scopes) {
    star_ |= s.star_import;
    for (const scope::Symbol& sym : s.symbols) {
      if (sym.bound && (sym.global || sym.nonlocal)) rebound_.insert(sym.name);
      star_ |=
          sym.used && (sym.name == "globals" || sym.name == "locals" || sym.name == "vars");  // a dictionary to write names into
    }
  }
  const std::string& file = code.as<Code>()->source->name;
  if (size_t slash = file.rfind('/'); slash != file.npos) folder_ = file.substr(0, slash + 1);
  paths_changed_ = certainty_.is_dynamic("path");
}

void Checker::run(const Module& module) {
  collect_definitions(module.body, scopes_.module());
  block(module.body);
}

void Checker::define(const scope::Scope& scope, std::string_view id, const Stmt* s, const Alias* alias) {
  const scope::Symbol* sym = scope.find(scopes_.mangle(scope, id));
  if (sym && sym->bindings == 1 && !sym->parameter && !sym->unbound && !sym->global && !sym->nonlocal &&
      !rebound_.contains(sym->name)) {
    definitions_[sym] = {s, alias, &scope, false, false, {}};
  }
}

/// Names that are given one value in one place.
void Checker::collect_definitions(Block statements, const scope::Scope& scope) {
  for (const Stmt* s : statements) {
    switch (s->kind) {
      case StmtKind::Import:
        for (const Alias& a : as<Import>(s)->names)
          define(scope, a.asname.empty() ? a.name.substr(0, a.name.find('.')) : a.asname, s, &a);
        break;
      case StmtKind::ImportFrom:
        for (const Alias& a : as<ImportFrom>(s)->names) define(scope, a.asname.empty() ? a.name : a.asname, s, &a);
        break;
      case StmtKind::Assign: {
        auto* a = as<Assign>(s);
        if (a->targets.size() == 1 && a->targets[0]->kind == ExprKind::Name) define(scope, as<Name>(a->targets[0])->id, s);
        break;
      }
      case StmtKind::FunctionDef:
        define(scope, as<FunctionDef>(s)->name, s);
        collect_definitions(as<FunctionDef>(s)->body, scopes_.of(s));
        break;
      case StmtKind::ClassDef:
        define(scope, as<ClassDef>(s)->name, s);
        collect_definitions(as<ClassDef>(s)->body, scopes_.of(s));
        break;
      default: break;
    }
    ast::each_block(const_cast<Stmt*>(s), [&](Block& b) { collect_definitions(b, scope); });
  }
}

void Checker::report(DiagnosticId id, Span span, std::initializer_list<std::string_view> args) {
  if (certain_) diagnostics_.push_back(make_diagnostic(id, span, args));
}

void Checker::would_raise(Span span, std::string_view error, std::string message, std::string hint) {
  while (message.ends_with(' ')) message.pop_back();
  if (message.ends_with(" name:")) message.resize(message.size() - 6);
  constexpr std::string_view kQuestion = "Did you mean: ";
  if (hint.starts_with(kQuestion)) hint = "did you mean " + hint.substr(kQuestion.size());
  report(DiagnosticId::WouldRaise, span, {error, message, hint});
}

void Checker::report(Span span, Failure failure) {
  Value raised = interp_.exception_of(*failure.error);
  auto* e = raised.as<Exception>();
  if (!certain_) return;
  auto text = exception_text(interp_, e);
  std::string message = text ? *text : std::string();
  // The first line says what is wrong.
  would_raise(span, e->type->name->text, message.substr(0, message.find('\n')), late_hint(interp_, e));
}

void Checker::block(Block statements) {
  for (size_t i = 0; i < statements.size(); ++i) {
    const Stmt* s = statements[i];
    statement(s);
    bool leaves =
        s->kind == StmtKind::Return || s->kind == StmtKind::Raise || s->kind == StmtKind::Break || s->kind == StmtKind::Continue;
    if (!leaves || i + 1 >= statements.size()) continue;
    // What makes a generator of a function stands there for that.
    bool meant = false;
    for (size_t k = i + 1; k < statements.size(); ++k) meant = meant || has_yield(statements[k]);
    std::string_view what = s->kind == StmtKind::Return  ? "return"
                            : s->kind == StmtKind::Raise ? "raise"
                            : s->kind == StmtKind::Break ? "break"
                                                         : "continue";
    if (!meant) report(DiagnosticId::Unreachable, statements[i + 1]->span, {what});
    uncertainly(true, [&] {
      for (size_t k = i + 1; k < statements.size(); ++k) statement(statements[k]);
    });
    return;
  }
}

void Checker::target(const Expr* e) {
  switch (e->kind) {
    case ExprKind::Name: break;
    case ExprKind::Attribute: walk(as<Attribute>(e)->value); break;
    case ExprKind::Subscript: walk(as<Subscript>(e)->value), walk(as<Subscript>(e)->index); break;
    case ExprKind::Starred: target(as<Starred>(e)->value); break;
    case ExprKind::Tuple:
      for (const Expr* t : as<Tuple>(e)->items) target(t);
      break;
    case ExprKind::ListDisplay:
      for (const Expr* t : as<ListDisplay>(e)->items) target(t);
      break;
    default: walk(e);
  }
}

void Checker::statement(const Stmt* s) {
  switch (s->kind) {
    case StmtKind::Expression: walk(as<Expression>(s)->value); break;
    case StmtKind::Assign:
      walk(as<Assign>(s)->value);
      for (const Expr* t : as<Assign>(s)->targets) target(t);
      break;
    case StmtKind::AugAssign: target(as<AugAssign>(s)->target), walk(as<AugAssign>(s)->value); break;
    case StmtKind::AnnAssign: walk(as<AnnAssign>(s)->value), target(as<AnnAssign>(s)->target); break;
    case StmtKind::If: {
      auto* i = as<If>(s);
      bool decided(evaluate(i->condition));
      uncertainly(decided || Certainty::guards(i->condition), [&] { block(i->body), block(i->orelse); });
      break;
    }
    case StmtKind::While: walk(as<While>(s)->condition), block(as<While>(s)->body), block(as<While>(s)->orelse); break;
    case StmtKind::For:
      walk(as<For>(s)->iterable), target(as<For>(s)->target), block(as<For>(s)->body), block(as<For>(s)->orelse);
      break;
    case StmtKind::Break:
    case StmtKind::Continue:
    case StmtKind::Pass:
    case StmtKind::Global:
    case StmtKind::Nonlocal: break;
    case StmtKind::Return: walk(as<Return>(s)->value); break;
    case StmtKind::FunctionDef: function(as<FunctionDef>(s)); break;
    case StmtKind::ClassDef: class_(as<ClassDef>(s)); break;
    case StmtKind::With: {
      auto* w = as<With>(s);
      for (const WithItem& item : w->items) {
        walk(item.context);
        if (item.target) target(item.target);
      }
      uncertainly(certainty_.catches(w), [&] { block(w->body); });
      break;
    }
    case StmtKind::Try: {
      auto* t = as<Try>(s);
      uncertainly(Certainty::catches(t), [&] { block(t->body); });
      for (const ExceptHandler& h : t->handlers) {
        walk(h.type);
        block(h.body);
      }
      block(t->orelse), block(t->finally);
      break;
    }
    case StmtKind::Raise: walk(as<Raise>(s)->exception), walk(as<Raise>(s)->cause); break;
    case StmtKind::Assert: walk(as<Assert>(s)->condition), walk(as<Assert>(s)->message); break;
    case StmtKind::Import:
    case StmtKind::ImportFrom: imports(s); break;
    case StmtKind::Delete:
      for (const Expr* t : as<Delete>(s)->targets) target(t);
      break;
  }
}

void Checker::function(const FunctionDef* d) {
  for (const Expr* e : d->decorators) walk(e);
  for (const Parameter& p : d->params) walk(p.default_value);
  uncertainly(!certainty_.body_counts(d), [&] { inside(d, [&] { block(d->body); }); });
}

void Checker::class_(const ClassDef* c) {
  for (const Expr* e : c->decorators) walk(e);
  walk(c->base);
  uncertainly(!certainty_.body_counts(c), [&] { inside(c, [&] { block(c->body); }); });
}

void Checker::imports(const Stmt* s) {
  auto look_for = [&](std::string_view module, Span span) {
    auto found = find_module(module);
    if (!found) report(span, found.failure());
    return static_cast<bool>(found);
  };
  if (s->kind == StmtKind::Import) {
    for (const Alias& a : as<Import>(s)->names) look_for(a.name, a.span);
    return;
  }
  auto* from = as<ImportFrom>(s);
  if (from->module == "__future__" || !look_for(from->module, s->span) || !is_module(from->module)) return;
  auto module = interp_.import_module(from->module, false);
  if (!module) return;
  for (const Alias& a : from->names) {
    if (a.name == "*") continue;
    auto found = import_from(interp_, *module, interp_.intern(a.name), false);
    if (!found && !certainty_.is_dynamic(a.name)) report(a.span, found.failure());
  }
}

void check_program(Interp& interp, const Module& module, scope::ScopeTree& scopes, const Value& code,
                   std::vector<Diagnostic>& diagnostics, const Seen* seen) {
  Checker(interp, scopes, module, code, diagnostics, seen).run(module);
}

}  // namespace tfl::check
