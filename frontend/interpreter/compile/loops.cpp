#include <algorithm>

#include "frontend/interpreter/compile/function_compiler.h"

namespace tfl::compile {

using namespace ast;

namespace {

/// Small and without definitions of its own, so that a second copy costs little.
bool is_simple(const Expr* e, int budget = 3) {
  if (budget == 0) return false;
  switch (e->kind) {
    case ExprKind::Constant:
    case ExprKind::Name: return true;
    case ExprKind::Attribute: return is_simple(as<Attribute>(e)->value, budget - 1);
    case ExprKind::Unary: return is_simple(as<Unary>(e)->operand, budget - 1);
    case ExprKind::Subscript:
      return is_simple(as<Subscript>(e)->value, budget - 1) && is_simple(as<Subscript>(e)->index, budget - 1);
    case ExprKind::Binary: return is_simple(as<Binary>(e)->left, budget - 1) && is_simple(as<Binary>(e)->right, budget - 1);
    case ExprKind::Call: {
      const Call* c = as<Call>(e);
      if (!c->keywords.empty() || c->args.size() > 2) return false;
      return is_simple(c->function, budget - 1) &&
             std::all_of(c->args.begin(), c->args.end(), [&](const Expr* a) { return is_simple(a, budget - 1); });
    }
    case ExprKind::Compare: {
      const Compare* c = as<Compare>(e);
      return c->ops.size() == 1 && is_simple(c->left, budget - 1) && is_simple(c->comparators[0], budget - 1);
    }
    case ExprKind::BoolOp:
      return as<BoolOp>(e)->values.size() <= 2 && is_simple(as<BoolOp>(e)->values[0], budget - 1) &&
             is_simple(as<BoolOp>(e)->values[1], budget - 1);
    default: return false;
  }
}

}  // namespace

void FunctionCompiler::push(const Enclosing& e) {
  enclosing_.push_back(e);
  if (e.region) code_.open(*e.region);
}

// The condition stands at the top, and once more at the end of the body where it is simple: one jump fewer a round.
void FunctionCompiler::while_loop(const While* s) {
  enter_block(s->span);
  Label top, body, next, otherwise, end;
  bool twice = is_simple(s->condition);
  Deciding decides = deciding(s);
  code_.bind(top);
  uint32_t first = code_.here();
  jump_if(s->condition, otherwise, false);
  add_condition(decides, first);
  code_.bind(body);
  const bool ends = fold(interp_, s->condition).is_empty();
  if (ends) mark_way(s, 0);
  Enclosing loop{Enclosing::What::Loop};
  loop.break_to = &end;
  loop.continue_to = twice ? &next : &top;
  push(loop);
  block(s->body);
  enclosing_.pop_back();
  if (twice) {
    code_.bind(next);
    first = code_.here();
    jump_if(s->condition, body, true);
    add_condition(decides, first);
  } else {
    code_.jump(top);
  }
  code_.bind(otherwise);
  if (ends) mark_way(s, 1);
  block(s->orelse);
  code_.bind(end);
  renew(decides);
  leave_block();
}

// An item goes to the target, the body runs, and the next item is asked for at `top`.
void FunctionCompiler::loop_body(const For* s, Reg iterator, Label& top, Label& broken) {
  assign_to(s->target, iterator + 1, true);
  Enclosing loop{Enclosing::What::Loop};
  loop.break_to = &broken;
  loop.continue_to = &top;
  loop.reg = iterator;
  loop.has_reg = true;
  push(loop);
  block(s->body);
  enclosing_.pop_back();
  code_.jump(top);
}

void FunctionCompiler::for_loop(const For* s) {
  if (s->asynchronous) return async_for_loop(s);
  enter_block(s->span);
  Temps temps(code_);
  Reg iterator = code_.alloc(2);
  hold(iterator);
  {
    Temps inner(code_);
    Reg iterable = operand(s->iterable);
    code_.emit(Opcode::GetIter, iterator, iterable, 0, code_.release_b(iterable));
  }
  Label top, exhausted, broken, end;
  Deciding decides = deciding(s);
  code_.bind(top);
  uint32_t first = code_.here();
  code_.jump(Opcode::ForIter, iterator, exhausted);
  add_condition(decides, first);
  mark_way(s, 0);
  loop_body(s, iterator, top, broken);
  code_.bind(exhausted);
  mark_way(s, 1);
  block(s->orelse);
  if (broken.used) {
    code_.jump(end);
    code_.bind(broken);
    code_.emit(Opcode::Clear, iterator);
  }
  code_.bind(end);
  renew(decides);
  leave_block();
}

// The end of an asynchronous iterator is an error: StopAsyncIteration out of the awaited __anext__().
void FunctionCompiler::async_next(Reg iterator, Label& ended) {
  Temps temps(code_);
  Reg caught = code_.alloc();
  FlowState before = code_.state;
  Protected asked;
  Label failed, got;
  code_.open(asked);
  code_.emit(Opcode::GetAwaitable, iterator + 1, iterator, 0, 2);
  code_.emit(Opcode::YieldFrom, iterator + 1, iterator + 1);
  code_.close(asked);
  code_.jump(got);
  code_.bind_handler(failed, asked, before);
  code_.finish(asked, failed, caught);
  code_.emit(Opcode::EndAsyncFor, caught);
  code_.emit(Opcode::Clear, caught);
  code_.jump(ended);
  code_.bind(got);
}

void FunctionCompiler::async_for_loop(const For* s) {
  enter_block(s->span);
  Temps temps(code_);
  Reg iterator = code_.alloc(2);
  hold(iterator);
  into(s->iterable, iterator);
  code_.emit(Opcode::GetAwaitable, iterator, iterator, 0, 1);
  Label top, exhausted, broken, end;
  code_.bind(top);
  async_next(iterator, exhausted);
  loop_body(s, iterator, top, broken);
  code_.bind(exhausted);
  code_.emit(Opcode::Clear, iterator);
  block(s->orelse);
  code_.jump(end);
  if (broken.used) {
    code_.bind(broken);
    code_.emit(Opcode::Clear, iterator);
  }
  code_.bind(end);
  leave_block();
}

void FunctionCompiler::leave_loop(const Stmt* s, bool is_break) {
  size_t depth = enclosing_.size();
  while (depth > 0 && enclosing_[depth - 1].what != Enclosing::What::Loop) --depth;
  if (depth == 0) return;  // refused by the parser
  const Enclosing loop = enclosing_[depth - 1];
  Label& to = is_break ? *loop.break_to : *loop.continue_to;
  Here here(code_, s->span);
  if (depth == enclosing_.size()) return code_.jump(to);
  std::vector<Enclosing> saved = enclosing_;
  unwind(depth);
  code_.jump(to);
  enclosing_ = std::move(saved);
  for (size_t i = depth; i < enclosing_.size(); ++i) {
    if (enclosing_[i].region) code_.open(*enclosing_[i].region);
  }
}

bool FunctionCompiler::enclosed_by_more_than_loops() const {
  return std::any_of(enclosing_.begin(), enclosing_.end(), [](const Enclosing& e) { return e.what != Enclosing::What::Loop; });
}

/// What has to be done on the way out of enclosing_[depth ..], innermost first. The caller puts the stack back and opens the
/// regions again: code that is emitted here must not be protected by the statements it has left.
void FunctionCompiler::unwind(size_t depth) {
  while (enclosing_.size() > depth) {
    Enclosing e = enclosing_.back();
    enclosing_.pop_back();
    if (e.region) code_.close(*e.region);
    Temps temps(code_);
    switch (e.what) {
      case Enclosing::What::Loop:
        if (e.has_reg) code_.emit(Opcode::Clear, e.reg);
        break;
      case Enclosing::What::Try: break;
      case Enclosing::What::Finally: block(e.finally); break;
      case Enclosing::What::With: {
        Here here(code_, e.span);
        Reg result = code_.alloc();
        code_.emit(Opcode::WithExit, result, e.reg, 0, e.asynchronous ? 3 : 1);
        if (e.asynchronous) await(result, 4);
        code_.emit(Opcode::Clear, e.reg);
        break;
      }
      case Enclosing::What::Handler:
      case Enclosing::What::FinallyHandler:
        if (!e.name.empty()) forget(e.name);
        code_.emit(Opcode::LeaveHandler, e.reg);
        code_.emit(Opcode::Clear, e.reg);
        break;
    }
  }
}

}  // namespace tfl::compile
