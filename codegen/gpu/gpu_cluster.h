// The code of one cluster on the GPUs that it was called on: compiled at the first call, or found on disk. This header must not know LLVM.
#pragma once

#include <memory>
#include <string>

#include "codegen/gpu/gpu_function.h"
#include "ir/graph.h"

namespace tfl::codegen {

/// The environment variable with a folder that the PTX of whatever is compiled for an emulated GPU is written to, for tests.
inline constexpr const char* kPtxFolder = "TFL_GPU_PTX";

struct GpuOptions {
  std::string cache_folder;
  Cpu cpu = Cpu::x86_64_v3;  // for an emulated GPU
  bool verbose = false;
};

/// What code for this device is made for: "sm_80"; empty for an emulated one.
std::string gpu_target(const gpu::Device& device);

class GpuCluster {
 public:
  /// As GpuFunction::run; false also when there is no code for `function`. The context's devices count what became of the call.
  bool run(Context& context, gpu::Device& device, const ir::Function& function, const GpuOptions& options,
           std::span<const Tensor> inputs, std::span<Tensor> results);

 private:
  Result<void> load(Context& context, gpu::Device& device, const ir::Function& function, const GpuOptions& options);

  std::unique_ptr<GpuFunction> loaded_;  // on the device that it was called on last
  bool fast_ = false;                    // with the device's own products
  gpu::Device* refused_ = nullptr;       // has no code for it
  std::string why_;                      // of the last refusal
};

}  // namespace tfl::codegen
