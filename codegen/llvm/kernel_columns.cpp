// Columns: reductions over the axis before the last, for a strip of columns at a time. The 16 partial results of each column are
// memory of the strip, in the first-level cache: rows come in their order, and each is read in one piece.
#include "codegen/llvm/kernel_emitter.h"

namespace tfl::codegen {

using namespace plan;

void KernelEmitter::emit_columns() {
  compute_uniform(needed_by([](const Stage&) { return true; }), Level::function);
  int vectors = strip_vectors(space_);
  int64_t width = int64_t{vectors} * space_.lanes;
  llvm::Value* columns = group_size(space_.vector);
  bool whole = space_.groups[space_.vector].known() >= 0 && space_.groups[space_.vector].known() % width == 0;
  start_outer(first_, b_.CreateSDiv(b_.CreateAdd(columns, word(width - 1)), word(width)));
  loop(first_, last_, 1, false, [&](llvm::Value*) {
    Context saved = *context_;
    llvm::Value* first = b_.CreateMul(read_outer(*context_), word(width));
    next_outer();
    if (whole) {
      emit_strip(first, vectors, nullptr);
    } else {
      llvm::Value* full = b_.CreateICmpSLE(b_.CreateAdd(first, word(width)), columns);
      if (vectors > 1) {
        when(full, [&] { emit_strip(first, vectors, nullptr); });
      }
      when(vectors > 1 ? b_.CreateNot(full) : b_.getTrue(), [&] {
        llvm::Value* last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, columns, b_.CreateAdd(first, word(width)));
        loop(first, last, space_.lanes, false,
             [&](llvm::Value* i) { emit_strip(i, 1, lane_mask(space_.lanes, b_.CreateSub(columns, i))); });
      });
    }
    *context_ = std::move(saved);
  });
}

// Vectors of columns side by side, all rows.
void KernelEmitter::emit_strip(llvm::Value* column, int vectors, llvm::Value* mask) {
  auto in_loop = [](const Stage& s) { return s.kind != Stage::Kind::store_once; };
  auto once = [](const Stage& s) { return s.kind == Stage::Kind::store_once; };
  std::vector<bool> needed = needed_by(in_loop), after = needed_by(once);
  Context outside = *context_;
  llvm::Value* length = group_size(space_.middle);
  int64_t known = space_.groups[space_.middle].known();
  bool blocks = known < 0 || known > kReduceBlock;
  int lanes = space_.lanes;
  Partials all;  // for each stage, then vector
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    if (kernel_.stages[s].kind != Stage::Kind::reduce) continue;
    for (int v = 0; v < vectors; ++v) all.push_back(make_partial(s, lanes, 0, lanes, blocks));
  }
  llvm::SmallVector<Partial*, 4> partials;
  for (Partial& p : all) {
    p.accumulators.push_back(allocate(register_type(b_, partial_of(p), lanes), kReduceLanes));
    partials.push_back(&p);
    b_.CreateStore(emit_neutral(b_, p.kind, p.element, lanes), p.result);
  }
  auto tile_at = [&] {
    Values start, strip;
    for (int v = 0; v < vectors; ++v) {
      start.push_back(b_.CreateAdd(column, word(int64_t{v} * lanes)));
      strip.push_back(word(v));
    }
    Tile tile = make_tile(lanes, start, mask);
    tile.strip = strip;
    return tile;
  };
  auto reduce_rows = [&](llvm::Value* first, llvm::Value* last) {
    loop(word(0), word(kReduceLanes), 1, false, [&](llvm::Value* lane) {
      for (Partial& p : all) {
        llvm::Value* neutral = emit_neutral(b_, p.kind, p.element, lanes);
        b_.CreateStore(neutral, b_.CreateGEP(neutral->getType(), p.accumulators[0], lane));
      }
    });
    loop(first, last, 1, false, [&](llvm::Value* row) {
      Context saved = *context_;
      context_->index[space_.middle] = row;
      compute_uniform(needed, Level::middle);
      compute_bases(needed, in_loop);
      Tile tile = tile_at();
      compute_tile(needed, tile);
      run_stages(0, tile);
      llvm::Value* lane = b_.CreateAnd(row, word(kReduceLanes - 1));
      for (size_t i = 0; i < all.size(); ++i) {
        llvm::Type* type = register_type(b_, partial_of(all[i]), lanes);
        llvm::Value* memory = all[i].accumulators[0];
        all[i].accumulators[0] = b_.CreateGEP(type, memory, lane);
        Tile whole = tile;
        whole.mask = nullptr;  // what spare columns hold is never stored
        accumulate(all[i], 0, kernel_.stages[all[i].stage].expr, whole, i % static_cast<size_t>(vectors));
        all[i].accumulators[0] = memory;
      }
      *context_ = std::move(saved);
    });
    for (Partial& p : all) {
      llvm::Type* type = register_type(b_, partial_of(p), lanes);
      llvm::SmallVector<llvm::Value*, 16> lane;
      for (int j = 0; j < kReduceLanes; ++j)
        lane.push_back(b_.CreateLoad(type, b_.CreateConstGEP1_64(type, p.accumulators[0], static_cast<uint64_t>(j))));
      for (size_t half = kReduceLanes / 2; half > 0; half /= 2) {
        for (size_t j = 0; j < half; ++j) lane[j] = emit_combine(b_, p.kind, p.element, lanes, lane[j], lane[j + half]);
      }
      b_.CreateStore(lane[0], p.result);
    }
  };
  auto go_through = [&] {
    compute_uniform(needed, Level::unit);
    if (!blocks) {
      reduce_rows(word(0), length);
      return;
    }
    llvm::Value* top = allocate(b_.getInt64Ty());
    b_.CreateStore(word(0), top);
    llvm::Value* count = b_.CreateSDiv(b_.CreateAdd(length, word(kReduceBlock - 1)), word(kReduceBlock));
    loop(word(0), count, 1, false, [&](llvm::Value* block) {
      llvm::Value* first = b_.CreateMul(block, word(kReduceBlock));
      llvm::Value* last =
          b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, length, b_.CreateAdd(first, word(kReduceBlock)));
      reduce_rows(first, last);
      wait_for_neighbours(partials, top, block);
    });
    combine_waiting(partials, top);
  };
  if (known > 0) {
    go_through();
  } else {
    when(b_.CreateICmpSGT(length, word(0)), go_through);
  }
  *context_ = outside;
  for (size_t i = 0; i < all.size(); ++i) {
    Partial& p = all[i];
    llvm::Type* type = register_type(b_, kernel_.stages[p.stage].dtype, lanes);
    size_t v = i % static_cast<size_t>(vectors);
    if (v == 0) context_->reduced[p.stage] = allocate(type, vectors);
    llvm::Value* result = finished(p, b_.CreateLoad(register_type(b_, partial_of(p), lanes), p.result), lanes, length);
    b_.CreateStore(result, b_.CreateConstGEP1_64(type, context_->reduced[p.stage], v));
  }
  compute_uniform(after, Level::unit);
  compute_bases(after, once);
  Tile tile = tile_at();
  compute_tile(after, tile);
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    if (!once(kernel_.stages[s])) continue;
    for (size_t v = 0; v < tile.start.size(); ++v) store(s, vector(kernel_.stages[s].expr, tile, v), tile, v);
  }
  *context_ = std::move(outside);
}

}  // namespace tfl::codegen
