// Between elements in registers and in memory. This header must not know addresses.
#pragma once

#include "codegen/llvm/emit/elements.h"

namespace tfl::codegen {

/// `lanes` of a scalar type.
llvm::Type* vector_of(llvm::Type* scalar, int lanes);
/// Bool becomes bytes, half types their 16 bits; and back.
llvm::Value* to_memory(Builder& b, DType dtype, int lanes, llvm::Value* x);
llvm::Value* from_memory(Builder& b, DType dtype, int lanes, llvm::Value* x);

}  // namespace tfl::codegen
