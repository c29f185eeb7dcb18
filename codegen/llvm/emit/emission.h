// From a module to the bytes of an object file or the text of assembly. This header must not know plans.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace tfl::codegen {

/// Appends to `bytes`. False when this processor's code generator writes no files.
bool emit_module(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type, std::string& bytes);

}  // namespace tfl::codegen
