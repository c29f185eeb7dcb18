// The reference evaluator: runs a graph node by node with the eager kernels. The oracle of every other way to run one; compiled
// code must give the same bits. Values die after their last use, and an operation may take over the memory of one that dies with
// it.
#pragma once

#include "ir/datum.h"
#include "ir/graph.h"
#include "ir/native.h"

namespace tfl::ir {

/// What a running graph needs of the outside beyond its resources.
struct Host {
  virtual ~Host() = default;
  virtual Result<void> print(std::string_view text, std::string_view stream) = 0;
  /// int64[3]: the state of a generator for the draw `node`, which takes so many groups of words.
  virtual Result<Tensor> next_seed(const Node& node, int64_t groups) = 0;
  /// Called between nodes of long runs and once an iteration: Ctrl-C, timeout.
  virtual Result<void> check_interrupt() = 0;
};

/// A function made ready to run: slots for values, last uses, constants. Made once a function, shared by its runs;
/// thread-compatible.
class Program {
 public:
  /// A place on the way to what failed, in the table of its function.
  struct Place {
    const Locations* locations;
    uint32_t location;
  };

  static Result<std::shared_ptr<const Program>> build(std::shared_ptr<const Function> f);
  virtual ~Program() = default;
  /// `inputs` are consumed. `failed`, unless null, is told the places of the calls in progress when an error came up, the innermost
  /// last, and then that of the node that failed.
  virtual Result<void> run(Context& context, Host& host, std::span<Datum> inputs, std::vector<Datum>& outputs,
                           std::vector<Place>* failed) const = 0;

  /// A function that is nothing but one call of machine code, on its inputs and on the values of variables among them. Whoever
  /// has these at hand may call that without run(), and calls run() when it gives false.
  struct Direct {
    static constexpr uint32_t kRead = 1u << 31;
    std::shared_ptr<Native> native;
    SmallVec<uint32_t, 6> arguments;  // which input of the function is each of the code's; with kRead: the value of that variable
    SmallVec<uint32_t, 4> results;    // which of the code's results is each of the function's
    uint32_t given = 0;               // results of the code
  };
  const Direct* direct() const { return direct_.native ? &direct_ : nullptr; }

  /// A function of nothing but a few operations on tensors is run here without a frame. False: it is no such function, or something
  /// failed, which run() tells.
  virtual bool run_plain(Context& context, std::span<TensorRep* const> inputs, std::span<Tensor> results) const = 0;
  /// The number of its results; -1 where run_plain would always be false.
  int plain_results() const { return plain_results_; }
  /// Whether a run may change what others see: variables, streams of random numbers, whatever callables of the host do.
  bool changes_state() const { return changes_state_; }

 protected:
  Direct direct_;
  int plain_results_ = -1;
  bool changes_state_ = false;
};

/// Build and run once, for tests and tools.
Result<void> evaluate(Context& context, Host& host, std::shared_ptr<const Function> f, std::span<Datum> inputs,
                      std::vector<Datum>& outputs);

inline constexpr int kMaxCallDepth = 1000;  // RecursionError beyond

}  // namespace tfl::ir
