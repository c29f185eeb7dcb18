// Branches and loops of the driver, and the ways out of it.
#include <llvm/IR/MDBuilder.h>

#include "codegen/abi.h"
#include "codegen/llvm/cpu/driver_steps.h"

namespace tfl::codegen {

namespace {

bool runs_kernels(const plan::Block& block) {
  for (const plan::Step& s : block.steps) {
    if (s.kind == plan::Step::Kind::kernel || s.kind == plan::Step::Kind::product || s.kind == plan::Step::Kind::routine)
      return true;
    for (const plan::Block& inner : s.blocks) {
      if (runs_kernels(inner)) return true;
    }
  }
  return false;
}

}  // namespace

llvm::BasicBlock* Driver::new_block(const char* name) { return llvm::BasicBlock::Create(module_.getContext(), name, function_); }

llvm::BasicBlock* Driver::leaving(int64_t status) {
  if (!leaving_[status]) {
    llvm::IRBuilderBase::InsertPointGuard guard(b_);
    leaving_[status] = new_block(status == kFailed ? "failed" : status == kFull ? "full" : "interrupted");
    b_.SetInsertPoint(leaving_[status]);
    b_.CreateRet(b_.getInt64(static_cast<uint64_t>(status)));
  }
  return leaving_[status];
}

void Driver::leave_if(llvm::Value* condition, int64_t status, uint32_t location) {
  llvm::BasicBlock *on = new_block("on"), *out = leaving(status);
  if (location) {
    llvm::IRBuilderBase::InsertPointGuard guard(b_);
    out = new_block("failed");
    b_.SetInsertPoint(out);
    b_.CreateStore(b_.getInt64(uint64_t{location} + 1), failed_address(b_, frame_));
    b_.CreateBr(leaving(status));
  }
  b_.CreateCondBr(condition, out, on, llvm::MDBuilder(module_.getContext()).createBranchWeights(1, 1 << 20));
  b_.SetInsertPoint(on);
}

void Driver::branch(const plan::Step& s) {
  llvm::Value* condition = scalar(s.condition);
  if (s.blocks.empty() || !error_.empty()) return fail("a branch without blocks");
  std::vector<llvm::BasicBlock*> begins;
  for (size_t i = 0; i < s.blocks.size(); ++i) begins.push_back(new_block("case"));
  llvm::BasicBlock* after = new_block("joined");
  if (value(s.condition).dtype == DType::Bool) {
    b_.CreateCondBr(condition, begins.front(), begins.back());
  } else {
    auto* type = llvm::cast<llvm::IntegerType>(condition->getType());
    auto* choice = b_.CreateSwitch(condition, begins.back(), static_cast<unsigned>(begins.size()));
    for (size_t i = 0; i + 1 < begins.size(); ++i) choice->addCase(llvm::ConstantInt::get(type, i), begins[i]);
  }
  std::vector<Values> results(s.blocks.size());
  std::vector<llvm::BasicBlock*> ends;
  for (size_t i = 0; i < s.blocks.size(); ++i) {
    b_.SetInsertPoint(begins[i]);
    steps(s.blocks[i]);
    if (s.blocks[i].results.size() != s.results.size()) return fail("the blocks of a branch have different numbers of results");
    for (plan::ValueId id : s.blocks[i].results) results[i].push_back(scalar(id));
    if (!error_.empty()) return;
    ends.push_back(b_.GetInsertBlock());
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
  at(s.location);
  std::vector<llvm::PHINode*> joined;
  for (plan::ValueId id : s.results) {
    joined.push_back(b_.CreatePHI(register_type(b_, value(id).dtype, 1), static_cast<unsigned>(ends.size())));
  }
  for (size_t r = 0; r < joined.size(); ++r) {
    for (size_t i = 0; i < ends.size(); ++i) {
      if (results[i][r]->getType() != joined[r]->getType()) return fail("the blocks of a branch have results of different types");
      joined[r]->addIncoming(results[i][r], ends[i]);
    }
    define(s.results[r], joined[r]);
  }
}

void Driver::loop(const plan::Step& s) {
  size_t n = s.results.size();
  if (s.blocks.size() != 2 || s.initial.size() != n || s.blocks[0].params.size() != n || s.blocks[1].params.size() != n ||
      s.blocks[0].results.size() != 1 || s.blocks[1].results.size() != n) {
    return fail("a loop of the plan whose parts do not fit");
  }
  Values initial;
  for (plan::ValueId id : s.initial) initial.push_back(scalar(id));
  if (!error_.empty()) return;
  bool polls = !block_ || block_->emulated();  // a GPU's threads must see the same
  if (polls) at_entry(interrupt_, [&] { return load_interrupt(b_, frame_); });

  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock *head = new_block("loop"), *body = new_block("body"), *after = new_block("after");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  std::vector<llvm::PHINode*> variables;
  for (size_t i = 0; i < n; ++i) {
    variables.push_back(b_.CreatePHI(register_type(b_, value(s.results[i]).dtype, 1), 2));
    if (initial[i]->getType() != variables[i]->getType()) return fail("a loop variable begins with another type");
    variables[i]->addIncoming(initial[i], before);
  }
  llvm::PHINode* count = nullptr;
  if (s.limit >= 0) {
    count = b_.CreatePHI(b_.getInt64Ty(), 2);
    count->addIncoming(b_.getInt64(0), before);
    llvm::BasicBlock* more = new_block("more");
    b_.CreateCondBr(b_.CreateICmpULT(count, b_.getInt64(static_cast<uint64_t>(s.limit))), more, after);
    b_.SetInsertPoint(more);
  }
  for (size_t i = 0; i < n; ++i) define(s.blocks[0].params[i], variables[i]);
  steps(s.blocks[0]);
  llvm::Value* condition = scalar(s.blocks[0].results[0]);
  if (!error_.empty()) return;
  if (!condition->getType()->isIntegerTy(1)) return fail("the condition of a loop is not Bool");
  b_.CreateCondBr(condition, body, after);

  // At the head of the body, so that the way back is the only other one into the loop: LLVM turns such loops around.
  b_.SetInsertPoint(body);
  at(s.location);
  // Kernels go on with anything where an operation would raise: what they leave must not decide how long a loop runs.
  if (runs_kernels(s.blocks[0]) || runs_kernels(s.blocks[1])) {
    llvm::Value* failed = b_.CreateAlignedLoad(b_.getInt64Ty(), failed_address(b_, frame_), llvm::Align(8));
    leave_if(b_.CreateICmpNE(failed, b_.getInt64(0)), kFailed);
  }
  if (polls) {
    auto* interrupted = b_.CreateAlignedLoad(b_.getInt32Ty(), interrupt_, llvm::Align(4));
    interrupted->setAtomic(llvm::AtomicOrdering::Monotonic);
    leave_if(b_.CreateICmpNE(interrupted, b_.getInt32(0)), kInterrupted);
  }
  for (size_t i = 0; i < n; ++i) define(s.blocks[1].params[i], variables[i]);
  steps(s.blocks[1]);
  Values next;
  for (plan::ValueId id : s.blocks[1].results) next.push_back(scalar(id));
  if (!error_.empty()) return;
  at(s.location);
  llvm::BasicBlock* end = b_.GetInsertBlock();
  if (count) count->addIncoming(b_.CreateAdd(count, b_.getInt64(1)), end);
  for (size_t i = 0; i < n; ++i) {
    if (next[i]->getType() != variables[i]->getType()) return fail("a loop variable changes its type");
    variables[i]->addIncoming(next[i], end);
  }
  b_.CreateBr(head);

  b_.SetInsertPoint(after);
  for (size_t i = 0; i < n; ++i) define(s.results[i], variables[i]);
}

}  // namespace tfl::codegen
