// Random numbers from a seed: each group of elements from its own counter, so that any number of threads gives the same
// stream. This header must not know tensors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "runtime/kernels/random/random_kernels.h"
#include "runtime/kernels/random/random_words.h"
#include "runtime/kernels/routine.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl::randoms {

/// Groups whose words are made together: they and what is made of them stay in the first-level cache.
inline constexpr int64_t kBlockGroups = 256, kBlockWords = 4 * kBlockGroups + kRandomSlack;

/// n elements, a group of words for each `width` of them: make(words, count, first) makes `count` elements, whose first is
/// number `first`. `cost`: of a group, in cheap operations.
template <class Make>
void fill(const Workers& workers, const RandomKernels& kernels, const Philox& base, int64_t n, int64_t width, int64_t cost,
          const Make& make) {
  PhiloxState stream = base.state();
  in_parts(workers, (n + width - 1) / width, 4 * kBlockGroups, cost, [&](int64_t first, int64_t last) {
    alignas(64) uint32_t words[kBlockWords];
    for (int64_t g = first; g < last; g += kBlockGroups) {
      int64_t groups = std::min(kBlockGroups, last - g);
      kernels.words(stream, static_cast<uint64_t>(g), 1, groups, words);
      make(words, std::min(groups * width, n - g * width), g * width);
    }
  });
}

inline constexpr int64_t kWordCost = 16, kNormalCost = 64;  // of a group

/// n floats as `dtype` from number `first` on.
inline void put_floats(const float* from, int64_t n, DType dtype, void* out, int64_t first) {
  if (dtype == DType::F32) {
    std::memcpy(static_cast<float*>(out) + first, from, static_cast<size_t>(n) * sizeof(float));
  } else if (dtype == DType::F16) {
    for (int64_t i = 0; i < n; ++i) static_cast<f16*>(out)[first + i] = to_f16(from[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) static_cast<bf16*>(out)[first + i] = to_bf16(from[i]);
  }
}

inline void give_floats(const Workers& workers, const RandomKernels& kernels, const Philox& base, DType dtype, int64_t n,
                        bool normal, void* out) {
  const int64_t cost = normal ? kNormalCost : kWordCost;
  if (dtype == DType::F64) {
    fill(workers, kernels, base, n, 2, cost, [&](const uint32_t* words, int64_t count, int64_t first) {
      alignas(64) double made[kBlockWords / 2];
      if (normal)
        kernels.normal_f64(words, (count + 1) / 2, made);
      else
        kernels.unit_f64(words, count, made);
      std::memcpy(static_cast<double*>(out) + first, made, static_cast<size_t>(count) * sizeof(double));
    });
    return;
  }
  fill(workers, kernels, base, n, 4, cost, [&](const uint32_t* words, int64_t count, int64_t first) {
    alignas(64) float made[kBlockWords];
    if (normal) {
      kernels.normal_f32(words, (count + 1) / 2, made);
    } else if (dtype == DType::F32) {
      kernels.unit_f32(words, count, made);
    } else {
      // As many bits as the type's mantissa holds, so that storing rounds nothing.
      const uint32_t steps = dtype == DType::F16 ? 1u << 10 : 1u << 7;
      for (int64_t i = 0; i < count; ++i) made[i] = static_cast<float>(words[i] & (steps - 1)) / static_cast<float>(steps);
    }
    put_floats(made, count, dtype, out, first);
  });
}

/// A group of the truncated normal has 256 words for each element set aside: it draws until its elements are found.
inline void give_truncated(const Workers& workers, const RandomKernels& kernels, const Philox& base, DType dtype, int64_t n,
                           void* out) {
  const bool wide = dtype == DType::F64;
  const int64_t width = wide ? 2 : 4;  // elements of a group
  const auto apart = static_cast<uint64_t>(64 * width);
  const PhiloxState stream = base.state();
  in_parts(workers, (n + width - 1) / width, kBlockGroups, 2 * kNormalCost, [&](int64_t begin, int64_t end) {
    constexpr int64_t kAtOnce = 64;
    alignas(64) uint32_t words[4 * kAtOnce + kRandomSlack];
    alignas(64) double doubles[2 * kAtOnce + kRandomSlack];
    alignas(64) float floats[4 * kAtOnce + kRandomSlack];
    struct Searching {
      int64_t group;
      int32_t found, draws;
    } searching[kAtOnce];
    for (int64_t first = begin; first < end; first += kAtOnce) {
      int64_t left = std::min(kAtOnce, end - first);
      for (int64_t i = 0; i < left; ++i) searching[i] = {first + i, 0, 0};
      kernels.words(stream, static_cast<uint64_t>(first), apart, left, words);
      while (left > 0) {
        if (wide)
          kernels.normal_f64(words, left, doubles);
        else
          kernels.normal_f32(words, 2 * left, floats);
        int64_t still = 0;
        for (int64_t i = 0; i < left; ++i) {
          Searching s = searching[i];
          for (int64_t j = 0; j < width && s.found < width; ++j) {
            double v = wide ? doubles[2 * i + j] : static_cast<double>(floats[4 * i + j]);
            if (std::fabs(v) >= 2) continue;
            int64_t at = s.group * width + s.found++;
            if (at >= n) continue;
            if (wide)
              static_cast<double*>(out)[at] = v;
            else
              put_floats(&floats[4 * i + j], 1, dtype, out, at);
          }
          if (s.found == width) continue;
          Philox more = base;
          more.skip(static_cast<uint64_t>(s.group) * apart + static_cast<uint64_t>(++s.draws));
          Philox::Words next = more.next();
          std::memcpy(words + 4 * still, next.data(), sizeof next);
          searching[still++] = s;
        }
        left = still;
      }
    }
  });
}

/// Words as integers: all of their range, or `low` + word modulo `range`.
inline void give_integers(const Workers& workers, const RandomKernels& kernels, const Philox& base, size_t bytes, int64_t n,
                          bool full, uint64_t low, uint64_t range, void* out) {
  if (bytes == 4) {
    auto narrow = static_cast<uint32_t>(range);
    fill(workers, kernels, base, n, 4, kWordCost, [&](const uint32_t* words, int64_t count, int64_t first) {
      auto* to = static_cast<uint32_t*>(out) + first;
      for (int64_t i = 0; i < count; ++i) to[i] = full ? words[i] : static_cast<uint32_t>(low) + words[i] % narrow;
    });
    return;
  }
  fill(workers, kernels, base, n, 2, kWordCost, [&](const uint32_t* words, int64_t count, int64_t first) {
    auto* to = static_cast<uint64_t*>(out) + first;
    for (int64_t i = 0; i < count; ++i) {
      uint64_t bits = words[2 * i] | (static_cast<uint64_t>(words[2 * i + 1]) << 32);
      to[i] = full ? bits : low + bits % range;
    }
  });
}

/// The numbers from 0 to n in the order of a shuffle from the front (Fisher and Yates): one word for each place but the last.
inline void give_permutation(const Workers& workers, const RandomKernels& kernels, const Philox& base, int64_t n, int64_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = i;
  const PhiloxState stream = base.state();
  alignas(64) uint32_t words[kBlockWords];
  for (int64_t first = 0; first + 1 < n && !workers.interrupted(); first += 4 * kBlockGroups) {
    int64_t count = std::min(4 * kBlockGroups, n - 1 - first);
    kernels.words(stream, static_cast<uint64_t>(first / 4), 1, (count + 3) / 4, words);
    for (int64_t i = first; i < first + count; ++i) std::swap(out[i], out[i + words[i - first] % static_cast<uint32_t>(n - i)]);
  }
}

/// An integer of 4 or 8 bytes, extended as its type says.
inline uint64_t word_at(DType dtype, const void* data, int64_t i) {
  if (dtype_size(dtype) == 8) return static_cast<const uint64_t*>(data)[i];
  uint32_t word = static_cast<const uint32_t*>(data)[i];
  return is_unsigned(dtype) ? word : static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(word)));
}

