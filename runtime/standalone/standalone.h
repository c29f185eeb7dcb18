// The runtime that a library made by `tfl build` carries: contexts, checks of arguments, memory, threads, variables. Plain C11 over the C
// library, no globals, nothing visible from outside. Must not know LLVM, the interpreter or the evaluator.
//
// What the library holds is described by bytes that the compiler wrote (codegen/library/describe.cpp) and reader.c reads.
#pragma once

#include <pthread.h>
#ifdef __cplusplus
#define _Atomic(T) T
#else
#include <stdatomic.h>
#endif
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/standalone/library_types.inc"

/* As in codegen/abi.h. */
typedef struct tfls_frame tfls_frame;
typedef void (*tfls_kernel)(tfls_frame*, int64_t first, int64_t last);
typedef struct {
  const void *a, *b;
  void* result;
  int64_t dtype, batch, m, n, k, a_row, a_k, a_batch, b_k, b_col, b_batch;
  const void* window; /* a WindowCall of runtime/kernels/window/window_job.h */
  tfls_kernel epilogue;
} tfls_product_call;
typedef void (*tfls_routine)(tfls_frame*, const void* call); /* a RoutineCall of runtime/kernels/routine.h */
typedef struct {
  void (*parallel)(tfls_frame*, tfls_kernel, int64_t units, int64_t grain);
  void (*product)(tfls_frame*, const tfls_product_call*);
  const tfls_routine* routines;
  int64_t (*beside)(tfls_frame*, int64_t (*const* functions)(tfls_frame*), int64_t count);
} tfls_services;
struct tfls_frame {
  const tfls_services* services;
  void* self; /* tfl_context */
  const uint32_t* interrupt;
  int64_t failed; /* 1 + the location of what failed */
  int64_t words[1];
};
typedef int64_t (*tfls_entry)(tfls_frame*);

/* Element types, as tfl::DType numbers them. */
enum {
  TFLS_F16,
  TFLS_BF16,
  TFLS_F32,
  TFLS_F64,
  TFLS_I8,
  TFLS_I16,
  TFLS_I32,
  TFLS_I64,
  TFLS_U8,
  TFLS_U16,
  TFLS_U32,
  TFLS_U64,
  TFLS_BOOL,
  TFLS_DTYPES
};
typedef struct {
  uint8_t code, bits;
  const char *name, *safetensors;
} tfls_dtype;
extern const tfls_dtype tfls_dtypes[TFLS_DTYPES];
static inline int64_t tfls_bytes(int dtype) { return tfls_dtypes[dtype].bits / 8; }

#define TFLS_MAX_RANK 32
enum { TFLS_ON_GPU = 2 }; /* kDLCUDA */
static inline bool tfls_on_gpu(const tfl_tensor* t) { return t->device.device_type == TFLS_ON_GPU; }
static inline uint64_t tfls_address(const tfl_tensor* t) { return (uint64_t)(uintptr_t)t->data + t->byte_offset; }

/* Sizes: >= 0 as they are, < 0 symbol ~size. */
static inline int64_t tfls_resolve(const int64_t* symbols, int64_t size) { return size >= 0 ? size : symbols[~size]; }
typedef struct {
  const char* name;
  int dtype, rank;
  const int64_t* dims;
} tfls_type;

