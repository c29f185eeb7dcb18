// Reductions for GPUs that are not of rows: blocks of long ones, the tree over what those left, columns.
#include <algorithm>

#include "codegen/llvm/gpu/reduce.h"

namespace tfl::codegen {

using namespace plan;
using namespace gpu_reduce;

// A row of threads does a block.
void GpuKernel::emit_blocks() {
  std::vector<bool> needed = needed_by(reduces);
  Partial p = make_partial(0, 0);
  const Access& target = kernel_.stages[0].target;
  llvm::Value* length = group_size(space_.vector);
  llvm::Value* blocks = grid_.up(length, kReduceBlock);
  llvm::Value* all = b_.CreateMul(outer_count(), blocks);
  units_.per = kRows;
  for (uint32_t g : space_.outer) {
    for (Size s : space_.groups[g].sizes) units_.factors.push_back({s, 1});
  }
  for (Size s : space_.groups[space_.vector].sizes) units_.factors.push_back({s, kReduceBlock});
  grid_.units(grid_.up(all, kRows), [&](llvm::Value* unit) {
    auto place = [&](llvm::Value* thread, llvm::Value*& outer, llvm::Value*& block, llvm::Value*& lane, llvm::Value*& exists) {
      llvm::Value *row, *part;
      row_of(unit, thread, 1, row, part, lane);
      outer = b_.CreateUDiv(row, blocks);
      block = b_.CreateSub(row, b_.CreateMul(outer, blocks));
      exists = b_.CreateICmpSLT(row, all);
    };
    grid_.section(
        [&](llvm::Value* thread) {
          grid_.set(p.sum, emit_neutral(b_, p.kind, p.element, 1));
          llvm::Value *outer, *block, *lane, *exists;
          place(thread, outer, block, lane, exists);
          llvm::Value* first = b_.CreateMul(block, grid_.word(kReduceBlock));
          llvm::Value* last = least(b_, length, b_.CreateAdd(first, grid_.word(kReduceBlock)));
          first = b_.CreateAdd(first, lane);
          grid_.when(b_.CreateAnd(exists, b_.CreateICmpSLT(first, last)), [&] {
            Point of_row = point();
            set_outer(outer, of_row);
            compute(needed, Level::unit, of_row);
            grid_.loop(first, last, grid_.word(kReduceLanes), [&](llvm::Value* i) {
              Point at = of_row;
              at.index[space_.vector] = i;
              compute(needed, Level::vector, at);
              take(p, at);
            });
          });
        },
        false);
    across(p);
    grid_.section(
        [&](llvm::Value* thread) {
          llvm::Value *outer, *block, *lane, *exists;
          place(thread, outer, block, lane, exists);
          grid_.when(b_.CreateAnd(exists, b_.CreateICmpEQ(lane, grid_.word(0))), [&] {
            Point at = point();
            set_outer(outer, at);
            at.index[space_.vector] = block;
            emit_store(b_, partial_type(p.kind, p.element), 1, grid_.get(p.sum), address(target, at));
          });
        },
        false);
  });
}

// A block of threads for each combination of outer indices.
void GpuKernel::emit_tree() {
  std::vector<bool> needed = needed_by(reduces), after = needed_by(stores_once);
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    if (reduces(kernel_.stages[s])) reduced_[s] = grid_.variable(register_type(b_, kernel_.stages[s].dtype, 1));
  }
  Partials partials = make_partials(reduces, kManyLevels);
  llvm::Value* blocks = group_size(space_.vector);
  llvm::Value* of_thread = power_of_two(b_, grid_.up(blocks, kGpuThreads));
  llvm::Value* used = b_.CreateSDiv(b_.CreateSub(b_.CreateAdd(blocks, of_thread), grid_.word(1)), of_thread);
  llvm::Value* memory = grid_.shared(kGpuThreads * kWord);
  for (uint32_t g : space_.outer) {
    for (Size s : space_.groups[g].sizes) units_.factors.push_back({s, 1});
  }
  is_reduced_.assign(kernel_.stages.size(), false);
  grid_.units(outer_count(), [&](llvm::Value* unit) {
    for (Partial& p : partials) {
      auto at = [&](llvm::Value* i) { return b_.CreateGEP(b_.getInt64Ty(), memory, i); };
      grid_.section([&](llvm::Value* thread) {
        llvm::Value* first = b_.CreateMul(thread, of_thread);
        llvm::Value* mine =
            least(b_, of_thread, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateSub(blocks, first), grid_.word(0)));
        grid_.loop(grid_.word(0), mine, grid_.word(1), [&](llvm::Value* number) {
          Point here = point();
          set_outer(unit, here);
          here.index[space_.vector] = b_.CreateAdd(first, number);
          compute(needed, Level::vector, here);
          grid_.set(p.sum, emit_to_partial(b_, p.kind, p.element, 1, value(kernel_.stages[p.stage].expr, here)));
          push(p, number, kManyLevels);
        });
        b_.CreateStore(collapse(p, mine, kManyLevels), at(thread));
      });
      tree(p, memory, used, kGpuThreads);
      grid_.section(
          [&](llvm::Value*) { grid_.set(reduced_[p.stage], finished(p, b_.CreateLoad(type_of(p), at(grid_.word(0))), blocks)); });
      is_reduced_[p.stage] = true;
    }
    grid_.section([&](llvm::Value* thread) {
      grid_.when(b_.CreateICmpEQ(thread, grid_.word(0)), [&] {
        Point p = point();
        set_outer(unit, p);
        read_reduced(p);
        compute(after, Level::vector, p);
        store_all(stores_once, p);
      });
    });
  });
}

