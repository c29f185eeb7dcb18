// Kernels of a plan as LLVM IR: the loops over elements, in vectors written out. A kernel becomes an internal function
// `void name(Frame*, i64 first, i64 last)` over units [first, last). This header must not know steps of the driver.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/llvm/compile.h"
#include "codegen/llvm/emit/elements.h"
#include "codegen/plan/plan.h"

namespace tfl::codegen {

/// Where in the source a location (Expr::location) is, inside `function`; may be null.
using Locate = llvm::function_ref<llvm::DebugLoc(llvm::Function& function, uint32_t location)>;

/// Units are those of plan::Form for `rows`, `blocks` and `tree`, and for a map that is the epilogue of a product (rows of the
/// product's result); for other maps and for `columns` they are what emit_kernel_call says. An operation that would raise for an
/// element sets Frame::failed; so does a loop that was interrupted. Rows read their symbols and addresses from the frame.
llvm::Function* emit_kernel(llvm::Module& module, const plan::Plan& plan, uint32_t kernel, Cpu cpu, Locate locate = nullptr);

/// Runs all units of `function`, which emit_kernel made of the kernel: here if there is little to do, else through
/// Services::parallel. `frame` is the Frame*. The builder stands at the end of the last block afterwards.
void emit_kernel_call(Builder& b, const plan::Plan& plan, uint32_t kernel, Cpu cpu, llvm::Function* function, llvm::Value* frame);

/// Frame::words[word] as i64; its address; other fields.
llvm::Value* emit_word(Builder& b, llvm::Value* frame, uint32_t word);
llvm::Value* emit_word_address(Builder& b, llvm::Value* frame, uint32_t word);
/// A known size, or the frame's word of its symbol.
llvm::Value* emit_size(Builder& b, llvm::Value* frame, plan::Size size);

}  // namespace tfl::codegen