/// How many integers there are from `low` to before `high`; 0: the operation refuses them.
inline uint64_t range_of(DType dtype, uint64_t low, uint64_t high) {
  uint64_t range = high - low;
  if (dtype_size(dtype) == 4) range = static_cast<uint32_t>(range);
  bool empty = is_unsigned(dtype) ? high <= low : static_cast<int64_t>(high) <= static_cast<int64_t>(low);
  return empty ? 0 : range;
}

inline bool run(const Workers& workers, const RandomKernels& kernels, const RoutineCall& call) {
  auto dtype = static_cast<DType>(call.dtype), seeds = static_cast<DType>(call.index_dtype);
  auto kind = static_cast<RandomKind>(call.flags);
  uint64_t words[3] = {};
  for (int64_t i = 0; i < call.sizes[1] && i < 3; ++i) words[i] = word_at(seeds, call.at[0], i);
  Philox base = stream_of(words, call.sizes[1]);
  switch (kind) {
    case RandomKind::uniform:
    case RandomKind::normal:
      give_floats(workers, kernels, base, dtype, call.sizes[0], kind == RandomKind::normal, call.at[1]);
      return true;
    case RandomKind::truncated: give_truncated(workers, kernels, base, dtype, call.sizes[0], call.at[1]); return true;
    case RandomKind::integer: {
      uint64_t low = word_at(dtype, call.at[2], 0), range = range_of(dtype, low, word_at(dtype, call.at[3], 0));
      if (range == 0) return false;
      give_integers(workers, kernels, base, dtype_size(dtype), call.sizes[0], false, low, range, call.at[1]);
      return true;
    }
    case RandomKind::full_integer:
      give_integers(workers, kernels, base, dtype_size(dtype), call.sizes[0], true, 0, 1, call.at[1]);
      return true;
    case RandomKind::permutation:
      give_permutation(workers, kernels, base, call.sizes[0], static_cast<int64_t*>(call.at[1]));
      return true;
  }
  return false;
}

}  // namespace tfl::randoms
