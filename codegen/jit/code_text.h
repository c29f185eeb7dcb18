// What becomes of a function's clusters, as text for people: their plans, LLVM's intermediate code, assembly, PTX. This header must not know
// how code is run.
#pragma once

#include <string>

#include "codegen/llvm/compile.h"
#include "ir/graph.h"
#include "runtime/core/context.h"

namespace tfl::codegen {

enum class CodeText : uint8_t { plan, llvm, assembly, ptx };

/// Outlines the clusters of `f`, an optimised function, and tells about each in order. An error where the compiler cannot be had.
Result<std::string> code_text(Context& context, ir::Function& f, CodeText what, Cpu cpu);

/// A plan's kernels for a GPU ("sm_80"), behind comments that tell what is launched; a comment where the CPU runs it.
std::string ptx_text(plan::Plan plan, std::string_view target);

/// What a GPU would do with the clusters of `f`: launches, and who goes through branches and loops. `f` is outlined.
std::string gpu_report(Context& context, ir::Function& f);

}  // namespace tfl::codegen
