// The exported functions of a native library. This header must not know what the library's runtime does with what it is handed.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/llvm/compile.h"

namespace tfl::codegen {

/// Adds them, the description and the metadata to `module`.
void emit_library(llvm::Module& module, const LibraryModule& library);

}  // namespace tfl::codegen
