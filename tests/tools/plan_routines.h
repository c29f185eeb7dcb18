// Routines of plans, run on one thread with the portable kernels.
#pragma once

#include "codegen/plan/build.h"
#include "runtime/kernels/linalg/matrix_loops.h"
#include "runtime/kernels/random/random_loops.h"
#include "runtime/kernels/random/sample_loops.h"
#include "runtime/kernels/reduce/arg_loops.h"
#include "runtime/kernels/routine_levels.h"

namespace tfl::test {

template <bool (*run)(const Workers&, const MatrixLevel&, const RoutineCall&)>
bool on_matrices(const Workers& w, const RoutineCall& c) {
  return run(w, matrix_level(IsaLevel::base), c);
}

/// False when the routine failed on these values.
inline bool run_routine(Routine routine, const RoutineCall& call) {
  const RoutineFunction kRun[] = {
      scan_routine(IsaLevel::base),
      args::run,
      scatter_routine(IsaLevel::base),
      segment_routine(IsaLevel::base),
      sort_routine(IsaLevel::base),
      [](const Workers& w, const RoutineCall& c) { return randoms::run(w, random_kernels(IsaLevel::base), c); },
      on_matrices<matrices::solve>,
      on_matrices<matrices::factor>,
      samples::run};
  const uint32_t never = 0;
  return kRun[static_cast<int>(routine)](Workers{1, &never}, call);
}

}  // namespace tfl::test
