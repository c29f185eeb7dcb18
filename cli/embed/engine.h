// What an interpreter needs beside the frontend to run programs as they are meant to run: the optimiser, the compiler, GPUs. The program and
// libtfl put it together here, in one way. This header must not know about command lines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/gpu/gpu_operations.h"
#include "codegen/jit/jit.h"
#include "frontend/core/interp.h"
#include "optimizer/pass.h"

namespace tfl::embed {

/// The context of an interpreter, with what makes machine code of its functions.
struct ProgramContext final : Context {
  ProgramContext(const ContextOptions& options, const codegen::JitOptions& jit_options)
      : Context(options), jit(jit_options), gpu_operations({jit_options.cache_folder, jit_options.cpu, jit_options.verbose}) {}
  codegen::Jit jit;
  codegen::GpuOperations gpu_operations;
  std::string* gpu_report = nullptr;  // tfl explain: gets what a GPU would do with each function
  /// Passes that graphs go through before they run, each verified; null: the usual ones.
  std::unique_ptr<const std::vector<const optimizer::PassInfo*>> passes;
};

/// Lets `interp`, which runs in `context`, optimise and compile what it traces, and use GPUs.
void complete(Interp& interp, ProgramContext& context);

}  // namespace tfl::embed
