// Columns: reductions over the axis before the last, for a strip of columns at a time. The 16 partial results of each column are
// memory of the strip, in the first-level cache: rows come in their order, and each is read in one piece.
#include "codegen/llvm/cpu/kernel_emitter.h"

namespace tfl::codegen {

using namespace plan;

void KernelEmitter::emit_columns() {
  compute_uniform(needed_by([](const Stage&) { return true; }), Level::function);
  int64_t width = strip_columns(space_);
  llvm::Value* columns = group_size(space_.vector);
  start_outer(first_, b_.CreateSDiv(b_.CreateAdd(columns, word(width - 1)), word(width)));
  loop(first_, last_, 1, false, [&](llvm::Value*) {
    Context saved = *context_;
    llvm::Value* first = b_.CreateMul(read_outer(*context_), word(width));
    next_outer();
    emit_strip(first, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, columns, b_.CreateAdd(first, word(width))));
    *context_ = std::move(saved);
  });
}

// Whether rows are so short that a vector at the end of each is a loss, and lie one behind the other in whatever is read or
// written.
bool KernelEmitter::columns_lie_in_row(const std::vector<bool>& needed) {
  constexpr int64_t kShort = 64;
  int64_t columns = space_.groups[space_.vector].known();
  if (columns < 1 || columns > kShort || columns % space_.lanes == 0 || !kernel_.loops.empty() || !masks_tails()) return false;
  auto fits = [&](const Access& a) {
    return a.indexed.empty() && a.mask == kNone && space_.stride(a, space_.vector) == 1 &&
           space_.stride(a, space_.middle) == columns;
  };
  for (size_t e = 0; e < kernel_.exprs.size(); ++e) {
    const Expr& x = kernel_.exprs[e];
    if (!needed[e] || (space_.levels[e] != Level::vector && space_.levels[e] != Level::middle)) continue;
    if (x.kind == ExprKind::index || (x.kind == ExprKind::load && !fits(x.access))) return false;
  }
  for (const Stage& s : kernel_.stages) {
    if (s.kind == Stage::Kind::store && !fits(s.target)) return false;
  }
  return true;
}