typedef struct {
  uint8_t kind; /* dim add subtract multiply divide maximum minimum element */
  uint32_t input, axis;
  int64_t a, b;
} tfls_symbol;
typedef struct {
  uint8_t kind; /* equal, at_least */
  int64_t a, b;
  uint32_t location;
} tfls_guard;
enum { HOME_INPUT, HOME_CONSTANT, HOME_RESULT, HOME_TEMPORARY }; /* tfl::plan::Home, as far as it is memory */
typedef struct {
  uint8_t home;
  uint32_t index, word;
} tfls_value;
enum { RESULT_MEMORY, RESULT_SCALAR, RESULT_INPUT, RESULT_CONSTANT };
typedef struct {
  tfls_type type;
  uint8_t kind;
  uint32_t index; /* input, constant: the number; scalar: its word */
  int64_t state;  /* the variable that it is assigned to; -1: the caller's */
} tfls_result;
/* A piece of what a failure says, as codegen/library/failures.h tells. */
typedef struct {
  uint8_t kind; /* text, tensor, index, element, shape */
  const char* text;
  int64_t a, b, number;
} tfls_piece;
typedef struct {
  const char* place;   /* "model.tfl:12" */
  int64_t explanation; /* the function that computes what is shown; -1: none */
  uint32_t pieces, size_pieces;
  tfls_piece *piece, *size_piece;
} tfls_failure;
typedef struct {
  const char* name;
  uint32_t inputs, arguments; /* inputs in all; the first are the caller's, the others variables */
  tfls_type* input;
  uint32_t opens;
  const int64_t* open;       /* of each axis of the arguments: which of the sizes that plain pointers come with; -1: none */
  uint32_t* state_of_input;  /* inputs - arguments */
  uint32_t results, outputs; /* in all; those that the caller gets */
  tfls_result* result;
  uint32_t symbols, guards, values, constants, slots, words, failures;
  tfls_symbol* symbol;
  tfls_guard* guard;
  tfls_value* value;
  const void** constant;
  size_t* constant_bytes;
  int64_t* slot;
  tfls_failure* failure; /* by location */
  tfls_entry entry;
  int64_t otherwise; /* the function for other sizes; -1: none */
  int64_t steps;     /* the tfls_stepwise that does what it is to do, its sizes being told here; -1: machine code */
  uint32_t most_symbols, most_slots; /* of it and those for other sizes */
} tfls_function;
/* A function that is run step by step, because sizes follow from values. */
typedef struct {
  int dtype, rank;
  const int64_t* dims; /* of a constant; else NULL */
  const void* elements;
} tfls_step_value;
typedef struct {
  uint8_t kind; /* part, nonzero, boolean_mask, unique, unique_with_counts, branch, choice, loop, print, range */
  uint32_t function, first_region, regions;
  int64_t axis;
  uint32_t inputs, results, pieces;
  uint32_t *input, *result; /* values */
  tfls_piece*
      piece; /* print: texts and tensors, `a` being the input; first the stream; range: what a message begins and ends with */
} tfls_step;
/* What a branch or loop runs. */
typedef struct {
  uint32_t first, steps, params, results;
  uint32_t *param, *result; /* values */
} tfls_region;
typedef struct {
  const char* name;
  uint32_t arguments, outputs, values, steps, regions, first_steps, states_read, results,
      states_written;   /* first_steps: those of no region */
  tfls_type* argument;  /* sizes < 0: equal numbers are equal sizes */
  uint32_t* state_read; /* the values after the arguments */
  tfls_step_value* value;
  tfls_step* step;
  tfls_region* region;
  uint32_t* result; /* values: outputs, then what is assigned */
  uint32_t* state_written;
} tfls_stepwise;
typedef struct {
  tfls_type type; /* all sizes known */
  const void* initial;
} tfls_state;
/* A run of such a function. */
typedef struct {
  tfl_context* context;
  const tfls_stepwise* function;
  tfl_tensor* value;
  bool* own; /* memory of a value is its own, and nobody else's */
} tfls_run;
typedef struct {
  const char* name;
  uint32_t functions, stepwises, states;
  tfls_function* function;
  tfls_stepwise* stepwise;
  tfls_state* state;
  const char* cpu; /* "x86-64-v3" */
  tfls_services services;
  const struct tfls_image* image;
  bool wide;    /* the processor has AVX-512 */
  void* memory; /* the tables above */
} tfls_library;

/* What the compiler leaves in a library, one of each. */
typedef struct tfls_image {
  const unsigned char* description;
  uint64_t description_bytes;
  const tfls_entry* entries;
  const char* metadata;                                   /* JSON */
  void (*product)(tfls_frame*, const tfls_product_call*); /* NULL where nothing multiplies matrices */
  const tfls_entry* better_entries;                       /* for processors with AVX-512; NULL: there are none */
  void (*better_product)(tfls_frame*, const tfls_product_call*);
  const tfls_routine* routines; /* by tfl::Routine; NULL: those that nothing calls, or the whole table */
  tfl_status (*run_steps)(tfl_context*, uint32_t stepwise,
                          void* const* tensors);    /* NULL where no function with sizes has steps */
  tfl_status (*print)(tfls_run*, const tfls_step*); /* NULL where nothing prints */
  tfl_status (*range)(tfls_run*, const tfls_step*); /* NULL where no step is a range */
  const struct tfls_gpu_hooks* gpu;                 /* NULL where there is no code for GPUs */
  const unsigned char* gpu_description;
  uint64_t gpu_description_bytes;
} tfls_image;
/* gpu.c, which only libraries with code for GPUs hold. */
typedef struct tfls_gpu_hooks {
  tfl_status (*call)(tfl_context*, uint32_t function, void* const* tensors);
  void (*release)(tfl_context*);
} tfls_gpu_hooks;
extern const tfls_gpu_hooks tfls_gpu;

