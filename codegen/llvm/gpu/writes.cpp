// Writes by index and segments: updates of one element are applied in row-major order, by one thread. The first phase prepares the result
// and checks the indices, the others do the updates: those of a block in one, in which each thread looks through all of them for those
// that are its own.
#include "codegen/llvm/gpu/launches.h"
#include "codegen/llvm/gpu/routine.h"

namespace tfl::codegen {

namespace {

constexpr size_t kSizesOfScatter = 4;  // before those of the axes that are indexed

}  // namespace

// A thread has some rows of one column.
void GpuRoutine::in_order(llvm::Value* rows, llvm::Value* columns, llvm::Value* updates, IndexOf row_of, Update body,
                          AfterRow after) {
  llvm::Value* owners = grid_.word(kGpuThreads);
  llvm::Value* elements = b_.CreateMul(rows, columns);
  llvm::Value* height = b_.CreateUDiv(b_.CreateAdd(elements, b_.CreateSub(owners, grid_.word(1))), owners);
  height = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, height, grid_.word(1));
  llvm::Value* groups = b_.CreateUDiv(b_.CreateAdd(rows, b_.CreateSub(height, grid_.word(1))), height);
  each(b_.CreateMul(groups, columns), [&](llvm::Value* i) {
    llvm::Value* group = b_.CreateUDiv(i, columns);
    llvm::Value* column = b_.CreateSub(i, b_.CreateMul(group, columns));
    llvm::Value* first = b_.CreateMul(group, height);
    llvm::Value* last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, rows, b_.CreateAdd(first, height));
    grid_.loop(grid_.word(0), updates, grid_.word(1), [&](llvm::Value* update) {
      llvm::Value* row = row_of(update);
      llvm::Value* mine = b_.CreateAnd(b_.CreateICmpSLE(first, row), b_.CreateICmpSLT(row, last));
      grid_.when(mine, [&] { body(row, column, update); });
    });
    if (after) grid_.loop(first, last, grid_.word(1), [&](llvm::Value* row) { after(row, column); });
  });
}

// The row that a tuple of indices points to, and whether it points outside.
llvm::Value* GpuRoutine::row_of_tuple(llvm::Value* tuple, llvm::Value*& outside) {
  size_t depth = r_.sizes.size() - kSizesOfScatter;
  llvm::Value* row = grid_.word(0);
  outside = b_.getFalse();
  for (size_t d = 0; d < depth; ++d) {
    llvm::Value* place =
        b_.CreateAdd(b_.CreateMul(tuple, grid_.word(static_cast<int64_t>(depth))), grid_.word(static_cast<int64_t>(d)));
    llvm::Value *index = index_at(1, place), *all = size(kSizesOfScatter + d);
    outside = b_.CreateOr(outside, b_.CreateICmpUGE(index, all));
    row = b_.CreateAdd(b_.CreateMul(row, all), index);
  }
  return row;
}

llvm::Value* GpuRoutine::updated(DType dtype, llvm::Value* old, llvm::Value* update) {
  bool floats = old->getType()->isFloatingPointTy();
  if (dtype == DType::Bool) return b_.CreateOr(old, update);
  switch (static_cast<ScatterHow>(r_.flags)) {
    case ScatterHow::set: return update;
    case ScatterHow::add: return floats ? b_.CreateFAdd(old, update) : b_.CreateAdd(old, update);
    case ScatterHow::subtract: return floats ? b_.CreateFSub(old, update) : b_.CreateSub(old, update);
    case ScatterHow::minimum:
    case ScatterHow::maximum: {
      bool least = static_cast<ScatterHow>(r_.flags) == ScatterHow::minimum;
      llvm::Value* wins = least ? less(dtype, update, old) : less(dtype, old, update);
      if (floats) wins = b_.CreateOr(wins, b_.CreateFCmpUNO(update, update));
      return b_.CreateSelect(wins, update, old);
    }
  }
  return update;
}

