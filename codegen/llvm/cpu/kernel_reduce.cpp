// Reductions in the order of runtime/kernels/reduce/reduce.h: lanes of a block, the tree over lanes, and blocks that wait for their
// neighbours. Blocks come one after another; block number b (from 0) is combined with as many waiting results as b has ones at
// its end, which makes the tree of neighbours: what waits are results of 2^k blocks, larger k below.
#include "codegen/llvm/cpu/kernel_emitter.h"

namespace tfl::codegen {

using namespace plan;

KernelEmitter::Partial KernelEmitter::make_partial(uint32_t stage, int64_t columns, bool blocks) {
  Partial p;
  const Stage& s = kernel_.stages[stage];
  p.stage = stage;
  p.element = kernel_.exprs[s.expr].dtype;
  p.kind = s.reduce;
  p.columns = columns;
  llvm::Type* type = register_type(b_, partial_of(p), 1);
  p.result = allocate(type, columns);
  if (blocks) p.waiting = allocate(type, kWaiting * columns);
  return p;
}

void KernelEmitter::add_accumulators(Partial& p, int count, int lanes) {
  for (int i = 0; i < count; ++i) p.accumulators.push_back(allocate(register_type(b_, partial_of(p), lanes)));
}

llvm::Value* KernelEmitter::at(const Partial& p, llvm::Value* memory, llvm::Value* element) {
  return b_.CreateGEP(register_type(b_, partial_of(p), 1), memory, element);
}

// The vectors of a strip, or the one result of a row.
void KernelEmitter::each_column(const Partial& p, llvm::function_ref<void(int lanes, llvm::Value* column)> f) {
  if (p.columns == 1) {
    f(1, word(0));
  } else {
    loop(word(0), word(p.columns), space_.lanes, false, [&](llvm::Value* column) { f(space_.lanes, column); });
  }
}

void KernelEmitter::reset(Partial& p, int lanes) {
  llvm::Value* neutral = emit_neutral(b_, p.kind, p.element, lanes);
  for (llvm::Value* a : p.accumulators) b_.CreateStore(neutral, a);
}

void KernelEmitter::accumulate(const Partial& p, llvm::Value* memory, Tile& tile, size_t v) {
  llvm::Value* x = emit_to_partial(b_, p.kind, p.element, tile.lanes, vector(kernel_.stages[p.stage].expr, tile, v));
  if (tile.mask) x = b_.CreateSelect(tile.mask, x, emit_neutral(b_, p.kind, p.element, tile.lanes));
  llvm::Value* sum = b_.CreateLoad(x->getType(), memory);
  b_.CreateStore(emit_combine(b_, p.kind, p.element, tile.lanes, sum, x), memory);
}

// The tree over the lanes of a vector. Spare lanes hold what is neutral to the bit.
llvm::Value* KernelEmitter::across(const Partial& p, llvm::Value* lanes) {
  for (int half = kReduceLanes / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 16> low, high;
    for (int i = 0; i < half; ++i) {
      low.push_back(i);
      high.push_back(i + half);
    }
    llvm::Value* a = half > 1 ? b_.CreateShuffleVector(lanes, low) : b_.CreateExtractElement(lanes, uint64_t{0});
    llvm::Value* b = half > 1 ? b_.CreateShuffleVector(lanes, high) : b_.CreateExtractElement(lanes, uint64_t{1});
    lanes = emit_combine(b_, p.kind, p.element, half, a, b);
  }
  return lanes;
}

void KernelEmitter::wait_for_neighbours(llvm::ArrayRef<Partial*> partials, llvm::Value* top, llvm::Value* block) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Value* rest = allocate(b_.getInt64Ty());
  b_.CreateStore(block, rest);
  llvm::BasicBlock* head = llvm::BasicBlock::Create(context, "neighbour", function_);
  llvm::BasicBlock* body = llvm::BasicBlock::Create(context, "combine", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context, "wait", function_);
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  b_.CreateCondBr(b_.CreateTrunc(b_.CreateLoad(b_.getInt64Ty(), rest), b_.getInt1Ty()), body, after);
  b_.SetInsertPoint(body);
  combine_top(partials, top);
  b_.CreateStore(b_.CreateLShr(b_.CreateLoad(b_.getInt64Ty(), rest), 1), rest);
  b_.CreateBr(head);
  b_.SetInsertPoint(after);
  llvm::Value* place = b_.CreateLoad(b_.getInt64Ty(), top);
  for (Partial* p : partials) {
    llvm::Value* free = b_.CreateMul(place, word(p->columns));
    each_column(*p, [&](int lanes, llvm::Value* column) {
      llvm::Type* type = register_type(b_, partial_of(*p), lanes);
      llvm::Value* result = b_.CreateLoad(type, at(*p, p->result, column));
      b_.CreateStore(result, at(*p, p->waiting, b_.CreateAdd(free, column)));
    });
  }
  b_.CreateStore(b_.CreateAdd(place, word(1)), top);
}

