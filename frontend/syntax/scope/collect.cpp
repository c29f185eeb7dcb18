#include "frontend/syntax/scope/collect.h"

#include <array>

namespace tfl::scope {

using namespace ast;

void Collector::module(const ast::Module& module) {
  enter(ScopeKind::Module, nullptr, "<module>");
  block(module.body);
}

Scope* Collector::enter(ScopeKind kind, const void* node, std::string_view name) {
  Scope& s = tree_.scopes.emplace_back();
  s.kind = kind;
  s.node = node;
  s.parent = scope_;
  s.name = name;
  s.qualname = name;
  if (scope_) {
    s.private_class = kind == ScopeKind::Class ? name : scope_->private_class;
    const Symbol* declared = scope_->find(tree_.mangle(*scope_, name));
    bool top = scope_->kind == ScopeKind::Module || (declared && declared->global);
    // := is refused in all that belongs to an iterable of a comprehension.
    if (kind == ScopeKind::Lambda || kind == ScopeKind::Comprehension) s.iterable_depth = scope_->iterable_depth;
    if (!top)
      s.qualname = scope_->qualname +
                   (scope_->kind == ScopeKind::Class || scope_->kind == ScopeKind::Comprehension ? "." : ".<locals>.") + s.name;
    tree_.by_node.emplace(node, &s);
  }
  scope_ = &s;
  return &s;
}

Symbol& Collector::symbol(Scope& scope, std::string_view name) {
  if (Symbol* s = scope.find(name)) return *s;
  Symbol& s = scope.symbols.emplace_back();
  s.name = name;
  scope.index.emplace(name, &s);
  return s;
}

Symbol& Collector::bind(std::string_view id, Span span) {
  Symbol& s = symbol(*scope_, tree_.mangle(*scope_, id));
  if (!s.bound && s.first_binding.line == 0) s.first_binding = span;
  s.bound = true;
  ++s.bindings;
  if (s.global || scope_->kind == ScopeKind::Module) tree_.module_names.emplace(s.name, true);
  return s;
}

void Collector::use(std::string_view id, Span span) {
  Symbol& s = symbol(*scope_, tree_.mangle(*scope_, id));
  if (!s.used && !weak_) s.first_use = span;
  s.used = true;
}

bool Collector::too_deep(Span span) {
  if (depth_ <= kMaxTreeDepth) return false;
  if (!too_deep_) report(DiagnosticId::NestedTooDeep, span);
  too_deep_ = true;
  return true;
}

void Collector::block(Block statements) {
  if (too_deep_) return;
  for (size_t i = 0; i < statements.size(); ++i) {
    const Stmt* s = statements[i];
    bool docstring = i == 0 && s->kind == StmtKind::Expression && as<Expression>(s)->value->kind == ExprKind::Constant;
    bool future_import = s->kind == StmtKind::ImportFrom && as<ImportFrom>(s)->module == "__future__";
    if (!docstring && !future_import) future_allowed_ = false;
    ++depth_;
    if (!too_deep(s->span)) statement(s);
    --depth_;
  }
}

void Collector::statement(const Stmt* s) {
  switch (s->kind) {
    case StmtKind::Expression: expression(as<Expression>(s)->value); break;
    case StmtKind::Assign:
      expression(as<Assign>(s)->value);
      for (const Expr* t : as<Assign>(s)->targets) target(t);
      break;
    case StmtKind::AugAssign: {
      auto* a = as<AugAssign>(s);
      if (a->target->kind == ExprKind::Name) expression(a->target);
      target(a->target);
      expression(a->value);
      break;
    }
    case StmtKind::AnnAssign: annotated(as<AnnAssign>(s)); break;
    case StmtKind::If: if_chain(as<If>(s)); break;
    case StmtKind::While:
      expression(as<While>(s)->condition);
      block(as<While>(s)->body);
      block(as<While>(s)->orelse);
      break;
    case StmtKind::For:
      expression(as<For>(s)->iterable);
      target(as<For>(s)->target);
      block(as<For>(s)->body);
      block(as<For>(s)->orelse);
      break;
    case StmtKind::Break:
    case StmtKind::Continue:
    case StmtKind::Pass: break;
    case StmtKind::Return:
      optional(as<Return>(s)->value);
      if (as<Return>(s)->value && scope_->asynchronous && scope_->returns.line == 0) scope_->returns = s->span;
      break;
    case StmtKind::FunctionDef: function(as<FunctionDef>(s)); break;
    case StmtKind::ClassDef: class_(as<ClassDef>(s)); break;
    case StmtKind::With:
      for (const WithItem& item : as<With>(s)->items) {
        expression(item.context);
        if (item.target) target(item.target);
      }
      block(as<With>(s)->body);
      break;
    case StmtKind::Try: try_statement(as<Try>(s)); break;
    case StmtKind::Raise:
      optional(as<Raise>(s)->exception);
      optional(as<Raise>(s)->cause);
      break;
    case StmtKind::Assert:
      expression(as<Assert>(s)->condition);
      optional(as<Assert>(s)->message);
      break;
    case StmtKind::Import: import(as<Import>(s)); break;
    case StmtKind::ImportFrom: import_from(as<ImportFrom>(s)); break;
    case StmtKind::Global: declare(s, as<Global>(s)->names, true); break;
    case StmtKind::Nonlocal: declare(s, as<Nonlocal>(s)->names, false); break;
    case StmtKind::Delete:
      for (const Expr* t : as<Delete>(s)->targets) remove_target(t);
      break;
  }
}

// A chain of `elif` is as deep as it is long: a loop, not recursion.
void Collector::if_chain(const If* s) {
  for (;;) {
    expression(s->condition);
    block(s->body);
    if (s->orelse.size() != 1 || s->orelse[0]->kind != StmtKind::If) break;
    s = as<If>(static_cast<const Stmt*>(s->orelse[0]));
  }
  block(s->orelse);
}

void Collector::try_statement(const Try* s) {
  block(s->body);
  for (const ExceptHandler& h : s->handlers) {
    optional(h.type);
    if (!h.name.empty()) bind(h.name, h.span).unbound = true;
    block(h.body);
  }
  block(s->orelse);
  block(s->finally);
}

void Collector::import(const Import* s) {
  for (const Alias& a : s->names) {
    bind(a.asname.empty() ? a.name.substr(0, a.name.find('.')) : a.asname, a.span);
  }
}

void Collector::import_from(const ImportFrom* s) {
  if (s->module == "__future__") return future(s);
  for (const Alias& a : s->names) {
    if (a.name == "*") {
      scope_->star_import = true;
    } else {
      bind(a.asname.empty() ? a.name : a.asname, a.span);
    }
  }
}

void Collector::future(const ImportFrom* s) {
  constexpr std::array kKnown = {"nested_scopes",  "generators",       "division",       "absolute_import", "with_statement",
                                 "print_function", "unicode_literals", "generator_stop", "annotations"};
  if (!future_allowed_) report(DiagnosticId::FutureLate, s->span);
  for (const Alias& a : s->names) {
    bool known = false;
    for (std::string_view k : kKnown) known = known || k == a.name;
    if (!known) report(DiagnosticId::FutureUnknown, a.span, {a.name});
    if (a.name == "annotations") tree_.future_annotations = true;
  }
}

void Collector::declare(const Stmt* s, List<Identifier> names, bool global) {
  std::string_view what = global ? "global" : "nonlocal";
  if (!global && scope_->kind == ScopeKind::Module) return;  // refused by the parser
  for (Identifier id : names) {
    Symbol& sym = symbol(*scope_, tree_.mangle(*scope_, id));
    if (sym.parameter) {
      report(DiagnosticId::ParameterAndDeclaration, s->span, {id, what});
    } else if (sym.used) {
      report(DiagnosticId::UsedBeforeDeclaration, s->span, {id, what});
    } else if (sym.annotated) {
      report(DiagnosticId::AnnotatedAndDeclared, s->span, {id, what});
    } else if (sym.bound) {
      report(DiagnosticId::AssignedBeforeDeclaration, s->span, {id, what});
    }
    if (scope_->kind == ScopeKind::Module) continue;
    (global ? sym.global : sym.nonlocal) = true;
    if (sym.first_binding.line == 0) sym.first_binding = s->span;
    if (sym.global && sym.nonlocal) report(DiagnosticId::NonlocalAndGlobal, s->span, {id});
  }
}

void Collector::annotated(const AnnAssign* s) {
  bool here = !scope_->is_function();
  if (s->target->kind == ExprKind::Name && s->simple) {
    const Name* n = as<Name>(static_cast<const Expr*>(s->target));
    Symbol& sym = bind(n->id, n->span);
    if (sym.global || sym.nonlocal) {
      report(DiagnosticId::AnnotatedAndDeclared, s->span, {n->id, sym.global ? "global" : "nonlocal"});
    }
    sym.annotated = true;
    if (here) scope_->has_annotations = true;
  } else {
    target(s->target);
  }
  if (here) annotation(s->annotation);
  optional(s->value);
}

void Collector::function(const FunctionDef* s) {
  display(s->decorators);
  defaults(s->params);
  for (const Parameter& p : s->params) annotation(p.annotation);
  annotation(s->returns);
  bind(s->name, s->name_span);
  Scope* inner = enter(ScopeKind::Function, s, s->name);
  inner->asynchronous = s->asynchronous;
  parameters(s->params);
  block(s->body);
  if (inner->generator && inner->returns.line != 0) report(DiagnosticId::ReturnInAsyncGenerator, inner->returns);
  leave();
}

void Collector::class_(const ClassDef* s) {
  display(s->decorators);
  optional(s->base);
  bind(s->name, s->name_span);
  enter(ScopeKind::Class, s, s->name);
  block(s->body);
  leave();
}

}  // namespace tfl::scope
