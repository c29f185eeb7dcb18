// Maps that read memory across the vectors that they write: squares of as many rows as a vector has lanes, turned in registers.
#include "codegen/llvm/cpu/kernel_emitter.h"

namespace tfl::codegen {

using namespace plan;

bool KernelEmitter::is_turned(const Access& a) const { return turns(space_, a, space_.turned); }

// A vector along the turned group for each lane, made into a vector of lanes for each index of the turned group.
KernelEmitter::Values KernelEmitter::turned_load(const Access& a, size_t key, Tile& tile) {
  DType dtype = plan_.values[a.value].dtype;
  llvm::Type* element = memory_type(b_, dtype);
  llvm::Value* base = context_->bases[key] ? context_->bases[key] : base_of(a);
  llvm::Value* stride = size(space_.stride(a, space_.vector));
  Values rows;
  for (int i = 0; i < tile.lanes; ++i) {
    llvm::Value* at = b_.CreateMul(b_.CreateAdd(tile.start[0], word(i)), stride);
    rows.push_back(emit_load(b_, dtype, tile.lanes, b_.CreateGEP(element, base, at)));
  }
  // Quarters change places, smaller ones each time: bit by bit of the two numbers.
  for (int bit = 1; bit < tile.lanes; bit *= 2) {
    llvm::SmallVector<int, 16> low, high;
    for (int i = 0; i < tile.lanes; ++i) {
      low.push_back(i & bit ? tile.lanes + i - bit : i);
      high.push_back(i & bit ? tile.lanes + i : i + bit);
    }
    for (int i = 0; i < tile.lanes; ++i) {
      if (i & bit) continue;
      auto first = static_cast<size_t>(i), second = static_cast<size_t>(i + bit);
      llvm::Value* x = rows[first];
      llvm::Value* y = rows[second];
      rows[first] = b_.CreateShuffleVector(x, y, low);
      rows[second] = b_.CreateShuffleVector(x, y, high);
    }
  }
  return rows;
}

void KernelEmitter::emit_turned(const std::vector<bool>& needed) {
  auto stores = [](const Stage&) { return true; };
  uint32_t turned = space_.turned;
  int64_t side = space_.lanes;
  llvm::Value* length = group_size(space_.vector);
  llvm::Value* across = group_size(turned);
  start_outer(first_);
  loop(first_, last_, 1, false, [&](llvm::Value*) {
    Context saved = *context_;
    read_outer(*context_);
    next_outer();
    llvm::Value* first = b_.CreateMul(context_->index[turned], word(side));
    llvm::Value* last = b_.CreateAdd(first, word(side));
    llvm::Value* full = b_.CreateICmpSLE(last, across);
    last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, across);
    llvm::Value* squares = b_.CreateSelect(full, b_.CreateAnd(length, word(-side)), word(0));
    context_->index[turned] = first;
    compute_uniform(needed, Level::unit);
    Context outside = *context_;
    compute_bases(needed, stores);
    loop(word(0), squares, side, false, [&](llvm::Value* i) {
      Tile tile = make_tile(space_.lanes, Values(static_cast<size_t>(side), i));
      for (int64_t row = 0; row < side; ++row) tile.row.push_back(word(row));
      compute_tile(needed, tile);
      run_stages(0, tile);
    });
    *context_ = std::move(outside);
    loop(first, last, 1, false, [&](llvm::Value* row) {
      Context before = *context_;
      context_->index[turned] = row;
      compute_bases(needed, stores);
      for_tiles(squares, length, -1, space_.lanes, space_.unroll, masks_tails(), [&](Tile& tile) {
        compute_tile(needed, tile);
        run_stages(0, tile);
      });
      *context_ = std::move(before);
    });
    *context_ = std::move(saved);
  });
}

}  // namespace tfl::codegen
