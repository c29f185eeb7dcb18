// Which step of machine code runs now, for a profiler that looks from a signal handler, and what steps have done. This header must not know where
// machine code comes from.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace tfl {

/// A kernel, a product, a routine or a loop of a traced function.
struct CodeStep {
  struct Line {
    std::string file, function;
    uint32_t line = 0;
    double share = 1;  // of the step's cost; all together are 1
  };
  std::string name;         // "multiply_add_relu", "matmul 1000x784x128"
  std::vector<Line> lines;  // the dearest first; none: nobody knows
  uint64_t runs = 0;
  double operations = 0, bytes = 0;  // in all runs; bytes: each element that is read or written once
};

/// A run of machine code: `*step` is the number of the step that runs now.
struct RunningCode {
  const CodeStep* steps;
  const int64_t* step;
  int64_t count;
};
using Running = std::atomic<const RunningCode*>;  // null: none

}  // namespace tfl
