// Reductions by the threads of a block, in the order of runtime/kernels/reduce/reduce.h: a lane of a row is a thread, the tree over lanes a
// few shuffles. Where a row has many blocks, 16 rows of threads take parts of it, each an aligned power of two of blocks, so that
// what a part gives is a node of the tree over blocks.
#include <algorithm>
#include <bit>

#include "codegen/llvm/gpu/reduce.h"

namespace tfl::codegen {

using namespace plan;

using namespace gpu_reduce;

namespace {

constexpr int64_t kLongestRow = 4 * kReduceBlock;  // that one row of threads does by itself

}  // namespace

int64_t GpuKernel::levels_of(int64_t blocks) {
  return blocks < 0 ? kManyLevels : std::bit_width(static_cast<uint64_t>(std::max<int64_t>(blocks, 1))) + 1;
}

GpuKernel::Partial GpuKernel::make_partial(uint32_t stage, int64_t waiting) {
  Partial p;
  const Stage& s = kernel_.stages[stage];
  p.stage = stage;
  p.element = kernel_.exprs[s.expr].dtype;
  p.kind = s.reduce;
  p.sum = grid_.variable(type_of(p));
  p.other = grid_.variable(type_of(p));
  p.all = grid_.variable(type_of(p));
  if (waiting > 0) p.waiting = grid_.variable(type_of(p), waiting);
  return p;
}

GpuKernel::Partials GpuKernel::make_partials(Which which, int64_t waiting) {
  Partials all;
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    if (reduces(kernel_.stages[s]) && which(kernel_.stages[s])) all.push_back(make_partial(s, waiting));
  }
  return all;
}

llvm::Type* GpuKernel::type_of(const Partial& p) { return register_type(b_, partial_type(p.kind, p.element), 1); }

llvm::Value* GpuKernel::combined(const Partial& p, llvm::Value* x, llvm::Value* y) {
  return emit_combine(b_, p.kind, p.element, 1, x, y);
}

// One element more.
void GpuKernel::take(const Partial& p, Point& at) {
  llvm::Value* x = emit_to_partial(b_, p.kind, p.element, 1, value(kernel_.stages[p.stage].expr, at));
  grid_.set(p.sum, combined(p, grid_.get(p.sum), x));
}

// The tree over the lanes of each row: its first thread has the result.
void GpuKernel::across(const Partial& p) {
  for (int half = kReduceLanes / 2; half > 0; half /= 2) {
    grid_.shift(p.sum, p.other, half);
    grid_.section([&](llvm::Value*) { grid_.set(p.sum, combined(p, grid_.get(p.sum), grid_.get(p.other))); }, false);
  }
}

// In a section: `sum` is the result of block number `block`. What waits on level k is the result of 2^k blocks.
void GpuKernel::push(const Partial& p, llvm::Value* block, int64_t levels) {
  Grid::Variable level = grid_.variable(b_.getInt64Ty());
  grid_.set(level, grid_.word(0));
  llvm::LLVMContext& context = b_.getContext();
  auto* head = llvm::BasicBlock::Create(context, "neighbour", grid_.function());
  auto* body = llvm::BasicBlock::Create(context, "combine", grid_.function());
  auto* after = llvm::BasicBlock::Create(context, "wait", grid_.function());
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::Value* now = grid_.get(level);
  llvm::Value* more = b_.CreateTrunc(b_.CreateLShr(block, now), b_.getInt1Ty());
  b_.CreateCondBr(b_.CreateAnd(more, b_.CreateICmpSLT(now, grid_.word(levels - 1))), body, after);
  b_.SetInsertPoint(body);
  grid_.set(p.sum, combined(p, grid_.get(p.waiting, now), grid_.get(p.sum)));
  grid_.set(level, b_.CreateAdd(now, grid_.word(1)));
  b_.CreateBr(head);
  b_.SetInsertPoint(after);
  grid_.set(p.waiting, grid_.get(p.sum), now);
}

