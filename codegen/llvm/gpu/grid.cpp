#include "codegen/llvm/gpu/grid.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/llvm/cpu/kernel.h"
#include "codegen/llvm/emit/frame.h"

namespace tfl::codegen {

namespace {

constexpr unsigned kSharedSpace = 3;  // of PTX

}  // namespace

void emit_barrier(Builder& b, bool emulated) {
  if (!emulated) b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
}

Grid::Grid(llvm::Module& module, const std::string& name, bool emulated)
    : b(module.getContext()), module_(module), emulated_(emulated) {
  auto* type = llvm::FunctionType::get(b.getVoidTy(),
                                       {frame_pointer(module.getContext(), emulated), b.getInt64Ty(), b.getInt64Ty()}, false);
  function_ = llvm::Function::Create(type, llvm::Function::InternalLinkage, name + ".body", module);
  function_->setDoesNotThrow();
  if (!emulated) function_->addFnAttr(llvm::Attribute::Convergent);
  entry_ = block("entry");
  llvm::BasicBlock* start = block("start");
  b.SetInsertPoint(entry_);
  if (!emulated) number_ = b.CreateZExt(b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {}), b.getInt64Ty());
  b.CreateBr(start);
  b.SetInsertPoint(start);
}

void Grid::finish() { b.CreateRetVoid(); }

llvm::BasicBlock* Grid::block(const char* name) { return llvm::BasicBlock::Create(module_.getContext(), name, function_); }

Grid::Variable Grid::variable(llvm::Type* type, int64_t count) {
  Builder first = at_entry();
  auto* memory = first.CreateAlloca(type, word(emulated_ ? count * kGpuThreads : count));
  memory->setAlignment(llvm::Align(16));
  return {type, memory, count};
}

llvm::Value* Grid::at(const Variable& v, llvm::Value* index) {
  llvm::Value* place = emulated_ ? b.CreateMul(thread_, word(v.count)) : word(0);
  if (index) place = b.CreateAdd(place, index);
  return b.CreateGEP(v.type, v.memory, place);
}
llvm::Value* Grid::get(const Variable& v, llvm::Value* index) { return b.CreateLoad(v.type, at(v, index)); }
void Grid::set(const Variable& v, llvm::Value* value, llvm::Value* index) { b.CreateStore(value, at(v, index)); }

