// Routines of plans, run on one thread with the portable kernels.
#pragma once

#include "codegen/plan/build.h"
#include "runtime/kernels/index/scatter_loops.h"
#include "runtime/kernels/index/segment_loops.h"
#include "runtime/kernels/index/sort_loops.h"
#include "runtime/kernels/linalg/matrix_loops.h"
#include "runtime/kernels/random/random_loops.h"
#include "runtime/kernels/random/sample_loops.h"
#include "runtime/kernels/reduce/arg_loops.h"
#include "runtime/kernels/reduce/scan_loops.h"

namespace tfl::test {

template <bool (*run)(const Workers&, const MatrixLevel&, const RoutineCall&)>
bool on_matrices(const Workers& w, const RoutineCall& c) {
  return run(w, matrix_level(IsaLevel::base), c);
}

/// False when the routine failed on these values.
inline bool run_routine(Routine routine, const RoutineCall& call) {
  constexpr RoutineFunction kRun[] = {
      scans::run,
      args::run,
      scatters::run,
      segments::run,
      sorts::run,
      [](const Workers& w, const RoutineCall& c) { return randoms::run(w, random_kernels(IsaLevel::base), c); },
      on_matrices<matrices::solve>,
      on_matrices<matrices::factor>,
      samples::run};
  const uint32_t never = 0;
  return kRun[static_cast<int>(routine)](Workers{1, &never}, call);
}

}  // namespace tfl::test
