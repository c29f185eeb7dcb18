// Sorting as runtime/kernels/sort_loops.h defines it: entries of a key and a position, of which no two are equal, so that every
// way of sorting gives the same. Here it is a bitonic network whose comparators all point one way, for rows of any length; a row
// is a block's.
#include "codegen/llvm/gpu_routine.h"

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
  return is_unsigned(dtype_)
             ? word
             : b_.CreateXor(word, llvm::ConstantInt::get(word->getType(), llvm::APInt::getSignMask(bits)));
}

void GpuRoutine::sort() {
  llvm::Value *rows = size(0), *length = size(1), *wanted = size(2);
  count_units({0}, 1);
  bool narrow = sort_entry_bytes(static_cast<int64_t>(dtype_size(dtype_))) == 8, descending = r_.flags & 1;
  llvm::Type* word = b_.getInt64Ty();
  llvm::Value* entries = memory(3);
  // Narrow entries are one word, wide ones a key and a position.
  auto place = [&](llvm::Value* entry, int64_t part) {
    return b_.CreateGEP(word, entries,
                        narrow ? entry : b_.CreateAdd(b_.CreateMul(entry, grid_.word(2)), grid_.word(part)));
  };
  auto get = [&](llvm::Value* entry, int64_t part) {
    return b_.CreateAlignedLoad(word, place(entry, part), llvm::Align(8));
  };
  auto put = [&](llvm::Value* v, llvm::Value* entry, int64_t part) {
    b_.CreateAlignedStore(v, place(entry, part), llvm::Align(8));
  };
  grid_.units(rows, [&](llvm::Value* row) {
    llvm::Value* first = b_.CreateMul(row, length);
    each_of_block(length, [&](llvm::Value* i) {
      llvm::Value* key = key_of(load(0, dtype_, b_.CreateAdd(first, i)));
      if (descending) key = b_.CreateNot(key);
      llvm::Value* entry = b_.CreateAdd(first, i);
      if (narrow) {
        put(b_.CreateOr(b_.CreateShl(b_.CreateZExt(key, word), 32), i), entry, 0);
      } else {
        put(b_.CreateZExt(key, word), entry, 0);
        put(i, entry, 1);
      }
    });
    auto exchange = [&](llvm::Value* i, llvm::Value* j) {
      grid_.when(b_.CreateICmpSLT(j, length), [&] {
        llvm::Value *a = b_.CreateAdd(first, i), *c = b_.CreateAdd(first, j);
        llvm::Value *x = get(a, 0), *y = get(c, 0);
        if (narrow) {
          grid_.when(b_.CreateICmpULT(y, x), [&] {
            put(y, a, 0);
            put(x, c, 0);
          });
          return;
        }
        llvm::Value *p = get(a, 1), *q = get(c, 1);
        llvm::Value* turned =
            b_.CreateOr(b_.CreateICmpULT(y, x), b_.CreateAnd(b_.CreateICmpEQ(y, x), b_.CreateICmpSLT(q, p)));
        grid_.when(turned, [&] {
          put(y, a, 0);
          put(x, c, 0);
          put(q, a, 1);
          put(p, c, 1);
        });
      });
    };
    // Sorted runs of 2^(level + 1) from those of half their length: elements meet those of the other half from its end, then
    // those that are 2^(level - 1), ..., 1 further.
    llvm::Value* above =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateSub(length, grid_.word(1)), grid_.word(0));
    llvm::Value* levels =
        b_.CreateSub(grid_.word(64), b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, above, b_.getFalse()));
    llvm::Value* pairs = b_.CreateLShr(b_.CreateShl(grid_.word(1), levels), 1);
    grid_.loop(grid_.word(0), levels, grid_.word(1), [&](llvm::Value* level) {
      each_of_block(pairs, [&](llvm::Value* pair) {
        llvm::Value* half = b_.CreateShl(grid_.word(1), level);
        llvm::Value* run = b_.CreateShl(b_.CreateLShr(pair, level), b_.CreateAdd(level, grid_.word(1)));
        llvm::Value* within = b_.CreateAnd(pair, b_.CreateSub(half, grid_.word(1)));
        llvm::Value* last = b_.CreateSub(b_.CreateAdd(run, b_.CreateShl(half, 1)), grid_.word(1));
        exchange(b_.CreateAdd(run, within), b_.CreateSub(last, within));
      });
      grid_.loop(grid_.word(0), level, grid_.word(1), [&](llvm::Value* step) {
        llvm::Value* power = b_.CreateSub(b_.CreateSub(level, grid_.word(1)), step);
        each_of_block(pairs, [&](llvm::Value* pair) {
          llvm::Value* distance = b_.CreateShl(grid_.word(1), power);
          llvm::Value* run = b_.CreateShl(b_.CreateLShr(pair, power), b_.CreateAdd(power, grid_.word(1)));
          llvm::Value* i = b_.CreateAdd(run, b_.CreateAnd(pair, b_.CreateSub(distance, grid_.word(1))));
          exchange(i, b_.CreateAdd(i, distance));
        });
      });
    });
    each_of_block(wanted, [&](llvm::Value* i) {
      llvm::Value* entry = b_.CreateAdd(first, i);
      llvm::Value* at = narrow ? b_.CreateAnd(get(entry, 0), grid_.word(UINT32_MAX)) : get(entry, 1);
      llvm::Value* to = b_.CreateAdd(b_.CreateMul(row, wanted), i);
      if (has(1)) copy(1, to, 0, b_.CreateAdd(first, at));
      if (has(2)) store(2, r_.index_dtype, b_.CreateTrunc(at, register_type(b_, r_.index_dtype, 1)), to);
    });
  });
}

}  // namespace tfl::codegen
