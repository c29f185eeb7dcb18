#include "frontend/syntax/scope/collect.h"

namespace tfl::scope {

using namespace ast;

void Collector::expression(const Expr* e) {
  if (too_deep_) return;
  ++depth_;
  if (!too_deep(e->span)) {
    switch (e->kind) {
      case ExprKind::Constant: break;
      case ExprKind::FormattedString:
        for (const FormatPart& p : as<FormattedString>(e)->parts) {
          optional(p.value);
          optional(p.spec);
        }
        break;
      case ExprKind::Name: use(as<Name>(e)->id, e->span); break;
      case ExprKind::Attribute:
      case ExprKind::Subscript:
      case ExprKind::Call:
      case ExprKind::Binary: chain(e); break;
      case ExprKind::Slice:
        optional(as<Slice>(e)->lower);
        optional(as<Slice>(e)->upper);
        optional(as<Slice>(e)->step);
        break;
      case ExprKind::Unary: expression(as<Unary>(e)->operand); break;
      case ExprKind::BoolOp: display(as<BoolOp>(e)->values); break;
      case ExprKind::Compare:
        expression(as<Compare>(e)->left);
        display(as<Compare>(e)->comparators);
        break;
      case ExprKind::Conditional:
        expression(as<Conditional>(e)->condition);
        expression(as<Conditional>(e)->then_value);
        expression(as<Conditional>(e)->else_value);
        break;
      case ExprKind::Lambda: lambda(as<Lambda>(e)); break;
      case ExprKind::NamedExpr: named(as<NamedExpr>(e)); break;
      case ExprKind::Starred: expression(as<Starred>(e)->value); break;
      case ExprKind::Tuple: display(as<Tuple>(e)->items); break;
      case ExprKind::ListDisplay: display(as<ListDisplay>(e)->items); break;
      case ExprKind::SetDisplay: display(as<SetDisplay>(e)->items); break;
      case ExprKind::DictDisplay:
        for (const DictItem& item : as<DictDisplay>(e)->items) {
          optional(item.key);
          expression(item.value);
        }
        break;
      case ExprKind::Comprehension: comprehension(as<Comprehension>(e)); break;
      case ExprKind::Yield:
      case ExprKind::YieldFrom: {
        optional(e->kind == ExprKind::Yield ? as<Yield>(e)->value : as<YieldFrom>(e)->value);
        if (e->kind == ExprKind::YieldFrom && as<YieldFrom>(e)->await)
          scope_->asynchronous = true;
        else
          scope_->generator = true;
        break;
      }
    }
  }
  --depth_;
}

// Left spines (a + b + c + …, a.b(c).d …) are as deep as they are long: a loop, not recursion.
void Collector::chain(const Expr* e) {
  std::vector<const Expr*> spine;
  for (bool more = true; more;) {
    switch (e->kind) {
      case ExprKind::Attribute: spine.push_back(e), e = as<Attribute>(e)->value; break;
      case ExprKind::Subscript: spine.push_back(e), e = as<Subscript>(e)->value; break;
      case ExprKind::Call: spine.push_back(e), e = as<Call>(e)->function; break;
      case ExprKind::Binary: spine.push_back(e), e = as<Binary>(e)->left; break;
      default: more = false;
    }
  }
  expression(e);
  while (!spine.empty()) {
    e = spine.back();
    spine.pop_back();
    if (e->kind == ExprKind::Subscript) expression(as<Subscript>(e)->index);
    if (e->kind == ExprKind::Binary) expression(as<Binary>(e)->right);
    if (e->kind == ExprKind::Call) {
      display(as<Call>(e)->args);
      for (const Keyword& k : as<Call>(e)->keywords) expression(k.value);
    }
  }
}

void Collector::target(const Expr* e, bool iteration) {
  ++depth_;
  if (!too_deep(e->span)) {
    switch (e->kind) {
      case ExprKind::Name: {
        Symbol& s = bind(as<Name>(e)->id, e->span);
        if (iteration && s.walrus && s.nonlocal) report(DiagnosticId::IterationRebindsWalrus, e->span, {as<Name>(e)->id});
        if (iteration) s.iteration = true;
        break;
      }
      case ExprKind::Starred: target(as<Starred>(e)->value, iteration); break;
      case ExprKind::Tuple:
        for (const Expr* t : as<Tuple>(e)->items) target(t, iteration);
        break;
      case ExprKind::ListDisplay:
        for (const Expr* t : as<ListDisplay>(e)->items) target(t, iteration);
        break;
      default: expression(e);
    }
  }
  --depth_;
}

void Collector::remove_target(const Expr* e) {
  ++depth_;
  if (!too_deep(e->span)) {
    if (e->kind == ExprKind::Name) {
      bind(as<Name>(e)->id, e->span).unbound = true;
    } else if (e->kind == ExprKind::Tuple) {
      for (const Expr* t : as<Tuple>(e)->items) remove_target(t);
    } else if (e->kind == ExprKind::ListDisplay) {
      for (const Expr* t : as<ListDisplay>(e)->items) remove_target(t);
    } else {
      expression(e);
    }
  }
  --depth_;
}

void Collector::annotation(const Expr* e) {
  if (!e || tree_.future_annotations) return;
  bool outer = weak_;
  weak_ = e->kind == ExprKind::Subscript;  // perhaps `f32[n, 784]`, whose names nothing need bind
  expression(e);
  weak_ = outer;
}

void Collector::defaults(List<Parameter> params) {
  for (const Parameter& p : params) optional(p.default_value);
}

// In the order of registers: positional, keyword-only, *args, **kwargs.
void Collector::parameters(List<Parameter> params) {
  auto add = [&](auto wanted) {
    for (const Parameter& p : params) {
      if (wanted(p.kind)) bind(p.name, p.span).parameter = true;
    }
  };
  add([](ParamKind k) { return k == ParamKind::PositionalOnly || k == ParamKind::PositionalOrKeyword; });
  add([](ParamKind k) { return k == ParamKind::KeywordOnly; });
  add([](ParamKind k) { return k == ParamKind::VarPositional; });
  add([](ParamKind k) { return k == ParamKind::VarKeyword; });
}

void Collector::lambda(const Lambda* e) {
  defaults(e->params);
  enter(ScopeKind::Lambda, e, "<lambda>");
  parameters(e->params);
  expression(e->body);
  leave();
}

void Collector::comprehension(const Comprehension* e) {
  constexpr std::string_view kNames[] = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"};
  ++scope_->iterable_depth;
  expression(e->clauses[0].iterable);  // belongs to the scope around
  --scope_->iterable_depth;
  Scope* s = enter(ScopeKind::Comprehension, e, kNames[static_cast<int>(e->comprehension)]);
  s->comprehension = e->comprehension;
  Symbol& iterator = bind(".0", e->span);
  iterator.parameter = true;
  for (size_t i = 0; i < e->clauses.size(); ++i) {
    const ComprehensionFor& c = e->clauses[i];
    if (i > 0) {
      ++s->iterable_depth;
      expression(c.iterable);
      --s->iterable_depth;
    }
    target(c.target, true);
    display(c.conditions);
    s->asynchronous = s->asynchronous || c.asynchronous;
  }
  expression(e->element);
  optional(e->value);
  if (e->comprehension == ComprehensionKind::Generator) s->generator = true;
  leave();
  // Whoever runs a comprehension that awaits has to wait for it; a generator waits when it is asked.
  if (s->asynchronous && !s->generator && scope_->kind == ScopeKind::Comprehension) scope_->asynchronous = true;
}

// In a comprehension `:=` binds in the function or module around it.
void Collector::named(const NamedExpr* e) {
  expression(e->value);
  std::string_view id = e->target->id;
  Span span = e->target->span;
  if (scope_->iterable_depth > 0) report(DiagnosticId::WalrusInIterable, e->span);
  if (scope_->kind != ScopeKind::Comprehension) {
    bind(id, span).walrus = true;
    return;
  }
  Scope* owner = scope_;
  for (; owner->kind == ScopeKind::Comprehension; owner = owner->parent) {
    const Symbol* s = owner->find(tree_.mangle(*owner, id));
    if (s && s->iteration) return report(DiagnosticId::WalrusRebindsIteration, span, {id});
  }
  if (owner->kind == ScopeKind::Class) return report(DiagnosticId::WalrusInClassComprehension, span);
  Scope* inner = scope_;
  scope_ = owner;
  Symbol& s = bind(id, span);
  s.walrus = true;
  bool global = s.global || owner->kind == ScopeKind::Module;
  for (scope_ = inner; scope_ != owner; scope_ = scope_->parent) {
    Symbol& here = bind(id, span);
    here.walrus = true;
    (global ? here.global : here.nonlocal) = true;
  }
  scope_ = inner;
}

}  // namespace tfl::scope
