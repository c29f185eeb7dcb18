// Sorting as runtime/kernels/index/sort_loops.h defines it: entries of a key and a position, of which no two are equal, so that every
// way of sorting gives the same. Here a block sorts by a bitonic network whose comparators all point one way, for rows of any length;
// long rows are merged of such parts.
#include <bit>
#include <utility>

#include "codegen/llvm/gpu/launches.h"
#include "codegen/llvm/gpu/routine.h"

namespace tfl::codegen {

// An unsigned key of 32 or 64 bits in the order of the elements; NaN is the largest, and -0 is 0.
llvm::Value* GpuRoutine::key_of(llvm::Value* x) {
  llvm::Type* type = x->getType();
  if (type->isFloatingPointTy()) {
    unsigned bits = static_cast<unsigned>(type->getPrimitiveSizeInBits());
    llvm::Type* key = b_.getIntNTy(bits);
    llvm::Value* sign = llvm::ConstantInt::get(key, llvm::APInt::getSignMask(bits));
    llvm::Value* zero = b_.CreateFCmpOEQ(x, llvm::ConstantFP::get(type, 0));
    llvm::Value* word = b_.CreateSelect(zero, llvm::Constant::getNullValue(key), b_.CreateBitCast(x, key));
    llvm::Value* negative = b_.CreateICmpSLT(word, llvm::Constant::getNullValue(key));
    word = b_.CreateSelect(negative, b_.CreateNot(word), b_.CreateOr(word, sign));
    return b_.CreateSelect(b_.CreateFCmpUNO(x, x), llvm::Constant::getAllOnesValue(key), word);
  }
  unsigned bits = dtype_size(dtype_) <= 4 ? 32 : 64;
  llvm::Value* word = b_.CreateIntCast(x, b_.getIntNTy(bits), !is_unsigned(dtype_));
  return is_unsigned(dtype_) ? word : b_.CreateXor(word, llvm::ConstantInt::get(word->getType(), llvm::APInt::getSignMask(bits)));
}

// Sorted runs of 2^(level + 1) from those of half their length: elements meet those of the other half from its end, then those that are
// 2^(level - 1), ..., 1 further.
void GpuRoutine::network(llvm::Value* length, llvm::function_ref<void(llvm::Value*, llvm::Value*)> exchange) {
  auto meet = [&](llvm::Value* i, llvm::Value* j) { grid_.when(b_.CreateICmpSLT(j, length), [&] { exchange(i, j); }); };
  llvm::Value* above = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateSub(length, grid_.word(1)), grid_.word(0));
  llvm::Value* levels = b_.CreateSub(grid_.word(64), b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, above, b_.getFalse()));
  llvm::Value* pairs = b_.CreateLShr(b_.CreateShl(grid_.word(1), levels), 1);
  grid_.loop(grid_.word(0), levels, grid_.word(1), [&](llvm::Value* level) {
    each_of_block(pairs, [&](llvm::Value* pair) {
      llvm::Value* half = b_.CreateShl(grid_.word(1), level);
      llvm::Value* run = b_.CreateShl(b_.CreateLShr(pair, level), b_.CreateAdd(level, grid_.word(1)));
      llvm::Value* within = b_.CreateAnd(pair, b_.CreateSub(half, grid_.word(1)));
      llvm::Value* last = b_.CreateSub(b_.CreateAdd(run, b_.CreateShl(half, 1)), grid_.word(1));
      meet(b_.CreateAdd(run, within), b_.CreateSub(last, within));
    });
    grid_.loop(grid_.word(0), level, grid_.word(1), [&](llvm::Value* step) {
      llvm::Value* power = b_.CreateSub(b_.CreateSub(level, grid_.word(1)), step);
      each_of_block(pairs, [&](llvm::Value* pair) {
        llvm::Value* distance = b_.CreateShl(grid_.word(1), power);
        llvm::Value* run = b_.CreateShl(b_.CreateLShr(pair, power), b_.CreateAdd(power, grid_.word(1)));
        llvm::Value* i = b_.CreateAdd(run, b_.CreateAnd(pair, b_.CreateSub(distance, grid_.word(1))));
        meet(i, b_.CreateAdd(i, distance));
      });
    });
  });
}

// Narrow entries are one word, wide ones a key and a position.
llvm::Value* GpuRoutine::entry_word(llvm::Value* entries, llvm::Value* entry, int64_t part) {
  if (!narrow_entries()) entry = b_.CreateAdd(b_.CreateMul(entry, grid_.word(2)), grid_.word(part));
  return b_.CreateGEP(b_.getInt64Ty(), entries, entry);
}

