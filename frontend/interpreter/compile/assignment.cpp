#include <algorithm>

#include "frontend/interpreter/compile/function_compiler.h"

namespace tfl::compile {

using namespace ast;
using scope::Storage;

void FunctionCompiler::assign(const Assign* s) {
  Temps temps(code_);
  if (s->targets.size() == 1) {
    const Expr* target = s->targets[0];
    if (target->kind == ExprKind::Name) {
      // Straight into a local: `into` writes it with its last instruction only.
      Variable v = variable(as<Name>(target)->id);
      if (v.storage == Storage::Local) {
        into(s->value, v.reg);
        if (code_.state.reachable) code_.state.assigned[v.reg] = true;
        return;
      }
    }
    if (assign_in_parallel(target, s->value)) return;
  }
  // A variable may be among several targets: what the first of them changes, the next must not see.
  Reg value = s->targets.size() > 1 ? in_temp(s->value) : operand(s->value);
  for (size_t i = 0; i < s->targets.size(); ++i) assign_to(s->targets[i], value, i + 1 == s->targets.size());
}

/// a, b = x, y: everything right is evaluated, then stored left to right; no tuple is made.
bool FunctionCompiler::assign_in_parallel(const Expr* target, const Expr* value) {
  if (target->kind != ExprKind::Tuple || value->kind != ExprKind::Tuple) return false;
  List<Expr*> to = as<Tuple>(target)->items, from = as<Tuple>(value)->items;
  auto starred = [](const Expr* e) { return e->kind == ExprKind::Starred; };
  if (to.size() != from.size() || to.size() > 16 || to.empty() || std::any_of(to.begin(), to.end(), starred) ||
      std::any_of(from.begin(), from.end(), starred)) {
    return false;
  }
  Reg first = code_.top;
  for (const Expr* e : from) in_temp(e);
  for (size_t i = 0; i < to.size(); ++i) assign_to(to[i], first + static_cast<Reg>(i), true);
  return true;
}

/// r[value] to a target; `temp`: the register is not read afterwards when it is a temporary.
void FunctionCompiler::assign_to(const Expr* target, Reg value, bool temp) {
  if (session_.failed || !code_.state.reachable) return;
  ++depth_;
  if (!too_deep(target->span)) {
    Temps temps(code_);
    switch (target->kind) {
      case ExprKind::Name: {
        Here here(code_, target->span);
        store(variable(as<Name>(target)->id), value, temp);
        break;
      }
      case ExprKind::Attribute: {
        const Attribute* a = as<Attribute>(target);
        Reg object = operand(a->value);
        Here here(code_, attribute_span(a));
        code_.emit(Opcode::SetAttr, object, value, code_.name(session_.scopes.mangle(scope_, a->name)),
                   code_.release_a(object) | (temp ? code_.release_b(value) : 0));
        break;
      }
      case ExprKind::Subscript: {
        const Subscript* b = as<Subscript>(target);
        Reg object = operand(b->value);
        Reg key = operand(b->index);
        Here here(code_, b->span, anchor_of(b));
        code_.emit(Opcode::SetItem, object, key, value,
                   code_.release_a(object) | code_.release_b(key) | (temp ? code_.release_c(value) : 0));
        break;
      }
      case ExprKind::Tuple: unpack(as<Tuple>(target)->items, value, temp, target->span); break;
      case ExprKind::ListDisplay: unpack(as<ListDisplay>(target)->items, value, temp, target->span); break;
      default: break;  // refused by the parser
    }
  }
  --depth_;
}

void FunctionCompiler::unpack(List<Expr*> targets, Reg value, bool temp, Span span) {
  auto star = std::find_if(targets.begin(), targets.end(), [](const Expr* e) { return e->kind == ExprKind::Starred; });
  auto count = static_cast<uint32_t>(targets.size());
  Reg first = code_.alloc(count);
  {
    Here here(code_, span);
    if (star == targets.end()) {
      code_.emit(Opcode::Unpack, value, first, count, temp ? code_.release_a(value) : 0);
    } else {
      auto before = static_cast<uint32_t>(star - targets.begin());
      if (before > 255) {
        if (!session_.failed) session_.report(DiagnosticId::StarUnpackTooLong, span);
        return;
      }
      code_.emit(Opcode::UnpackRest, value, first, count - before - 1, static_cast<uint8_t>(before));
      if (temp && code_.is_temp(value)) code_.emit(Opcode::Clear, value);
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    const Expr* t = targets[i];
    assign_to(t->kind == ExprKind::Starred ? as<Starred>(t)->value : t, first + i, true);
  }
}

void FunctionCompiler::augmented(const AugAssign* s) {
  Temps temps(code_);
  switch (s->target->kind) {
    case ExprKind::Name: {
      const Name* n = as<Name>(static_cast<const Expr*>(s->target));
      Variable v = variable(n->id);
      Reg target = v.storage == Storage::Local ? v.reg : code_.alloc();
      {
        Here here(code_, n->span);
        load(v, target);
      }
      if (v.storage == Storage::Local && v.symbol->walrus) {
        target = code_.alloc();
        code_.emit(Opcode::Move, target, v.reg);
      }
      Here here(code_, s->span);
      arithmetic(s->op, target, target, s->value, true);
      if (target != v.reg || v.storage != Storage::Local) {
        Here at(code_, n->span);
        store(v, target, true);
      }
      break;
    }
    case ExprKind::Attribute: {
      const Attribute* a = as<Attribute>(static_cast<const Expr*>(s->target));
      Reg object = operand(a->value);
      Reg value = code_.alloc();
      uint32_t name = code_.name(session_.scopes.mangle(scope_, a->name));
      {
        Here here(code_, attribute_span(a));
        code_.emit(Opcode::GetAttr, value, object, name);
      }
      {
        Here here(code_, s->span);
        arithmetic(s->op, value, value, s->value, true);
      }
      Here here(code_, attribute_span(a));
      code_.emit(Opcode::SetAttr, object, value, name, code_.release_a(object) | kReleaseB);
      break;
    }
    default: {
      const Subscript* b = as<Subscript>(static_cast<const Expr*>(s->target));
      Reg object = operand(b->value);
      Reg key = operand(b->index);
      Reg value = code_.alloc();
      {
        Here here(code_, b->span, anchor_of(b));
        code_.emit(Opcode::GetItem, value, object, key);
      }
      {
        Here here(code_, s->span);
        arithmetic(s->op, value, value, s->value, true);
      }
      Here here(code_, b->span, anchor_of(b));
      code_.emit(Opcode::SetItem, object, key, value, code_.release_a(object) | code_.release_b(key) | kReleaseC);
    }
  }
}

// x: T = v. In a module or class body the annotation of a plain name goes into __annotations__; in a function it is not evaluated.
void FunctionCompiler::annotated(const AnnAssign* s) {
  if (s->value) {
    Temps temps(code_);
    Reg value = operand(s->value);
    assign_to(s->target, value, true);
  }
  if (scope_.is_function()) return;
  Temps temps(code_);
  if (s->simple && s->target->kind == ExprKind::Name) {
    Reg type = code_.alloc();
    annotation(type, s->annotation);
    Here here(code_, s->span);
    Reg all = code_.alloc();
    Reg key = code_.alloc();
    uint32_t name = code_.name("__annotations__");
    if (scope_.kind == scope::ScopeKind::Class)
      code_.emit(Opcode::LoadName, all, name);
    else
      code_.emit(Opcode::LoadGlobal, all, name, code_.cache("__annotations__", false));
    std::string_view id = as<Name>(static_cast<const Expr*>(s->target))->id;
    load_const(key, interp_.str(interp_.intern(session_.scopes.mangle(scope_, id))));
    code_.emit(Opcode::SetItem, all, key, type, kReleaseA | kReleaseB | kReleaseC);
  } else if (!session_.scopes.future_annotations) {
    Reg t = code_.alloc();
    annotation(t, s->annotation);
    code_.emit(Opcode::Clear, t);
  }
}

void FunctionCompiler::remove_target(const Expr* e) {
  if (session_.failed || !code_.state.reachable) return;
  ++depth_;
  if (!too_deep(e->span)) {
    Temps temps(code_);
    switch (e->kind) {
      case ExprKind::Name: {
        Here here(code_, e->span);
        remove(variable(as<Name>(e)->id));
        break;
      }
      case ExprKind::Attribute: {
        Reg object = operand(as<Attribute>(e)->value);
        Here here(code_, attribute_span(as<Attribute>(e)));
        code_.emit(Opcode::DelAttr, object, 0, code_.name(session_.scopes.mangle(scope_, as<Attribute>(e)->name)),
                   code_.release_a(object));
        break;
      }
      case ExprKind::Subscript: {
        Reg object = operand(as<Subscript>(e)->value);
        Reg key = operand(as<Subscript>(e)->index);
        Here here(code_, e->span, anchor_of(e));
        code_.emit(Opcode::DelItem, object, key, 0, code_.release_a(object) | code_.release_b(key));
        break;
      }
      case ExprKind::Tuple:
        for (const Expr* t : as<Tuple>(e)->items) remove_target(t);
        break;
      case ExprKind::ListDisplay:
        for (const Expr* t : as<ListDisplay>(e)->items) remove_target(t);
        break;
      default: break;  // refused by the parser
    }
  }
  --depth_;
}

}  // namespace tfl::compile
