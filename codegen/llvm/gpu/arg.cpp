// argmax and argmin as runtime/kernels/reduce/arg_loops.h has them: the first of the best, NaN never. A row is a thread's, or, where
// there are few of them, a block's: which of two candidates wins does not depend on the order in which they meet.
#include "codegen/llvm/gpu/routine.h"

namespace tfl::codegen {

namespace {

constexpr int64_t kLongArgument = 1 << 10,
                  kManyArguments = 1 << 14;  // from which on a row is worth a block; rows that fill a GPU by themselves
constexpr int64_t kCandidateBytes = 8;

}  // namespace

llvm::Value* GpuRoutine::start_of_row(llvm::Value* row) {
  llvm::Value *length = size(1), *inner = size(2), *outer = b_.CreateUDiv(row, inner);
  return b_.CreateAdd(b_.CreateMul(b_.CreateMul(outer, length), inner), b_.CreateSub(row, b_.CreateMul(outer, inner)));
}

void GpuRoutine::arg() {
  llvm::Value* rows = b_.CreateMul(size(0), size(2));
  llvm::Value* by_block =
      b_.CreateAnd(b_.CreateICmpSGE(size(1), grid_.word(kLongArgument)), b_.CreateICmpSLT(rows, grid_.word(kManyArguments)));
  auto* decided = llvm::dyn_cast<llvm::ConstantInt>(by_block);
  count_units({0, 2}, decided && decided->isZero() ? kGpuThreads : 1);
  grid_.when(b_.CreateNot(by_block), [&] { arg_by_thread(rows); });
  grid_.when(by_block, [&] { arg_by_block(rows); });
}

void GpuRoutine::arg_by_thread(llvm::Value* rows) {
  bool smallest = r_.flags & 1;
  Grid::Variable best = grid_.variable(register_type(b_, dtype_, 1)), at = grid_.variable(b_.getInt64Ty());
  each(rows, [&](llvm::Value* row) {
    llvm::Value* start = start_of_row(row);
    grid_.set(best, lowest(dtype_, smallest));
    grid_.set(at, grid_.word(0));
    grid_.loop(grid_.word(0), size(1), grid_.word(1), [&](llvm::Value* i) {
      llvm::Value *x = load(0, dtype_, b_.CreateAdd(start, b_.CreateMul(i, size(2)))), *old = grid_.get(best);
      llvm::Value* wins = smallest ? less(dtype_, x, old) : less(dtype_, old, x);
      grid_.set(best, b_.CreateSelect(wins, x, old));
      grid_.set(at, b_.CreateSelect(wins, i, grid_.get(at)));
    });
    store(1, r_.index_dtype, b_.CreateTrunc(grid_.get(at), register_type(b_, r_.index_dtype, 1)), row);
  });
}

void GpuRoutine::arg_by_block(llvm::Value* rows) {
  bool smallest = r_.flags & 1;
  llvm::Type* type = register_type(b_, dtype_, 1);
  llvm::Value* none = grid_.word(INT64_MAX);
  Grid::Variable best = grid_.variable(type), at = grid_.variable(b_.getInt64Ty());
  llvm::Value* memory = grid_.shared(2 * kGpuThreads * kCandidateBytes);
  auto best_of = [&](llvm::Value* thread) { return b_.CreateGEP(b_.getInt64Ty(), memory, thread); };
  auto at_of = [&](llvm::Value* thread) { return best_of(b_.CreateAdd(thread, grid_.word(kGpuThreads))); };
  grid_.units(rows, [&](llvm::Value* row) {
    grid_.section([&](llvm::Value* thread) {
      llvm::Value* start = start_of_row(row);
      grid_.set(best, lowest(dtype_, smallest));
      grid_.set(at, none);
      grid_.loop(thread, size(1), grid_.word(kGpuThreads), [&](llvm::Value* i) {
        llvm::Value *x = load(0, dtype_, b_.CreateAdd(start, b_.CreateMul(i, size(2)))), *old = grid_.get(best);
        llvm::Value* wins = smallest ? less(dtype_, x, old) : less(dtype_, old, x);
        grid_.set(best, b_.CreateSelect(wins, x, old));
        grid_.set(at, b_.CreateSelect(wins, i, grid_.get(at)));
      });
      b_.CreateStore(grid_.get(best), best_of(thread));
      b_.CreateStore(grid_.get(at), at_of(thread));
    });
    for (int64_t half = kGpuThreads / 2; half > 0; half /= 2) {
      grid_.section([&](llvm::Value* thread) {
        grid_.when(b_.CreateICmpSLT(thread, grid_.word(half)), [&] {
          llvm::Value* other = b_.CreateAdd(thread, grid_.word(half));
          llvm::Value *x = b_.CreateLoad(type, best_of(thread)), *y = b_.CreateLoad(type, best_of(other));
          llvm::Value *i = b_.CreateLoad(b_.getInt64Ty(), at_of(thread)), *j = b_.CreateLoad(b_.getInt64Ty(), at_of(other));
          llvm::Value* equal = type->isFloatingPointTy() ? b_.CreateFCmpOEQ(x, y) : b_.CreateICmpEQ(x, y);
          llvm::Value* better = smallest ? less(dtype_, y, x) : less(dtype_, x, y);
          llvm::Value* wins = b_.CreateOr(better, b_.CreateAnd(equal, b_.CreateICmpSLT(j, i)));
          b_.CreateStore(b_.CreateSelect(wins, y, x), best_of(thread));
          b_.CreateStore(b_.CreateSelect(wins, j, i), at_of(thread));
        });
      });
    }
    grid_.section([&](llvm::Value* thread) {
      grid_.when(b_.CreateICmpEQ(thread, grid_.word(0)), [&] {
        llvm::Value* i = b_.CreateLoad(b_.getInt64Ty(), at_of(thread));
        i = b_.CreateSelect(b_.CreateICmpEQ(i, none), grid_.word(0), i);
        store(1, r_.index_dtype, b_.CreateTrunc(i, register_type(b_, r_.index_dtype, 1)), row);
      });
    });
  });
}

}  // namespace tfl::codegen