void GpuRoutine::scatter() {
  llvm::Value *elements = size(0), *tuples = size(1), *inner = size(2);
  llvm::Value* rows = grid_.word(1);
  for (size_t i = kSizesOfScatter; i < r_.sizes.size(); ++i) rows = b_.CreateMul(rows, size(i));
  if (phase_ == 4) {
    for (size_t i = kSizesOfScatter; i < r_.sizes.size(); ++i) count_units({i}, 1);
  } else {
    count_units({phase_ == 1 || phase_ == 3 ? size_t{1} : size_t{0}}, kGpuThreads);
  }
  if (phase_ == 0) {
    if (is_spread(r_)) clear_lists(rows);
    if (!has(0) || r_.at[0] != r_.at[3]) {
      each(elements, [&](llvm::Value* i) {
        if (has(0))
          copy(3, i, 0, i);
        else
          clear(3, i);
      });
    }
    each(tuples, [&](llvm::Value* tuple) {
      llvm::Value* outside = nullptr;
      row_of_tuple(tuple, outside);
      fail_if(outside);
    });
    return;
  }
  auto row_of = [&](llvm::Value* tuple) {
    llvm::Value* outside = nullptr;
    llvm::Value* row = row_of_tuple(tuple, outside);
    return b_.CreateSelect(outside, grid_.word(-1), row);
  };
  auto update = [&](llvm::Value* row, llvm::Value* column, llvm::Value* tuple) {
    llvm::Value* to = b_.CreateAdd(b_.CreateMul(row, inner), column);
    llvm::Value* from = b_.CreateAdd(b_.CreateMul(tuple, inner), column);
    if (static_cast<ScatterHow>(r_.flags) == ScatterHow::set) return copy(3, to, 2, from);
    store(3, dtype_, updated(dtype_, load(3, dtype_, to), load(2, dtype_, from)), to);
  };
  if (is_spread(r_))
    by_lists(rows, inner, tuples, row_of, update, nullptr);
  else
    in_order(rows, inner, tuples, row_of, update, nullptr);
}

llvm::Value* GpuRoutine::folded(DType dtype, llvm::Value* sum, llvm::Value* x) {
  bool floats = sum->getType()->isFloatingPointTy();
  auto fold = static_cast<SegmentFold>(r_.flags);
  switch (fold) {
    case SegmentFold::sum: return floats ? b_.CreateFAdd(sum, x) : b_.CreateAdd(sum, x);
    case SegmentFold::product: return floats ? b_.CreateFMul(sum, x) : b_.CreateMul(sum, x);
    case SegmentFold::most:
    case SegmentFold::least: {
      llvm::Value* wins = fold == SegmentFold::most ? less(dtype, sum, x) : less(dtype, x, sum);
      if (floats) wins = b_.CreateOr(wins, b_.CreateFCmpUNO(x, x));
      return b_.CreateSelect(wins, x, sum);
    }
  }
  return sum;
}

// Half types are combined in f32, in memory of their own.
void GpuRoutine::segment() {
  llvm::Value *rows = size(0), *segments = size(1), *width = size(2);
  if (phase_ == 1 || phase_ == 3)
    count_units({0}, kGpuThreads);
  else if (phase_ == 4)
    count_units({1}, 1);
  else
    count_units({1, 2}, kGpuThreads);
  bool half = is_floating(dtype_) && dtype_size(dtype_) == 2;
  DType working = half ? DType::F32 : dtype_;
  size_t sums = half ? 3 : 2;
  auto fold = static_cast<SegmentFold>(r_.flags);
  if (phase_ == 0) {
    llvm::Type* type = register_type(b_, working, 1);
    llvm::Value* begin = fold == SegmentFold::sum ? number(0, type) : number(1, type);
    if (fold == SegmentFold::most || fold == SegmentFold::least) {
      begin = lowest(dtype_, fold == SegmentFold::least);
      double most = dtype_ == DType::F16 ? 65504.0 : 3.38953138925153547590470800371487867e38;
      if (half) begin = number(fold == SegmentFold::most ? -most : most, type);
    }
    if (is_spread(r_)) clear_lists(segments);
    each(b_.CreateMul(segments, width), [&](llvm::Value* i) { store(sums, working, begin, i); });
    each(rows, [&](llvm::Value* row) { fail_if(b_.CreateICmpSGE(index_at(1, row), segments)); });
    return;
  }
  auto place = [&](llvm::Value* row, llvm::Value* column) { return b_.CreateAdd(b_.CreateMul(row, width), column); };
  auto row_of = [&](llvm::Value* row) { return index_at(1, row); };  // what has none is below 0
  auto update = [&](llvm::Value* segment, llvm::Value* column, llvm::Value* row) {
    llvm::Value* to = place(segment, column);
    store(sums, working, folded(working, load(sums, working, to), load(0, dtype_, place(row, column))), to);
  };
  auto rounded = [&](llvm::Value* segment, llvm::Value* column) {
    llvm::Value* i = place(segment, column);
    store(2, dtype_, load(sums, working, i), i);
  };
  llvm::function_ref<void(llvm::Value*, llvm::Value*)> after = nullptr;
  if (half) after = rounded;
  if (is_spread(r_))
    by_lists(segments, width, rows, row_of, update, after);
  else
    in_order(segments, width, rows, row_of, update, after);
}

}  // namespace tfl::codegen