// A unit is 16 columns; a thread takes every 16th row of one of them.
void GpuKernel::emit_columns() {
  std::vector<bool> needed = needed_by(in_elements), after = needed_by(stores_once);
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    if (reduces(kernel_.stages[s])) reduced_[s] = grid_.variable(register_type(b_, kernel_.stages[s].dtype, 1));
  }
  int64_t known = space_.groups[space_.middle].known();
  bool one_block = known >= 0 && known <= kReduceBlock;
  int64_t levels = one_block ? 1 : levels_of(known < 0 ? -1 : known / kReduceBlock + 1);
  Partials partials = make_partials(reduces, levels);
  llvm::Value *length = group_size(space_.middle), *columns = group_size(space_.vector);
  llvm::Value *blocks = grid_.up(length, kReduceBlock), *strips = grid_.up(columns, kRows);
  llvm::Value* memory = grid_.shared(kGpuThreads * kWord);
  for (uint32_t g : space_.outer) {
    for (Size s : space_.groups[g].sizes) units_.factors.push_back({s, 1});
  }
  for (Size s : space_.groups[space_.vector].sizes) units_.factors.push_back({s, kRows});
  is_reduced_.assign(kernel_.stages.size(), false);
  auto shared_at = [&](llvm::Value* i) { return b_.CreateGEP(b_.getInt64Ty(), memory, i); };
  grid_.units(b_.CreateMul(outer_count(), strips), [&](llvm::Value* unit) {
    llvm::Value* outer = b_.CreateUDiv(unit, strips);
    llvm::Value* first_column = b_.CreateMul(b_.CreateSub(unit, b_.CreateMul(outer, strips)), grid_.word(kRows));
    auto column_of = [&](llvm::Value* thread) { return b_.CreateAdd(first_column, b_.CreateAnd(thread, grid_.word(kRows - 1))); };
    auto lane_of = [&](llvm::Value* thread) { return b_.CreateLShr(thread, 4); };
    grid_.loop(grid_.word(0), blocks, grid_.word(1), [&](llvm::Value* block) {
      grid_.section(
          [&](llvm::Value* thread) {
            for (Partial& p : partials) grid_.set(p.sum, emit_neutral(b_, p.kind, p.element, 1));
            llvm::Value *column = column_of(thread), *begin = b_.CreateMul(block, grid_.word(kReduceBlock));
            llvm::Value* end = least(b_, length, b_.CreateAdd(begin, grid_.word(kReduceBlock)));
            begin = b_.CreateAdd(begin, lane_of(thread));
            grid_.when(b_.CreateAnd(b_.CreateICmpSLT(column, columns), b_.CreateICmpSLT(begin, end)), [&] {
              Point of_strip = point();
              set_outer(outer, of_strip);
              of_strip.index[space_.vector] = nullptr;
              compute(needed, Level::unit, of_strip);
              of_strip.index[space_.vector] = column;
              grid_.loop(begin, end, grid_.word(kReduceLanes), [&](llvm::Value* row) {
                Point p = of_strip;
                p.index[space_.middle] = row;
                compute(needed, Level::vector, p);
                run_stages(in_elements, p);
                for (Partial& partial : partials) take(partial, p);
              });
            });
          },
          false);
      for (Partial& p : partials) {
        grid_.section([&](llvm::Value* thread) { b_.CreateStore(grid_.get(p.sum), shared_at(thread)); });
        for (int64_t half = kReduceLanes / 2; half > 0; half /= 2) {
          grid_.section([&](llvm::Value* thread) {
            grid_.when(b_.CreateICmpSLT(lane_of(thread), grid_.word(half)), [&] {
              llvm::Value* other = b_.CreateAdd(thread, grid_.word(half * kRows));
              b_.CreateStore(
                  combined(p, b_.CreateLoad(type_of(p), shared_at(thread)), b_.CreateLoad(type_of(p), shared_at(other))),
                  shared_at(thread));
            });
          });
        }
        grid_.section([&](llvm::Value* thread) {
          grid_.set(p.sum, b_.CreateLoad(type_of(p), shared_at(b_.CreateAnd(thread, grid_.word(kRows - 1)))));
          push(p, block, levels);
        });
      }
    });
    grid_.section([&](llvm::Value* thread) {
      for (Partial& p : partials) grid_.set(reduced_[p.stage], finished(p, collapse(p, blocks, levels), length));
      llvm::Value* column = column_of(thread);
      llvm::Value* mine = b_.CreateICmpEQ(lane_of(thread), grid_.word(0));
      grid_.when(b_.CreateAnd(mine, b_.CreateICmpSLT(column, columns)), [&] {
        Point p = point();
        set_outer(outer, p);
        p.index[space_.vector] = column;
        for (Partial& partial : partials) p.reduced[partial.stage] = grid_.get(reduced_[partial.stage]);
        compute(after, Level::vector, p);
        store_all(stores_once, p);
      });
    });
  });
}

}  // namespace tfl::codegen
