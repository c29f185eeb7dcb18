// Who computes what is shared among threads, for loops that must not know contexts.
#pragma once

#include <cstdint>

namespace tfl {

/// Threads, and what stops them.
struct Workers {
  int threads = 1;                      // that may be used, the caller's among them
  const uint32_t* interrupt = nullptr;  // not 0: what is left is not computed, since nobody looks at the result
  void* self = nullptr;
  void (*run)(void* self, int64_t n, int64_t grain, void (*body)(void*, int64_t first, int64_t last), void* argument) = nullptr;

  bool interrupted() const { return __atomic_load_n(interrupt, __ATOMIC_RELAXED) != 0; }
  template <class F>
  void parallel_for(int64_t n, int64_t grain, const F& body) const {
    run(
        self, n, grain, [](void* f, int64_t first, int64_t last) { (*static_cast<const F*>(f))(first, last); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }
};

}  // namespace tfl
