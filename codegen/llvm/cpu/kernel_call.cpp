// Calls of kernels: how many units there are, and whether they are worth more threads than one. What is known folds away.
#include "codegen/abi.h"
#include "codegen/llvm/cpu/kernel.h"
#include "codegen/llvm/emit/frame.h"
#include "codegen/llvm/emit/kernel_space.h"

namespace tfl::codegen {

using namespace plan;

namespace {

constexpr int64_t kPartWork = kParallelWork / 2;  // of what a thread takes at a time
constexpr int64_t kWholeElements = 1024;          // parts of a flat map are whole vectors, whatever their width

struct Counts {
  llvm::Value* units;
  llvm::Value* elements;
};

llvm::Value* number(Builder& b, int64_t v) { return b.getInt64(static_cast<uint64_t>(v)); }
llvm::Value* divide_up(Builder& b, llvm::Value* v, int64_t by) {
  return b.CreateSDiv(b.CreateAdd(v, number(b, by - 1)), number(b, by));
}

llvm::Value* product(Builder& b, const Plan& plan, llvm::Value* frame, std::span<const Size> sizes) {
  llvm::Value* all = number(b, 1);
  for (Size s : sizes) {
    std::optional<int64_t> known = known_size(plan, s);
    all = b.CreateMul(all, known ? number(b, *known) : emit_size(b, frame, s));
  }
  return all;
}

Counts counts(Builder& b, const Plan& plan, const Kernel& kernel, const KernelSpace& space, llvm::Value* frame) {
  auto of_group = [&](uint32_t g) { return product(b, plan, frame, space.groups[g].sizes); };
  Counts c{number(b, 1), product(b, plan, frame, kernel.axes)};
  for (uint32_t g : space.outer) c.units = b.CreateMul(c.units, divide_up(b, of_group(g), outer_step(space, g)));
  llvm::Value* inner = of_group(space.vector);
  switch (kernel.form) {
    case Form::map:
      if (space.by_first_axis) {
        c.units = kernel.axes.empty() ? number(b, 1) : product(b, plan, frame, {kernel.axes.data(), 1});
      } else if (space.by_elements) {
        c.units = inner;
      } else if (map_has_chunks(space)) {
        c.units = b.CreateMul(c.units, divide_up(b, inner, kMapChunk));
      }
      break;
    case Form::columns: c.units = b.CreateMul(c.units, divide_up(b, inner, strip_columns(space))); break;
    case Form::blocks: c.units = b.CreateMul(c.units, divide_up(b, inner, kReduceBlock)); break;
    case Form::rows:
    case Form::tree: break;
  }
  return c;
}

}  // namespace

void emit_kernel_call(Builder& b, const Plan& plan, uint32_t index, Cpu cpu, llvm::Function* function, llvm::Value* frame) {
  const Kernel& kernel = plan.kernels[index];
  KernelSpace space = kernel_space(plan, index, cpu);
  if (std::optional<int64_t> units = whole_units(kernel, space)) {
    b.CreateCall(function, {frame, number(b, 0), number(b, *units)});
    return;
  }
  Counts c = counts(b, plan, kernel, space, frame);
  llvm::Value* work = b.CreateMul(c.elements, number(b, element_cost(kernel)));
  llvm::Value* little = b.CreateOr(b.CreateICmpSLE(work, number(b, kParallelWork)), b.CreateICmpSLE(c.units, number(b, 1)));
  auto* known = llvm::dyn_cast<llvm::ConstantInt>(little);
  auto here = [&] { b.CreateCall(function, {frame, number(b, 0), c.units}); };
  auto on_all_threads = [&] {
    llvm::Value* of_unit = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateSDiv(work, c.units), number(b, 1));
    llvm::Value* grain =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateSDiv(number(b, kPartWork), of_unit), number(b, 1));
    if (space.by_elements) grain = b.CreateMul(divide_up(b, grain, kWholeElements), number(b, kWholeElements));
    if (kernel.form == Form::blocks || kernel.form == Form::rows) grain = b.CreateMul(divide_up(b, grain, 4), number(b, 4));
    llvm::Value* services = load_services(b, frame);
    llvm::Type* word = b.getInt64Ty();
    llvm::FunctionType* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), word, word}, false);
    b.CreateCall(type, services_field(b, services, offsetof(Services, parallel)), {frame, function, c.units, grain});
  };
  if (known && known->isOne()) return here();
  if (known && known->isZero()) return on_all_threads();
  llvm::LLVMContext& context = b.getContext();
  llvm::Function* caller = b.GetInsertBlock()->getParent();
  llvm::BasicBlock* alone = llvm::BasicBlock::Create(context, "here", caller);
  llvm::BasicBlock* threads = llvm::BasicBlock::Create(context, "threads", caller);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context, "after", caller);
  b.CreateCondBr(little, alone, threads);
  b.SetInsertPoint(alone);
  here();
  b.CreateBr(after);
  b.SetInsertPoint(threads);
  on_all_threads();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

}  // namespace tfl::codegen
