// How many launches a routine of a plan is on a GPU. One that has little to do is a block's; one with much to do is spread over many
// blocks, in several launches, and has memory of its own for what these hand on. This header must not know LLVM.
#pragma once

#include <algorithm>
#include <bit>

#include "codegen/llvm/compile.h"
#include "runtime/kernels/reduce/scan_loops.h"

namespace tfl::codegen {

/// Entries that one block sorts; longer rows are merged of such parts.
inline constexpr int64_t kSortedByBlock = 1 << 12;

/// A routine that is spread has one pointer more than others that GPUs have code for: to its memory.
inline constexpr size_t kSpreadPointer = 4;
inline bool is_spread(const plan::RoutineStep& r) { return r.at.size() > kSpreadPointer; }

/// Mergers of sorted parts until a row is one; of a row of unknown length as many as any could need.
inline int gpu_mergers(const plan::RoutineStep& r) {
  int64_t length = plan::is_known(r.sizes[1]) ? r.sizes[1] : INT64_C(1) << 32;
  return std::bit_width(static_cast<uint64_t>(std::max<int64_t>(length, 1) - 1) / kSortedByBlock);
}

inline int gpu_launches(const plan::RoutineStep& r) {
  if (!is_spread(r)) return gpu_phases(r.routine);
  switch (r.routine) {
    case Routine::scatter:
    case Routine::segment: return 6;  // prepared, counted, given places, listed, lists sorted, applied
    case Routine::sort: return 2 + gpu_mergers(r);
    case Routine::scan: return 3;  // totals of blocks, what comes before each, results
    default: return gpu_phases(r.routine);
  }
}

}  // namespace tfl::codegen
