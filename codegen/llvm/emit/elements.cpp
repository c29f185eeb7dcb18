#include "codegen/llvm/emit/elements.h"

#include <llvm/IR/Constants.h>

#include "codegen/formula/record.h"
#include "codegen/llvm/emit/elements_memory.h"
#include "codegen/llvm/emit/formula_emit.h"

namespace tfl::codegen {

namespace {

using formula::Operand;
using llvm::Value;

// What is the same constant in all lanes.
Operand constant_of(Value* v) {
  auto* c = llvm::dyn_cast_or_null<llvm::Constant>(v);
  if (c && c->getType()->isVectorTy()) c = c->getSplatValue();
  if (auto* i = llvm::dyn_cast_or_null<llvm::ConstantInt>(c)) return i->getZExtValue();
  if (auto* f = llvm::dyn_cast_or_null<llvm::ConstantFP>(c)) return f->getValueAPF().bitcastToAPInt().getZExtValue();
  return {};
}

llvm::SmallVector<Operand, 3> constants_of(std::span<Value* const> operands) {
  llvm::SmallVector<Operand, 3> out;
  for (Value* v : operands) out.push_back(constant_of(v));
  return out;
}

}  // namespace

llvm::Type* register_type(Builder& b, DType dtype, int lanes) {
  return elem_type(b, formula::elem_of_dtype(dtype), lanes, dtype == DType::Bool);
}

Value* emit_row(Builder& b, Op op, DType dtype, int lanes, std::span<Value* const> operands) {
  auto constants = constants_of(operands);
  auto f = formula::record_row(op, dtype, {constants.data(), constants.size()});
  if (!f) return nullptr;
  return emit_formula(b, *f, lanes, dtype == DType::Bool, operands);
}

Value* emit_violation(Builder& b, Op op, DType dtype, int lanes, std::span<Value* const> operands) {
  auto constants = constants_of(operands);
  auto f = formula::record_violation(op, dtype, {constants.data(), constants.size()});
  if (!f) return nullptr;
  return emit_formula(b, *f, lanes, false, operands);
}

Value* emit_cast(Builder& b, DType from, DType to, int lanes, Value* x) {
  if (from == to) return x;
  formula::Formula f = formula::record_cast(from, to, constant_of(x));
  if (from == DType::Bool) x = b.CreateZExt(x, elem_type(b, formula::Elem::u8, lanes));
  return emit_formula(b, f, lanes, false, {&x, 1});
}

Value* emit_bitcast(Builder& b, DType from, DType to, int lanes, Value* x) {
  if (from == to) return x;
  return from_memory(b, to, lanes, b.CreateBitCast(to_memory(b, from, lanes, x), vector_of(memory_type(b, to), lanes)));
}

}  // namespace tfl::codegen
