// Random numbers as runtime/kernels/random/random_loops.h makes them: a thread a group of elements, from the group's own counter.
#include "codegen/llvm/gpu/routine.h"

namespace tfl::codegen {

// Ten rounds of runtime/kernels/random/philox.h.
GpuRoutine::Words GpuRoutine::philox(Words c, llvm::Value* key0, llvm::Value* key1) {
  auto wide = [&](uint32_t factor, llvm::Value* x) {
    return b_.CreateMul(b_.CreateZExt(x, b_.getInt64Ty()), grid_.word(factor));
  };
  auto low = [&](llvm::Value* x) { return b_.CreateTrunc(x, b_.getInt32Ty()); };
  auto high = [&](llvm::Value* x) { return low(b_.CreateLShr(x, 32)); };
  for (int round = 0; round < 10; ++round) {
    llvm::Value *p0 = wide(0xD2511F53u, c.w[0]), *p1 = wide(0xCD9E8D57u, c.w[2]);
    c = {{b_.CreateXor(b_.CreateXor(high(p1), c.w[1]), key0), low(p1), b_.CreateXor(b_.CreateXor(high(p0), c.w[3]), key1),
          low(p0)}};
    key0 = b_.CreateAdd(key0, b_.getInt32(0x9E3779B9u));
    key1 = b_.CreateAdd(key1, b_.getInt32(0xBB67AE85u));
  }
  return c;
}

// The stream that the seed begins, `group` groups of words further.
GpuRoutine::Words GpuRoutine::words_of_group(llvm::Value* group) {
  auto low = [&](llvm::Value* x) { return b_.CreateTrunc(x, b_.getInt32Ty()); };
  auto high = [&](llvm::Value* x) { return low(b_.CreateLShr(x, 32)); };
  auto seed = [&](int64_t i) { return index_at(0, grid_.word(i)); };
  llvm::Value *first, *second, *key0, *key1;  // two halves of the counter
  if (known(1) == 2) {
    llvm::Value *a = seed(0), *b = seed(1);
    Words mixed = philox({{low(a), high(a), low(b), high(b)}}, b_.getInt32(0x3ec8f720u), b_.getInt32(0x02461e29u));
    first = grid_.word(0);
    second =
        b_.CreateOr(b_.CreateZExt(mixed.w[2], b_.getInt64Ty()), b_.CreateShl(b_.CreateZExt(mixed.w[3], b_.getInt64Ty()), 32));
    key0 = mixed.w[0];
    key1 = mixed.w[1];
  } else {
    llvm::Value* key = seed(2);
    first = seed(0);
    second = seed(1);
    key0 = low(key);
    key1 = high(key);
  }
  llvm::Value* moved = b_.CreateAdd(first, group);
  second = b_.CreateAdd(second, b_.CreateZExt(b_.CreateICmpULT(moved, group), b_.getInt64Ty()));
  return philox({{low(moved), high(moved), low(second), high(second)}}, key0, key1);
}

llvm::Value* GpuRoutine::unit_float(llvm::Value* word) {
  llvm::Value* bits = b_.CreateOr(b_.CreateAnd(word, b_.getInt32(0x7fffffu)), b_.getInt32(127u << 23));
  return b_.CreateFSub(b_.CreateBitCast(bits, b_.getFloatTy()), number(1, b_.getFloatTy()));
}

llvm::Value* GpuRoutine::unit_double(llvm::Value* high, llvm::Value* low) {
  llvm::Value* top = b_.CreateShl(b_.CreateZExt(b_.CreateAnd(high, b_.getInt32(0xfffffu)), b_.getInt64Ty()), 32);
  llvm::Value* bits = b_.CreateOr(b_.CreateOr(top, b_.CreateZExt(low, b_.getInt64Ty())), b_.getInt64(uint64_t{1023} << 52));
  return b_.CreateFSub(b_.CreateBitCast(bits, b_.getDoubleTy()), number(1, b_.getDoubleTy()));
}

namespace {

constexpr double kTwoPi = 6.2831853071795864769;

}  // namespace

// runtime/kernels/random/random_words.h: normal_pair.
void GpuRoutine::normal_floats(llvm::Value* w0, llvm::Value* w1, llvm::Value*& a, llvm::Value*& b) {
  llvm::Type *single = b_.getFloatTy(), *wide = b_.getDoubleTy();
  auto row = [&](Op op, llvm::Value* x) { return b_.CreateFPTrunc(emit_row(b_, op, DType::F64, 1, {&x, 1}), single); };
  llvm::Value *u = unit_float(w0), *least = llvm::ConstantFP::get(single, static_cast<double>(1.0e-7f));
  u = b_.CreateSelect(b_.CreateFCmpOLT(u, least), least, u);
  llvm::Value* angle = b_.CreateFPTrunc(b_.CreateFMul(number(kTwoPi, wide), b_.CreateFPExt(unit_float(w1), wide)), single);
  llvm::Value* square = b_.CreateFMul(number(-2, single), row(Op::log, b_.CreateFPExt(u, wide)));
  llvm::Value* length = emit_row(b_, Op::sqrt, DType::F32, 1, {&square, 1});
  llvm::Value* turn = b_.CreateFPExt(angle, wide);
  a = b_.CreateFMul(row(Op::sin, turn), length);
  b = b_.CreateFMul(row(Op::cos, turn), length);
}

void GpuRoutine::normal_doubles(const Words& w, llvm::Value*& a, llvm::Value*& b) {
  llvm::Type* wide = b_.getDoubleTy();
  auto row = [&](Op op, llvm::Value* x) { return emit_row(b_, op, DType::F64, 1, {&x, 1}); };
  llvm::Value *u = unit_double(w.w[0], w.w[1]), *least = number(1.0e-7, wide);
  u = b_.CreateSelect(b_.CreateFCmpOLT(u, least), least, u);
  llvm::Value* angle = b_.CreateFMul(number(kTwoPi, wide), unit_double(w.w[2], w.w[3]));
  llvm::Value* length = row(Op::sqrt, b_.CreateFMul(number(-2, wide), row(Op::log, u)));
  a = b_.CreateFMul(row(Op::sin, angle), length);
  b = b_.CreateFMul(row(Op::cos, angle), length);
}

void GpuRoutine::random() {
  auto kind = static_cast<RandomKind>(r_.flags);
  bool wide = dtype_size(dtype_) == 8;
  int64_t width = wide ? 2 : 4;
  count_units({0}, kGpuThreads * width);
  llvm::Value* elements = size(0);
  llvm::Value *begin = nullptr, *range = nullptr;
  if (kind == RandomKind::integer) {
    // How many integers there are from the first to before the last: the operation refuses none.
    begin = load(2, dtype_, grid_.word(0));
    llvm::Value* end = load(3, dtype_, grid_.word(0));
    range = b_.CreateSub(end, begin);
    llvm::Value* none = is_unsigned(dtype_) ? b_.CreateICmpUGE(begin, end) : b_.CreateICmpSGE(begin, end);
    fail_if(none);
    range = b_.CreateSelect(none, llvm::ConstantInt::get(range->getType(), 1), range);
  }
  each(grid_.up(elements, width), [&](llvm::Value* group) {
    Words w = words_of_group(group);
    llvm::Value* made[4] = {};
    if (is_floating(dtype_) && kind == RandomKind::normal) {
      if (wide) {
        normal_doubles(w, made[0], made[1]);
      } else {
        normal_floats(w.w[0], w.w[1], made[0], made[1]);
        normal_floats(w.w[2], w.w[3], made[2], made[3]);
      }
    } else if (is_floating(dtype_)) {
      // As many bits as the type's mantissa holds, so that storing rounds nothing.
      uint32_t halves = dtype_ == DType::F16 ? 1u << 10 : 1u << 7;
      for (int i = 0; i < width; ++i) {
        if (wide) {
          made[i] = unit_double(w.w[2 * i], w.w[2 * i + 1]);
        } else if (dtype_ == DType::F32) {
          made[i] = unit_float(w.w[i]);
        } else {
          llvm::Value* bits = b_.CreateAnd(w.w[i], b_.getInt32(halves - 1));
          made[i] = b_.CreateFDiv(b_.CreateUIToFP(bits, b_.getFloatTy()), number(halves, b_.getFloatTy()));
        }
      }
    } else {
      for (int i = 0; i < width; ++i) {
        llvm::Value* bits = w.w[wide ? 2 * i : i];
        if (wide)
          bits =
              b_.CreateOr(b_.CreateZExt(bits, b_.getInt64Ty()), b_.CreateShl(b_.CreateZExt(w.w[2 * i + 1], b_.getInt64Ty()), 32));
        made[i] = range ? b_.CreateAdd(begin, b_.CreateURem(bits, range)) : bits;
      }
    }
    for (int i = 0; i < width; ++i) {
      llvm::Value* at = b_.CreateAdd(b_.CreateMul(group, grid_.word(width)), grid_.word(i));
      grid_.when(b_.CreateICmpSLT(at, elements), [&] { store(1, dtype_, made[i], at); });
    }
  });
}

}  // namespace tfl::codegen
