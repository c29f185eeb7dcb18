// The threads of a library's context, for the loops of runtime/kernels.
#pragma once

#include "runtime/kernels/workers.h"

extern "C" {
#include "runtime/standalone/standalone.h"
}

namespace tfl {

inline Workers workers_of(tfls_frame* frame) {
  auto* context = static_cast<tfl_context*>(frame->self);
  Workers workers;
  workers.threads = context->threads;
  workers.interrupt = frame->interrupt;
  workers.self = context;
  workers.run = [](void* self, int64_t n, int64_t grain, void (*body)(void*, int64_t, int64_t), void* argument) {
    tfls_parallel_for(static_cast<tfl_context*>(self), n, grain, body, argument);
  };
  return workers;
}

}  // namespace tfl
