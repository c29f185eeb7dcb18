#include "frontend/interpreter/compile/function_compiler.h"

namespace tfl::compile {

using namespace ast;

bool FunctionCompiler::too_deep(Span span) {
  if (depth_ <= scope::kMaxTreeDepth) return false;
  if (!session_.failed) session_.report(DiagnosticId::NestedTooDeep, span);
  return true;
}

void FunctionCompiler::load_const(Reg dst, const Value& v) { code_.load_constant(dst, v); }

/// A register that holds the value: the local's own where that is possible, else a new temporary.
Reg FunctionCompiler::operand(const Expr* e) {
  if (auto local = local_in_place(e)) return *local;
  return in_temp(e);
}

/// The same with a temporary of the caller's.
Reg FunctionCompiler::operand_in(const Expr* e, Reg temp) {
  if (auto local = local_in_place(e)) return *local;
  into(e, temp);
  return temp;
}

Reg FunctionCompiler::in_temp(const Expr* e) {
  Reg t = code_.alloc();
  into(e, t);
  return t;
}

void FunctionCompiler::into(const Expr* e, Reg dst) {
  if (session_.failed || !code_.state.reachable) return;
  ++depth_;
  if (!too_deep(e->span)) {
    if (Value v = fold(interp_, e); !v.is_empty()) {
      Here here(code_, e->span);
      load_const(dst, v);
    } else {
      Temps temps(code_);
      switch (e->kind) {
        case ExprKind::Constant: break;  // folded
        case ExprKind::FormattedString: formatted(as<FormattedString>(e), dst); break;
        case ExprKind::Name: load_name(as<Name>(e), dst); break;
        case ExprKind::Attribute:
        case ExprKind::Subscript:
        case ExprKind::Call:
        case ExprKind::Binary: chain(e, dst); break;
        case ExprKind::Slice: slice(as<Slice>(e), dst); break;
        case ExprKind::Unary: unary(as<Unary>(e), dst); break;
        case ExprKind::BoolOp: bool_op(as<BoolOp>(e), dst); break;
        case ExprKind::Compare: compare(as<Compare>(e), dst); break;
        case ExprKind::Conditional: conditional(as<Conditional>(e), dst); break;
        case ExprKind::Lambda: {
          FunctionCompiler inner(session_, session_.scopes.of(e));
          Value code = inner.compile_lambda(as<Lambda>(e));
          Here here(code_, e->span);
          make_function(dst, code, session_.scopes.of(e), as<Lambda>(e)->params, nullptr);
          break;
        }
        case ExprKind::NamedExpr: named(as<NamedExpr>(e), dst); break;
        case ExprKind::Starred: into(as<Starred>(e)->value, dst); break;  // refused by the parser where it cannot stand
        case ExprKind::Tuple: {
          Here here(code_, e->span);
          sequence(as<Tuple>(e)->items, Opcode::BuildTuple, dst);
          break;
        }
        case ExprKind::ListDisplay: {
          Here here(code_, e->span);
          sequence(as<ListDisplay>(e)->items, Opcode::BuildList, dst);
          break;
        }
        case ExprKind::SetDisplay: {
          Here here(code_, e->span);
          sequence(as<SetDisplay>(e)->items, Opcode::BuildSet, dst);
          break;
        }
        case ExprKind::DictDisplay: dict_display(as<DictDisplay>(e), dst); break;
        case ExprKind::Comprehension: comprehension(as<Comprehension>(e), dst); break;
        case ExprKind::Yield: yield(as<Yield>(e), dst); break;
        case ExprKind::YieldFrom: yield_from(as<YieldFrom>(e), dst); break;
      }
    }
    for (Kept& k : kept_) {
      if (k.e == e && dst != k.reg && code_.state.reachable) {
        code_.emit(Opcode::Move, k.reg, dst);
        k.done = true;
      }
    }
  }
  --depth_;
}

void FunctionCompiler::unary(const Unary* e, Reg dst) {
  Reg r = operand(e->operand);
  Here here(code_, e->span);
  if (e->op == UnaryOp::Not)
    code_.emit(Opcode::Not, dst, r, 0, r == dst ? 0 : code_.release_b(r));
  else
    code_.emit(Opcode::Unary, dst, r, 0, static_cast<uint8_t>(e->op));
}

// a and b: r = a; if not r: end; r = b. In a temporary, for b may still read the local that gets the result.
void FunctionCompiler::bool_op(const BoolOp* e, Reg dst) {
  Here here(code_, e->span);
  Reg r = code_.is_temp(dst) ? dst : code_.alloc();
  Label end;
  for (size_t i = 0; i < e->values.size(); ++i) {
    into(e->values[i], r);
    if (i + 1 < e->values.size()) code_.jump(e->op == BoolOpKind::And ? Opcode::JumpIfFalse : Opcode::JumpIfTrue, r, end);
  }
  code_.bind(end);
  if (r != dst) code_.emit(Opcode::MoveTemp, dst, r);
}

void FunctionCompiler::compare(const Compare* e, Reg dst) {
  Here here(code_, e->span);
  auto op_at = [&](size_t i) { return static_cast<Opcode>(static_cast<int>(Opcode::Eq) + static_cast<int>(e->ops[i])); };
  Reg left = operand(e->left);
  if (e->ops.size() == 1) {
    Reg right = operand(e->comparators[0]);
    code_.emit(op_at(0), dst, left, right, code_.release_b(left) | code_.release_c(right));
    return;
  }
  // a < b < c: each operand once; the first comparison that fails is the result.
  Reg r = code_.is_temp(dst) ? dst : code_.alloc();
  Reg slots = code_.alloc(2);  // for the operand that is compared twice, and the one before
  Label end;
  for (size_t i = 0; i < e->ops.size(); ++i) {
    bool last = i + 1 == e->ops.size();
    Reg right = operand_in(e->comparators[i], slots + i % 2);
    code_.emit(op_at(i), r, left, right, code_.release_b(left) | (last ? code_.release_c(right) : 0));
    if (!last) code_.jump(Opcode::JumpIfFalse, r, end);
    left = right;
  }
  code_.bind(end);
  if (r != dst) code_.emit(Opcode::MoveTemp, dst, r);
}

void FunctionCompiler::conditional(const Conditional* e, Reg dst) {
  Here here(code_, e->span);
  Label otherwise, end;
  Deciding decides = deciding(dst);
  uint32_t first = code_.here();
  jump_if(e->condition, otherwise, false);
  add_condition(decides, first);
  into(e->then_value, dst);
  code_.jump(end);
  code_.bind(otherwise);
  into(e->else_value, dst);
  code_.bind(end);
  renew(decides);
}

void FunctionCompiler::named(const NamedExpr* e, Reg dst) {
  Reg t = code_.is_temp(dst) ? dst : code_.alloc();
  into(e->value, t);
  Here here(code_, e->target->span);
  store(variable(e->target->id), t, false);
  if (t != dst) code_.emit(Opcode::MoveTemp, dst, t);
}

void FunctionCompiler::formatted(const FormattedString* e, Reg dst) {
  Here here(code_, e->span);
  auto conversion = [](char c) -> uint8_t { return c == 's' ? 1 : c == 'r' ? 2 : c == 'a' ? 3 : 0; };
  auto part = [&](const FormatPart& p, Reg to) {
    if (!p.value) return load_const(to, interp_.str(std::string(p.literal)));
    Temps temps(code_);
    Reg value = operand(p.value);
    if (p.spec)
      code_.emit(Opcode::Format, to, value, operand(p.spec), conversion(p.conversion) | 4);
    else
      code_.emit(Opcode::Format, to, value, 0, conversion(p.conversion));
  };
  if (e->parts.empty()) return load_const(dst, interp_.str(std::string()));
  if (e->parts.size() == 1) return part(e->parts[0], dst);
  Reg first = code_.top;
  uint32_t count = 0;
  constexpr uint32_t kJoinAtOnce = 64;
  for (const FormatPart& p : e->parts) {
    if (count == kJoinAtOnce) {
      code_.emit(Opcode::BuildString, first, first, count);
      code_.top = first + 1;
      count = 1;
    }
    Reg t = code_.alloc();
    part(p, t);
    ++count;
  }
  code_.emit(Opcode::BuildString, dst, first, count);
}

void FunctionCompiler::slice(const Slice* e, Reg dst) {
  Here here(code_, e->span);
  Reg first = code_.top;
  for (const Expr* part : {e->lower, e->upper, e->step}) {
    Reg t = code_.alloc();
    if (part)
      into(part, t);
    else
      load_const(t, Value::none());
  }
  code_.emit(Opcode::BuildSlice, dst, first);
}

void FunctionCompiler::yield(const Yield* e, Reg dst) {
  Here here(code_, e->span);
  Reg value;
  if (e->value) {
    value = operand(e->value);
  } else {
    value = code_.alloc();
    load_const(value, Value::none());
  }
  code_.emit(Opcode::Yield, dst, value, 0, value == dst ? 0 : code_.release_b(value));
}

void FunctionCompiler::yield_from(const YieldFrom* e, Reg dst) {
  Here here(code_, e->span);
  Reg it = code_.alloc();
  Reg iterable = operand(e->value);
  if (e->await)
    code_.emit(Opcode::GetAwaitable, it, iterable);
  else
    code_.emit(Opcode::GetIter, it, iterable, 0, code_.release_b(iterable));
  code_.emit(Opcode::YieldFrom, dst, it);
}

void FunctionCompiler::await(Reg value, uint8_t from) {
  Temps temps(code_);
  Reg it = code_.alloc();
  code_.emit(Opcode::GetAwaitable, it, value, 0, from);
  code_.emit(Opcode::YieldFrom, value, it);
}

// ------------------------------------------------------------------------------------------------------- conditions

void FunctionCompiler::jump_if(const Expr* e, Label& to, bool when) {
  if (session_.failed || !code_.state.reachable) return;
  ++depth_;
  if (too_deep(e->span)) {
    --depth_;
    return;
  }
  Temps temps(code_);
  if (Value v = fold(interp_, e); v.is_none() || v.is_bool() || v.is_int()) {
    bool truth = !v.is_none() && v.as_int() != 0;
    if (truth == when) code_.jump(to);
  } else if (e->kind == ExprKind::Unary && as<Unary>(e)->op == UnaryOp::Not) {
    jump_if(as<Unary>(e)->operand, to, !when);
  } else if (e->kind == ExprKind::BoolOp) {
    const BoolOp* b = as<BoolOp>(e);
    bool decides = b->op == BoolOpKind::Or;  // the value of one operand that ends the evaluation
    Label past;
    for (size_t i = 0; i + 1 < b->values.size(); ++i) jump_if(b->values[i], decides == when ? to : past, decides);
    jump_if(b->values.back(), to, when);
    code_.bind(past);
  } else if (e->kind == ExprKind::Compare) {
    jump_if_compare(as<Compare>(e), to, when);
  } else if (e->kind == ExprKind::Conditional) {
    const Conditional* c = as<Conditional>(e);
    Label otherwise, end;
    jump_if(c->condition, otherwise, false);
    jump_if(c->then_value, to, when);
    code_.jump(end);
    code_.bind(otherwise);
    jump_if(c->else_value, to, when);
    code_.bind(end);
  } else {
    Reg r = operand(e);
    code_.jump(when ? Opcode::JumpIfTrue : Opcode::JumpIfFalse, r, to, code_.release_a(r));
  }
  --depth_;
}

void FunctionCompiler::compare_one(CompareOp op, Reg left, const Expr* right, Label& to, bool when) {
  uint8_t x = static_cast<uint8_t>(op) | (when ? kCompareJumpTrue : 0) | (code_.is_temp(left) ? kCompareReleaseA : 0);
  if (Value v = fold(interp_, right); op <= CompareOp::Ge && !v.is_empty()) {
    uint32_t k = code_.constant(v);
    if (k <= kMaxOperand) return code_.jump_compare(left, k, x | kCompareConst, to);
  }
  Reg r = operand(right);
  if (op <= CompareOp::Ge) return code_.jump_compare(left, r, x | (code_.is_temp(r) ? kCompareReleaseB : 0), to);
  Reg t = code_.alloc();
  code_.emit(static_cast<Opcode>(static_cast<int>(Opcode::Eq) + static_cast<int>(op)), t, left, r,
             code_.release_b(left) | code_.release_c(r));
  code_.jump(when ? Opcode::JumpIfTrue : Opcode::JumpIfFalse, t, to, kReleaseA);
}

void FunctionCompiler::jump_if_compare(const Compare* e, Label& to, bool when) {
  Here here(code_, e->span);
  Reg left = operand(e->left);
  if (e->ops.size() == 1) return compare_one(e->ops[0], left, e->comparators[0], to, when);
  Reg slots = code_.alloc(2);
  Reg t = code_.alloc();
  Label failed;
  for (size_t i = 0; i + 1 < e->ops.size(); ++i) {
    Reg right = operand_in(e->comparators[i], slots + i % 2);
    code_.emit(static_cast<Opcode>(static_cast<int>(Opcode::Eq) + static_cast<int>(e->ops[i])), t, left, right,
               code_.release_b(left));
    code_.jump(Opcode::JumpIfFalse, t, when ? failed : to, kReleaseA);
    left = right;
  }
  compare_one(e->ops.back(), left, e->comparators.back(), to, when);
  code_.bind(failed);
}

}  // namespace tfl::compile
