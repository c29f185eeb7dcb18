// Who does what when a plan runs on a GPU: kernels and products with much to do are launched over many blocks, everything between
// them (scalars, checks, small kernels, and the branches and loops that have nothing else in them) is a segment, which one block of
// threads goes through in one launch. Branches and loops around what is launched over many blocks are the program's: it reads the
// condition back. This header must not know LLVM or devices.
#pragma once

#include <string>
#include <vector>

#include "codegen/llvm/compile.h"
#include "codegen/plan/plan.h"

namespace tfl::codegen {

struct GpuStep {
  enum class Kind : uint8_t { segment, kernel, product, branch, loop };
  Kind kind = Kind::segment;
  uint32_t index = 0;                         // of GpuModule::segments, kernels, products
  uint32_t word = 0;                          // of the frame, that the condition is in
  DType dtype = DType::Bool;                  // of the condition
  int64_t limit = -1;                         // iterations of a loop at most
  std::vector<std::vector<GpuStep>> blocks;   // as those of plan::Step; of a loop: what computes the condition, the body
};

struct GpuSchedule {
  plan::Plan plan;  // with words for scalars that one segment leaves to another
  GpuModule module;
  std::vector<GpuStep> steps;
  bool checks = false;    // there are checks: nothing may run after one that failed
  bool supported = true;  // GPUs have code for all of it
};

GpuSchedule gpu_schedule(plan::Plan plan);
/// A line for each launch, indented by branches and loops.
std::string schedule_text(const GpuSchedule& s);

}  // namespace tfl::codegen
