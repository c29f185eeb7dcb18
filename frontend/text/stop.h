// What ends long work on a text early, since nobody waits for the result any more.
#pragma once

#include <atomic>
#include <cstdint>

namespace tfl {

/// Not 0: what is left need not be done, because the caller looks at no result. Null: never.
using Stop = const std::atomic<uint32_t>*;
inline bool stops(Stop stop) { return stop && stop->load(std::memory_order_relaxed) != 0; }

}  // namespace tfl