// Element `number` of a row, of value x.
void GpuRoutine::put_entry(llvm::Value* entries, llvm::Value* entry, llvm::Value* x, llvm::Value* number) {
  bool narrow = narrow_entries(), descending = r_.flags & 1;
  llvm::Value* key = key_of(x);
  if (descending) key = b_.CreateNot(key);
  key = b_.CreateZExt(key, b_.getInt64Ty());
  if (narrow) key = b_.CreateOr(b_.CreateShl(key, 32), number);
  b_.CreateAlignedStore(key, entry_word(entries, entry, 0), llvm::Align(8));
  if (!narrow) b_.CreateAlignedStore(number, entry_word(entries, entry, 1), llvm::Align(8));
}

llvm::Value* GpuRoutine::entry_less(llvm::Value* entries, llvm::Value* i, llvm::Value* others, llvm::Value* j) {
  auto get = [&](llvm::Value* from, llvm::Value* entry, int64_t part) {
    return b_.CreateAlignedLoad(b_.getInt64Ty(), entry_word(from, entry, part), llvm::Align(8));
  };
  llvm::Value *x = get(entries, i, 0), *y = get(others, j, 0), *smaller = b_.CreateICmpULT(x, y);
  if (narrow_entries()) return smaller;
  return b_.CreateOr(smaller, b_.CreateAnd(b_.CreateICmpEQ(x, y), b_.CreateICmpSLT(get(entries, i, 1), get(others, j, 1))));
}

// Result i of a row: the entry's element, and where it was.
void GpuRoutine::give_entry(llvm::Value* entries, llvm::Value* row, llvm::Value* i) {
  bool narrow = narrow_entries();
  llvm::Value* first = b_.CreateMul(row, size(1));
  llvm::Value* place = entry_word(entries, b_.CreateAdd(first, i), narrow ? 0 : 1);
  llvm::Value* at = b_.CreateAlignedLoad(b_.getInt64Ty(), place, llvm::Align(8));
  if (narrow) at = b_.CreateAnd(at, grid_.word(UINT32_MAX));
  llvm::Value* to = b_.CreateAdd(b_.CreateMul(row, size(2)), i);
  if (has(1)) copy(1, to, 0, b_.CreateAdd(first, at));
  if (has(2)) store(2, r_.index_dtype, b_.CreateTrunc(at, register_type(b_, r_.index_dtype, 1)), to);
}

void GpuRoutine::sort() {
  if (is_spread(r_)) return sort_spread();
  llvm::Value *rows = size(0), *length = size(1), *wanted = size(2);
  count_units({0}, 1);
  llvm::Value* entries = memory(3);
  grid_.units(rows, [&](llvm::Value* row) {
    sort_part(entries, b_.CreateMul(row, length), grid_.word(0), length);
    each_of_block(wanted, [&](llvm::Value* i) { give_entry(entries, row, i); });
  });
}

// The entries [first, first + count) of a row that begins at `start`, by this block.
void GpuRoutine::sort_part(llvm::Value* entries, llvm::Value* start, llvm::Value* first, llvm::Value* count) {
  each_of_block(count, [&](llvm::Value* i) {
    llvm::Value* number = b_.CreateAdd(first, i);
    llvm::Value* entry = b_.CreateAdd(start, number);
    put_entry(entries, entry, load(0, dtype_, entry), number);
  });
  bool narrow = narrow_entries();
  llvm::Value* begin = b_.CreateAdd(start, first);
  network(count, [&](llvm::Value* i, llvm::Value* j) {
    llvm::Value *a = b_.CreateAdd(begin, i), *c = b_.CreateAdd(begin, j);
    grid_.when(entry_less(entries, c, entries, a), [&] {
      for (int64_t part = 0; part < (narrow ? 1 : 2); ++part) {
        llvm::Value *p = entry_word(entries, a, part), *q = entry_word(entries, c, part);
        llvm::Value* x = b_.CreateAlignedLoad(b_.getInt64Ty(), p, llvm::Align(8));
        b_.CreateAlignedStore(b_.CreateAlignedLoad(b_.getInt64Ty(), q, llvm::Align(8)), p, llvm::Align(8));
        b_.CreateAlignedStore(x, q, llvm::Align(8));
      }
    });
  });
}