// Columns [first, last), all rows.
void KernelEmitter::emit_strip(llvm::Value* first, llvm::Value* last) {
  auto in_loop = [](const Stage& s) { return s.kind != Stage::Kind::store_once; };
  auto once = [](const Stage& s) { return s.kind == Stage::Kind::store_once; };
  std::vector<bool> needed = needed_by(in_loop), after = needed_by(once);
  Context outside = *context_;
  llvm::Value* length = group_size(space_.middle);
  int64_t known = space_.groups[space_.middle].known();
  int64_t columns = space_.groups[space_.vector].known();
  if (columns > strip_columns(space_)) columns = columns % strip_columns(space_) ? -1 : strip_columns(space_);
  bool blocks = known < 0 || known > kReduceBlock;
  int64_t width = strip_columns(space_);
  Partials all;
  llvm::SmallVector<Partial*, 4> partials;
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    if (kernel_.stages[s].kind == Stage::Kind::reduce) all.push_back(make_partial(s, width, blocks));
  }
  int64_t lane_width = columns_lie_in_row(needed) ? columns : width;  // elements of one of the 16 partial results
  for (Partial& p : all) {
    p.accumulators.push_back(allocate(register_type(b_, partial_of(p), 1), kReduceLanes * lane_width + space_.lanes));
    partials.push_back(&p);
  }
  outside = *context_;
  auto tiles = [&](TileBody body) {
    for_tiles(first, last, columns, space_.lanes, space_.unroll, masks_tails(), [&](Tile& tile) {
      for (llvm::Value* start : tile.start) tile.strip.push_back(b_.CreateSub(start, first));
      body(tile);
    });
  };
  auto fill = [&](const Partial& p, llvm::Value* memory, int64_t elements) {
    llvm::Value* neutral = emit_neutral(b_, p.kind, p.element, space_.lanes);
    loop(word(0), word(elements), space_.lanes, false, [&](llvm::Value* i) { b_.CreateStore(neutral, at(p, memory, i)); });
  };
  auto reduce_rows = [&](llvm::Value* begin, llvm::Value* end) {
    for (Partial& p : all) fill(p, p.accumulators[0], kReduceLanes * lane_width);
    loop(begin, end, lane_width == width ? 1 : kReduceLanes, false, [&](llvm::Value* row) {
      Context saved = *context_;
      context_->index[space_.middle] = row;
      compute_uniform(needed, Level::middle);
      compute_bases(needed, in_loop);
      auto add = [&](Tile& tile, llvm::ArrayRef<llvm::Value*> place, llvm::Value* lane) {
        compute_tile(needed, tile);
        run_stages(0, tile);
        for (Partial& p : all) {
          for (size_t v = 0; v < tile.start.size(); ++v) {
            accumulate(p, at(p, p.accumulators[0], b_.CreateAdd(lane, place[v])), tile, v);
          }
        }
      };
      if (lane_width == width) {
        llvm::Value* lane = b_.CreateMul(b_.CreateAnd(row, word(kReduceLanes - 1)), word(width));
        tiles([&](Tile& tile) { add(tile, tile.strip, lane); });
      } else {
        // 16 rows as one: there is an end in none of them.
        auto rows = [&](llvm::Value* elements, int64_t count, int unroll) {
          for_tiles(word(0), elements, count, space_.lanes, unroll, true, [&](Tile& tile) { add(tile, tile.start, word(0)); });
        };
        llvm::Value* whole = b_.CreateICmpSLE(b_.CreateAdd(row, word(kReduceLanes)), end);
        when(whole, [&] { rows(word(kReduceLanes * columns), kReduceLanes * columns, space_.unroll); });
        when(b_.CreateNot(whole), [&] { rows(b_.CreateMul(b_.CreateSub(end, row), word(columns)), -1, 0); });
      }
      *context_ = std::move(saved);
    });
    for (Partial& p : all) {
      llvm::Type* type = register_type(b_, partial_of(p), space_.lanes);
      loop(word(0), b_.CreateSub(last, first), space_.lanes, false, [&](llvm::Value* i) {
        llvm::SmallVector<llvm::Value*, 16> lane;
        for (int64_t j = 0; j < kReduceLanes; ++j) {
          llvm::Value* from = at(p, p.accumulators[0], b_.CreateAdd(i, word(j * lane_width)));
          lane.push_back(lane_width == width ? b_.CreateLoad(type, from) : b_.CreateAlignedLoad(type, from, llvm::Align(1)));
        }
        for (size_t half = kReduceLanes / 2; half > 0; half /= 2) {
          for (size_t j = 0; j < half; ++j) {
            lane[j] = emit_combine(b_, p.kind, p.element, space_.lanes, lane[j], lane[j + half]);
          }
        }
        b_.CreateStore(lane[0], at(p, p.result, i));
      });
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
      llvm::Value* begin = b_.CreateMul(block, word(kReduceBlock));
      llvm::Value* end = b_.CreateAdd(begin, word(kReduceBlock));
      reduce_rows(begin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, length, end));
      wait_for_neighbours(partials, top, block);
    });
    combine_waiting(partials, top);
  };
  if (known > 0) {
    go_through();
  } else {
    for (Partial& p : all) fill(p, p.result, width);
    when(b_.CreateICmpSGT(length, word(0)), go_through);
  }
  *context_ = outside;
  strip_ = partials;
  compute_uniform(after, Level::unit);
  tiles([&](Tile& tile) {
    compute_tile(after, tile);
    for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
      if (!once(kernel_.stages[s])) continue;
      for (size_t v = 0; v < tile.start.size(); ++v) store(s, vector(kernel_.stages[s].expr, tile, v), tile, v);
    }
  });
  strip_.clear();
}

}  // namespace tfl::codegen
