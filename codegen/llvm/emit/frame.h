// The frame of a run (codegen/abi.h) in LLVM IR, but for its words (codegen/llvm/cpu/kernel.h), and constants. This header must not know kernels or steps.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/llvm/emit/elements.h"

namespace tfl::codegen {

/// The fields before the words.
llvm::Value* load_services(Builder& b, llvm::Value* frame);
llvm::Value* load_interrupt(Builder& b, llvm::Value* frame);  // the address that Frame::interrupt holds
llvm::Value* failed_address(Builder& b, llvm::Value* frame);
llvm::Value* services_field(Builder& b, llvm::Value* services, size_t offset);  // a function's address

/// void (Frame*, i64 first, i64 last)
llvm::FunctionType* kernel_type(llvm::LLVMContext& context);

/// The type of pointers to the frame and to what it points to, on a GPU.
llvm::PointerType* frame_pointer(llvm::LLVMContext& context, bool emulated);

/// The register value of an element that has these bytes in memory, low bytes first.
llvm::Constant* element_constant(Builder& b, DType dtype, uint64_t bits);

}  // namespace tfl::codegen
