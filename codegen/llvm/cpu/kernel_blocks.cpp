// Long reductions: blocks that threads share, and the tree over their results.
#include "codegen/llvm/cpu/kernel_emitter.h"

namespace tfl::codegen {

using namespace plan;

namespace {

constexpr int kBlocksTogether = 4;
constexpr int64_t kCheap = 12;

}  // namespace

void KernelEmitter::emit_blocks() {
  std::vector<bool> needed = needed_by([](const Stage&) { return true; });
  compute_uniform(needed, Level::function);
  llvm::Value* length = group_size(space_.vector);
  llvm::Value* blocks = b_.CreateSDiv(b_.CreateAdd(length, word(kReduceBlock - 1)), word(kReduceBlock));
  llvm::Value* whole = b_.CreateSDiv(length, word(kReduceBlock));
  bool together = kernel_.cost <= kCheap && kernel_.loops.empty();
  Partial p = make_partial(0, 1, false);
  add_accumulators(p, together ? kBlocksTogether : 1, kReduceLanes);
  DType partial = partial_of(p);
  llvm::Type* lanes_type = register_type(b_, partial, kReduceLanes);
  start_outer(first_, blocks);
  llvm::Value* unit = allocate(b_.getInt64Ty());
  b_.CreateStore(first_, unit);
  const Access& target = kernel_.stages[0].target;

  auto leave = [&](llvm::Value* block, size_t count) {
    llvm::Value* base = base_of(target);
    for (size_t v = 0; v < count; ++v) {
      llvm::Value* result = across(p, b_.CreateLoad(lanes_type, p.accumulators[v]));
      llvm::Value* at =
          b_.CreateMul(b_.CreateAdd(block, word(static_cast<int64_t>(v))), size(space_.stride(target, space_.vector)));
      emit_store(b_, partial, 1, result, b_.CreateGEP(memory_type(b_, partial), base, at));
    }
  };
  llvm::LLVMContext& context = module_.getContext();
  llvm::BasicBlock* head = llvm::BasicBlock::Create(context, "unit", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context, "after", function_);
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::Value* number = b_.CreateLoad(b_.getInt64Ty(), unit);
  Context saved = *context_;
  llvm::Value* block = read_outer(*context_);
  compute_uniform(needed, Level::unit);
  compute_bases(needed, [](const Stage&) { return false; });
  reset(p, kReduceLanes);
  llvm::Value* first = b_.CreateMul(block, word(kReduceBlock));
  llvm::Value* steps = allocate(b_.getInt64Ty());
  b_.CreateStore(word(1), steps);
  auto alone = [&] {
    llvm::Value* last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, length, b_.CreateAdd(first, word(kReduceBlock)));
    for_tiles(first, last, -1, kReduceLanes, space_.unroll, true, [&](Tile& tile) {
      compute_tile(needed, tile);
      for (size_t v = 0; v < tile.start.size(); ++v) accumulate(p, p.accumulators[0], tile, v);
    });
    leave(block, 1);
  };
  if (together) {
    llvm::Value* many = b_.CreateICmpSLE(b_.CreateAdd(number, word(kBlocksTogether)), last_);
    many = b_.CreateAnd(many, b_.CreateICmpSLE(b_.CreateAdd(block, word(kBlocksTogether)), whole));
    when(many, [&] {
      loop(first, b_.CreateAdd(first, word(kReduceBlock)), kReduceLanes, false, [&](llvm::Value* i) {
        Values start;
        for (int v = 0; v < kBlocksTogether; ++v) start.push_back(b_.CreateAdd(i, word(v * kReduceBlock)));
        Tile tile = make_tile(kReduceLanes, start);
        compute_tile(needed, tile);
        for (size_t v = 0; v < tile.start.size(); ++v) accumulate(p, p.accumulators[v], tile, v);
      });
      leave(block, kBlocksTogether);
      b_.CreateStore(word(kBlocksTogether), steps);
    });
    when(b_.CreateNot(many), alone);
  } else {
    alone();
  }
  *context_ = std::move(saved);
  llvm::Value* step = b_.CreateLoad(b_.getInt64Ty(), steps);
  loop(word(0), step, 1, false, [&](llvm::Value*) { next_outer(); });
  llvm::Value* next = b_.CreateAdd(number, step);
  b_.CreateStore(next, unit);
  b_.CreateCondBr(b_.CreateICmpSLT(next, last_), head, after);
  b_.SetInsertPoint(after);
}

void KernelEmitter::emit_tree() {
  auto reduces = [](const Stage& s) { return s.kind == Stage::Kind::reduce; };
  auto stores = [](const Stage& s) { return s.kind == Stage::Kind::store_once; };
  std::vector<bool> needed = needed_by(reduces), after = needed_by(stores);
  compute_uniform(needed, Level::function);
  compute_uniform(after, Level::function);
  llvm::Value* blocks = group_size(space_.vector);
  Partials all;
  llvm::SmallVector<Partial*, 4> partials;
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    if (reduces(kernel_.stages[s])) all.push_back(make_partial(s, 1, true));
  }
  for (Partial& p : all) partials.push_back(&p);
  llvm::Value* top = allocate(b_.getInt64Ty());
  start_outer(first_);
  loop(first_, last_, 1, false, [&](llvm::Value*) {
    Context saved = *context_;
    read_outer(*context_);
    next_outer();
    for (Partial& p : all) b_.CreateStore(emit_neutral(b_, p.kind, p.element, 1), p.result);
    when(b_.CreateICmpSGT(blocks, word(0)), [&] {
      Context inside = *context_;
      compute_uniform(needed, Level::unit);
      compute_bases(needed, reduces);
      b_.CreateStore(word(0), top);
      loop(word(0), blocks, 1, false, [&](llvm::Value* block) {
        Tile tile = make_tile(1, {block});
        compute_tile(needed, tile);
        for (Partial& p : all) {
          llvm::Value* x = vector(kernel_.stages[p.stage].expr, tile, 0);
          b_.CreateStore(emit_to_partial(b_, p.kind, p.element, 1, x), p.result);
        }
        wait_for_neighbours(partials, top, block);
      });
      combine_waiting(partials, top);
      *context_ = std::move(inside);
    });
    for (Partial& p : all) {
      context_->reduced[p.stage] = finished(p, b_.CreateLoad(register_type(b_, partial_of(p), 1), p.result), 1, blocks);
    }
    compute_uniform(after, Level::unit);
    for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
      if (stores(kernel_.stages[s])) store_uniform(s);
    }
    *context_ = std::move(saved);
  });
}

}  // namespace tfl::codegen
