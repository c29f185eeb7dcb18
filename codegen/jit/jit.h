// Machine code at run time: clusters of traced functions are compiled, on another thread where that helps, kept on disk, loaded
// and run. This header must not know LLVM.
#pragma once

#include <memory>
#include <string>

#include "codegen/jit/code_profile.h"
#include "codegen/llvm/compile.h"
#include "codegen/load/loader.h"
#include "ir/graph.h"
#include "ir/native.h"

namespace tfl::codegen {

struct JitOptions {
  bool enabled = true;       // --no-jit
  bool wait = false;         // compile before the first run of every cluster, so that machine code runs from the first call on
  bool in_advance = false;   // compile every cluster of a graph that is prepared, though it may never run
  std::string cache_folder;  // of object files; empty: none is kept
  Cpu cpu = Cpu::x86_64_v3;  // --cpu; by default the best that this machine has
  double loop_patience = 1;  // seconds that a function with a loop waits for its code before the evaluator runs it
  CodeListeners listeners;   // who else is told about code
  bool profile = false;      // code tells what it does (Jit::profile)
  bool verbose = false;      // says on standard error what was compiled and how long it took
};

/// What became of the clusters that were run so far.
struct JitCounts {
  uint32_t compiled = 0;   // by this program
  uint32_t loaded = 0;     // found on disk
  uint32_t failed = 0;     // the compiler refused them
  uint32_t unplanned = 0;  // they have no plan
  double seconds = 0;      // spent compiling, on whichever thread
};

/// One per program. Outlines clusters of prepared graphs and gives them machine code.
class Jit {
 public:
  explicit Jit(const JitOptions& options);
  ~Jit();
  /// Nothing more will be asked for: drops what has not begun to be compiled, waits a little for what has (compiler_left_alone).
  void stop();
  Jit(const Jit&) = delete;
  Jit& operator=(const Jit&) = delete;

  /// Outlines clusters of `f`, and sets Function::native of each of them.
  Result<void> prepare(Context& context, ir::Function& f);

  JitCounts counts() const;
  /// What the code that ran did, where the options ask for it.
  JitProfile& profile();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// Whether a compilation that takes long goes on after its Jit went: the process must then end without destroying what libraries
/// hold (_exit).
bool compiler_left_alone();

}  // namespace tfl::codegen