struct tfl_context {
  tfls_library library;
  size_t memory_limit, used;
  void* (*alloc)(size_t, size_t, void*);
  void (*dealloc)(void*, size_t, void*);
  void* user;
  int threads;
  struct tfls_pool* pool;
  void** states;                /* values of the variables */
  uint64_t state_changes;       /* how often any of them has been changed */
  int32_t device;               /* as tfl_options has it */
  bool takes_gpu;               /* checks let tensors on a GPU pass */
  struct tfls_gpu_state* gpu;   /* NULL: none has been asked for */
  void *arena, *product_memory; /* kept from one call to the next */
  size_t arena_bytes, product_bytes;
  void* fourier_plans; /* NULL: no transform has been asked for */
  void (*release_fourier_plans)(void*);
  _Atomic(uint32_t) cancelled;
  char error[1024];
};

/* reader.c: false when the bytes are not those of this version. */
bool tfls_read_library(const tfls_image* image, tfls_library* out);

/* context.c */
tfl_status tfls_fail(tfl_context* c, tfl_status status, const char* format, ...) __attribute__((format(printf, 3, 4)));
void* tfls_alloc(tfl_context* c, size_t bytes);
void tfls_free(tfl_context* c, void* memory, size_t bytes);
/* At least `bytes` of scratch memory; NULL when there is none, or none is asked for. */
void* tfls_product_memory(tfl_context* c, size_t bytes);
tfl_status tfls_context_new(const tfls_image* image, const tfl_options* options, tfl_context** out);
void tfls_context_free(tfl_context* c);
const char* tfls_last_error(const tfl_context* c);
tfl_status tfls_context_cancel(tfl_context* c);
int64_t tfls_count(const tfls_type* t); /* elements of a type with known sizes */

/* processor.c: whether this processor has what code for "x86-64-v3" or "x86-64-v4" takes. */
bool tfls_processor_serves(const char* cpu);

/* call.c */
tfl_status tfls_call(tfl_context* c, uint32_t function, void* const* tensors);
tfl_status tfls_shape(tfl_context* c, uint32_t function, void* const* tensors); /* inputs, then one int64_t array an output */
/* Pointers to row-major elements of inputs and outputs; `dims` gives the sizes that the types leave open, each once. */
tfl_status tfls_call_flat(tfl_context* c, uint32_t function, void* const* pointers, const int64_t* dims);

/* The same in the processor's memory and by its code. */
tfl_status tfls_call_host(tfl_context* c, uint32_t function, void* const* tensors);
/* What a call checks first: `f` becomes the function for these sizes, `shape` and `symbols` are filled; then the results, whose memory `result`
 * gets. */
tfl_status tfls_check_inputs(tfl_context* c, const tfls_function** f, void* const* tensors, const int64_t** shape,
                             int64_t* symbols);
tfl_status tfls_check_outputs(tfl_context* c, const tfls_function* f, void* const* tensors, const int64_t* symbols,
                              const void* const* input, void** result);
tfl_status tfls_check_tensor(tfl_context* c, const char* function, const tfls_type* want, const tfl_tensor* t);
tfl_tensor tfls_tensor(int dtype, int rank, const void* data, const int64_t* shape);
int64_t tfls_size_of(const tfl_tensor* t);
/* The elements of `t`, row-major, at `to`. */
void tfls_copy(const tfl_tensor* t, int64_t bytes, char* to);
bool tfls_row_major(const tfl_tensor* t);

/* sizes.c: `f` becomes the first of it and those for other sizes that these sizes fit, and gives `symbols`. */
tfl_status tfls_choose(tfl_context* c, const tfls_function** f, const int64_t* const* shape, void* const* tensors,
                       int64_t* symbols);

