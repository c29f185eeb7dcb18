// Jobs over windows on the threads of a context. Must not know tensors or operations.
#pragma once

#include "runtime/context.h"
#include "runtime/kernels/window_job.h"

namespace tfl {

/// Bytes of memory that the job takes; its pointers are not looked at.
template <class T>
int64_t window_scratch(Context& context, const WindowJob<T>& job);
/// With that much memory.
template <class T>
void run_window(Context& context, const WindowJob<T>& job, std::byte* scratch);
/// With memory of its own.
template <class T>
Result<void> run_window(Context& context, const WindowJob<T>& job);

}  // namespace tfl
