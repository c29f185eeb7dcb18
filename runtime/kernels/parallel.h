// Splitting work over the elements of a tensor among threads, where it is large enough to pay, and looking for an interrupt between
// the parts. This header must not know what is computed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/core/context.h"
#include "runtime/threads/thread_pool.h"

namespace tfl {

/// Elements from which a second thread pays for cheap work, and the size of the parts it is split into.
inline constexpr int64_t kThreadedElements = 1 << 17;
inline constexpr int64_t kElementGrain = 1 << 15;

/// body(first, last) over [0, n), in parts that begin at multiples of `grain`. `cost` is what one unit costs in cheap element
/// operations. After an interrupt what is left is not computed: the caller of the operation does not look at its result.
template <class F>
void in_parallel(Context& context, int64_t n, int64_t grain, const F& body, int64_t cost = 1) {
  if (n * cost < kThreadedElements || n <= grain || context.thread_count() == 1) {
    int64_t part = grain * 32;
    for (int64_t first = 0; first < n && !context.interrupt.load(std::memory_order_relaxed); first += part) {
      body(first, std::min(n, first + part));
    }
    return;
  }
  context.threads().parallel_for(n, grain, [&](int64_t first, int64_t last) {
    if (!context.interrupt.load(std::memory_order_relaxed)) body(first, last);
  });
}

/// Asked before step `i` of a loop that goes through its steps by itself: is what is left not to be computed?
inline bool stopped(const Context& context, int64_t i) {
  return i % 1024 == 0 && context.interrupt.load(std::memory_order_relaxed) != 0;
}

/// body(i) for i in [0, n) one after the other, as long as there is no interrupt.
template <class F>
void in_order(const Context& context, int64_t n, const F& body) {
  constexpr int64_t kPart = 1 << 15;
  for (int64_t first = 0; first < n && !context.interrupt.load(std::memory_order_relaxed); first += kPart) {
    for (int64_t i = first; i < std::min(n, first + kPart); ++i) body(i);
  }
}

}  // namespace tfl
