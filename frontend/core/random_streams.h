// The streams behind the stateful operations of tf.random, TensorFlow's: which two seeds an operation has, and how far the kernels that
// continue a stream have come. This header must not know distributions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tfl {

/// The state of a generator as random kernels take it for a seed: the two words of its counter, the key.
using RandomState = std::array<int64_t, 3>;

/// How far the draws of one pass over a dataset have come. Each draw of a function in a pipeline has a stream of its own, which begins
/// anew with every pass.
using DrawsOfPass = std::unordered_map<uint64_t, uint64_t>;  // groups, by draw

class RandomStreams {
 public:
  /// tf.random.set_seed: every stream begins anew. `generator`: what Python's generator is seeded with.
  void set_seed(std::optional<int64_t> seed, uint64_t generator);
  std::optional<int64_t> seed() const { return seed_; }

  /// The seed of an operation that was given none: the next number of Python's generator for the global seed.
  int64_t next_own_seed();
  /// One that nobody can repeat.
  RandomState unseeded();

  /// Where a call begins that sets `groups` of four words aside. Calls of one kernel (an operation and its types) with one seed of its
  /// own go on in its stream; without such a seed each call has a new one.
  RandomState next(std::string_view kernel, std::optional<int64_t> own, int64_t groups);
  /// Seeds are taken modulo the largest int32, with the sign of Python's %.
  static int64_t truncated(int64_t seed) { return ((seed % INT32_MAX) + INT32_MAX) % INT32_MAX; }
  /// The same for the draw `draw` of a function in a pipeline, whose seeds are known when it is traced.
  RandomState next_of_pass(int64_t draw, int64_t seed, int64_t seed2, int64_t groups);

  /// The seeds TensorFlow gives an operation of a graph; `number`: how many without a seed of their own came before in its function.
  std::optional<std::array<int64_t, 2>> graph_seeds(std::optional<int64_t> own, uint32_t number) const;

  /// While a step is in progress (transaction.h; 0: none), what is drawn is kept, and may be taken back down to a mark.
  uint64_t step = 0;
  size_t mark() const { return kept_.size(); }
  void undo(size_t mark);
  void forget_kept() { kept_.clear(); }

  DrawsOfPass* pass = nullptr;     // the pass over a dataset that is running
  const void* function = nullptr;  // that of its pipeline which is
  int64_t draws_in_graphs = 0;     // made so far: each has a number

 private:
  using OwnSeeds = std::array<uint32_t, 625>;  // a Mersenne Twister
  struct Stream {
    uint64_t taken = 0;    // groups
    uint64_t kept_by = 0;  // the step that knows how many it were before
  };
  struct Kept {
    Stream* stream;  // null: the seeds of operations
    uint64_t taken;
    std::unique_ptr<OwnSeeds> own_seeds;
  };
  std::optional<int64_t> seed_;
  uint64_t generator_seed_ = 0;
  std::unordered_map<std::string, Stream> streams_;  // by kernel and seeds
  std::unique_ptr<OwnSeeds> own_seeds_;              // from the first draw on
  uint64_t own_seeds_kept_by_ = 0;
  std::vector<Kept> kept_;
  uint64_t unseeded_calls_ = 0, entropy_ = 0;
};

}  // namespace tfl
