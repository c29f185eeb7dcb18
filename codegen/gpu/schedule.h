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
  enum class Kind : uint8_t { segment, kernel, product, routine, branch, loop };
  Kind kind = Kind::segment;
  uint32_t index = 0;                         // of GpuModule::segments, kernels, products, routines
  uint32_t word = 0;                          // of the frame, that the condition is in
  DType dtype = DType::Bool;                  // of the condition
  int64_t limit = -1;                         // iterations of a loop at most
  uint32_t location = 0;                      // of a branch or loop, in ir::Function::locations
  std::vector<std::vector<GpuStep>> blocks;   // as those of plan::Step; of a loop: what computes the condition, the body
};

struct GpuSchedule {
  plan::Plan plan;  // with words for scalars that one segment leaves to another
  GpuModule module;
  std::vector<GpuStep> steps;
  bool checks = false;    // there are checks: nothing may run after one that failed
  bool supported = true;  // GPUs have code for all of it
};

/// A branch or a loop of the plan, and who goes through it.
struct GpuControl {
  bool is_loop = false, by_host = false;  // else one block of threads in one launch
  bool recorded = false;                  // the launches of an iteration become one where the driver records them
  uint32_t location = 0;
};

GpuSchedule gpu_schedule(plan::Plan plan);
/// Whether nothing in these steps is decided by the host.
bool is_straight(const std::vector<GpuStep>& steps);
std::vector<GpuControl> control_of(const GpuSchedule& s);
/// A line for each launch, indented by branches and loops.
std::string schedule_text(const GpuSchedule& s);

}  // namespace tfl::codegen
