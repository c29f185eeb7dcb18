// Who does what when a plan runs on a GPU: kernels and products with much to do are launched over many blocks, everything between
// them (scalars, checks, small kernels, and the branches and loops that have nothing else in them) is a segment, which one block of
// threads goes through in one launch. Branches and loops around what is launched over many blocks are parts of a graph of launches,
// or the program's, which reads the condition back. This header must not know LLVM or devices.
#pragma once

#include <string>
#include <vector>

#include "codegen/llvm/gpu/launches.h"
#include "codegen/plan/plan.h"

namespace tfl::codegen {

struct GpuStep {
  enum class Kind : uint8_t { segment, kernel, product, fast_product, routine, branch, loop };
  Kind kind = Kind::segment;
  uint32_t index = 0;                        // of GpuModule::segments, kernels, products, routines; of a fast product in the plan
  uint32_t word = 0;                         // of the frame, that the condition is in
  DType dtype = DType::Bool;                 // of the condition
  int64_t limit = -1;                        // iterations of a loop at most
  uint32_t counter = 0;                      // where there is a limit: a word of the frame that counts them
  uint32_t location = 0;                     // of a branch or loop, in ir::Function::locations
  std::vector<std::vector<GpuStep>> blocks;  // as those of plan::Step; of a loop: what computes the condition, the body
};

/// So many bytes for each combination of `factors`, rounded up.
struct GpuMemory {
  std::vector<GpuUnits::Factor> factors;
  int64_t bytes = 0;
};

struct GpuSchedule {
  plan::Plan plan;  // with words for scalars that one segment leaves to another
  GpuModule module;
  std::vector<GpuStep> steps;
  std::vector<std::vector<GpuMemory>> memory;  // what each routine needs that is spread: they share it, one after the other
  uint32_t memory_word = plan::kNone;          // its address is there
  bool checks = false;                         // there are checks: nothing may run after one that failed
  bool supported = true;                       // GPUs have code for all of it
};

/// A branch or a loop of the plan, and who goes through it.
struct GpuControl {
  bool is_loop = false, over_launches = false;  // else one block of threads in one launch
  uint32_t location = 0;
};

/// With `fast_products` large products of f32 are the device's (gpu::Device::multiply), not kernels.
GpuSchedule gpu_schedule(plan::Plan plan, bool fast_products = false);
/// Whether nothing in these steps depends on what they compute.
bool is_straight(const std::vector<GpuStep>& steps);
/// Whether all of them are launches of kernels, which a graph may have.
bool is_recordable(const std::vector<GpuStep>& steps);
std::vector<GpuControl> control_of(const GpuSchedule& s);
/// A line for each launch, indented by branches and loops.
std::string schedule_text(const GpuSchedule& s);

}  // namespace tfl::codegen
