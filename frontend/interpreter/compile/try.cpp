// try, with, and how they are left. A finally block is compiled once for each way out: its normal end, an error, and every
// return, break or continue that passes it. The code of a handler is itself protected by a cleanup that puts the exception
// handled before back in place and goes on raising.
//
//   try: A                        A                        protected: to L1, exception in h
//   except E as e: B      ->      jump end
//                             L1: EnterHandler h           protected up to the end of B: to L2, exception in x
//                                 MatchException, JumpIfFalse next
//                                 e = h; B; unbind e       protected: unbind e, then as L2
//                                 LeaveHandler h; jump end
//                           next: LeaveHandler h; Reraise h
//                             L2: LeaveHandler h; Reraise x
//                            end:
#include "frontend/interpreter/compile/function_compiler.h"

namespace tfl::compile {

using namespace ast;

void FunctionCompiler::reraise(Reg exception) {
  code_.emit(Opcode::Reraise, exception, 0, 0, 1);
  code_.unreachable();
}

void FunctionCompiler::hold(Reg r) {
  if (held_.size() <= r) held_.resize(r + 1);
  held_[r] = true;
}

/// An error may have left loops and with statements inside what was protected: their iterators and exit methods go first,
/// as generators that end with them run their own `finally`.
void FunctionCompiler::release_held(Reg from) {
  for (Reg r = from; r < held_.size(); ++r) {
    if (held_[r]) code_.emit(Opcode::Clear, r);
  }
}

void FunctionCompiler::try_statement(const Try* s) {
  enter_block(s->span);
  if (s->finally.empty())
    try_except(s);
  else
    try_finally(s);
  leave_block();
}

void FunctionCompiler::try_finally(const Try* s) {
  Temps temps(code_);
  Reg caught = code_.alloc(2);
  FlowState before = code_.state;
  Protected body, cleanup;
  Label failed, cleaned, end;
  Enclosing e{Enclosing::What::Finally};
  e.region = &body;
  e.finally = s->finally;
  push(e);
  if (s->handlers.empty()) {
    block(s->body);
    block(s->orelse);
  } else {
    try_except(s);
  }
  enclosing_.pop_back();
  code_.close(body);
  block(s->finally);
  code_.jump(end);

  code_.bind_handler(failed, body, before);
  code_.finish(body, failed, caught);
  code_.emit(Opcode::EnterHandler, caught);
  release_held(caught + 2);
  Enclosing h{Enclosing::What::FinallyHandler};
  h.region = &cleanup;
  h.reg = caught;
  push(h);
  block(s->finally);
  enclosing_.pop_back();
  code_.close(cleanup);
  code_.emit(Opcode::LeaveHandler, caught);
  reraise(caught);
  Reg raised = code_.alloc();
  code_.bind_handler(cleaned, cleanup, before);
  code_.finish(cleanup, cleaned, raised);
  code_.emit(Opcode::LeaveHandler, caught);
  reraise(raised);
  code_.bind(end);
}

// The body and what follows where it raises nothing, and the begin of its handlers: the exception and the one it was raised under.
Reg FunctionCompiler::guarded(const Try* s, Label& end) {
  Reg caught = code_.alloc(2);
  FlowState before = code_.state;
  Protected body;
  Label failed;
  Enclosing e{Enclosing::What::Try};
  e.region = &body;
  push(e);
  block(s->body);
  enclosing_.pop_back();
  code_.close(body);
  block(s->orelse);
  code_.jump(end);

  code_.bind_handler(failed, body, before);
  code_.finish(body, failed, caught);
  code_.emit(Opcode::EnterHandler, caught);
  release_held(caught + 2);
  return caught;
}

// except*: each clause gets the part of the exception that its classes match, and is handling it while it runs. What clauses raise is
// kept, and raised together with what no clause took when all have run.
void FunctionCompiler::try_except_groups(const Try* s) {
  Temps temps(code_);
  Protected cleanup;
  Label cleaned, end;
  Reg caught = guarded(s, end);
  Reg rest = code_.alloc();
  Reg raised = code_.alloc();
  Reg part = code_.alloc(2);
  Reg error = code_.alloc();
  FlowState entered = code_.state;
  code_.open(cleanup);
  code_.emit(Opcode::Move, rest, caught);
  code_.emit(Opcode::BuildList, raised, 0, 0);
  for (const ExceptHandler& h : s->handlers) {
    Label next, failed_clause, done;
    {
      Temps inner(code_);
      Reg type = operand(h.type);
      Here here(code_, h.span);
      code_.emit(Opcode::SplitGroup, part, rest, type);
    }
    code_.jump(Opcode::JumpIfEmpty, part, next);
    FlowState inside = code_.state;
    Protected clause;
    code_.emit(Opcode::EnterHandler, part);
    if (!h.name.empty()) {
      Here here(code_, h.span);
      store(variable(h.name), part, false);
    }
    Enclosing handling{Enclosing::What::Try};
    handling.region = &clause;
    push(handling);
    block(h.body);
    enclosing_.pop_back();
    code_.close(clause);
    if (!h.name.empty()) forget(h.name);
    code_.emit(Opcode::LeaveHandler, part);
    code_.jump(done);
    code_.bind_handler(failed_clause, clause, inside);
    code_.finish(clause, failed_clause, error);
    if (!h.name.empty()) forget(h.name);
    code_.emit(Opcode::LeaveHandler, part);
    code_.emit(Opcode::ListAppend, raised, error);
    code_.bind(done);
    code_.bind(next);
  }
  code_.emit(Opcode::ListAppend, raised, rest);
  code_.emit(Opcode::JoinGroup, error, caught, raised);
  code_.close(cleanup);
  code_.emit(Opcode::LeaveHandler, caught);
  for (Reg r : {caught, rest, raised, part}) code_.emit(Opcode::Clear, r);
  code_.jump(Opcode::JumpIfEmpty, error, end);
  reraise(error);
  code_.bind_handler(cleaned, cleanup, entered);
  code_.finish(cleanup, cleaned, error);
  code_.emit(Opcode::LeaveHandler, caught);
  reraise(error);
  code_.bind(end);
}

void FunctionCompiler::try_except(const Try* s) {
  if (s->groups) return try_except_groups(s);
  Temps temps(code_);
  Protected matching;
  Label cleaned, end;
  Reg caught = guarded(s, end);
  Reg raised = code_.alloc();
  FlowState entered = code_.state;
  code_.open(matching);
  for (const ExceptHandler& h : s->handlers) {
    Label next;
    if (h.type) {
      Temps inner(code_);
      Reg type = operand(h.type);
      Reg matched = code_.alloc();
      {
        Here here(code_, h.span);
        code_.emit(Opcode::MatchException, matched, caught, type, code_.release_c(type));
      }
      code_.jump(Opcode::JumpIfFalse, matched, next);
    }
    code_.close(matching);
    handler_clause(h, caught, raised, cleaned, end);
    code_.open(matching);
    code_.bind(next);
  }
  code_.close(matching);
  if (code_.state.reachable) {
    code_.emit(Opcode::LeaveHandler, caught);
    reraise(caught);
  }
  code_.bind_handler(cleaned, matching, entered);
  // Jumped to from the cleanup of named clauses as well.
  code_.state.reachable = code_.state.reachable || cleaned.used;
  for (uint32_t use : cleaned.uses) code_.instructions[use].set_bc(static_cast<int32_t>(cleaned.at));
  code_.finish(matching, cleaned, raised);
  code_.emit(Opcode::LeaveHandler, caught);
  reraise(raised);
  code_.bind(end);
}

/// One clause whose exception has matched. `failed`: where errors in it go on, with the exception in r[raised].
void FunctionCompiler::handler_clause(const ExceptHandler& h, Reg caught, Reg raised, Label& failed, Label& end) {
  FlowState before = code_.state;
  Protected body;
  Label cleanup;
  if (!h.name.empty()) {
    Here here(code_, h.span);
    store(variable(h.name), caught, false);
  }
  Enclosing e{Enclosing::What::Handler};
  e.region = &body;
  e.reg = caught;
  e.name = h.name;
  push(e);
  block(h.body);
  enclosing_.pop_back();
  code_.close(body);
  if (!h.name.empty()) forget(h.name);
  code_.emit(Opcode::LeaveHandler, caught);
  code_.emit(Opcode::Clear, caught);
  code_.jump(end);

  FlowState after = code_.state;
  code_.bind_handler(cleanup, body, before);
  code_.finish(body, cleanup, raised);
  if (!h.name.empty()) forget(h.name);
  code_.jump(failed);
  code_.state = after;
}

void FunctionCompiler::with_statement(const With* s, size_t item) {
  enter_block(s->span);
  Temps temps(code_);
  const bool async = s->asynchronous;
  Reg leave = code_.alloc(2);  // __exit__, and what __enter__ gave
  Reg caught = code_.alloc(2);
  Reg raised = code_.alloc();
  hold(leave);
  {
    Temps inner(code_);
    Reg context = operand(s->items[item].context);
    code_.emit(Opcode::WithEnter, leave, context, 0, async ? 1 : 0);
    if (code_.is_temp(context)) code_.emit(Opcode::Clear, context);
    if (async) await(leave + 1, 3);
  }
  FlowState before = code_.state;
  Protected body, cleanup;
  Label failed, cleaned, suppressed, end;
  Enclosing e{Enclosing::What::With};
  e.region = &body;
  e.reg = leave;
  e.span = s->span;
  e.asynchronous = async;
  push(e);
  if (s->items[item].target)
    assign_to(s->items[item].target, leave + 1, true);
  else
    code_.emit(Opcode::Clear, leave + 1);
  if (item + 1 < s->items.size())
    with_statement(s, item + 1);
  else
    block(s->body);
  enclosing_.pop_back();
  code_.close(body);
  code_.emit(Opcode::WithExit, leave + 1, leave, 0, async ? 3 : 1);
  if (async) await(leave + 1, 4);
  code_.emit(Opcode::Clear, leave);
  code_.jump(end);

  code_.bind_handler(failed, body, before);
  code_.finish(body, failed, caught);
  code_.emit(Opcode::EnterHandler, caught);
  release_held(raised + 1);
  code_.open(cleanup);
  code_.emit(Opcode::WithExit, leave + 1, leave, caught, async ? 2 : 0);
  if (async) await(leave + 1, 4);
  code_.jump(Opcode::JumpIfTrue, leave + 1, suppressed);
  code_.close(cleanup);
  code_.emit(Opcode::LeaveHandler, caught);
  reraise(caught);
  code_.bind(suppressed);
  code_.emit(Opcode::LeaveHandler, caught);
  code_.emit(Opcode::Clear, caught);
  code_.emit(Opcode::Clear, leave);
  code_.jump(end);
  code_.bind_handler(cleaned, cleanup, before);
  code_.finish(cleanup, cleaned, raised);
  code_.emit(Opcode::LeaveHandler, caught);
  reraise(raised);
  code_.bind(end);
  leave_block();
}

}  // namespace tfl::compile
