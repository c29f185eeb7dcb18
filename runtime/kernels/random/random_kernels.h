// The inner loops of random numbers, one copy an instruction set level (isa/random.cpp): words of a stream, and numbers made
// of words. All work on whole vectors: they read and write up to kRandomSlack elements behind what is asked for.
#pragma once

#include <cstdint>

namespace tfl {

enum class IsaLevel : uint8_t;

/// A stream of philox.h: the counter of its first group, and the key.
struct PhiloxState {
  uint64_t low, high;
  uint32_t key[2];
};

inline constexpr int64_t kRandomSlack = 32;

struct RandomKernels {
  /// The four words of each of the groups `first`, `first` + `step`, ... of the stream.
  void (*words)(const PhiloxState& stream, uint64_t first, uint64_t step, int64_t groups, uint32_t* out);
  /// Uniform numbers in [0, 1), one a word, or of two words.
  void (*unit_f32)(const uint32_t* words, int64_t n, float* out);
  void (*unit_f64)(const uint32_t* words, int64_t n, double* out);
  /// Pairs of normal numbers, each pair of two words, or of four.
  void (*normal_f32)(const uint32_t* words, int64_t pairs, float* out);
  void (*normal_f64)(const uint32_t* words, int64_t pairs, double* out);
};

const RandomKernels& random_kernels(IsaLevel isa);

}  // namespace tfl
