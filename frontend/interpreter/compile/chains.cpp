// Left spines: a + b + c + …, a.b(c)[d].e …. They are as deep as they are long, so they are walked in a loop; the value so far
// stays in one register.
#include "frontend/interpreter/compile/function_compiler.h"

namespace tfl::compile {

using namespace ast;

namespace {

constexpr size_t kMaxPlainArguments = 200;

const Expr* left_of(const Expr* e) {
  switch (e->kind) {
    case ExprKind::Attribute: return as<Attribute>(e)->value;
    case ExprKind::Subscript: return as<Subscript>(e)->value;
    case ExprKind::Call: return as<Call>(e)->function;
    case ExprKind::Binary: return as<Binary>(e)->left;
    default: return nullptr;
  }
}

}  // namespace

/// Neither `*args` nor `**kwargs`, and few enough arguments to stand in registers.
bool FunctionCompiler::is_plain_call(const Call* e) {
  for (const Expr* a : e->args) {
    if (a->kind == ExprKind::Starred) return false;
  }
  for (const Keyword& k : e->keywords) {
    if (k.name.empty()) return false;
  }
  return e->args.size() + e->keywords.size() <= kMaxPlainArguments;
}

void FunctionCompiler::chain(const Expr* top, Reg dst) {
  std::vector<const Expr*> spine;
  const Expr* leaf = top;
  while (const Expr* left = left_of(leaf)) {
    spine.push_back(leaf);
    leaf = left;
  }
  // Where the value so far is: the leaf's local, then a temporary; `dst` itself when that is one.
  Reg scratch = code_.is_temp(dst) ? dst : kNowhere;
  auto work = [&] {
    if (scratch == kNowhere) scratch = code_.alloc();
    return scratch;
  };
  Reg value;
  if (auto local = local_in_place(leaf)) {
    value = *local;
  } else {
    value = work();
    into(leaf, value);
  }
  while (!spine.empty()) {
    const Expr* e = spine.back();
    spine.pop_back();
    Reg out = spine.empty() ? dst : work();
    Temps temps(code_);
    uint8_t release = out == value ? 0 : code_.release_b(value);
    switch (e->kind) {
      case ExprKind::Binary: {
        const Binary* b = as<Binary>(e);
        Here here(code_, b->span, anchor_of(b));
        arithmetic(b->op, out, value, b->right, false);
        break;
      }
      case ExprKind::Subscript: {
        const Subscript* s = as<Subscript>(e);
        Reg index = operand(s->index);
        Here here(code_, s->span, anchor_of(s));
        code_.emit(Opcode::GetItem, out, value, index, release | code_.release_c(index));
        break;
      }
      case ExprKind::Attribute: {
        const Attribute* a = as<Attribute>(e);
        Span span = attribute_span(a);
        uint32_t name = code_.name(session_.scopes.mangle(scope_, a->name));
        if (!spine.empty() && spine.back()->kind == ExprKind::Call && is_plain_call(as<Call>(spine.back()))) {
          const Call* c = as<Call>(spine.back());
          spine.pop_back();
          if (spine.empty()) out = dst;
          Reg base = scratch + 1 == code_.top ? scratch : code_.alloc();
          code_.alloc();
          {
            Here here(code_, span);
            code_.emit(Opcode::LoadMethod, base, value, name, base == value ? 0 : code_.release_b(value));
          }
          Span whole = c->span;
          if (a->value->span.line != a->span.end_line && span.line != whole.line)
            whole.line = span.line, whole.column = span.column;
          Here here(code_, whole);
          call(c, out, base, 2);
        } else {
          Here here(code_, span);
          code_.emit(Opcode::GetAttr, out, value, name, release);
        }
        break;
      }
      default: {
        const Call* c = as<Call>(e);
        Here here(code_, c->span);
        Reg base = value;
        if (!code_.is_temp(value) || value + 1 != code_.top) {
          base = code_.alloc();
          code_.emit(code_.is_temp(value) ? Opcode::MoveTemp : Opcode::Move, base, value);
        }
        if (is_plain_call(c))
          call(c, out, base, 1);
        else
          call_spread(c, out, base);
      }
    }
    value = out;
  }
}

void FunctionCompiler::arithmetic(BinaryOp op, Reg dst, Reg left, const Expr* right, bool in_place) {
  if (op == BinaryOp::Add || op == BinaryOp::Sub) {
    Value v = fold(interp_, right);
    if (v.is_int() || v.is_float()) {
      uint32_t k = code_.constant(v);
      if (k <= kMaxOperand) {
        uint8_t x = (in_place ? 1 : 0) | (left == dst ? 0 : code_.release_b(left));
        code_.emit(op == BinaryOp::Add ? Opcode::AddConst : Opcode::SubConst, dst, left, k, x);
        return;
      }
    }
  }
  arithmetic_reg(op, dst, left, operand(right), in_place);
}

void FunctionCompiler::arithmetic_reg(BinaryOp op, Reg dst, Reg left, Reg right, bool in_place) {
  uint8_t x = (in_place ? 1 : 0) | (left == dst ? 0 : code_.release_b(left)) | (right == dst ? 0 : code_.release_c(right));
  code_.emit(static_cast<Opcode>(static_cast<int>(Opcode::Add) + static_cast<int>(op)), dst, left, right, x);
}

/// Callee in r[base] (and self behind it when `fixed` is 2); evaluates the arguments behind them and calls.
void FunctionCompiler::call(const Call* e, Reg dst, Reg base, uint32_t fixed) {
  for (const Expr* a : e->args) in_temp(a);
  for (const Keyword& k : e->keywords) in_temp(k.value);
  auto count = static_cast<uint32_t>(e->args.size() + e->keywords.size());
  if (e->keywords.empty()) {
    code_.emit(fixed == 2 ? Opcode::CallMethod : Opcode::Call, dst, base, count);
    return;
  }
  std::vector<Value> names;
  for (const Keyword& k : e->keywords) names.push_back(interp_.str(interp_.intern(session_.scopes.mangle(scope_, k.name))));
  code_.emit(Opcode::CallKeywords, dst, base, count, fixed == 2 ? 1 : 0);
  code_.emit_extra(code_.constant(interp_.tuple(std::span<const Value>(names))));
}

/// f(a, *b, k=c, **d): a list of the positional ones and a dict of the others, made step by step.
void FunctionCompiler::call_spread(const Call* e, Reg dst, Reg callee) {
  Reg positional = code_.alloc();
  Reg named = code_.alloc();
  // A starred argument alone is gone through when the keywords are there, by the call itself.
  bool alone = e->args.size() == 1 && e->args[0]->kind == ExprKind::Starred;
  if (alone)
    into(as<Starred>(static_cast<const Expr*>(e->args[0]))->value, positional);
  else
    spread_positional(e, positional);
  if (e->keywords.empty())
    code_.emit(Opcode::Clear, named);
  else
    spread_keywords(e, named, callee);
  if (alone) {
    Temps temps(code_);
    Reg list = code_.alloc();
    code_.emit(Opcode::BuildList, list, list, 0);
    code_.emit(Opcode::ListExtend, list, positional, callee, 1);
    code_.emit(Opcode::MoveTemp, positional, list);
  }
  code_.emit(Opcode::CallSpread, dst, callee);
}

void FunctionCompiler::spread_positional(const Call* e, Reg list) {
  size_t i = 0;
  {
    Temps temps(code_);
    Reg first = code_.top;
    for (; i < e->args.size() && i < kMaxPlainArguments && e->args[i]->kind != ExprKind::Starred; ++i) in_temp(e->args[i]);
    code_.emit(Opcode::BuildList, list, first, static_cast<uint32_t>(i));
  }
  for (; i < e->args.size(); ++i) {
    Temps temps(code_);
    bool star = e->args[i]->kind == ExprKind::Starred;
    Reg r = operand(star ? as<Starred>(static_cast<const Expr*>(e->args[i]))->value : e->args[i]);
    if (star)
      code_.emit(Opcode::ListExtend, list, r);
    else
      code_.emit(Opcode::ListAppend, list, r, 0, code_.release_b(r));
  }
}

void FunctionCompiler::spread_keywords(const Call* e, Reg dict, Reg callee) {
  bool begun = false;
  for (size_t i = 0; i < e->keywords.size();) {
    Temps temps(code_);
    if (e->keywords[i].name.empty()) {
      if (!begun) code_.emit(Opcode::BuildDict, dict, 0, 0);
      begun = true;
      Reg r = operand(e->keywords[i].value);
      code_.emit(Opcode::DictMerge, dict, r, callee, code_.release_b(r));
      ++i;
      continue;
    }
    Reg first = code_.top;
    uint32_t count = 0;
    for (; i < e->keywords.size() && !e->keywords[i].name.empty() && count < kMaxPlainArguments; ++i, ++count) {
      load_const(code_.alloc(), interp_.str(interp_.intern(session_.scopes.mangle(scope_, e->keywords[i].name))));
      in_temp(e->keywords[i].value);
    }
    if (begun) {
      Reg group = code_.alloc();
      code_.emit(Opcode::BuildDict, group, first, count);
      code_.emit(Opcode::DictMerge, dict, group, callee, kReleaseB);
    } else {
      code_.emit(Opcode::BuildDict, dict, first, count);
    }
    begun = true;
  }
}

/// Of an attribute that stands on a later line than what it is taken from, only its name counts, as in CPython.
Span FunctionCompiler::attribute_span(const Attribute* e) const {
  return e->span.line == e->span.end_line ? e->span : e->name_span;
}

/// The part of a binary operation or subscript that a traceback marks with ^ between ~, as CPython finds it in the line.
Span FunctionCompiler::anchor_of(const Expr* e) const {
  const Span& s = e->span;
  if (s.line != s.end_line) return {};
  const LineColumns& line = session_.columns_of(s.line);
  auto at = [&](uint32_t column) { return line.at(column); };
  auto blank = [&](uint32_t column) { return at(column) == ' ' || at(column) == '\t' || at(column) == '\f'; };
  if (e->kind == ExprKind::Binary) {
    const Binary* b = as<Binary>(e);
    uint32_t end = b->right->span.column;
    for (uint32_t i = b->left->span.end_column; i < end; ++i) {
      if (blank(i)) continue;
      uint32_t right = i + 1;
      if (i + 1 < end && !blank(i + 1)) ++right;
      if (i + 1 < end && at(i) == ')') continue;
      return {s.line, i, s.line, right};
    }
    return {};
  }
  const Subscript* b = as<Subscript>(e);
  uint32_t left = b->value->span.end_column, right = b->index->span.end_column + 1;
  while (left < s.end_column && at(left) != '[') ++left;
  while (right < s.end_column && at(right) != ']') ++right;
  if (right < s.end_column) ++right;
  return {s.line, left, s.line, right};
}

}  // namespace tfl::compile
