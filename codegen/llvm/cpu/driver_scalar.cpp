// Scalars of the driver: expressions, loads of single elements, sizes.
#include "codegen/abi.h"
#include "codegen/llvm/cpu/driver_steps.h"

namespace tfl::codegen {

using plan::Access;
using plan::Expr;
using plan::ExprKind;
using plan::ValueId;

llvm::Value* Driver::scalar(ValueId id) {
  llvm::Value* v = id < scalars_.size() ? scalars_[id] : nullptr;
  if (!v && part_ && id < scalars_.size() && value(id).word != plan::kNone)
    return emit_load(b_, value(id).dtype, 1, emit_word_address(b_, frame_, value(id).word));
  if (!v) {
    fail("a scalar of the plan is used before it has a value");
    return llvm::PoisonValue::get(b_.getInt64Ty());
  }
  return v;
}

void Driver::define(ValueId id, llvm::Value* v) {
  if (id >= scalars_.size()) return fail("a scalar that the plan does not have");
  if (v->getType() != register_type(b_, value(id).dtype, 1)) return fail("a scalar of the plan has another type than its value");
  scalars_[id] = v;
  if (value(id).word != plan::kNone) emit_store(b_, value(id).dtype, 1, v, emit_word_address(b_, frame_, value(id).word));
}

llvm::Value* Driver::size(plan::Size s) {
  if (plan::is_known(s)) return b_.getInt64(static_cast<uint64_t>(s));
  return at_entry(symbols_[plan::symbol_of(s)], [&] { return emit_size(b_, frame_, s); });
}

llvm::Value* Driver::address(ValueId id) {
  if (value(id).word == plan::kNone) {
    fail("a value of the plan has no address");
    return llvm::PoisonValue::get(b_.getPtrTy());
  }
  auto load = [&]() -> llvm::Value* {
    return b_.CreateAlignedLoad(frame_->getType(), emit_word_address(b_, frame_, value(id).word), llvm::Align(8));
  };
  if (value(id).home == plan::Home::pointer) return load();
  return at_entry(addresses_[id], load);
}

llvm::Value* Driver::as_index(ValueId id) {
  llvm::Value* v = scalar(id);
  return b_.CreateIntCast(v, b_.getInt64Ty(), !is_unsigned(value(id).dtype));
}

llvm::Value* Driver::load(const Access& access) {
  DType dtype = value(access.value).dtype;
  llvm::Value* offset = size(access.offset);
  for (const Access::Indexed& i : access.indexed) offset = b_.CreateAdd(offset, b_.CreateMul(as_index(i.index), size(i.factor)));
  llvm::Value* at = b_.CreateGEP(memory_type(b_, dtype), address(access.value), offset);
  return emit_load(b_, dtype, 1, at, access.mask == plan::kNone ? nullptr : scalar(access.mask));
}

llvm::Value* Driver::expression(const Expr& e) {
  switch (e.kind) {
    case ExprKind::constant: return element_constant(b_, e.dtype, e.bits);
    case ExprKind::value: return scalar(e.access.value);
    case ExprKind::load: return load(e.access);
    case ExprKind::size: {
      if (!is_integer(e.dtype)) break;
      return b_.CreateTrunc(size(e.size), register_type(b_, e.dtype, 1));
    }
    case ExprKind::apply: {
      SmallVec<llvm::Value*, 4> operands;
      for (ValueId id : e.operands) operands.push_back(scalar(id));
      if (operands.empty()) break;
      if (!error_.empty()) return operands[0];
      DType dtype = value(e.operands[e.operands.size() - 1]).dtype;
      if (llvm::Value* fails = emit_violation(b_, e.op, dtype, 1, {operands.data(), operands.size()}))
        leave_if(fails, kFailed, e.location);
      return emit_row(b_, e.op, dtype, 1, {operands.data(), operands.size()});
    }
    case ExprKind::cast:
    case ExprKind::bitcast: {
      llvm::Value* x = scalar(e.operands[0]);
      if (!error_.empty()) return x;
      DType from = value(e.operands[0]).dtype;
      return e.kind == ExprKind::cast ? emit_cast(b_, from, e.dtype, 1, x) : emit_bitcast(b_, from, e.dtype, 1, x);
    }
    case ExprKind::index:
    case ExprKind::reduced:
    case ExprKind::kept:
    case ExprKind::variable:
    case ExprKind::looped: break;
  }
  fail("an expression of a kernel among the steps of a plan");
  return llvm::PoisonValue::get(register_type(b_, e.dtype, 1));
}

}  // namespace tfl::codegen
