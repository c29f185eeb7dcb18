// The form in which the evaluator runs a function: instructions over slots. Regions lie in line, joined by jumps, and share the
// frame of their function, so that control flow needs no recursion. This header must not know how instructions run.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "ir/graph.h"

namespace tfl::ir::program {

/// Where an instruction finds or leaves a value: a slot for tensors, a slot for arrays and resources, a constant of the code. A
/// source with the move bit gives its value away: the slot is empty afterwards.
using Place = uint32_t;
inline constexpr Place kDiscard = UINT32_MAX;  // a result that nobody wants
inline constexpr uint32_t kMove = 1u << 31, kObject = 1u << 30, kConstant = 1u << 29, kIndex = kConstant - 1;

enum class Step : uint8_t {
  kernel,       // an operation of the table
  softmax,      // several at once: ir/softmax.h; target: its logarithm
  control,      // a row of control.def with an effect or an array
  move,         // sources to results, all at once
  release,      // empties sources
  jump,         // to target
  branch,       // to target when the source is false
  choose,       // to targets[target + index of the branch]
  start_count,  // counter `target2` = 0
  count,        // to target when counter `target2` has reached the node's limit, else count one
  back,         // to target; an iteration is over
  call,         // code number target
  finish,       // sources are the function's results
};

struct Instruction {
  Step step;
  uint16_t unused = 0;
  uint32_t sources = 0, source_count = 0;  // in Code::places
  uint32_t results = 0, result_count = 0;
  uint32_t target = 0, target2 = 0;
  const Node* node = nullptr;
};

inline bool is_kernel(const Instruction& i) { return i.step == Step::kernel || i.step == Step::softmax; }

struct Code {
  const Function* function = nullptr;
  std::vector<Instruction> instructions;
  std::vector<Place> places;
  std::vector<Tensor> constants;
  std::vector<uint32_t> targets;
  std::vector<Place> params;
  uint32_t tensor_slots = 0, object_slots = 0, counters = 0;
};

/// The codes of a function and of every function that it calls; the first is its own.
std::vector<std::unique_ptr<Code>> compile(const Function& f);

}  // namespace tfl::ir::program
