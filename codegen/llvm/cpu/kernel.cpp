#include "codegen/llvm/cpu/kernel.h"

#include "codegen/abi.h"
#include "codegen/llvm/cpu/kernel_emitter.h"
#include "codegen/llvm/emit/frame.h"

namespace tfl::codegen {

using namespace plan;

namespace {

constexpr size_t kFewExpressions = 16;  // keep to registers

}  // namespace

llvm::Value* emit_word_address(Builder& b, llvm::Value* frame, uint32_t word) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame, offsetof(Frame, words) + 8 * uint64_t{word});
}

llvm::Value* emit_word(Builder& b, llvm::Value* frame, uint32_t word) {
  return b.CreateLoad(b.getInt64Ty(), emit_word_address(b, frame, word));
}

llvm::Value* emit_size(Builder& b, llvm::Value* frame, Size size) {
  return is_known(size) ? b.getInt64(static_cast<uint64_t>(size)) : emit_word(b, frame, symbol_of(size));
}

KernelEmitter::KernelEmitter(llvm::Module& module, const Plan& plan, uint32_t kernel, Cpu cpu, Locate locate)
    : module_(module),
      plan_(plan),
      kernel_(plan.kernels[kernel]),
      cpu_(cpu),
      locate_(locate),
      space_(kernel_space(plan, kernel, cpu)),
      b_(module.getContext()),
      entry_(module.getContext()) {
  std::string name = "k" + std::to_string(kernel);
  if (!kernel_.name.empty()) name += "_" + kernel_.name;
  function_ = llvm::Function::Create(kernel_type(module.getContext()), llvm::Function::InternalLinkage, name, module);
}

llvm::Function* KernelEmitter::emit() {
  prepare();
  switch (kernel_.form) {
    case Form::map: emit_map(); break;
    case Form::rows: emit_rows(); break;
    case Form::columns: emit_columns(); break;
    case Form::blocks: emit_blocks(); break;
    case Form::tree: emit_tree(); break;
  }
  finish();
  return function_;
}

// Sizes, addresses and memory come first, in a block that every other is dominated by.
void KernelEmitter::prepare() {
  llvm::LLVMContext& context = module_.getContext();
  frame_ = function_->getArg(0);
  first_ = function_->getArg(1);
  last_ = function_->getArg(2);
  function_->addParamAttr(0, llvm::Attribute::NoAlias);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  // Registers that are put aside have aligned places only if that is said before registers are given out.
  if (kernel_.exprs.size() > kFewExpressions) function_->addFnAttr("stackrealign");
  entry_.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function_));
  b_.SetInsertPoint(llvm::BasicBlock::Create(context, "start", function_));
  symbols_.assign(plan_.symbols.size(), nullptr);
  memory_.assign(plan_.values.size(), nullptr);
  group_sizes_.assign(space_.groups.size(), nullptr);
  violated_ = allocate(b_.getInt64Ty());
  b_.CreateStore(word(0), violated_);
  base_.uniform.assign(kernel_.exprs.size(), nullptr);
  base_.bases.assign(kernel_.exprs.size() + kernel_.stages.size(), nullptr);
  base_.index.assign(space_.groups.size(), nullptr);
  base_.reduced.assign(kernel_.stages.size(), nullptr);
  base_.scratch.assign(kernel_.stages.size(), nullptr);
  context_ = &base_;
  if (std::optional<int64_t> units = whole_units(kernel_, space_)) {
    first_ = word(0);
    last_ = word(*units);
  }
  // There may be no element: then nothing is read, not even what is the same for all.
  llvm::Value* some = b_.CreateICmpSLT(first_, last_);
  if (kernel_.form == Form::map) {
    for (uint32_t g = 0; g < space_.groups.size(); ++g) {
      if (space_.groups[g].known() <= 0) some = b_.CreateAnd(some, b_.CreateICmpSGT(group_size(g), word(0)));
    }
  }
  llvm::BasicBlock* go = llvm::BasicBlock::Create(context, "go", function_);
  llvm::BasicBlock* nothing = llvm::BasicBlock::Create(context, "nothing", function_);
  b_.CreateCondBr(some, go, nothing);
  llvm::ReturnInst::Create(context, nothing);
  b_.SetInsertPoint(go);
}

void KernelEmitter::finish() {
  locate(0);
  llvm::Value* failed = b_.CreateLoad(b_.getInt64Ty(), violated_);
  when(b_.CreateICmpNE(failed, word(0)), [&] { b_.CreateStore(failed, failed_address(b_, frame_)); });
  b_.CreateRetVoid();
  llvm::BasicBlock* start = entry_.GetInsertBlock()->getNextNode();
  entry_.CreateBr(start);
}