// In a section: what `blocks` blocks have left; neutral for none.
llvm::Value* GpuKernel::collapse(const Partial& p, llvm::Value* blocks, int64_t levels) {
  grid_.set(p.sum, emit_neutral(b_, p.kind, p.element, 1));
  grid_.loop(grid_.word(0), grid_.word(levels), grid_.word(1), [&](llvm::Value* level) {
    llvm::Value* waits = b_.CreateTrunc(b_.CreateLShr(blocks, level), b_.getInt1Ty());
    grid_.when(waits, [&] {
      llvm::Value* below = b_.CreateAnd(blocks, b_.CreateSub(b_.CreateShl(grid_.word(1), level), grid_.word(1)));
      llvm::Value* mine = grid_.get(p.waiting, level);
      llvm::Value* both = combined(p, mine, grid_.get(p.sum));
      grid_.set(p.sum, b_.CreateSelect(b_.CreateICmpEQ(below, grid_.word(0)), mine, both));
    });
  });
  return grid_.get(p.sum);
}

// The tree of neighbours over the first `count` of at most `places` results in shared memory, one for each of the first threads.
void GpuKernel::tree(const Partial& p, llvm::Value* memory, llvm::Value* count, int64_t places) {
  llvm::Type* type = type_of(p);
  auto at = [&](llvm::Value* i) { return b_.CreateGEP(b_.getInt64Ty(), memory, i); };
  for (int64_t distance = 1; distance < places; distance *= 2) {
    grid_.section([&](llvm::Value* thread) {
      llvm::Value* mine = thread;
      llvm::Value* next = b_.CreateAdd(mine, grid_.word(distance));
      llvm::Value* first = b_.CreateICmpEQ(b_.CreateAnd(mine, grid_.word(2 * distance - 1)), grid_.word(0));
      grid_.when(b_.CreateAnd(first, b_.CreateICmpSLT(next, count)),
                 [&] { b_.CreateStore(combined(p, b_.CreateLoad(type, at(mine)), b_.CreateLoad(type, at(next))), at(mine)); });
    });
  }
}

// As KernelEmitter::finished: the integer mean of nothing is 0, the sum of no floats +0 and not the neutral -0.
llvm::Value* GpuKernel::finished(const Partial& p, llvm::Value* partial, llvm::Value* length) {
  const Stage& s = kernel_.stages[p.stage];
  llvm::Value* empty = b_.CreateICmpEQ(length, grid_.word(0));
  llvm::Value* divisor = s.divisor == 0 ? nullptr : size(s.divisor);
  if (divisor && !is_floating(s.dtype))
    divisor = b_.CreateSelect(b_.CreateICmpEQ(divisor, grid_.word(0)), grid_.word(1), divisor);
  llvm::Value* result = emit_finish(b_, p.kind, p.element, s.dtype, 1, partial, divisor);
  if (!divisor && p.kind == ReduceKind::sum && is_floating(s.dtype)) {
    result = b_.CreateSelect(empty, llvm::Constant::getNullValue(result->getType()), result);
  }
  return result;
}

// The row of a thread in this unit, its part of the row, its lane.
void GpuKernel::row_of(llvm::Value* unit, llvm::Value* thread, int64_t parts, llvm::Value*& row, llvm::Value*& part,
                       llvm::Value*& lane) {
  lane = b_.CreateAnd(thread, grid_.word(kReduceLanes - 1));
  llvm::Value* number = b_.CreateLShr(thread, 4);
  part = b_.CreateAnd(number, grid_.word(parts - 1));
  row = b_.CreateAdd(b_.CreateMul(unit, grid_.word(kRows / parts)), b_.CreateUDiv(number, grid_.word(parts)));
}

