// Comprehensions are functions of one argument, the iterator of their first iterable, as in CPython 3.11: its tracebacks show
// them, and their targets are their own.
#include "frontend/interpreter/compile/function_compiler.h"

namespace tfl::compile {

using namespace ast;

namespace {
constexpr size_t kMaxClauses = 20;
}

void FunctionCompiler::comprehension(const Comprehension* e, Reg dst) {
  if (e->clauses.size() > kMaxClauses) {
    if (!session_.failed) session_.report(DiagnosticId::NestedTooDeep, e->span);
    return;
  }
  const scope::Scope& inner = session_.scopes.of(e);
  FunctionCompiler compiler(session_, inner);
  Value code = compiler.compile_comprehension(e);
  Here here(code_, e->span);
  Reg function = code_.alloc();
  Reg iterator = code_.alloc();
  {
    Temps temps(code_);
    make_function(function, code, inner, {}, nullptr);
  }
  Temps temps(code_);
  Reg iterable = operand(e->clauses[0].iterable);
  if (e->clauses[0].asynchronous)
    code_.emit(Opcode::GetAwaitable, iterator, iterable, 0, 1);
  else
    code_.emit(Opcode::GetIter, iterator, iterable, 0, code_.release_b(iterable));
  code_.emit(Opcode::Call, dst, function, 1);
  if (inner.asynchronous && !inner.generator) await(dst);
}

Value FunctionCompiler::compile_comprehension(const Comprehension* e) {
  prologue();
  Reg result = 0;
  Here here(code_, e->span);
  switch (e->comprehension) {
    case ComprehensionKind::List: code_.emit(Opcode::BuildList, result = code_.alloc(), 0, 0); break;
    case ComprehensionKind::Set: code_.emit(Opcode::BuildSet, result = code_.alloc(), 0, 0); break;
    case ComprehensionKind::Dict: code_.emit(Opcode::BuildDict, result = code_.alloc(), 0, 0); break;
    case ComprehensionKind::Generator: break;
  }
  comprehension_clause(e, 0, result);
  if (e->comprehension == ComprehensionKind::Generator) load_const(result = code_.alloc(), Value::none());
  code_.emit(Opcode::Return, result);
  Value v = finish(e->span);
  if (!v.is_empty()) {
    Code* code = v.as<Code>();
    code->params.push_back({interp_.intern(".0"), ParamKind::PositionalOnly});
    code->positional = code->positional_only = 1;
  }
  return v;
}

void FunctionCompiler::comprehension_clause(const Comprehension* e, size_t clause, Reg result) {
  if (clause == e->clauses.size()) {
    Temps temps(code_);
    Reg element = operand(e->element);
    switch (e->comprehension) {
      case ComprehensionKind::List: code_.emit(Opcode::ListAppend, result, element, 0, code_.release_b(element)); break;
      case ComprehensionKind::Set: code_.emit(Opcode::SetAdd, result, element, 0, code_.release_b(element)); break;
      case ComprehensionKind::Dict: {
        Reg value = operand(e->value);
        code_.emit(Opcode::DictSet, result, element, value, code_.release_b(element) | code_.release_c(value));
        break;
      }
      case ComprehensionKind::Generator: {
        Here here(code_, e->element->span);
        Reg sent = code_.alloc();
        code_.emit(Opcode::Yield, sent, element, 0, code_.release_b(element));
        code_.emit(Opcode::Clear, sent);
        break;
      }
    }
    return;
  }
  const ComprehensionFor& c = e->clauses[clause];
  Temps temps(code_);
  Reg iterator = 0;  // the argument; the register behind it is kept for the item
  if (clause > 0) {
    iterator = code_.alloc(2);
    Temps inner(code_);
    Reg iterable = operand(c.iterable);
    if (c.asynchronous)
      code_.emit(Opcode::GetAwaitable, iterator, iterable, 0, 1);
    else
      code_.emit(Opcode::GetIter, iterator, iterable, 0, code_.release_b(iterable));
  }
  Label top, exhausted;
  code_.bind(top);
  if (c.asynchronous)
    async_next(iterator, exhausted);
  else
    code_.jump(Opcode::ForIter, iterator, exhausted);
  assign_to(c.target, iterator + 1, true);
  for (const Expr* condition : c.conditions) jump_if(condition, top, false);
  comprehension_clause(e, clause + 1, result);
  code_.jump(top);
  code_.bind(exhausted);
}

}  // namespace tfl::compile
