#include "codegen/llvm/emit/frame.h"

#include <llvm/ADT/APFloat.h>

#include "codegen/abi.h"

namespace tfl::codegen {

namespace {

llvm::Value* field(Builder& b, llvm::Value* base, size_t offset) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
}

}  // namespace

llvm::Value* load_services(Builder& b, llvm::Value* frame) {
  return b.CreateLoad(b.getPtrTy(), field(b, frame, offsetof(Frame, services)));
}
llvm::Value* load_interrupt(Builder& b, llvm::Value* frame) {
  return b.CreateLoad(b.getPtrTy(), field(b, frame, offsetof(Frame, interrupt)));
}
llvm::Value* failed_address(Builder& b, llvm::Value* frame) { return field(b, frame, offsetof(Frame, failed)); }
llvm::Value* services_field(Builder& b, llvm::Value* services, size_t offset) {
  return b.CreateLoad(b.getPtrTy(), field(b, services, offset));
}

llvm::PointerType* frame_pointer(llvm::LLVMContext& context, bool emulated) {
  constexpr unsigned kGlobalSpace = 1;  // of PTX
  return llvm::PointerType::get(context, emulated ? 0 : kGlobalSpace);
}

llvm::FunctionType* kernel_type(llvm::LLVMContext& context) {
  llvm::Type* word = llvm::Type::getInt64Ty(context);
  return llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::getUnqual(context), word, word}, false);
}

llvm::Constant* element_constant(Builder& b, DType dtype, uint64_t bits) {
  llvm::Type* type = register_type(b, dtype, 1);
  auto widened = [&](const llvm::fltSemantics& half) {
    llvm::APFloat value(half, llvm::APInt(16, bits & 0xffff));
    bool inexact = false;
    value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return llvm::ConstantFP::get(b.getContext(), value);
  };
  if (dtype == DType::Bool) return b.getInt1((bits & 0xff) != 0);
  if (dtype == DType::F16) return widened(llvm::APFloat::IEEEhalf());
  if (dtype == DType::BF16) return widened(llvm::APFloat::BFloat());
  if (dtype == DType::F32)
    return llvm::ConstantFP::get(b.getContext(), llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, bits & 0xffffffff)));
  if (dtype == DType::F64)
    return llvm::ConstantFP::get(b.getContext(), llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, bits)));
  return llvm::ConstantInt::get(type, llvm::APInt(64, bits).trunc(type->getIntegerBitWidth()));
}

}  // namespace tfl::codegen
