// Jobs over windows on the threads of a context. Must not know tensors or operations.
#pragma once

#include "runtime/core/context.h"
#include "runtime/kernels/window/window_job.h"
#include "runtime/kernels/workers.h"

namespace tfl {

/// Bytes of memory that the job takes on that many threads; its pointers are not looked at.
template <class T>
int64_t window_scratch(Context& context, int threads, const WindowJob<T>& job);
/// With that much memory, on all threads of `workers`.
template <class T>
void run_window(Context& context, const Workers& workers, const WindowJob<T>& job, std::byte* scratch);
/// With memory of its own.
template <class T>
Result<void> run_window(Context& context, const WindowJob<T>& job);

}  // namespace tfl
