// What the files of reductions for GPUs share. This header must not know how a form goes through its elements.
#pragma once

#include "codegen/llvm/gpu/kernel.h"

namespace tfl::codegen::gpu_reduce {

inline constexpr int64_t kRows = kGpuThreads / kReduceLanes;  // of threads in a block
inline constexpr int64_t kWord = 8;                           // bytes that a partial result takes of shared memory
inline constexpr int64_t kManyLevels = 40;                    // of blocks, where their number is not known

inline bool reduces(const plan::Stage& s) { return s.kind == plan::Stage::Kind::reduce; }
inline bool stores_once(const plan::Stage& s) { return s.kind == plan::Stage::Kind::store_once; }
inline bool in_elements(const plan::Stage& s) { return s.kind != plan::Stage::Kind::store_once; }

/// The least power of two that is not below x, which is at least 1.
inline llvm::Value* power_of_two(Builder& b, llvm::Value* x) {
  llvm::Value* zeros = b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, b.CreateSub(x, b.getInt64(1)), b.getFalse());
  llvm::Value* power = b.CreateShl(b.getInt64(1), b.CreateAnd(b.CreateSub(b.getInt64(64), zeros), b.getInt64(63)));
  return b.CreateSelect(b.CreateICmpSLE(x, b.getInt64(1)), b.getInt64(1), power);
}

inline llvm::Value* least(Builder& b, llvm::Value* x, llvm::Value* y) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y);
}

}  // namespace tfl::codegen::gpu_reduce
