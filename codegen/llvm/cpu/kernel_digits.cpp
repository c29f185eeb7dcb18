// Maps whose inner axes are shorter than a vector: the elements of many outer indices in one row, and every element's indices
// from its number, by divisions through known sizes. What lies in a row for all axes is read and written in whole vectors.
#include "codegen/llvm/cpu/kernel_emitter.h"

namespace tfl::codegen {

using namespace plan;

// Outer indices that are walked as one row.
int64_t KernelEmitter::digit_rows() const {
  constexpr int64_t kRow = 1 << 15;
  return std::max<int64_t>(1, kRow / std::max<int64_t>(1, digit_elements()));
}

int64_t KernelEmitter::digit_elements() const {
  int64_t elements = 1;
  for (uint32_t g = 1; g < space_.groups.size(); ++g) elements *= space_.groups[g].known();
  return elements;
}

// Whether the access goes through memory as the elements are numbered.
bool KernelEmitter::is_flat(const Access& a) const {
  auto g = static_cast<uint32_t>(space_.groups.size() - 1);
  if (space_.stride(a, g) != 1) return false;
  for (int64_t elements = 1; g > 0; --g) {
    elements *= space_.groups[g].known();
    if (space_.stride(a, g - 1) != elements) return false;
  }
  return true;
}

// The index of `group` of each element of a vector, as 32 bits; of the outermost one counted from the row's first.
llvm::Value* KernelEmitter::digit(uint32_t group, Tile& tile, size_t v) {
  if (tile.digits.empty()) tile.digits.resize(tile.start.size());
  Values& digits = tile.digits[v];
  if (digits.empty()) {
    digits.resize(space_.groups.size());
    llvm::Type* type = register_type(b_, DType::I32, tile.lanes);
    llvm::Value* rest = b_.CreateTrunc(tile.start[v], b_.getInt32Ty());
    if (tile.lanes > 1) {
      llvm::SmallVector<llvm::Constant*, 64> numbers;
      for (int i = 0; i < tile.lanes; ++i) numbers.push_back(b_.getInt32(static_cast<uint32_t>(i)));
      rest = b_.CreateVectorSplat(static_cast<unsigned>(tile.lanes), rest);
      rest = b_.CreateAdd(rest, llvm::ConstantVector::get(numbers));
    }
    for (size_t g = digits.size(); --g > 0;) {
      llvm::Constant* size = llvm::ConstantInt::get(type, static_cast<uint64_t>(space_.groups[g].known()));
      llvm::Value* quotient = b_.CreateUDiv(rest, size);
      digits[g] = b_.CreateSub(rest, b_.CreateMul(quotient, size));
      rest = quotient;
    }
    digits[0] = rest;
  }
  return digits[group];
}

// The index along an axis, of the expression's type.
llvm::Value* KernelEmitter::digit_index(const Expr& e, Tile& tile, size_t v) {
  llvm::Type* type = register_type(b_, e.dtype, tile.lanes);
  uint32_t group = 0;
  while (space_.groups[group].axis != e.axis) ++group;
  llvm::Value* index = b_.CreateZExtOrTrunc(digit(group, tile, v), type);
  if (group > 0) return index;
  llvm::Value* row = b_.CreateTrunc(context_->index[0], type->getScalarType());
  return b_.CreateAdd(index, tile.lanes > 1 ? b_.CreateVectorSplat(static_cast<unsigned>(tile.lanes), row) : row);
}

// What the indices add to the address of the row: null for nothing.
llvm::Value* KernelEmitter::digit_offsets(const Access& a, Tile& tile, size_t v) {
  llvm::Type* wide = register_type(b_, DType::I64, tile.lanes);
  auto splat = [&](llvm::Value* x) { return tile.lanes > 1 ? b_.CreateVectorSplat(static_cast<unsigned>(tile.lanes), x) : x; };
  // 32 bits do if nothing can leave them, and take half the registers.
  bool narrow = true;
  int64_t most = 0;
  for (uint32_t g = 0; g < space_.groups.size(); ++g) {
    std::optional<int64_t> stride = known_size(plan_, space_.stride(a, g));
    int64_t count = g == 0 ? digit_rows() : space_.groups[g].known(), reach = 0;
    narrow = narrow && stride && !__builtin_mul_overflow(std::abs(*stride), count, &reach);
    narrow = narrow && !__builtin_add_overflow(most, reach, &most);
  }
  narrow = narrow && most < INT32_MAX;
  llvm::Value* sum = nullptr;
  for (uint32_t g = 0; g < space_.groups.size(); ++g) {
    Size stride = space_.stride(a, g);
    if (stride == 0) continue;
    llvm::Value* index = digit(g, tile, v);
    llvm::Value* factor = size(stride);
    if (narrow) {
      factor = b_.CreateTrunc(factor, b_.getInt32Ty());
    } else {
      index = b_.CreateZExt(index, wide);
    }
    index = b_.CreateMul(index, splat(factor));
    sum = sum ? b_.CreateAdd(sum, index) : index;
  }
  return sum && narrow ? b_.CreateSExt(sum, wide) : sum;
}

void KernelEmitter::emit_digits(const std::vector<bool>& needed) {
  int64_t rows = digit_rows();
  loop(first_, last_, rows, false, [&](llvm::Value* row) {
    Context saved = *context_;
    context_->index[0] = row;
    compute_bases(needed, [](const Stage&) { return true; });
    llvm::Value* some = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(last_, row), word(rows));
    llvm::Value* count = b_.CreateMul(some, word(digit_elements()));
    for_tiles(word(0), count, -1, space_.lanes, space_.unroll, masks_tails(), [&](Tile& tile) {
      compute_tile(needed, tile);
      run_stages(0, tile);
    });
    *context_ = std::move(saved);
  });
}

}  // namespace tfl::codegen
