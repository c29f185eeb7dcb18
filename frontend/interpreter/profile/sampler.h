// Where a script is, a thousand times a second: a timer interrupts the thread of the interpreter, and the handler notes the
// frames that are on its chain. Time is charged to what was found at the end of it, so that it adds up to the time of the run.
// This header must not know how profiles are shown.
#pragma once

#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "frontend/core/code.h"
#include "frontend/core/interp.h"
#include "runtime/support/current_step.h"

namespace tfl::profile {

/// A place of the script and who called it: a stack is a node and its parents.
struct Node {
  uint32_t parent;   // of the node that called; 0: nobody
  const Code* code;  // null for the first node, which stands for no frame at all, and where there is a step
  const Instruction* ip;
  const CodeStep* step;  // of machine code that the place around it runs, and no place of the script; null: it is one
  uint64_t self;         // nanoseconds
};

/// From here until the next one's time the stack was `node`.
struct Moment {
  uint64_t begin;  // nanoseconds from the start
  uint32_t node;
};

/// Samples the thread that makes it. Code objects live as long as it does, so that what was noted can be read at the end.
class Sampler {
 public:
  /// `running`: what machine code runs.
  Sampler(Interp& interp, const Running& running);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// False when the system gives no timer or no memory.
  bool start();
  void stop();

  std::span<const Node> nodes() const { return {nodes_, node_count_}; }
  std::span<const Moment> moments() const { return {moments_, moment_count_}; }
  uint64_t samples() const { return samples_; }
  uint64_t nanoseconds() const { return last_ - begin_; }

 private:
  static void on_signal(int number, siginfo_t* info, void* machine);
  void sample(const void* machine);
  bool read_frame(const void* frame, uintptr_t out[3]) const;
  bool is_code(const Code* code);
  uint32_t node_of(uint32_t parent, const Code* code, const Instruction* ip, const CodeStep* step);

  struct Place {
    const Code* code;
    const Instruction* ip;
  };
  static constexpr size_t kDepth = 128;       // calls that are noted, the innermost ones
  static constexpr size_t kNodes = 1u << 19;  // different stacks; later ones count for who called
  static constexpr size_t kSlots = 1u << 20;
  static constexpr size_t kMoments = 1u << 22;  // an hour of changes; later ones are only counted
  static constexpr size_t kKnown = 1024;

  Interp& interp_;
  const Running& running_code_;
  Slots kept_;  // of code objects, while they do not go
  const Slots* before_;
  timer_t timer_{};
  bool running_ = false, safe_reads_ = true;
  // What the handler writes: mapped before, touched when it comes to it.
  Node* nodes_ = nullptr;
  uint32_t* slots_ = nullptr;  // a hash table of indices of nodes
  Moment* moments_ = nullptr;
  uint32_t node_count_ = 0;
  size_t moment_count_ = 0;
  uint64_t samples_ = 0, begin_ = 0, last_ = 0;
  Place stack_[kDepth];
  const Code* known_[kKnown] = {};  // addresses that are code objects
};

}  // namespace tfl::profile
