// Natives of `_graph` for saved models: graphs to text and back, and their parameters bound to variables and tensors.
// This header must not know files.
#pragma once

#include "frontend/core/native.h"

namespace tfl {

std::span<const NativeDef> saved_natives();

}  // namespace tfl
