/* Contexts: memory, variables, the text of the last error. */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>

#include "runtime/standalone/standalone.h"

const tfls_dtype tfls_dtypes[TFLS_DTYPES] = {
    [TFLS_F16] = {2, 16, "float16", "F16"}, [TFLS_BF16] = {4, 16, "bfloat16", "BF16"}, [TFLS_F32] = {2, 32, "float32", "F32"},
    [TFLS_F64] = {2, 64, "float64", "F64"}, [TFLS_I8] = {0, 8, "int8", "I8"},          [TFLS_I16] = {0, 16, "int16", "I16"},
    [TFLS_I32] = {0, 32, "int32", "I32"},   [TFLS_I64] = {0, 64, "int64", "I64"},      [TFLS_U8] = {1, 8, "uint8", "U8"},
    [TFLS_U16] = {1, 16, "uint16", "U16"},  [TFLS_U32] = {1, 32, "uint32", "U32"},     [TFLS_U64] = {1, 64, "uint64", "U64"},
    [TFLS_BOOL] = {6, 8, "bool", "BOOL"},
};

tfl_status tfls_fail(tfl_context *c, tfl_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->error, sizeof c->error, format, arguments);
  va_end(arguments);
  return status;
}

static void *plain_alloc(size_t bytes, size_t alignment, void *user) {
  (void)user;
  void *memory = NULL;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}
static void plain_dealloc(void *memory, size_t bytes, void *user) {
  (void)bytes;
  (void)user;
  free(memory);
}

void *tfls_alloc(tfl_context *c, size_t bytes) {
  if (bytes == 0) bytes = 1;
  if (c->memory_limit && (bytes > c->memory_limit || c->used > c->memory_limit - bytes)) return NULL;
  void *memory = c->alloc(bytes, 64, c->user);
  if (memory) c->used += bytes;
  return memory;
}
void tfls_free(tfl_context *c, void *memory, size_t bytes) {
  if (!memory) return;
  if (bytes == 0) bytes = 1;
  c->dealloc(memory, bytes, c->user);
  c->used -= bytes;
}

void *tfls_product_memory(tfl_context *c, size_t bytes) {
  if (bytes == 0) return NULL;
  if (bytes > c->product_bytes) {
    tfls_free(c, c->product_memory, c->product_bytes);
    c->product_bytes = 0;
    c->product_memory = tfls_alloc(c, bytes);
    if (c->product_memory) c->product_bytes = bytes;
  }
  return c->product_memory;
}

int64_t tfls_count(const tfls_type *t) {
  int64_t n = 1;
  for (int i = 0; i < t->rank; ++i) n *= t->dims[i];
  return n;
}

static int processors(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

enum { MOST_THREADS = 1024 };

#define HAS_FIELD(options, field) ((options)->struct_size >= offsetof(tfl_options, field) + sizeof((options)->field))

tfl_status tfls_context_new(const tfls_image *image, const tfl_options *options, tfl_context **out) {
  if (!out) return TFL_ERR_ARG;
  *out = NULL;
  if (options && (options->struct_size < sizeof(size_t) || options->struct_size > 4096)) return TFL_ERR_ABI;
  if (options && HAS_FIELD(options, num_threads) && options->num_threads < 0) return TFL_ERR_ARG;
  if (options && HAS_FIELD(options, device) && options->device < 0) return TFL_ERR_ARG;
  if (options && HAS_FIELD(options, device) && options->device > 0 && !image->gpu) return TFL_ERR_DEVICE;
  tfl_context *c = calloc(1, sizeof *c);
  if (!c) return TFL_ERR_OOM;
  c->alloc = plain_alloc;
  c->dealloc = plain_dealloc;
  if (options) {
    if (HAS_FIELD(options, num_threads)) c->threads = options->num_threads;
    if (HAS_FIELD(options, device)) c->device = options->device;
    if (HAS_FIELD(options, memory_limit)) c->memory_limit = options->memory_limit;
    if (HAS_FIELD(options, user) && options->alloc && options->dealloc) {
      c->alloc = options->alloc;
      c->dealloc = options->dealloc;
      c->user = options->user;
    }
  }
  if (c->threads == 0) c->threads = processors();
  if (c->threads > MOST_THREADS) c->threads = MOST_THREADS;
  if (!tfls_read_library(image, &c->library)) {
    free(c);
    return TFL_ERR_ABI;
  }
  tfl_status status = tfls_processor_serves(c->library.cpu) ? TFL_OK : TFL_ERR_DEVICE;
  if (status == TFL_OK && c->library.states) {
    c->states = calloc(c->library.states, sizeof *c->states);
    if (!c->states) status = TFL_ERR_OOM;
  }
  for (uint32_t i = 0; status == TFL_OK && i < c->library.states; ++i) {
    const tfls_state *s = &c->library.state[i];
    size_t bytes = (size_t)(tfls_count(&s->type) * tfls_bytes(s->type.dtype));
    c->states[i] = tfls_alloc(c, bytes);
    if (!c->states[i]) status = TFL_ERR_OOM;
    else if (s->initial) memcpy(c->states[i], s->initial, bytes);
    else memset(c->states[i], 0, bytes);
  }
  if (status != TFL_OK) {
    tfls_context_free(c);
    return status;
  }
  *out = c;
  return TFL_OK;
}

void tfls_context_free(tfl_context *c) {
  if (!c) return;
  if (c->gpu) c->library.image->gpu->release(c);
  tfls_pool_free(c->pool);
  for (uint32_t i = 0; c->states && i < c->library.states; ++i) {
    const tfls_type *t = &c->library.state[i].type;
    tfls_free(c, c->states[i], (size_t)(tfls_count(t) * tfls_bytes(t->dtype)));
  }
  free(c->states);
  tfls_free(c, c->arena, c->arena_bytes);
  tfls_free(c, c->product_memory, c->product_bytes);
  if (c->fourier_plans) c->release_fourier_plans(c->fourier_plans);
  free(c->library.memory);
  free(c);
}

const char *tfls_last_error(const tfl_context *c) { return c ? c->error : "no context"; }

tfl_status tfls_context_cancel(tfl_context *c) {
  if (!c) return TFL_ERR_ARG;
  atomic_store(&c->cancelled, 1);
  return TFL_OK;
}