// Parts that blocks sort, then mergers of two neighbours each, from the one memory to the other: an entry goes as far behind the beginning
// of the two as there are smaller ones before it in its own part, and in the other. A merger that a row is too short for does nothing.
void GpuRoutine::sort_spread() {
  llvm::Value *rows = size(0), *length = size(1), *wanted = size(2);
  llvm::Value* parts = grid_.up(length, kSortedByBlock);
  int last = gpu_launches(r_) - 1;
  if (phase_ == 0) {
    units_.factors = {{r_.sizes[0], 1}, {r_.sizes[1], kSortedByBlock}};
    return grid_.units(b_.CreateMul(rows, parts), [&](llvm::Value* unit) {
      llvm::Value* row = b_.CreateUDiv(unit, parts);
      llvm::Value* first = b_.CreateMul(b_.CreateSub(unit, b_.CreateMul(row, parts)), grid_.word(kSortedByBlock));
      llvm::Value* count =
          b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(length, first), grid_.word(kSortedByBlock));
      sort_part(memory(3), b_.CreateMul(row, length), first, count);
    });
  }
  if (phase_ == last) {
    count_units({0, 2}, kGpuThreads);
    llvm::Value* above = b_.CreateSub(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, parts, grid_.word(1)), grid_.word(1));
    llvm::Value* mergers = b_.CreateSub(grid_.word(64), b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, above, b_.getFalse()));
    llvm::Value* moved = b_.CreateICmpNE(b_.CreateAnd(mergers, grid_.word(1)), grid_.word(0));
    llvm::Value* entries = b_.CreateSelect(moved, memory(kSpreadPointer), memory(3));
    return each(b_.CreateMul(rows, wanted), [&](llvm::Value* i) {
      llvm::Value* row = b_.CreateUDiv(i, wanted);
      give_entry(entries, row, b_.CreateSub(i, b_.CreateMul(row, wanted)));
    });
  }
  count_units({0, 1}, kGpuThreads);
  llvm::Value *from = memory(3), *to = memory(kSpreadPointer);
  if (phase_ % 2 == 0) std::swap(from, to);
  int64_t run = kSortedByBlock << (phase_ - 1);
  Grid::Variable low = grid_.variable(b_.getInt64Ty()), high = grid_.variable(b_.getInt64Ty());
  llvm::Value* needed = b_.CreateICmpSLT(grid_.word(run), length);
  auto least = [&](llvm::Value* x, llvm::Value* y) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y); };
  each(b_.CreateMul(rows, b_.CreateSelect(needed, length, grid_.word(0))), [&](llvm::Value* entry) {
    llvm::Value* row = b_.CreateUDiv(entry, length);
    llvm::Value* start = b_.CreateMul(row, length);
    llvm::Value* i = b_.CreateSub(entry, start);
    llvm::Value* mine = b_.CreateAnd(i, grid_.word(-run));      // where the entry's part begins
    llvm::Value* both = b_.CreateAnd(i, grid_.word(-2 * run));  // and the first of the two
    llvm::Value* other = least(b_.CreateXor(mine, grid_.word(run)), length);
    grid_.set(low, other);
    grid_.set(high, least(b_.CreateAdd(other, grid_.word(run)), length));
    grid_.loop(grid_.word(0), grid_.word(std::bit_width(static_cast<uint64_t>(run))), grid_.word(1), [&](llvm::Value*) {
      llvm::Value *l = grid_.get(low), *h = grid_.get(high);
      grid_.when(b_.CreateICmpSLT(l, h), [&] {
        llvm::Value* middle = b_.CreateAdd(l, b_.CreateLShr(b_.CreateSub(h, l), 1));
        llvm::Value* smaller = entry_less(from, b_.CreateAdd(start, middle), from, entry);
        grid_.set(low, b_.CreateSelect(smaller, b_.CreateAdd(middle, grid_.word(1)), l));
        grid_.set(high, b_.CreateSelect(smaller, h, middle));
      });
    });
    llvm::Value* before = b_.CreateAdd(b_.CreateSub(i, mine), b_.CreateSub(grid_.get(low), other));
    llvm::Value* place = b_.CreateAdd(b_.CreateAdd(start, both), before);
    bool narrow = narrow_entries();
    for (int64_t part = 0; part < (narrow ? 1 : 2); ++part) {
      llvm::Value* x = b_.CreateAlignedLoad(b_.getInt64Ty(), entry_word(from, entry, part), llvm::Align(8));
      b_.CreateAlignedStore(x, entry_word(to, place, part), llvm::Align(8));
    }
  });
}

}  // namespace tfl::codegen