// The reductions of one pass; other stages of the pass are done on the way.
void GpuKernel::reduce_row(Partials& partials, Which in_pass, llvm::Value* unit, llvm::Value* rows, int64_t parts) {
  std::vector<bool> needed = needed_by(in_pass);
  llvm::Value* length = group_size(space_.vector);
  int64_t known = space_.groups[space_.vector].known();
  bool one_block = known >= 0 && known <= kReduceBlock;
  llvm::Value* blocks = grid_.up(length, kReduceBlock);
  llvm::Value* of_part = one_block ? grid_.word(1) : power_of_two(b_, grid_.up(blocks, parts));
  int64_t levels = one_block ? 0 : levels_of(known < 0 ? -1 : (known / kReduceBlock + parts) / parts);
  if (known >= 0) levels = std::min(levels, kManyLevels);

  auto block_of_row = [&](llvm::Value* number) {
    grid_.section(
        [&](llvm::Value* thread) {
          llvm::Value *row, *part, *lane;
          row_of(unit, thread, parts, row, part, lane);
          for (Partial& p : partials) grid_.set(p.sum, emit_neutral(b_, p.kind, p.element, 1));
          llvm::Value* block = b_.CreateAdd(b_.CreateMul(part, of_part), number);
          llvm::Value* first = b_.CreateMul(block, grid_.word(kReduceBlock));
          llvm::Value* last = least(b_, length, b_.CreateAdd(first, grid_.word(kReduceBlock)));
          first = b_.CreateAdd(first, lane);
          grid_.when(b_.CreateAnd(b_.CreateICmpSLT(row, rows), b_.CreateICmpSLT(first, last)), [&] {
            Point of_row = point();
            set_outer(row, of_row);
            read_reduced(of_row);
            compute(needed, Level::unit, of_row);
            grid_.loop(first, last, grid_.word(kReduceLanes), [&](llvm::Value* i) {
              Point p = of_row;
              p.index[space_.vector] = i;
              p.kept = b_.CreateLShr(i, 4);
              compute(needed, Level::vector, p);
              run_stages(in_pass, p);
              for (Partial& partial : partials) take(partial, p);
            });
          });
        },
        false);
    for (Partial& p : partials) across(p);
  };
  if (one_block) {
    block_of_row(grid_.word(0));
  } else {
    grid_.loop(grid_.word(0), of_part, grid_.word(1), [&](llvm::Value* number) {
      block_of_row(number);
      grid_.section(
          [&](llvm::Value* thread) {
            llvm::Value *row, *part, *lane;
            row_of(unit, thread, parts, row, part, lane);
            llvm::Value* block = b_.CreateAdd(b_.CreateMul(part, of_part), number);
            grid_.when(b_.CreateICmpSLT(block, blocks), [&] {
              for (Partial& p : partials) push(p, number, levels);
            });
          },
          false);
    });
    grid_.section(
        [&](llvm::Value* thread) {
          llvm::Value *row, *part, *lane;
          row_of(unit, thread, parts, row, part, lane);
          llvm::Value* mine = b_.CreateSub(blocks, b_.CreateMul(part, of_part));
          mine = least(b_, of_part, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, mine, grid_.word(0)));
          for (Partial& p : partials) grid_.set(p.sum, collapse(p, mine, levels));
        },
        false);
  }
  for (Partial& p : partials) {
    if (parts == 1) {
      grid_.spread(p.sum, p.all);
      continue;
    }
    llvm::Value* memory = grid_.shared(kRows * kWord);
    auto part_at = [&](llvm::Value* i) { return b_.CreateGEP(b_.getInt64Ty(), memory, i); };
    grid_.section([&](llvm::Value* thread) {
      llvm::Value* first = b_.CreateICmpEQ(b_.CreateAnd(thread, grid_.word(kReduceLanes - 1)), grid_.word(0));
      grid_.when(first, [&] { b_.CreateStore(grid_.get(p.sum), part_at(b_.CreateLShr(thread, 4))); });
    });
    llvm::Value* used = b_.CreateSDiv(b_.CreateSub(b_.CreateAdd(blocks, of_part), grid_.word(1)), of_part);
    // The first threads of the block are enough.
    tree(p, memory, least(b_, used, grid_.word(parts)), parts);
    grid_.section([&](llvm::Value*) { grid_.set(p.all, b_.CreateLoad(type_of(p), part_at(grid_.word(0)))); });
  }
  grid_.section(
      [&](llvm::Value*) {
        for (Partial& p : partials) grid_.set(reduced_[p.stage], finished(p, grid_.get(p.all), length));
      },
      false);
}

void GpuKernel::run_stages(Which in_pass, Point& p) {
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    const Stage& stage = kernel_.stages[s];
    if (!in_pass(stage)) continue;
    if (stage.kind == Stage::Kind::store) store(stage, p);
    if (stage.kind == Stage::Kind::keep) grid_.set(kept_[s], value(stage.expr, p), p.kept);
  }
}