llvm::Value* KernelEmitter::size(Size s) {
  if (std::optional<int64_t> known = known_size(plan_, s)) return word(*known);
  llvm::Value*& v = symbols_[symbol_of(s)];
  if (!v) v = emit_word(entry_, frame_, symbol_of(s));
  return v;
}

llvm::Value* KernelEmitter::group_size(uint32_t group) {
  llvm::Value*& v = group_sizes_[group];
  if (v) return v;
  v = word(1);
  for (Size s : space_.groups[group].sizes) {
    llvm::Value* factor = size(s);
    v = entry_.CreateMul(v, factor);
  }
  return v;
}

llvm::Value* KernelEmitter::allocate(llvm::Type* type, int64_t count) {
  llvm::AllocaInst* memory = entry_.CreateAlloca(type, word(count));
  memory->setAlignment(llvm::Align(64));
  return memory;
}

void KernelEmitter::note_violation(llvm::Value* violated, llvm::Value* mask, uint32_t location) {
  if (mask) violated = b_.CreateAnd(violated, mask);
  if (violated->getType()->isVectorTy()) violated = b_.CreateOrReduce(violated);
  llvm::Value* before = b_.CreateLoad(b_.getInt64Ty(), violated_);
  b_.CreateStore(b_.CreateSelect(violated, word(int64_t{location} + 1), before), violated_);
}

llvm::Value* KernelEmitter::loop(llvm::Value* first, llvm::Value* last, int64_t step, bool whole, Body body) {
  llvm::Value* limit = whole && step > 1 ? b_.CreateSub(last, word(step - 1)) : last;
  // None or one known time is no loop.
  auto* from = llvm::dyn_cast<llvm::ConstantInt>(first);
  auto* to = llvm::dyn_cast<llvm::ConstantInt>(limit);
  if (from && to && from->getSExtValue() >= to->getSExtValue()) return first;
  if (from && to && to->getSExtValue() - from->getSExtValue() <= step) {
    body(first);
    return b_.CreateAdd(first, word(step));
  }
  llvm::LLVMContext& context = module_.getContext();
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* inside = llvm::BasicBlock::Create(context, "loop", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context, "after", function_);
  b_.CreateCondBr(b_.CreateICmpSLT(first, limit), inside, after);
  before = b_.GetInsertBlock();
  b_.SetInsertPoint(inside);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  i->addIncoming(first, before);
  body(i);
  llvm::Value* next = b_.CreateNSWAdd(i, word(step));
  llvm::BasicBlock* latch = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpSLT(next, limit), inside, after);
  i->addIncoming(next, latch);
  b_.SetInsertPoint(after);
  llvm::PHINode* end = b_.CreatePHI(b_.getInt64Ty(), 2);
  end->addIncoming(first, before);
  end->addIncoming(next, latch);
  return end;
}

void KernelEmitter::when(llvm::Value* condition, llvm::function_ref<void()> then) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (known->isOne()) then();
    return;
  }
  llvm::BasicBlock* yes = llvm::BasicBlock::Create(module_.getContext(), "then", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(module_.getContext(), "after", function_);
  b_.CreateCondBr(condition, yes, after);
  b_.SetInsertPoint(yes);
  then();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

llvm::Value* KernelEmitter::lane_mask(int lanes, llvm::Value* count) {
  if (lanes == 1) return b_.CreateICmpSGT(count, word(0));
  // Counts above the number of lanes are as good as that number: 32 bits are enough, and fill one register.
  llvm::Value* most = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, word(lanes));
  llvm::Type* narrow = lanes > 32 ? b_.getInt8Ty() : b_.getInt32Ty();
  llvm::SmallVector<llvm::Constant*, 64> numbers;
  for (int i = 0; i < lanes; ++i) numbers.push_back(llvm::ConstantInt::get(narrow, static_cast<uint64_t>(i)));
  return b_.CreateICmpSLT(llvm::ConstantVector::get(numbers),
                          b_.CreateVectorSplat(static_cast<unsigned>(lanes), b_.CreateTrunc(most, narrow)));
}

llvm::Function* emit_kernel(llvm::Module& module, const Plan& plan, uint32_t kernel, Cpu cpu, Locate locate) {
  return KernelEmitter(module, plan, kernel, cpu, locate).emit();
}

}  // namespace tfl::codegen
