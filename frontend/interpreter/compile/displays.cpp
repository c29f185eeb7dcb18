#include <algorithm>

#include "frontend/interpreter/compile/function_compiler.h"

namespace tfl::compile {

using namespace ast;

namespace {

constexpr size_t kMaxInRegisters = 64;  // longer displays are built in pieces
constexpr size_t kMinFolded = 3;        // a list of so many constants is made from one constant tuple

bool has_star(List<Expr*> items) {
  return std::any_of(items.begin(), items.end(), [](const Expr* e) { return e->kind == ExprKind::Starred; });
}

}  // namespace

/// [1, 2, 3]: made from one constant tuple.
bool FunctionCompiler::constant_list(List<Expr*> items, Reg dst) {
  std::vector<Value> values;
  for (const Expr* e : items) {
    values.push_back(fold(interp_, e));
    if (values.back().is_empty()) return false;
  }
  Reg list = code_.is_temp(dst) ? dst : code_.alloc();
  Reg constants = code_.alloc();
  load_const(constants, interp_.tuple(std::span<const Value>(values)));
  code_.emit(Opcode::BuildList, list, constants, 0);
  code_.emit(Opcode::ListExtend, list, constants);
  if (list != dst) code_.emit(Opcode::MoveTemp, dst, list);
  return true;
}

/// A tuple, list or set display into dst.
void FunctionCompiler::sequence(List<Expr*> items, Opcode build, Reg dst) {
  if (build == Opcode::BuildList && items.size() >= kMinFolded && constant_list(items, dst)) return;
  if (items.size() <= kMaxInRegisters && !has_star(items)) {
    Reg first = code_.top;
    for (const Expr* e : items) in_temp(e);
    code_.emit(build, dst, first, static_cast<uint32_t>(items.size()));
    return;
  }
  if (build == Opcode::BuildTuple) {
    Reg list = code_.alloc();
    list_of(items, list, Opcode::BuildList, Opcode::ListAppend, Opcode::ListExtend);
    code_.emit(Opcode::ListToTuple, dst, list, 0, kReleaseB);
    return;
  }
  Reg r = code_.is_temp(dst) ? dst : code_.alloc();
  if (build == Opcode::BuildList)
    list_of(items, r, build, Opcode::ListAppend, Opcode::ListExtend);
  else
    list_of(items, r, build, Opcode::SetAdd, Opcode::SetUpdate);
  if (r != dst) code_.emit(Opcode::MoveTemp, dst, r);
}

void FunctionCompiler::list_of(List<Expr*> items, Reg list, Opcode build, Opcode append, Opcode extend) {
  size_t i = 0;
  {
    Temps temps(code_);
    Reg first = code_.top;
    for (; i < items.size() && i < kMaxInRegisters && items[i]->kind != ExprKind::Starred; ++i) in_temp(items[i]);
    code_.emit(build, list, first, static_cast<uint32_t>(i));
  }
  for (; i < items.size(); ++i) {
    Temps temps(code_);
    bool star = items[i]->kind == ExprKind::Starred;
    Reg r = operand(star ? as<Starred>(static_cast<const Expr*>(items[i]))->value : items[i]);
    if (star)
      code_.emit(extend, list, r);
    else
      code_.emit(append, list, r, 0, code_.release_b(r));
  }
}

void FunctionCompiler::dict_display(const DictDisplay* e, Reg dst) {
  Here here(code_, e->span);
  bool plain = e->items.size() <= kMaxInRegisters;
  for (const DictItem& item : e->items) plain = plain && item.key;
  auto pairs = [&](size_t& i, Reg to) {
    Reg first = code_.top;
    uint32_t count = 0;
    for (; i < e->items.size() && count < kMaxInRegisters && e->items[i].key; ++i, ++count) {
      in_temp(e->items[i].key);
      in_temp(e->items[i].value);
    }
    code_.emit(Opcode::BuildDict, to, first, count);
  };
  size_t i = 0;
  if (plain) return pairs(i, dst);
  Reg dict = code_.is_temp(dst) ? dst : code_.alloc();
  {
    Temps temps(code_);
    pairs(i, dict);
  }
  while (i < e->items.size()) {
    Temps temps(code_);
    const DictItem& item = e->items[i++];
    if (!item.key) {
      Reg r = operand(item.value);
      code_.emit(Opcode::DictUpdate, dict, r, 0, code_.release_b(r));
    } else {
      Reg key = operand(item.key);
      Reg value = operand(item.value);
      code_.emit(Opcode::DictSet, dict, key, value, code_.release_b(key) | code_.release_c(value));
    }
  }
  if (dict != dst) code_.emit(Opcode::MoveTemp, dst, dict);
}

}  // namespace tfl::compile
