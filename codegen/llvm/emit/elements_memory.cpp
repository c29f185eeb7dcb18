#include "codegen/llvm/emit/elements_memory.h"

#include "codegen/llvm/emit/formula_emit.h"

namespace tfl::codegen {

namespace {

using llvm::Value;

llvm::Align align_of(DType dtype) { return llvm::Align(dtype_size(dtype)); }

// One lane is a vector of one where only vectors can be masked.
Value* as_vector(Builder& b, Value* x, int lanes) { return lanes == 1 ? b.CreateBitCast(x, vector_of(x->getType(), -1)) : x; }

Value* addresses(Builder& b, DType dtype, Value* address, Value* offsets) {
  return b.CreateGEP(memory_type(b, dtype), address, offsets);
}

}  // namespace

llvm::Type* vector_of(llvm::Type* scalar, int lanes) {
  if (lanes == 1) return scalar;
  return llvm::FixedVectorType::get(scalar, lanes < 0 ? 1u : static_cast<unsigned>(lanes));
}

llvm::Type* memory_type(Builder& b, DType dtype) {
  switch (dtype) {
    case DType::F32: return b.getFloatTy();
    case DType::F64: return b.getDoubleTy();
    default: return b.getIntNTy(static_cast<unsigned>(8 * dtype_size(dtype)));
  }
}

Value* to_memory(Builder& b, DType dtype, int lanes, Value* x) {
  switch (dtype) {
    case DType::Bool: return b.CreateZExt(x, vector_of(b.getInt8Ty(), lanes));
    case DType::F16: return b.CreateBitCast(emit_to_half(b, x, lanes), vector_of(b.getInt16Ty(), lanes));
    case DType::BF16: {  // the value is one that the type has
      Value* bits = b.CreateBitCast(x, vector_of(b.getInt32Ty(), lanes));
      return b.CreateTrunc(b.CreateLShr(bits, 16), vector_of(b.getInt16Ty(), lanes));
    }
    default: return x;
  }
}

Value* from_memory(Builder& b, DType dtype, int lanes, Value* x) {
  switch (dtype) {
    case DType::Bool: return b.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
    case DType::F16: return emit_from_half(b, b.CreateBitCast(x, vector_of(b.getHalfTy(), lanes)), lanes);
    case DType::BF16: {
      Value* bits = b.CreateShl(b.CreateZExt(x, vector_of(b.getInt32Ty(), lanes)), 16);
      return b.CreateBitCast(bits, vector_of(b.getFloatTy(), lanes));
    }
    default: return x;
  }
}

Value* emit_load(Builder& b, DType dtype, int lanes, Value* address, Value* mask) {
  llvm::Type* type = vector_of(memory_type(b, dtype), lanes);
  if (!mask) return from_memory(b, dtype, lanes, b.CreateAlignedLoad(type, address, align_of(dtype)));
  llvm::Type* vector = lanes == 1 ? vector_of(type, -1) : type;
  Value* zero = llvm::Constant::getNullValue(vector);
  Value* x = b.CreateMaskedLoad(vector, address, align_of(dtype), as_vector(b, mask, lanes), zero);
  return from_memory(b, dtype, lanes, lanes == 1 ? b.CreateBitCast(x, type) : x);
}

void emit_store(Builder& b, DType dtype, int lanes, Value* value, Value* address, Value* mask) {
  Value* x = to_memory(b, dtype, lanes, value);
  if (!mask) {
    b.CreateAlignedStore(x, address, align_of(dtype));
  } else {
    b.CreateMaskedStore(as_vector(b, x, lanes), address, align_of(dtype), as_vector(b, mask, lanes));
  }
}

Value* emit_gather(Builder& b, DType dtype, int lanes, Value* address, Value* offsets, Value* mask) {
  Value* from = addresses(b, dtype, address, offsets);
  if (lanes == 1) return emit_load(b, dtype, 1, from, mask);
  llvm::Type* type = vector_of(memory_type(b, dtype), lanes);
  if (!mask) mask = llvm::Constant::getAllOnesValue(vector_of(b.getInt1Ty(), lanes));
  Value* x = b.CreateMaskedGather(type, from, align_of(dtype), mask, llvm::Constant::getNullValue(type));
  return from_memory(b, dtype, lanes, x);
}

void emit_scatter(Builder& b, DType dtype, int lanes, Value* value, Value* address, Value* offsets, Value* mask) {
  Value* to = addresses(b, dtype, address, offsets);
  if (lanes == 1) {
    emit_store(b, dtype, 1, value, to, mask);
  } else {
    b.CreateMaskedScatter(to_memory(b, dtype, lanes, value), to, align_of(dtype), mask);
  }
}

}  // namespace tfl::codegen
