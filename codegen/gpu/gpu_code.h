// What the compiler makes of a plan for a GPU: what a device loads, and how many units each of its kernels has. It is bytes on disk, as
// objects for CPUs are. This header must not know LLVM or devices.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/gpu/schedule.h"

namespace tfl::codegen {

/// The oldest GPUs that code is made for by default; newer ones take it, too.
inline constexpr std::string_view kGpuTarget = "sm_80";

struct GpuCode {
  std::string image;            // PTX; for an emulated GPU the names of the kernels in a line, and an object
  std::vector<GpuUnits> units;  // of GpuModule::kernels, then products, then the launches of routines
};

/// `target`: "sm_80", ...; empty: an emulated GPU. Gives what went wrong, or nothing.
std::string compile_gpu(const GpuSchedule& schedule, std::string_view target, Cpu cpu, GpuCode& code);

std::string gpu_code_bytes(const GpuCode& code);
/// False when these are no such bytes.
bool read_gpu_code(std::string_view bytes, GpuCode& code);

/// Names as the compiler gives them.
std::string segment_name(size_t segment);
std::string kernel_name(const GpuModule& module, size_t kernel);
std::string product_name(const GpuModule& module, size_t product);

}  // namespace tfl::codegen
