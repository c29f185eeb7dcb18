// From a request to bytes: the module of a plan, LLVM's passes over it, an object file or a text. This header must not include LLVM.
#pragma once

#include "codegen/llvm/compile.h"

namespace tfl::codegen {

/// Thread-safe. Never ends the process: what LLVM calls a fatal error becomes CompileResult::error.
void compile_module(const CompileRequest& request, CompileResult& result);

}  // namespace tfl::codegen
