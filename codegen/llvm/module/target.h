// The processors that code is made for. This header must not know plans.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "codegen/llvm/compile.h"

namespace tfl::codegen {

/// What the back end needs to know of a processor; null and a reason when this build cannot make code for it. Thread-safe.
std::unique_ptr<llvm::TargetMachine> make_target(Cpu cpu, std::string& error);
/// The same for a GPU: "sm_80", ...
std::unique_ptr<llvm::TargetMachine> make_gpu_target(const std::string& name, std::string& error);

}  // namespace tfl::codegen
