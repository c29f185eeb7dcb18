// A plan as kernels for a GPU: codegen/llvm/compile.h, GpuModule. This header must not know how a kernel goes through its elements.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "codegen/llvm/compile.h"

namespace tfl::codegen {

/// Adds the kernels to `module`. For an emulated GPU also `int64_t tfl_run(call)`, which runs one block of one of them. Gives what is
/// wrong with the plan, or nothing.
std::string emit_gpu(llvm::Module& module, const CompileRequest& request, std::vector<GpuUnits>& units);
/// Takes away from an optimised module what PTX has no form for.
void tidy_gpu(llvm::Module& module);

}  // namespace tfl::codegen
