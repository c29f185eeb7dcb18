// Natives of `_graph` for tests that run in two modes: records of what traced functions give, and their comparison.
// This header must not know about tests.
#pragma once

#include "frontend/core/native.h"

namespace tfl {

std::span<const NativeDef> record_natives();

}  // namespace tfl
