// What machine code and the program around it agree on: the frame of one run, the functions that machine code calls, and the
// functions that it has. Plain C types, fixed layout. This header must not know tensors or LLVM.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/routine.h"
#include "runtime/kernels/window/window_job.h"

namespace tfl::codegen {

struct Frame;
using KernelFunction = void (*)(Frame*, int64_t first, int64_t last);  // units [first, last)

/// result[b, i, j] = sum over p of a[b, i, p] b[b, p, j], in the canonical order of products; pointers are to elements.
struct ProductCall {
  const void* a;
  const void* b;
  void* result;
  int64_t dtype;  // tfl::DType
  int64_t batch, m, n, k;
  int64_t a_row, a_k, a_batch;  // element strides
  int64_t b_k, b_col, b_batch;
  const WindowCall* window;  // null: none; else what is computed of a, b and result instead
  KernelFunction epilogue;   // null: none; else run on units [row, row + rows) of [0, m) when those rows are finished
};

using EntryFunction = int64_t (*)(Frame*);

struct Services {
  /// kernel over [0, units) in parts of at most `grain` units, on all threads.
  void (*parallel)(Frame*, KernelFunction kernel, int64_t units, int64_t grain);
  void (*product)(Frame*, const ProductCall*);
  void (*const* routines)(Frame*, const RoutineCall*);  // by tfl::Routine; a call that would raise sets Frame::failed
  /// Some functions of which none needs another, at the same time where there are threads. Gives what the first of those that are not done gives.
  int64_t (*beside)(Frame*, const EntryFunction* functions, int64_t count);
};

struct Frame {
  const Services* services;
  void* self;                 // the program's
  const uint32_t* interrupt;  // not 0: machine code gives up soon and returns kInterrupted
  int64_t failed;             // not 0 where an operation would raise: 1 + its location in ir::Function::locations
  int64_t words[1];           // symbols, addresses, scalars: as the plan numbers them
};

/// The one symbol of an object file of machine code: `int64_t tfl_run(Frame*)`.
inline constexpr const char* kEntryName = "tfl_run";
inline constexpr int64_t kDone = 0, kFailed = 1, kInterrupted = 2, kFull = 3;  // kFull: arrays need more room (Plan::room)

/// Threads of a block of a GPU that runs kernels; a row of a reduction has kReduceLanes of them.
inline constexpr int64_t kGpuThreads = 256;

/// Work below this many cheap operations is done by the calling thread.
inline constexpr int64_t kParallelWork = 1 << 17;

}  // namespace tfl::codegen