/* explain.c: what failed there, of these inputs; `sizes`: sizes that do not go together, a and b of them. */
tfl_status tfls_explain(tfl_context* c, const tfls_function* f, int64_t location, const void* const* input,
                        const int64_t* const* shape);
tfl_status tfls_explain_sizes(tfl_context* c, const tfls_function* f, uint32_t location, const int64_t* const* shape, int64_t a,
                              int64_t b);

/* steps.c: allocates the outputs, for tfls_tensor_free. */
tfl_status tfls_call_steps(tfl_context* c, uint32_t stepwise, void* const* tensors);
void tfls_tensor_free(tfl_context* c, tfl_tensor* t);
/* The same to outputs of the right sizes, which are the caller's. */
tfl_status tfls_call_steps_into(tfl_context* c, uint32_t stepwise, void* const* tensors);
tfl_status tfls_run_steps(tfls_run* run, uint32_t first, uint32_t steps);
/* The value `from` to `out`, as it is where it may go, else as a copy. */
tfl_status tfls_hand_over(tfls_run* run, uint32_t from, bool may_go, tfl_tensor* out);
/* step_control.c: a branch or loop. */
tfl_status tfls_run_control(tfls_run* run, const tfls_step* s);
/* print.c */
tfl_status tfls_print(tfls_run* run, const tfls_step* s);
/* range.cpp: start, limit and delta are scalars; messages stand between the two pieces */
tfl_status tfls_range(tfls_run* run, const tfls_step* s);
/* step_kinds.c: one operation; `results` are given their memory and sizes. */
tfl_status tfls_run_step(tfl_context* c, const tfls_stepwise* p, const tfls_step* s, tfl_tensor* values);
/* Whether an element is anything but zero. */
bool tfls_is_true(int dtype, const char* element);
/* A row-major tensor of the value's type, sizes and elements in one piece of memory; false: no memory. */
bool tfls_new_tensor(tfl_context* c, int dtype, int rank, const int64_t* shape, tfl_tensor* out);

/* state.c */
tfl_status tfls_state_save(tfl_context* c, const char* path);
tfl_status tfls_state_load(tfl_context* c, const char* path);

/* pool.c: n units in parts of at most `grain`; nested calls run where they are. */
struct tfls_pool* tfls_pool_new(int threads);
void tfls_pool_free(struct tfls_pool* pool);
void tfls_pool_run(struct tfls_pool* pool, int64_t n, int64_t grain, void (*body)(void*, int64_t first, int64_t last),
                   void* argument);

void tfls_parallel(tfls_frame* frame, tfls_kernel kernel, int64_t units,
                   int64_t grain); /* on the threads of the frame's context */
int64_t tfls_beside(tfls_frame* frame, const tfls_entry* functions, int64_t count);
/* The same for what is no kernel. */
void tfls_parallel_for(tfl_context* c, int64_t n, int64_t grain, void (*body)(void*, int64_t first, int64_t last),
                       void* argument);

/* product.cpp, for each instruction set level; _f32: of nothing but float32 */
void tfls_product_x86_64_v3_f32(tfls_frame* frame, const tfls_product_call* call);
void tfls_product_x86_64_v4_f32(tfls_frame* frame, const tfls_product_call* call);
void tfls_product_x86_64_v3(tfls_frame* frame, const tfls_product_call* call);
void tfls_product_x86_64_v4(tfls_frame* frame, const tfls_product_call* call);
/* window.cpp: the same, and convolutions and pooling */
void tfls_product_x86_64_v3_windows(tfls_frame* frame, const tfls_product_call* call);
void tfls_product_x86_64_v4_windows(tfls_frame* frame, const tfls_product_call* call);

/* routines.cpp */
void tfls_scan(tfls_frame* frame, const void* call);
void tfls_arg(tfls_frame* frame, const void* call);
void tfls_scatter(tfls_frame* frame, const void* call);
void tfls_segment(tfls_frame* frame, const void* call);
void tfls_sort(tfls_frame* frame, const void* call);
void tfls_random(tfls_frame* frame, const void* call);
void tfls_solve(tfls_frame* frame, const void* call);
void tfls_factor(tfls_frame* frame, const void* call);
void tfls_sample(tfls_frame* frame, const void* call);
void tfls_fourier(tfls_frame* frame, const void* call);
