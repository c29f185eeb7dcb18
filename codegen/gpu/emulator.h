// A GPU that is this CPU: kernels are compiled to loops over their threads, and blocks run one after the other. For trying what a GPU
// would compute, bit by bit, where there is none. This header must not know plans.
#pragma once

#include <memory>

#include "runtime/core/context.h"
#include "runtime/gpu/device.h"

namespace tfl::codegen {

Result<std::unique_ptr<gpu::Device>> make_emulator(Context& context);

}  // namespace tfl::codegen