llvm::Value* Grid::shared(int64_t bytes) {
  for (const auto& [size, memory] : shared_) {
    if (size == bytes) return memory;
  }
  llvm::Value* made = nullptr;
  if (emulated_) {
    Builder first = at_entry();
    auto* memory = first.CreateAlloca(b.getInt8Ty(), word(bytes));
    memory->setAlignment(llvm::Align(16));
    made = memory;
  } else {
    std::string name = "shared" + std::to_string(bytes);
    llvm::GlobalVariable* global = module_.getNamedGlobal(name);
    if (!global) {
      auto* type = llvm::ArrayType::get(b.getInt8Ty(), static_cast<uint64_t>(bytes));
      global = new llvm::GlobalVariable(module_, type, false, llvm::GlobalValue::InternalLinkage, llvm::UndefValue::get(type),
                                        name, nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
      global->setAlignment(llvm::Align(16));
    }
    made = global;
  }
  shared_.emplace_back(bytes, made);
  return made;
}

void Grid::section(ThreadBody body, bool wait) {
  if (!emulated_) {
    thread_ = number_;
    body(thread_);
    thread_ = nullptr;
    if (wait) emit_barrier(b, false);
    return;
  }
  loop(word(0), word(kGpuThreads), word(1), [&](llvm::Value* thread) {
    thread_ = thread;
    body(thread);
    thread_ = nullptr;
  });
}

llvm::Value* Grid::shuffled(llvm::Value* x, llvm::Intrinsic::ID id, int number, int clamp) {
  // Rows of 16 threads: the mask of the segment is that of warps of 32 less the number of bits of a row.
  constexpr uint32_t kRows = (32 - kReduceLanes) << 8;
  llvm::Type* type = x->getType();
  unsigned bits = static_cast<unsigned>(type->getPrimitiveSizeInBits());
  llvm::Value* whole = b.CreateBitCast(x, b.getIntNTy(bits));
  auto part = [&](llvm::Value* v) -> llvm::Value* {
    return b.CreateIntrinsic(
        id, {},
        {b.getInt32(~0U), v, b.getInt32(static_cast<uint32_t>(number)), b.getInt32(kRows | static_cast<uint32_t>(clamp))});
  };
  llvm::Value* moved = nullptr;
  if (bits <= 32) {
    moved = b.CreateTrunc(part(b.CreateZExt(whole, b.getInt32Ty())), b.getIntNTy(bits));
  } else {
    llvm::Value* low = part(b.CreateTrunc(whole, b.getInt32Ty()));
    llvm::Value* high = part(b.CreateTrunc(b.CreateLShr(whole, 32), b.getInt32Ty()));
    moved = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
  }
  return b.CreateBitCast(moved, type);
}

void Grid::shift(const Variable& from, const Variable& to, int distance) {
  section(
      [&](llvm::Value* thread) {
        if (!emulated_) {
          set(to, shuffled(get(from), llvm::Intrinsic::nvvm_shfl_sync_down_i32, distance, kReduceLanes - 1));
          return;
        }
        llvm::Value* other = b.CreateAnd(b.CreateAdd(thread, word(distance)), word(kGpuThreads - 1));
        set(to, b.CreateLoad(from.type, b.CreateGEP(from.type, from.memory, other)));
      },
      false);
}

void Grid::spread(const Variable& from, const Variable& to) {
  section(
      [&](llvm::Value* thread) {
        if (!emulated_) {
          set(to, shuffled(get(from), llvm::Intrinsic::nvvm_shfl_sync_idx_i32, 0, kReduceLanes - 1));
          return;
        }
        llvm::Value* first = b.CreateAnd(thread, word(-kReduceLanes));
        set(to, b.CreateLoad(from.type, b.CreateGEP(from.type, from.memory, first)));
      },
      false);
}

llvm::Value* Grid::here(llvm::Value* x) {
  if (emulated_) return x;
  auto* type = llvm::FunctionType::get(x->getType(), {x->getType()}, false);
  return b.CreateCall(llvm::InlineAsm::get(type, "mov.u64 $0, $1;", "=l,l", true), {x});
}

void Grid::units(llvm::Value* units, ThreadBody body) { loop(function_->getArg(1), units, function_->getArg(2), body); }

void Grid::loop(llvm::Value* first, llvm::Value* last, llvm::Value* step, ThreadBody body) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock *head = block("head"), *inside = block("loop"), *after = block("after");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  llvm::PHINode* i = b.CreatePHI(first->getType(), 2);
  i->addIncoming(first, before);
  b.CreateCondBr(b.CreateICmpSLT(i, last), inside, after);
  b.SetInsertPoint(inside);
  body(i);
  i->addIncoming(b.CreateNSWAdd(i, step), b.GetInsertBlock());
  b.CreateBr(head);
  b.SetInsertPoint(after);
}

void Grid::when(llvm::Value* condition, Body then) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (known->isOne()) then();
    return;
  }
  llvm::BasicBlock *yes = block("then"), *after = block("after");
  b.CreateCondBr(condition, yes, after);
  b.SetInsertPoint(yes);
  then();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

llvm::Value* Grid::number(uint32_t word) {
  for (const auto& [known, value] : numbers_) {
    if (known == word) return value;
  }
  Builder first = at_entry();
  return numbers_.emplace_back(word, emit_word(first, frame(), word)).second;
}

llvm::Value* Grid::pointer(uint32_t word) {
  for (const auto& [known, value] : pointers_) {
    if (known == word) return value;
  }
  llvm::Value* address = number(word);
  Builder first = at_entry();
  return pointers_.emplace_back(word, first.CreateIntToPtr(address, frame_pointer(module_.getContext(), emulated_))).second;
}

}  // namespace tfl::codegen
