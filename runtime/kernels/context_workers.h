// The threads of a context, for loops that must not know contexts.
#pragma once

#include "runtime/core/context.h"
#include "runtime/kernels/workers.h"
#include "runtime/threads/thread_pool.h"

namespace tfl {

inline Workers workers_of(Context& context) {
  static_assert(sizeof(context.interrupt) == sizeof(uint32_t));
  Workers w;
  w.threads = context.thread_count();
  w.interrupt = reinterpret_cast<const uint32_t*>(&context.interrupt);
  w.self = &context;
  w.run = [](void* self, int64_t n, int64_t grain, void (*body)(void*, int64_t, int64_t), void* argument) {
    static_cast<Context*>(self)->threads().parallel_for(n, grain,
                                                        [=](int64_t first, int64_t last) { body(argument, first, last); });
  };
  return w;
}

/// The calling thread alone, whichever it is; the context is only read.
inline Workers alone(const Context& context, const std::atomic<uint32_t>& interrupt) {
  Workers w;
  w.interrupt = reinterpret_cast<const uint32_t*>(&interrupt);
  w.self = const_cast<Context*>(&context);
  w.run = [](void*, int64_t n, int64_t grain, void (*body)(void*, int64_t, int64_t), void* argument) {
    for (int64_t first = 0; first < n; first += grain) body(argument, first, first + grain < n ? first + grain : n);
  };
  return w;
}

}  // namespace tfl
