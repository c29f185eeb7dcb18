// LLVM's passes over a module: few, since plans are optimised already. What is left to do is what only shows in instructions:
// addresses that are computed twice, constants that fold, loads and arithmetic that a loop repeats. No pass of the list, and no flag of
// an instruction, may change the value of a float operation. This header must not know plans.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace tfl::codegen {

void optimize_module(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace tfl::codegen
