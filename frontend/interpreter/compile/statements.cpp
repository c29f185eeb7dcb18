#include <utility>

#include "frontend/core/protocol.h"
#include "frontend/interpreter/compile/function_compiler.h"

namespace tfl::compile {

using namespace ast;

void FunctionCompiler::block(Block statements) {
  for (const Stmt* s : statements) {
    if (!code_.state.reachable || session_.failed) return;
    if (code_.too_large) {
      session_.report(DiagnosticId::CodeTooLarge, s->span);
      return;
    }
    ++depth_;
    if (!too_deep(s->span)) statement(s);
    --depth_;
  }
}

void FunctionCompiler::statement(const Stmt* s) {
  Here here(code_, s->span);
  Temps temps(code_);
  if (!session_.options.lines.is_empty()) mark_line(s);
  if (!session_.options.marks.is_empty()) mark_for_debugger(s);
  switch (s->kind) {
    case StmtKind::Expression: expression_statement(as<Expression>(s)); break;
    case StmtKind::Assign: assign(as<Assign>(s)); break;
    case StmtKind::AugAssign: augmented(as<AugAssign>(s)); break;
    case StmtKind::AnnAssign: annotated(as<AnnAssign>(s)); break;
    case StmtKind::If: if_chain(as<If>(s)); break;
    case StmtKind::While: while_loop(as<While>(s)); break;
    case StmtKind::For: for_loop(as<For>(s)); break;
    case StmtKind::Break: leave_loop(s, true); break;
    case StmtKind::Continue: leave_loop(s, false); break;
    case StmtKind::Return: return_statement(as<Return>(s)); break;
    case StmtKind::FunctionDef: function_definition(as<FunctionDef>(s)); break;
    case StmtKind::ClassDef: class_definition(as<ClassDef>(s)); break;
    case StmtKind::With: with_statement(as<With>(s), 0); break;
    case StmtKind::Try: try_statement(as<Try>(s)); break;
    case StmtKind::Raise: raise_statement(as<Raise>(s)); break;
    case StmtKind::Assert: assert_statement(as<Assert>(s)); break;
    case StmtKind::Import: import(as<Import>(s)); break;
    case StmtKind::ImportFrom: import_from(as<ImportFrom>(s)); break;
    case StmtKind::Delete:
      // What earlier statements computed may still lie in temporaries: whoever deletes a name expects its object to go.
      for (Reg r = code_.top; r < code_.most; ++r) code_.emit(Opcode::Clear, r);
      for (const Expr* t : as<Delete>(s)->targets) remove_target(t);
      break;
    case StmtKind::Pass:
    case StmtKind::Global:
    case StmtKind::Nonlocal: break;
  }
}

/// Coverage: the line is known as one that can run, and says so when it does.
void FunctionCompiler::mark_line(const Stmt* s) {
  if (s->kind == StmtKind::Global || s->kind == StmtKind::Nonlocal || s->span.line == 0) return;
  if (s->kind == StmtKind::Expression && !fold(interp_, as<Expression>(s)->value).is_empty()) return;
  mark(Value::integer(s->span.line));
}

/// A debugger is asked before the statement runs.
void FunctionCompiler::mark_for_debugger(const Stmt* s) {
  if (s->kind == StmtKind::Global || s->kind == StmtKind::Nonlocal || s->span.line == 0) return;
  if (s->kind == StmtKind::Expression && !fold(interp_, as<Expression>(s)->value).is_empty()) return;
  Here here(code_, s->span);
  Temps temps(code_);
  Reg callee = code_.alloc(2);
  code_.load_constant(callee, session_.options.marks.as<tfl::Tuple>()->items[0].as<tfl::List>()->items[2]);
  code_.load_constant(callee + 1, session_.options.marks);
  code_.emit(Opcode::Call, callee, callee, 1);
  code_.emit(Opcode::Clear, callee);
}

/// Coverage: one of the two ways that a condition or a loop leads to, as (line, way); 0: into the body.
void FunctionCompiler::mark_way(const Stmt* s, int way) {
  if (session_.options.lines.is_empty() || s->span.line == 0) return;
  mark(interp_.tuple({Value::integer(s->span.line), Value::integer(way)}));
}

void FunctionCompiler::mark(const Value& key) {
  Dict* lines = session_.options.lines.as<Dict>();
  auto known = dict_get(interp_, lines, key);
  if (known && known->is_empty()) (void)dict_set(interp_, lines, key, Value::boolean(false));
  Temps temps(code_);
  Reg at = code_.alloc(), place = code_.alloc(), ran = code_.alloc();
  code_.load_constant(at, session_.options.lines);
  code_.load_constant(place, key);
  code_.load_constant(ran, Value::boolean(true));
  code_.emit(Opcode::SetItem, at, place, ran, kReleaseA | kReleaseB | kReleaseC);
}

void FunctionCompiler::expression_statement(const Expression* s) {
  if (session_.options.show_results && scope_.kind == scope::ScopeKind::Module) {
    code_.emit(Opcode::ShowResult, operand(s->value));
    return;
  }
  if (!fold(interp_, s->value).is_empty()) return;  // a literal, a docstring in the middle
  if (local_in_place(s->value)) return;
  Reg t = in_temp(s->value);
  code_.emit(Opcode::Clear, t);
}

void FunctionCompiler::if_chain(const If* s) {
  Label end;
  std::vector<Deciding> chain;
  for (;;) {
    if (!chain.empty() && !session_.options.lines.is_empty()) mark_line(s);
    if (!chain.empty() && !session_.options.marks.is_empty()) mark_for_debugger(s);
    Label otherwise;
    chain.push_back(deciding(s));
    uint32_t first = code_.here();
    {
      Here here(code_, s->span);
      jump_if(s->condition, otherwise, false);
    }
    add_condition(chain.back(), first);
    const bool decides = fold(interp_, s->condition).is_empty();
    const bool marked = decides && !session_.options.lines.is_empty();
    if (decides) mark_way(s, 0);
    block(s->body);
    if (!s->orelse.empty() || marked) code_.jump(end);
    code_.bind(otherwise);
    if (decides) mark_way(s, 1);
    if (s->orelse.size() != 1 || s->orelse[0]->kind != StmtKind::If) break;
    s = as<If>(static_cast<const Stmt*>(s->orelse[0]));
  }
  block(s->orelse);
  code_.bind(end);
  for (; !chain.empty(); chain.pop_back()) {
    renew(chain.back());
  }
}

void FunctionCompiler::return_statement(const Return* s) {
  bool copy = enclosed_by_more_than_loops();  // what is left on the way out may change a local
  Reg value;
  if (!s->value) {
    value = code_.alloc();
    load_const(value, Value::none());
  } else {
    value = copy ? in_temp(s->value) : operand(s->value);
    if (returns_are_decided_) code_.emit(Opcode::RenewResult, value);
  }
  if (copy) {
    std::vector<Enclosing> saved = enclosing_;
    unwind(0);
    code_.emit(Opcode::Return, value);
    code_.unreachable();
    enclosing_ = std::move(saved);
    for (const Enclosing& e : enclosing_) {
      if (e.region) code_.open(*e.region);
    }
    return;
  }
  code_.emit(Opcode::Return, value);
  code_.unreachable();
}

void FunctionCompiler::raise_statement(const Raise* s) {
  if (!s->exception) {
    code_.emit(Opcode::Reraise, 0);
  } else {
    Reg exception = operand(s->exception);
    if (s->cause) {
      Reg cause = operand(s->cause);
      code_.emit(Opcode::Raise, exception, cause, 0, 1);
    } else {
      code_.emit(Opcode::Raise, exception);
    }
  }
  code_.unreachable();
}

namespace {

/// The comparison of a condition that CPython gives as the place of a failed assertion.
const Expr* last_comparison(const Expr* e) {
  for (;;) {
    if (e->kind == ExprKind::Compare) return e;
    if (e->kind == ExprKind::Unary && as<Unary>(e)->op == UnaryOp::Not) {
      e = as<Unary>(e)->operand;
    } else if (e->kind == ExprKind::BoolOp) {
      const Expr* found = nullptr;
      for (const Expr* v : as<BoolOp>(e)->values) {
        if (v->kind == ExprKind::Compare) found = v;
      }
      return found;
    } else {
      return nullptr;
    }
  }
}

/// Two values that a condition compares somewhere inside: the operands of `tf.reduce_all(a == b)`, the arguments of `np.allclose(a, b)`.
struct Compared {
  const Expr *left = nullptr, *right = nullptr;
  std::string_view op;
};

constexpr std::string_view kComparisons[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};

Compared compared_in(const Expr* e) {
  for (;;) {
    if (e->kind == ExprKind::Compare) {
      auto* c = as<Compare>(e);
      if (c->ops.size() != 1 || c->ops[0] > CompareOp::Ge) return {};
      return {c->left, c->comparators[0], kComparisons[static_cast<int>(c->ops[0])]};
    }
    if (e->kind != ExprKind::Call) return {};
    auto* c = as<Call>(e);
    for (const Expr* a : c->args) {
      if (a->kind == ExprKind::Starred) return {};
    }
    if (c->args.size() >= 2) return {c->args[0], c->args[1], "=="};
    if (c->args.size() == 1)
      e = c->args[0];
    else if (c->function->kind == ExprKind::Attribute)
      e = as<Attribute>(c->function)->value;
    else
      return {};
  }
}

}  // namespace

void FunctionCompiler::assert_statement(const Assert* s) {
  if (session_.options.rewrite_asserts) return assert_failed(s);
  Label holds;
  jump_if(s->condition, holds, true);
  const Expr* place = last_comparison(s->condition);
  {
    Here here(code_, place ? place->span : s->span);
    Reg error = code_.alloc();
    code_.emit(Opcode::LoadAssertionError, error);
    if (s->message) {
      in_temp(s->message);
      code_.emit(Opcode::Call, error, error, 1);
    }
    code_.emit(Opcode::Raise, error);
    code_.unreachable();
  }
  code_.bind(holds);
}

// As pytest: the operands of the condition are kept, so that a failure can show them.
void FunctionCompiler::assert_failed(const Assert* s) {
  const Expr* c = s->condition;
  if (c->kind == ExprKind::BoolOp && as<BoolOp>(c)->op == ast::BoolOpKind::And) {
    // One after the other: the one that does not hold shows its operands.
    for (Expr* part : as<BoolOp>(c)->values) {
      Assert one = *s;
      one.condition = part;
      assert_failed(&one);
    }
    return;
  }
  std::string_view op;
  std::vector<const Expr*> operands;
  if (c->kind == ExprKind::Compare && as<Compare>(c)->ops.size() == 1) {
    op = kComparisons[static_cast<int>(as<Compare>(c)->ops[0])];
    operands = {as<Compare>(c)->left, as<Compare>(c)->comparators[0]};
  } else if (c->kind == ExprKind::Unary && as<Unary>(c)->op == UnaryOp::Not) {
    op = "not";
    operands = {as<Unary>(c)->operand};
  } else {
    operands = {c};
  }
  Reg message = code_.alloc();
  Reg first = code_.top;
  // What a call that fails has compared is kept, too: it says more than that the call gave False.
  const Compared pair = operands.size() == 1 && op.empty() ? compared_in(c) : Compared{};
  uint32_t count = static_cast<uint32_t>(operands.size());
  if (pair.left) {
    code_.alloc(3);
    kept_[0] = {pair.left, first + 1};
    kept_[1] = {pair.right, first + 2};
    code_.emit(Opcode::Clear, first + 1);
    code_.emit(Opcode::Clear, first + 2);
    into(c, first);
    count = 3;
  } else {
    for (const Expr* e : operands) in_temp(e);
  }
  Label holds;
  {
    Here here(code_, c->span);
    if (op.empty() || op == "not") {
      code_.jump(op.empty() ? Opcode::JumpIfTrue : Opcode::JumpIfFalse, first, holds);
    } else {
      Temps temps(code_);
      Reg t = code_.alloc();
      code_.emit(static_cast<Opcode>(static_cast<int>(Opcode::Eq) + static_cast<int>(as<Compare>(c)->ops[0])), t, first,
                 first + 1);
      code_.jump(Opcode::JumpIfTrue, t, holds, kReleaseA);
    }
  }
  std::vector<Value> texts = {interp_.str(source_text(c->span)), interp_.str(std::string(op))};
  for (const Expr* e : operands) texts.push_back(interp_.str(source_text(e->span)));
  if (pair.left) {
    for (Kept& k : kept_) {
      const Expr* e = std::exchange(k.e, nullptr);
      texts.push_back(interp_.str(source_text(e->span)));
      if (!k.done) into(e, k.reg);  // a name or a constant, which was read where it stands
    }
    texts.push_back(interp_.str(std::string(pair.op)));
  }
  if (s->message) into(s->message, message);
  code_.emit(Opcode::AssertFailed, s->message ? message : first, count,
             code_.constant(interp_.tuple(std::span<const Value>(texts))), (s->message ? 1u : 0u) | (pair.left ? 2u : 0u));
  code_.unreachable();
  code_.bind(holds);
  for (uint32_t i = 0; i < count; ++i) code_.emit(Opcode::Clear, first + static_cast<Reg>(i));
}

void FunctionCompiler::import(const Import* s) {
  for (const Alias& a : s->names) {
    Temps temps(code_);
    Reg t = code_.alloc();
    bool whole = !a.asname.empty();
    code_.emit(Opcode::Import, t, code_.name(a.name), 0, whole ? 1 : 0);
    store(variable(whole ? a.asname : a.name.substr(0, a.name.find('.'))), t, true);
  }
}

void FunctionCompiler::import_from(const ImportFrom* s) {
  if (s->module == "__future__") return;
  if (s->module == "tensorflow._exports" && session_.source->internal) return;  // only for marks, which the parser has read
  Reg module = code_.alloc();
  code_.emit(Opcode::Import, module, code_.name(s->module), 0, 1);
  for (const Alias& a : s->names) {
    if (a.name == "*") {
      code_.emit(Opcode::ImportStar, module);
      continue;
    }
    Temps temps(code_);
    Reg t = code_.alloc();
    code_.emit(Opcode::ImportFrom, t, module, code_.name(a.name));
    store(variable(a.asname.empty() ? a.name : a.asname), t, true);
  }
  code_.emit(Opcode::Clear, module);
}

}  // namespace tfl::compile
