// The pieces of a reduction, each the operation of runtime/kernels/isa/reduce_loops.h.
#include <llvm/IR/Constants.h>

#include "codegen/llvm/emit/elements.h"

namespace tfl::codegen {

namespace {

using llvm::APInt;
using llvm::Value;

bool is_real(DType dtype) { return dtype == DType::F32 || dtype == DType::F64; }

}  // namespace

DType partial_type(ReduceKind kind, DType dtype) {
  if (dtype == DType::F16 || dtype == DType::BF16) return DType::F32;
  if (dtype == DType::Bool) return DType::U8;
  if (kind == ReduceKind::wide_sum) return is_unsigned(dtype) ? DType::U64 : DType::I64;
  return dtype;
}

Value* emit_neutral(Builder& b, ReduceKind kind, DType dtype, int lanes) {
  DType partial = partial_type(kind, dtype);
  llvm::Type* type = register_type(b, partial, lanes);
  unsigned bits = type->getScalarSizeInBits();
  switch (kind) {
    case ReduceKind::sum:
    case ReduceKind::wide_sum:
      return is_real(partial) ? llvm::ConstantFP::getZero(type, true) : llvm::Constant::getNullValue(type);
    case ReduceKind::prod: return is_real(partial) ? llvm::ConstantFP::get(type, 1.0) : llvm::ConstantInt::get(type, 1);
    case ReduceKind::max:
      if (is_real(partial)) return llvm::ConstantFP::getInfinity(type, true);
      return llvm::ConstantInt::get(type, is_unsigned(partial) ? APInt::getMinValue(bits) : APInt::getSignedMinValue(bits));
    case ReduceKind::min:
      if (is_real(partial)) return llvm::ConstantFP::getInfinity(type, false);
      return llvm::ConstantInt::get(type, is_unsigned(partial) ? APInt::getMaxValue(bits) : APInt::getSignedMaxValue(bits));
  }
  llvm_unreachable("no kind");
}

Value* emit_to_partial(Builder& b, ReduceKind kind, DType dtype, int lanes, Value* x) {
  if (dtype == DType::F16 || dtype == DType::BF16) return x;
  return emit_cast(b, dtype, partial_type(kind, dtype), lanes, x);
}

Value* emit_combine(Builder& b, ReduceKind kind, DType dtype, int lanes, Value* x, Value* y) {
  Value* operands[] = {x, y};
  auto row = [&](Op op) { return emit_row(b, op, partial_type(kind, dtype), lanes, operands); };
  switch (kind) {
    case ReduceKind::sum:
    case ReduceKind::wide_sum: return row(Op::add);
    case ReduceKind::prod: return row(Op::multiply);
    case ReduceKind::max: return row(Op::maximum);
    case ReduceKind::min: return row(Op::minimum);
  }
  llvm_unreachable("no kind");
}

Value* emit_finish(Builder& b, ReduceKind kind, DType dtype, DType to, int lanes, Value* partial, Value* divisor) {
  DType from = partial_type(kind, dtype);
  if (divisor) {
    Value* d = emit_cast(b, DType::I64, from, 1, divisor);
    if (!is_real(from)) d = b.CreateSelect(b.CreateIsNull(d), llvm::ConstantInt::get(d->getType(), 1), d);
    if (lanes > 1) d = b.CreateVectorSplat(static_cast<unsigned>(lanes), d);
    if (is_real(from)) {
      partial = b.CreateFDiv(partial, d);
    } else {
      partial = is_unsigned(from) ? b.CreateUDiv(partial, d) : b.CreateSDiv(partial, d);
    }
  }
  return emit_cast(b, from, to, lanes, partial);
}

}  // namespace tfl::codegen
