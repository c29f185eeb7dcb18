#include "frontend/core/random_streams.h"

#include <sys/random.h>

#include <ctime>

#include "frontend/tensors/numpy/generators.h"
#include "runtime/support/launch.h"

namespace tfl {

namespace {

constexpr int64_t kMost = INT32_MAX, kDefaultSeed = 87654321;

/// Kernels take two zeros for no seed.
std::array<int64_t, 2> seeds_of(int64_t global, int64_t own) {
  int64_t first = RandomStreams::truncated(global), second = RandomStreams::truncated(own);
  return {first, first == 0 && second == 0 ? kMost : second};
}

RandomState state_at(std::array<int64_t, 2> seeds, uint64_t groups) { return {static_cast<int64_t>(groups), seeds[1], seeds[0]}; }

}  // namespace

void RandomStreams::set_seed(std::optional<int64_t> seed, uint64_t generator) {
  seed_ = seed;
  generator_seed_ = generator;
  streams_.clear();
  own_seeds_.reset();
  kept_.clear();
}

void RandomStreams::undo(size_t mark) {
  for (; kept_.size() > mark; kept_.pop_back()) {
    Kept& k = kept_.back();
    if (k.stream)
      *k.stream = {k.taken, 0};
    else
      own_seeds_ = std::move(k.own_seeds);
  }
  own_seeds_kept_by_ = 0;
}

int64_t RandomStreams::next_own_seed() {
  if (step != 0 && own_seeds_kept_by_ != step) {
    own_seeds_kept_by_ = step;
    kept_.push_back({nullptr, 0, own_seeds_ ? std::make_unique<OwnSeeds>(*own_seeds_) : nullptr});
  }
  const bool begins = !own_seeds_;
  if (begins) own_seeds_ = std::make_unique<OwnSeeds>();
  Mt19937 generator{own_seeds_->data(), own_seeds_->back()};
  if (begins) {
    const uint32_t words[] = {static_cast<uint32_t>(generator_seed_), static_cast<uint32_t>(generator_seed_ >> 32)};
    generator.seed(std::span(words).first(words[1] != 0 ? 2 : 1));
  }
  // randint(0, INT32_MAX) draws 32 bits until they are below 2^31.
  while (true) {
    uint32_t found = generator.next32();
    if (found >> 31 == 0) return found;
  }
}

RandomState RandomStreams::unseeded() {
  // The workers of one job draw alike.
  if (entropy_ == 0) entropy_ = launch().entropy;
  if (entropy_ == 0) {
    if (getrandom(&entropy_, sizeof entropy_, 0) != static_cast<ssize_t>(sizeof entropy_))
      entropy_ = static_cast<uint64_t>(std::time(nullptr));
    entropy_ |= 1;
  }
  return {0, static_cast<int64_t>(++unseeded_calls_), static_cast<int64_t>(entropy_)};
}

RandomState RandomStreams::next(std::string_view kernel, std::optional<int64_t> own, int64_t groups) {
  if (!own) return seed_ ? state_at(seeds_of(*seed_, next_own_seed()), 0) : unseeded();
  std::array<int64_t, 2> seeds = seeds_of(seed_.value_or(kDefaultSeed), *own);
  std::string key = std::string(kernel) + ' ' + std::to_string(seeds[0]) + ' ' + std::to_string(seeds[1]);
  Stream& stream = streams_[key];
  if (step != 0 && stream.kept_by != step) {
    stream.kept_by = step;
    kept_.push_back({&stream, stream.taken, nullptr});
  }
  RandomState state = state_at(seeds, stream.taken);
  stream.taken += static_cast<uint64_t>(groups);
  return state;
}

RandomState RandomStreams::next_of_pass(int64_t draw, int64_t seed, int64_t seed2, int64_t groups) {
  uint64_t key = (static_cast<uint64_t>(draw) ^ reinterpret_cast<uintptr_t>(function)) * 0x9E3779B97F4A7C15u;
  uint64_t& taken = (*pass)[key ^ key >> 32];
  RandomState state = state_at({seed, seed2}, taken);
  taken += static_cast<uint64_t>(groups);
  return state;
}

std::optional<std::array<int64_t, 2>> RandomStreams::graph_seeds(std::optional<int64_t> own, uint32_t number) const {
  if (!seed_ && !own) return {};
  return seeds_of(seed_.value_or(kDefaultSeed), own.value_or(number));
}

}  // namespace tfl
