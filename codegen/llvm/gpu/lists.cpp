// Writes by index and segments over many blocks: each row of the result gets the list of its updates, in order, and its elements go through
// that list. Lists lie anywhere in the routine's memory and are filled in any order, by counting with whole numbers, and sorted after
// that: what comes out is the same each time. Long lists are not made: those elements look through all updates.
#include "codegen/llvm/gpu/launches.h"
#include "codegen/llvm/gpu/routine.h"

namespace tfl::codegen {

namespace {

constexpr int64_t kLongList = 1 << 14;

}  // namespace

// Words of the memory: where the next list begins; of each row how many updates it has, and where its list begins; the lists.
void GpuRoutine::clear_lists(llvm::Value* rows) {
  each(b_.CreateAdd(rows, grid_.word(1)),
       [&](llvm::Value* i) { b_.CreateAlignedStore(grid_.word(0), own_word(i), llvm::Align(8)); });
}

void GpuRoutine::by_lists(llvm::Value* rows, llvm::Value* columns, llvm::Value* updates, IndexOf row_of, Update body,
                          AfterRow after) {
  auto count_of = [&](llvm::Value* row) { return own_word(b_.CreateAdd(row, grid_.word(1))); };
  auto start_of = [&](llvm::Value* row) { return own_word(b_.CreateAdd(b_.CreateAdd(row, rows), grid_.word(1))); };
  llvm::Value* lists = b_.CreateAdd(b_.CreateShl(rows, 1), grid_.word(1));
  auto get = [&](llvm::Value* at) { return b_.CreateAlignedLoad(b_.getInt64Ty(), at, llvm::Align(8)); };
  auto put = [&](llvm::Value* v, llvm::Value* at) { b_.CreateAlignedStore(v, at, llvm::Align(8)); };
  auto counted = [&](llvm::Value* at, llvm::Value* by) {
    return b_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, at, by, llvm::Align(8), llvm::AtomicOrdering::Monotonic);
  };
  auto of_updates = [&](llvm::function_ref<void(llvm::Value*, llvm::Value*)> then) {
    each(updates, [&](llvm::Value* update) {
      llvm::Value* row = row_of(update);
      grid_.when(b_.CreateICmpULT(row, rows), [&] { then(update, row); });  // what has none is below 0
    });
  };
  switch (phase_) {
    case 1: return of_updates([&](llvm::Value*, llvm::Value* row) { counted(count_of(row), grid_.word(1)); });
    case 2:
      return each(rows, [&](llvm::Value* row) {
        llvm::Value* count = get(count_of(row));
        grid_.when(b_.CreateICmpNE(count, grid_.word(0)), [&] {
          put(counted(own_word(grid_.word(0)), count), start_of(row));
          put(grid_.word(0), count_of(row));
        });
      });
    case 3:
      return of_updates([&](llvm::Value* update, llvm::Value* row) {
        llvm::Value* place = b_.CreateAdd(get(start_of(row)), counted(count_of(row), grid_.word(1)));
        put(update, own_word(b_.CreateAdd(lists, place)));
      });
    case 4:
      return grid_.units(rows, [&](llvm::Value* row) {
        llvm::Value* count = get(count_of(row));
        llvm::Value* sorted =
            b_.CreateAnd(b_.CreateICmpSGT(count, grid_.word(1)), b_.CreateICmpSLE(count, grid_.word(kLongList)));
        grid_.when(sorted, [&] {
          llvm::Value* first = b_.CreateAdd(lists, get(start_of(row)));
          network(count, [&](llvm::Value* i, llvm::Value* j) {
            llvm::Value *a = own_word(b_.CreateAdd(first, i)), *c = own_word(b_.CreateAdd(first, j));
            llvm::Value *x = get(a), *y = get(c);
            grid_.when(b_.CreateICmpULT(y, x), [&] {
              put(y, a);
              put(x, c);
            });
          });
        });
      });
    default: break;
  }
  each(b_.CreateMul(rows, columns), [&](llvm::Value* i) {
    llvm::Value* row = b_.CreateUDiv(i, columns);
    llvm::Value* column = b_.CreateSub(i, b_.CreateMul(row, columns));
    llvm::Value* count = get(count_of(row));
    llvm::Value* listed = b_.CreateICmpSLE(count, grid_.word(kLongList));
    grid_.when(listed, [&] {
      llvm::Value* first = b_.CreateAdd(lists, get(start_of(row)));
      grid_.loop(grid_.word(0), count, grid_.word(1),
                 [&](llvm::Value* number) { body(row, column, get(own_word(b_.CreateAdd(first, number)))); });
    });
    grid_.when(b_.CreateNot(listed), [&] {
      grid_.loop(grid_.word(0), updates, grid_.word(1), [&](llvm::Value* update) {
        grid_.when(b_.CreateICmpEQ(row_of(update), row), [&] { body(row, column, update); });
      });
    });
    if (after) after(row, column);
  });
}

}  // namespace tfl::codegen
