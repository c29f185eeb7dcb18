#include "codegen/llvm/gpu/routine.h"

#include <limits>

#include "codegen/llvm/cpu/kernel.h"
#include "codegen/llvm/emit/frame.h"
#include "codegen/llvm/emit/kernel_space.h"
#include "codegen/llvm/gpu/launches.h"

namespace tfl::codegen {

using namespace plan;

GpuRoutine::GpuRoutine(llvm::Module& module, const Plan& plan, uint32_t number, int phase, bool emulated)
    : plan_(plan),
      r_(plan.routines[number]),
      phase_(phase),
      grid_(module, gpu_phase_name(number, phase), emulated),
      b_(grid_.b),
      // Truth values are numbers here, as bytes.
      dtype_(r_.dtype == DType::Bool && r_.routine != Routine::scatter ? DType::U8 : r_.dtype) {}

llvm::Function* GpuRoutine::emit() {
  switch (r_.routine) {
    case Routine::scan: scan(); break;
    case Routine::arg: arg(); break;
    case Routine::scatter: scatter(); break;
    case Routine::segment: segment(); break;
    case Routine::sort: sort(); break;
    case Routine::random: random(); break;
    case Routine::solve:
    case Routine::factor:
    case Routine::fourier:
    case Routine::sample: break;  // the CPU runs plans with these
  }
  grid_.finish();
  return grid_.function();
}

llvm::Value* GpuRoutine::size(size_t i) {
  std::optional<int64_t> known = known_size(plan_, r_.sizes[i]);
  return known ? grid_.word(*known) : grid_.number(symbol_of(r_.sizes[i]));
}

int64_t GpuRoutine::known(size_t i) const { return known_size(plan_, r_.sizes[i]).value_or(-1); }

llvm::Value* GpuRoutine::memory(size_t pointer) {
  const Value& v = plan_.values[r_.at[pointer]];
  return v.home == Home::scalar ? emit_word_address(b_, grid_.frame(), v.word) : grid_.pointer(v.word);
}

llvm::Value* GpuRoutine::at(size_t pointer, DType dtype, llvm::Value* i) {
  return b_.CreateGEP(memory_type(b_, dtype), memory(pointer), i);
}
llvm::Value* GpuRoutine::load(size_t pointer, DType dtype, llvm::Value* i) {
  return emit_load(b_, dtype, 1, at(pointer, dtype, i));
}
void GpuRoutine::store(size_t pointer, DType dtype, llvm::Value* value, llvm::Value* i) {
  bool half = is_floating(dtype) && dtype_size(dtype) == 2;
  emit_store(b_, dtype, 1, half ? emit_cast(b_, DType::F32, dtype, 1, value) : value, at(pointer, dtype, i));
}

void GpuRoutine::copy(size_t to, llvm::Value* i, size_t from, llvm::Value* j) {
  llvm::Align align(dtype_size(dtype_));
  b_.CreateAlignedStore(b_.CreateAlignedLoad(memory_type(b_, dtype_), at(from, dtype_, j), align), at(to, dtype_, i), align);
}

void GpuRoutine::clear(size_t pointer, llvm::Value* i) {
  b_.CreateAlignedStore(llvm::Constant::getNullValue(memory_type(b_, dtype_)), at(pointer, dtype_, i),
                        llvm::Align(dtype_size(dtype_)));
}

llvm::Value* GpuRoutine::index_at(size_t pointer, llvm::Value* i) {
  return b_.CreateIntCast(load(pointer, r_.index_dtype, i), b_.getInt64Ty(), !is_unsigned(r_.index_dtype));
}

llvm::Value* GpuRoutine::own_word(llvm::Value* i) { return b_.CreateGEP(b_.getInt64Ty(), memory(kSpreadPointer), i); }

void GpuRoutine::fail_if(llvm::Value* condition) {
  grid_.when(condition, [&] {
    b_.CreateAlignedStore(grid_.word(int64_t{r_.location} + 1), failed_address(b_, grid_.frame()), llvm::Align(8));
  });
}

void GpuRoutine::each(llvm::Value* n, ThreadLoop body) {
  grid_.units(grid_.up(n, kGpuThreads), [&](llvm::Value* unit) {
    grid_.section(
        [&](llvm::Value* thread) {
          llvm::Value* i = b_.CreateAdd(b_.CreateMul(unit, grid_.word(kGpuThreads)), thread);
          grid_.when(b_.CreateICmpSLT(i, n), [&] { body(i); });
        },
        false);
  });
}

void GpuRoutine::each_of_block(llvm::Value* n, ThreadLoop body) {
  grid_.section([&](llvm::Value* thread) { grid_.loop(thread, n, grid_.word(kGpuThreads), body); });
}

void GpuRoutine::count_units(std::initializer_list<size_t> sizes, int64_t per) {
  for (size_t i : sizes) units_.factors.push_back({r_.sizes[i], 1});
  units_.per = per;
}

llvm::Value* GpuRoutine::number(double v, llvm::Type* type) {
  return type->isFloatingPointTy() ? llvm::ConstantFP::get(type, v)
                                   : llvm::ConstantInt::get(type, static_cast<uint64_t>(static_cast<int64_t>(v)));
}

// The lowest finite value, or the highest; of half types as they are computed with.
llvm::Value* GpuRoutine::lowest(DType dtype, bool highest) {
  llvm::Type* type = register_type(b_, dtype, 1);
  if (type->isDoubleTy())
    return number(highest ? std::numeric_limits<double>::max() : std::numeric_limits<double>::lowest(), type);
  if (type->isFloatTy()) return number(highest ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest(), type);
  unsigned bits = type->getIntegerBitWidth();
  llvm::APInt most = is_unsigned(dtype) ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getSignedMaxValue(bits);
  return llvm::ConstantInt::get(type, highest              ? most
                                      : is_unsigned(dtype) ? llvm::APInt::getMinValue(bits)
                                                           : llvm::APInt::getSignedMinValue(bits));
}

llvm::Value* GpuRoutine::less(DType dtype, llvm::Value* x, llvm::Value* y) {
  if (x->getType()->isFloatingPointTy()) return b_.CreateFCmpOLT(x, y);
  return is_unsigned(dtype) ? b_.CreateICmpULT(x, y) : b_.CreateICmpSLT(x, y);
}

}  // namespace tfl::codegen
