// The function that a run enters: the steps of a plan, in order. Scalars are registers; kernels, products and the threads that they
// use are calls. This header must not know how a kernel goes through its elements.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "codegen/llvm/compile.h"

namespace tfl::codegen {

/// Adds `int64_t entry(Frame*)` and everything it calls to `module`. Gives what is wrong with the plan, or nothing.
std::string emit_driver(llvm::Module& module, const CompileRequest& request);

}  // namespace tfl::codegen
