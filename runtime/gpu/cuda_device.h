// NVIDIA GPUs as devices. This header must not know the driver's interface, tensors or plans.
#pragma once

#include <memory>
#include <vector>

#include "runtime/gpu/device.h"

namespace tfl::gpu {

/// The GPUs that NVIDIA's driver has and that TFL can use; the failure is one sentence that says why there is none.
/// Nothing of a GPU is taken before it is used.
Result<std::vector<std::unique_ptr<Device>>> find_cuda_devices();

}  // namespace tfl::gpu
