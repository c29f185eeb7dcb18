// Stable sorting by the digits of a key, from the last to the first, a byte each. Digits that all keys share are passed over. Blocks of the
// input are counted and dealt out by themselves, on threads where there are several: the result does not depend on them. This header must not
// know keys or elements.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "runtime/kernels/workers.h"
#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {
namespace sorts {

inline constexpr int kDigit = 256;
inline constexpr int64_t kRadixBlock = 1 << 16, kMostBlocks = 8;  // elements that pay for a block
inline constexpr int64_t kPollEvery = 1 << 20;                    // elements between two looks for an interrupt

/// load(i): element i of what is to be sorted. digit(e, d): byte d of its key, 0 the lowest. The result lies in `to`; `spare` is as large. False after an
/// interrupt.
template <int Digits, class E, class Load, class Digit>
bool radix_sort(const Workers& workers, bool threaded, int64_t n, const Load& load, const Digit& digit, E* to, E* spare) {
  const int64_t blocks = threaded ? std::clamp<int64_t>(n / kRadixBlock, 1, kMostBlocks) : 1;
  std::atomic<bool> stopped{false};
  auto begin = [&](int64_t b) { return n / blocks * b + std::min(b, n % blocks); };
  // f(block, first, last) in parts, until an interrupt.
  auto each_block = [&](const auto& f) {
    auto block = [&](int64_t b) {
      for (int64_t i = begin(b); i < begin(b + 1); i += kPollEvery) {
        if (workers.interrupted()) stopped.store(true, std::memory_order_relaxed);
        if (stopped.load(std::memory_order_relaxed)) return;
        f(b, i, std::min(begin(b + 1), i + kPollEvery));
      }
    };
    if (blocks == 1) {
      block(0);
    } else {
      workers.parallel_for(blocks, 1, [&](int64_t first, int64_t last) {
        for (int64_t b = first; b < last; ++b) block(b);
      });
    }
    return !stopped.load(std::memory_order_relaxed);
  };

  uint32_t count[kMostBlocks][Digits][kDigit];
  for (int64_t b = 0; b < blocks; ++b) std::fill(&count[b][0][0], &count[b][0][0] + Digits * kDigit, 0u);
  if (!each_block([&](int64_t b, int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const E e = load(i);
          for (int d = 0; d < Digits; ++d) ++count[b][d][digit(e, d)];
        }
      }))
    return false;
  int wanted[Digits], passes = 0;
  for (int d = 0; d < Digits; ++d) {
    const auto one = digit(load(0), d);
    int64_t same = 0;
    for (int64_t b = 0; b < blocks; ++b) same += count[b][d][one];
    if (same != n) wanted[passes++] = d;
  }
  if (passes == 0) {
    return each_block([&](int64_t, int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) to[i] = load(i);
    });
  }
  const E* from = nullptr;
  for (int pass = 0; pass < passes; ++pass) {
    const int d = wanted[pass];
    if (pass > 0 && blocks > 1) {
      for (int64_t b = 0; b < blocks; ++b) std::fill(count[b][d], count[b][d] + kDigit, 0u);
      if (!each_block([&](int64_t b, int64_t first, int64_t last) {
            for (int64_t i = first; i < last; ++i) ++count[b][d][digit(from[i], d)];
          }))
        return false;
    }
    uint32_t at = 0;
    for (int v = 0; v < kDigit; ++v) {
      for (int64_t b = 0; b < blocks; ++b) {
        const uint32_t many = count[b][d][v];
        count[b][d][v] = at;
        at += many;
      }
    }
    E* target = (passes - pass) % 2 == 1 ? to : spare;
    auto deal = [&](const auto& get) {
      return each_block([&](int64_t b, int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const E e = get(i);
          target[count[b][d][digit(e, d)]++] = e;
        }
      });
    };
    if (!(pass == 0 ? deal(load) : deal([&](int64_t i) { return from[i]; }))) return false;
    from = target;
  }
  return true;
}

}  // namespace sorts
}  // namespace TFL_ISA
}  // namespace tfl