// Takes the last of those that wait; `visit` is given the value of each column and the place of the result.
template <class F>
llvm::Value* KernelEmitter::take_waiting(llvm::ArrayRef<Partial*> partials, llvm::Value* top, const F& visit) {
  llvm::Value* last = b_.CreateSub(b_.CreateLoad(b_.getInt64Ty(), top), word(1));
  b_.CreateStore(last, top);
  for (Partial* p : partials) {
    llvm::Value* waits = b_.CreateMul(last, word(p->columns));
    each_column(*p, [&](int lanes, llvm::Value* column) {
      llvm::Type* type = register_type(b_, partial_of(*p), lanes);
      llvm::Value* waiting = b_.CreateLoad(type, at(*p, p->waiting, b_.CreateAdd(waits, column)));
      visit(*p, lanes, type, waiting, at(*p, p->result, column));
    });
  }
  return last;
}

// The last of those that wait goes before the result.
void KernelEmitter::combine_top(llvm::ArrayRef<Partial*> partials, llvm::Value* top) {
  take_waiting(partials, top, [&](Partial& p, int lanes, llvm::Type* type, llvm::Value* before, llvm::Value* result) {
    b_.CreateStore(emit_combine(b_, p.kind, p.element, lanes, before, b_.CreateLoad(type, result)), result);
  });
}

void KernelEmitter::combine_waiting(llvm::ArrayRef<Partial*> partials, llvm::Value* top) {
  llvm::Value* last = take_waiting(partials, top, [&](Partial&, int, llvm::Type*, llvm::Value* waiting, llvm::Value* result) {
    b_.CreateStore(waiting, result);
  });
  loop(word(0), last, 1, false, [&](llvm::Value*) { combine_top(partials, top); });
}

// A partial result as the result of its stage; `length`: the number of elements.
llvm::Value* KernelEmitter::finished(const Partial& p, llvm::Value* partial, int lanes, llvm::Value* length) {
  const Stage& s = kernel_.stages[p.stage];
  llvm::Value* divisor = s.divisor == 0 ? nullptr : size(s.divisor);
  auto* count = llvm::dyn_cast<llvm::ConstantInt>(length);
  llvm::Value* empty = count && !count->isZero() ? nullptr : b_.CreateICmpEQ(length, word(0));
  // The integer mean of nothing is 0, the sum of no floats +0 and not the neutral -0.
  if (divisor && empty && !is_floating(s.dtype)) divisor = b_.CreateSelect(b_.CreateICmpEQ(divisor, word(0)), word(1), divisor);
  llvm::Value* result = emit_finish(b_, p.kind, p.element, s.dtype, lanes, partial, divisor);
  // The mean of no floats is the NaN that the evaluator gives, whatever sign 0 / 0 has here.
  if (empty && divisor && is_floating(s.dtype)) {
    llvm::Type* type = result->getType();
    llvm::Constant* nan = type->isFPOrFPVectorTy() ? llvm::ConstantFP::getNaN(type)
                                                   : llvm::ConstantInt::get(type, s.dtype == DType::BF16 ? 0x7fc0 : 0x7e00);
    result = b_.CreateSelect(empty, nan, result);
  }
  if (empty && !divisor && p.kind == ReduceKind::sum && is_floating(s.dtype)) {
    result = b_.CreateSelect(empty, llvm::Constant::getNullValue(result->getType()), result);
  }
  return result;
}

}  // namespace tfl::codegen
