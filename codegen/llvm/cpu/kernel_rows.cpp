// Rows: pass after pass over the last axis, each row by itself.
#include "codegen/llvm/cpu/kernel_emitter.h"

namespace tfl::codegen {

using namespace plan;

namespace {

constexpr int kTogether = 4;  // rows, or parts of a row, whose reductions take turns
constexpr int64_t kShortRow = 64;
constexpr int64_t kCheapRow = 8;  // cost of an element; above it a combination has come by before the next is due

bool reorders_parts(const Stage& s, DType dtype) {
  return s.reduce == ReduceKind::max || s.reduce == ReduceKind::min || !is_floating(dtype);
}

}  // namespace

void KernelEmitter::emit_rows() {
  // A float sum is one chain of additions a lane, so several rows are summed side by side to hide its latency.
  int64_t known = space_.groups[space_.vector].known();
  bool sums = false;
  for (const Stage& s : kernel_.stages) {
    sums = sums || (s.kind == Stage::Kind::reduce && !reorders_parts(s, kernel_.exprs[s.expr].dtype));
  }
  bool together = sums && kernel_.loops.empty() && kernel_.cost <= kCheapRow && known >= kShortRow && known <= kReduceBlock &&
                  !whole_units(kernel_, space_);
  compute_uniform(needed_by([](const Stage&) { return true; }), Level::function);
  std::vector<Context> rows(together ? kTogether : 1, *context_);
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    if (kernel_.stages[s].kind != Stage::Kind::keep) continue;
    int64_t elements = std::max<int64_t>(known, 1) + 2 * kReduceLanes;
    for (Context& row : rows) row.scratch[s] = allocate(memory_type(b_, kernel_.exprs[kernel_.stages[s].expr].dtype), elements);
  }
  start_outer(first_);
  std::vector<Context> untouched = rows;
  llvm::Value* first = first_;
  auto run = [&](size_t count) {
    first = loop(first, last_, static_cast<int64_t>(count), true, [&](llvm::Value*) {
      llvm::MutableArrayRef<Context> some(rows.data(), count);
      for (Context& row : some) {
        read_outer(row);
        next_outer();
      }
      emit_row_passes(some);
    });
    rows = untouched;
  };
  if (together) run(kTogether);
  run(1);
  context_ = &base_;
}

void KernelEmitter::emit_row_passes(llvm::MutableArrayRef<Context> rows) {
  uint32_t passes = 0;
  for (const Stage& s : kernel_.stages) passes = std::max(passes, s.pass + 1);
  int64_t known = space_.groups[space_.vector].known();
  for (uint32_t pass = 0; pass < passes; ++pass) {
    ahead_ = pass > 0 && known >= kShortRow && known <= kReduceBlock;
    emit_pass(rows, pass);
    ahead_ = false;
    std::vector<bool> needed = needed_by([&](const Stage& s) { return s.pass == pass && s.kind == Stage::Kind::store_once; });
    for (Context& row : rows) {
      context_ = &row;
      compute_uniform(needed, Level::unit);
      for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
        if (kernel_.stages[s].pass == pass && kernel_.stages[s].kind == Stage::Kind::store_once) store_uniform(s);
      }
    }
  }
}

void KernelEmitter::emit_pass(llvm::MutableArrayRef<Context> rows, uint32_t pass) {
  auto in_pass = [&](const Stage& s) { return s.pass == pass && s.kind != Stage::Kind::store_once; };
  std::vector<bool> needed = needed_by(in_pass);
  llvm::Value* length = group_size(space_.vector);
  int64_t known = space_.groups[space_.vector].known();
  bool blocks = known < 0 || known > kReduceBlock;
  llvm::SmallVector<uint32_t, 4> reductions;
  bool any = false;
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    any = any || in_pass(kernel_.stages[s]);
    if (in_pass(kernel_.stages[s]) && kernel_.stages[s].kind == Stage::Kind::reduce) reductions.push_back(s);
  }
  if (!any) return;

  bool parts = rows.size() == 1 && kernel_.loops.empty() && (known < 0 || known >= 2 * kShortRow);
  for (uint32_t s : reductions) parts = parts && reorders_parts(kernel_.stages[s], kernel_.exprs[kernel_.stages[s].expr].dtype);
  std::vector<Partials> partials(rows.size());
  for (size_t q = 0; q < rows.size(); ++q) {
    for (uint32_t s : reductions) {
      partials[q].push_back(make_partial(s, 1, blocks));
      add_accumulators(partials[q].back(), parts ? kTogether : 1, kReduceLanes);
    }
  }
  // Without an element nothing is read, not even what is the same for the whole row.
  std::vector<Context> outside(rows.begin(), rows.end());
  llvm::SmallVector<Partial*, 4> waiting;
  if (blocks && !reductions.empty()) {
    for (Partial& p : partials[0]) {
      waiting.push_back(&p);
      b_.CreateStore(emit_neutral(b_, p.kind, p.element, 1), p.result);
    }
  }
  auto go_through = [&] {
    for (Context& row : rows) {
      context_ = &row;
      compute_uniform(needed, Level::unit);
      compute_bases(needed, in_pass);
    }
    if (reductions.empty()) {
      for (Context& row : rows) {
        context_ = &row;
        for_tiles(word(0), length, known, space_.lanes, space_.unroll, true, [&](Tile& tile) {
          compute_tile(needed, tile);
          run_stages(pass, tile);
        });
      }
    } else if (!blocks) {
      reduce_block(rows, partials, needed, pass, word(0), length, known);
    } else {
      llvm::Value* top = allocate(b_.getInt64Ty());
      b_.CreateStore(word(0), top);
      llvm::Value* count = b_.CreateSDiv(b_.CreateAdd(length, word(kReduceBlock - 1)), word(kReduceBlock));
      loop(word(0), count, 1, false, [&](llvm::Value* block) {
        llvm::Value* first = b_.CreateMul(block, word(kReduceBlock));
        llvm::Value* last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, length, b_.CreateAdd(first, word(kReduceBlock)));
        reduce_block(rows, partials, needed, pass, first, last, -1);
        wait_for_neighbours(waiting, top, block);
      });
      combine_waiting(waiting, top);
    }
  };
  if (known > 0) {
    go_through();
  } else {
    for (size_t q = 0; q < rows.size(); ++q) {
      for (Partial& p : partials[q]) b_.CreateStore(emit_neutral(b_, p.kind, p.element, 1), p.result);
    }
    when(b_.CreateICmpSGT(length, word(0)), go_through);
    std::copy(outside.begin(), outside.end(), rows.begin());
  }
  for (size_t q = 0; q < rows.size(); ++q) {
    context_ = &rows[q];
    for (Partial& p : partials[q]) {
      llvm::Value* result = b_.CreateLoad(register_type(b_, partial_of(p), 1), p.result);
      context_->reduced[p.stage] = finished(p, result, 1, length);
    }
  }
}

