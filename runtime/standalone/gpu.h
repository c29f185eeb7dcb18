// Code for NVIDIA's GPUs in a library: what the compiler says of it (codegen/library/gpu_code.cpp), and the driver as far as it is used.
#pragma once

#include "runtime/standalone/standalone.h"

typedef struct {
  int64_t size, per;
} tfls_gpu_factor;
typedef struct {
  const char* name;
  uint32_t threads, factors;
  int64_t least, per; /* blocks at least; units of a block */
  tfls_gpu_factor* factor;
  void* kernel; /* once it has been looked up */
} tfls_gpu_launch;
typedef struct {
  int64_t bytes;
  uint32_t factors;
  tfls_gpu_factor* factor;
} tfls_gpu_memory;
/* Of one routine. */
typedef struct {
  uint32_t pieces;
  tfls_gpu_memory* piece;
} tfls_gpu_need;
typedef struct {
  uint8_t kind, dtype; /* launch, branch, loop; of the condition */
  uint32_t index, word, first_block, blocks;
  int64_t limit;
} tfls_gpu_step;
typedef struct {
  uint32_t first, steps;
} tfls_gpu_block;
typedef struct {
  uint32_t function; /* its number */
  const char* code;  /* PTX */
  bool can_fail, looks_back;
  uint32_t words, values, slots, results, launches, steps, blocks;
  tfls_value* value;
  int64_t *slot, *scalar; /* scalar: the word of each result that is one; -1 */
  int64_t memory_word;    /* where the address of what routines share goes; -1: they share nothing */
  uint32_t needs;
  tfls_gpu_need* need;
  tfls_gpu_launch* launch;
  tfls_gpu_step* step;
  tfls_gpu_block* block; /* the first is the whole */
  void* module;
  uint64_t* constants; /* addresses */
} tfls_gpu_function;

/* Names and numbers are those of CUDA's driver API. */
typedef struct {
  int (*init)(unsigned);
  int (*error_string)(int, const char**);
  int (*device_count)(int*);
  int (*device)(int*, int);
  int (*device_attribute)(int*, int, int);
  int (*retain_context)(void**, int);
  int (*release_context)(int);
  int (*current_context)(void**);
  int (*set_context)(void*);
  int (*pool)(void**, int);
  int (*set_pool)(void*, int, void*);
  int (*trim_pool)(void*, size_t);
  int (*synchronize)(void* stream);
  int (*allocate)(unsigned long long*, size_t, void* stream);
  int (*release)(unsigned long long, void* stream);
  int (*to_device)(unsigned long long, const void*, size_t, void* stream);
  int (*to_host)(void*, unsigned long long, size_t, void* stream);
  int (*copy)(unsigned long long, unsigned long long, size_t, void* stream);
  int (*load_module)(void**, const void*, unsigned, int*, void**);
  int (*unload_module)(void*);
  int (*function)(void**, void*, const char*);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream, void**, void**);
} tfls_driver;

/* Of a context. */
typedef struct tfls_gpu_state {
  tfls_driver driver;
  int ordinal, handle;
  void *context, *pool;
  uint32_t functions;
  tfls_gpu_function* function;
  void* memory;            /* the tables */
  uint64_t *states, *seen; /* copies of the variables, and the context's state_changes when they were made */
} tfls_gpu_state;

/* gpu_driver.c: loads libcuda and starts GPU `ordinal`. */
tfl_status tfls_gpu_start(tfl_context* c, int ordinal);
tfl_status tfls_gpu_failed(tfl_context* c, int error, const char* what);
void tfls_gpu_release(tfl_context* c);
/* gpu_read.c */
bool tfls_gpu_read(tfl_context* c, tfls_gpu_state* gpu);
/* gpu_run.c: `done` is false where an operation would raise. */
tfl_status tfls_gpu_run(tfl_context* c, const tfls_function* f, tfls_gpu_function* g, void* const* tensors,
                        const int64_t* symbols, bool* done);
