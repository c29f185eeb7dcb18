// Outer indices: a unit's number taken apart at the start of a call, and counted on from there.
#include "codegen/llvm/cpu/kernel_emitter.h"

namespace tfl::codegen {

void KernelEmitter::start_outer(llvm::Value* first, llvm::Value* inner) {
  digits_.clear();
  digit_sizes_.clear();
  for (uint32_t g : space_.outer) {
    int64_t step = outer_step(space_, g);
    digit_sizes_.push_back(b_.CreateUDiv(b_.CreateAdd(group_size(g), word(step - 1)), word(step)));
  }
  if (inner) digit_sizes_.push_back(inner);
  if (digit_sizes_.empty()) return;
  for (size_t k = 0; k < digit_sizes_.size(); ++k) digits_.push_back(allocate(b_.getInt64Ty()));
  llvm::Value* rest = first;
  for (size_t k = digit_sizes_.size(); --k > 0;) {
    llvm::Value* quotient = b_.CreateUDiv(rest, digit_sizes_[k]);
    b_.CreateStore(b_.CreateSub(rest, b_.CreateMul(quotient, digit_sizes_[k])), digits_[k]);
    rest = quotient;
  }
  b_.CreateStore(rest, digits_[0]);
}

llvm::Value* KernelEmitter::read_outer(Context& context) {
  size_t k = 0;
  for (; k < space_.outer.size(); ++k) context.index[space_.outer[k]] = b_.CreateLoad(b_.getInt64Ty(), digits_[k]);
  return k < digits_.size() ? b_.CreateLoad(b_.getInt64Ty(), digits_[k]) : nullptr;
}

void KernelEmitter::next_outer() {
  llvm::Value* carry = b_.getInt64(1);
  for (size_t k = digits_.size(); k-- > 0;) {
    llvm::Value* next = b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), digits_[k]), carry);
    if (k == 0) {
      b_.CreateStore(next, digits_[k]);
      break;
    }
    llvm::Value* full = b_.CreateICmpEQ(next, digit_sizes_[k]);
    b_.CreateStore(b_.CreateSelect(full, b_.getInt64(0), next), digits_[k]);
    carry = b_.CreateZExt(full, b_.getInt64Ty());
  }
}

}  // namespace tfl::codegen
