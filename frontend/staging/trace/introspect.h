// What a script sees of a graph: its nodes and their values.
#pragma once

#include "frontend/core/native.h"

namespace tfl {

/// Natives of the module `_graph`.
std::span<const NativeDef> introspection_natives();

}  // namespace tfl