// What is reduced already, read in this section.
void GpuKernel::read_reduced(Point& p) {
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    if (reduced_[s].type && is_reduced_[s]) p.reduced[s] = grid_.get(reduced_[s]);
  }
}

void GpuKernel::emit_rows() {
  int64_t known = space_.groups[space_.vector].known();
  int64_t parts = known >= 0 && known <= kLongestRow ? 1 : kRows;
  uint32_t passes = 0;
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    const Stage& stage = kernel_.stages[s];
    passes = std::max(passes, stage.pass + 1);
    if (stage.kind == Stage::Kind::keep) {
      kept_[s] =
          grid_.variable(register_type(b_, kernel_.exprs[stage.expr].dtype, 1), std::max<int64_t>(known, 0) / kReduceLanes + 1);
    }
    if (reduces(stage)) reduced_[s] = grid_.variable(register_type(b_, stage.dtype, 1));
  }
  units_.per = kRows / parts;
  for (uint32_t g : space_.outer) {
    for (Size s : space_.groups[g].sizes) units_.factors.push_back({s, 1});
  }
  llvm::Value* rows = outer_count();
  llvm::Value* length = group_size(space_.vector);
  int64_t waiting = known >= 0 && known <= kReduceBlock ? 0
                    : known >= 0                        ? levels_of((known / kReduceBlock + parts) / parts)
                                                        : kManyLevels;
  std::vector<Partials> partials(passes);
  for (uint32_t pass = 0; pass < passes; ++pass) {
    partials[pass] = make_partials([&](const Stage& s) { return s.pass == pass; }, waiting);
  }
  grid_.units(grid_.up(rows, units_.per), [&](llvm::Value* unit) {
    is_reduced_.assign(kernel_.stages.size(), false);
    for (uint32_t pass = 0; pass < passes; ++pass) {
      auto elements = [&](const Stage& s) { return s.pass == pass && in_elements(s); };
      auto once = [&](const Stage& s) { return s.pass == pass && stores_once(s); };
      std::vector<bool> needed = needed_by(elements), after = needed_by(once);
      bool any = std::any_of(kernel_.stages.begin(), kernel_.stages.end(), elements);
      if (!partials[pass].empty()) {
        reduce_row(partials[pass], elements, unit, rows, parts);
        for (Partial& p : partials[pass]) is_reduced_[p.stage] = true;
      } else if (any) {
        grid_.section(
            [&](llvm::Value* thread) {
              llvm::Value *row, *part, *lane;
              row_of(unit, thread, parts, row, part, lane);
              llvm::Value* first = b_.CreateAdd(b_.CreateMul(part, grid_.word(kReduceLanes)), lane);
              grid_.when(b_.CreateAnd(b_.CreateICmpSLT(row, rows), b_.CreateICmpSLT(first, length)), [&] {
                Point of_row = point();
                set_outer(row, of_row);
                read_reduced(of_row);
                compute(needed, Level::unit, of_row);
                grid_.loop(first, length, grid_.word(parts * kReduceLanes), [&](llvm::Value* i) {
                  Point p = of_row;
                  p.index[space_.vector] = i;
                  p.kept = b_.CreateLShr(i, 4);
                  compute(needed, Level::vector, p);
                  run_stages(elements, p);
                });
              });
            },
            false);
      }
      grid_.section([&](llvm::Value* thread) {
        llvm::Value *row, *part, *lane;
        row_of(unit, thread, parts, row, part, lane);
        if (std::none_of(kernel_.stages.begin(), kernel_.stages.end(), once)) return;
        llvm::Value* first = b_.CreateICmpEQ(b_.CreateOr(part, lane), grid_.word(0));
        grid_.when(b_.CreateAnd(first, b_.CreateICmpSLT(row, rows)), [&] {
          Point p = point();
          set_outer(row, p);
          read_reduced(p);
          compute(after, Level::vector, p);
          store_all(once, p);
        });
      });
    }
  });
}

}  // namespace tfl::codegen
