// What kernels for GPUs are written in: blocks of threads, in sections that every thread of a block goes through before the next
// begins, shared memory, and shuffles. Code between sections is the same for all threads of a block. It becomes PTX, where a section
// is code and a barrier, or, to try it without a GPU, code for a CPU, where a section is a loop over the threads. So what lives
// from one section to the next is a variable of the grid's, or shared memory, or uniform. This header must not know plans.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Module.h>

#include "codegen/abi.h"
#include "codegen/llvm/emit/elements.h"

namespace tfl::codegen {

class Grid {
 public:
  /// Of each thread, `count` elements of `type`.
  struct Variable {
    llvm::Type* type = nullptr;
    llvm::Value* memory = nullptr;
    int64_t count = 1;
  };
  using Body = llvm::function_ref<void()>;
  using ThreadBody = llvm::function_ref<void(llvm::Value* thread)>;

  /// Makes `void name(frame, i64 block, i64 blocks)`; the builder stands in its first block.
  Grid(llvm::Module& module, const std::string& name, bool emulated);
  /// Returns from the function.
  void finish();

  llvm::Function* function() const { return function_; }
  llvm::Value* frame() const { return function_->getArg(0); }
  bool emulated() const { return emulated_; }

  Variable variable(llvm::Type* type, int64_t count = 1);
  /// In a section: where the thread's element lies.
  llvm::Value* at(const Variable& v, llvm::Value* index = nullptr);
  llvm::Value* get(const Variable& v, llvm::Value* index = nullptr);
  void set(const Variable& v, llvm::Value* value, llvm::Value* index = nullptr);
  /// `bytes` of the block; the same memory for all that ask for as many.
  llvm::Value* shared(int64_t bytes);

  /// What all threads do; with `wait`, all see what all have written when it ends.
  void section(ThreadBody body, bool wait = true);
  /// to = the value of `from` that the thread `distance` further has, of those of a row; of the last ones nothing.
  void shift(const Variable& from, const Variable& to, int distance);
  /// to = the value of the first thread of a row.
  void spread(const Variable& from, const Variable& to);

  /// `x`, of which nothing is computed before this point.
  llvm::Value* here(llvm::Value* x);
  /// body(u) for the units of this block: all of [0, units) that are `blocks` apart.
  void units(llvm::Value* units, ThreadBody body);
  /// body(i) for i = first, first + step, ... < last.
  void loop(llvm::Value* first, llvm::Value* last, llvm::Value* step, ThreadBody body);
  void when(llvm::Value* condition, Body then);
  llvm::Value* word(int64_t v) { return b.getInt64(static_cast<uint64_t>(v)); }
  llvm::Value* up(llvm::Value* x, int64_t by) {
    return b.CreateUDiv(b.CreateAdd(x, word(by - 1)), word(by));
  }  // x / by, rounded up
  /// The address in that word of the frame.
  llvm::Value* pointer(uint32_t word);
  /// The number in that word.
  llvm::Value* number(uint32_t word);

  /// Stands where what every unit uses is computed once.
  Builder at_entry() { return Builder(entry_->getTerminator()); }

  Builder b;

 private:
  llvm::Value* shuffled(llvm::Value* x, llvm::Intrinsic::ID id, int number, int clamp);
  llvm::BasicBlock* block(const char* name);

  llvm::Module& module_;
  bool emulated_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::Value* thread_ = nullptr;  // while a section is written
  llvm::Value* number_ = nullptr;  // of the thread, for PTX
  std::vector<std::pair<int64_t, llvm::Value*>> shared_;
  std::vector<std::pair<uint32_t, llvm::Value*>> numbers_, pointers_;  // by word
};

/// Waits for all threads of the block; nothing where they are a loop.
void emit_barrier(Builder& b, bool emulated);

}  // namespace tfl::codegen
