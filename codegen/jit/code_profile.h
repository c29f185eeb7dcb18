// What the steps of machine code did, for `tfl profile`: code with probes tells which step runs and counts them, and their sizes say how many
// operations and bytes that is. This header must not know who looks at it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/llvm/compile.h"
#include "codegen/plan/plan.h"
#include "runtime/support/current_step.h"

namespace tfl::codegen {

/// Of one cluster. Behind the words of a plan, code with probes has one that holds the number of the step that runs, and one a step that counts
/// its runs.
class CodeProfile {
 public:
  CodeProfile(const plan::Plan& plan, const LineTable& lines);
  CodeProfile(const CodeProfile&) = delete;
  CodeProfile& operator=(const CodeProfile&) = delete;

  size_t words() const { return steps.size() + 1; }
  /// A run has ended; `words` are the frame's, `taken` the bytes that it took for temporaries and results.
  void add(const plan::Plan& plan, const int64_t* words, size_t taken);

  std::string name;  // of the function
  std::vector<CodeStep> steps;
  uint64_t runs = 0;
  size_t most_bytes = 0;

 private:
  void walk(const plan::Plan& plan, const plan::Block& block, const LineTable& lines, const std::vector<uint32_t>& uses);
  std::vector<plan::Step> plan_steps_;  // without their blocks
};

/// Of all that runs.
struct JitProfile {
  Running running{nullptr};
  std::vector<std::unique_ptr<CodeProfile>> functions;
};

}  // namespace tfl::codegen