// One block of each row: elements [first, last), at most kReduceBlock.
void KernelEmitter::reduce_block(llvm::MutableArrayRef<Context> rows, llvm::MutableArrayRef<Partials> partials,
                                 const std::vector<bool>& needed, uint32_t pass, llvm::Value* first, llvm::Value* last,
                                 int64_t known) {
  for (Partials& of_row : partials) {
    for (Partial& p : of_row) reset(p, kReduceLanes);
  }
  auto take = [&](Tile& tile, Partials& into, bool parts) {
    compute_tile(needed, tile);
    run_stages(pass, tile);
    for (Partial& p : into) {
      for (size_t v = 0; v < tile.start.size(); ++v) accumulate(p, p.accumulators[parts ? v : 0], tile, v);
    }
  };
  if (rows.size() > 1) {
    // The tiles of all rows in one loop.
    auto run = [&](llvm::Value* i, llvm::Value* mask) {
      for (size_t q = 0; q < rows.size(); ++q) {
        context_ = &rows[q];
        Tile tile = make_tile(kReduceLanes, {i}, mask);
        take(tile, partials[q], false);
      }
    };
    first = loop(first, last, kReduceLanes, true, [&](llvm::Value* i) { run(i, nullptr); });
    if (known < 0 || known % kReduceLanes) {
      when(b_.CreateICmpSLT(first, last), [&] { run(first, lane_mask(kReduceLanes, b_.CreateSub(last, first))); });
    }
  } else {
    context_ = &rows[0];
    Partials& into = partials[0];
    size_t parts = into[0].accumulators.size();
    if (parts > 1) {
      // Parts of the row, combined in their order before the rest is.
      llvm::Value* part = b_.CreateAnd(b_.CreateSDiv(b_.CreateSub(last, first), word(kTogether)), word(-kReduceLanes));
      llvm::Value* begin = first;
      loop(word(0), part, kReduceLanes, false, [&](llvm::Value* i) {
        Values start;
        for (size_t v = 0; v < parts; ++v) {
          start.push_back(b_.CreateAdd(b_.CreateAdd(begin, i), b_.CreateMul(part, word(static_cast<int64_t>(v)))));
        }
        Tile tile = make_tile(kReduceLanes, start);
        take(tile, into, true);
      });
      for (Partial& p : into) {
        llvm::Type* type = register_type(b_, partial_of(p), kReduceLanes);
        llvm::Value* all = b_.CreateLoad(type, p.accumulators[0]);
        for (size_t v = 1; v < parts; ++v) {
          all = emit_combine(b_, p.kind, p.element, kReduceLanes, all, b_.CreateLoad(type, p.accumulators[v]));
        }
        b_.CreateStore(all, p.accumulators[0]);
      }
      first = b_.CreateAdd(first, b_.CreateMul(part, word(kTogether)));
      known = known < 0 ? known : known % (kTogether * kReduceLanes);
    }
    for_tiles(first, last, known, kReduceLanes, parts > 1 ? 1 : space_.unroll, true,
              [&](Tile& tile) { take(tile, into, false); });
  }
  for (Partials& of_row : partials) {
    for (Partial& p : of_row) {
      llvm::Value* lanes = b_.CreateLoad(register_type(b_, partial_of(p), kReduceLanes), p.accumulators[0]);
      b_.CreateStore(across(p, lanes), p.result);
    }
  }
}

}  // namespace tfl::codegen
