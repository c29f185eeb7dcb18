/* One call of a function: what the caller gave is checked, sizes follow from it, memory is found, the code runs. Nothing of the
 * caller's is written unless all of that went well. */
#include <stdarg.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "runtime/standalone/standalone.h"

/* "float32[?, 784]" with the sizes that are known. */
static const char* type_text(const tfls_type* t, char* text, size_t room) {
  size_t n = (size_t)snprintf(text, room, "%s[", tfls_dtypes[t->dtype].name);
  for (int i = 0; i < t->rank && n < room; ++i) {
    if (t->dims[i] >= 0)
      n += (size_t)snprintf(text + n, room - n, i ? ", %lld" : "%lld", (long long)t->dims[i]);
    else
      n += (size_t)snprintf(text + n, room - n, i ? ", ?" : "?");
  }
  if (n < room) snprintf(text + n, room - n, "]");
  return text;
}

tfl_status tfls_check_tensor(tfl_context* c, const char* function, const tfls_type* want, const tfl_tensor* t) {
  char text[160];
  if (!t) return tfls_fail(c, TFL_ERR_ARG, "%s: %s is NULL", function, want->name);
  if (t->device.device_type != 1 && !(c->takes_gpu && tfls_on_gpu(t)))
    return tfls_fail(c, TFL_ERR_ARG, "%s: %s is not in the processor's memory", function, want->name);
  if (t->dtype.code != tfls_dtypes[want->dtype].code || t->dtype.bits != tfls_dtypes[want->dtype].bits ||
      t->dtype.lanes != 1)
    return tfls_fail(c, TFL_ERR_DTYPE, "%s: %s must be %s", function, want->name, tfls_dtypes[want->dtype].name);
  if (t->ndim != want->rank)
    return tfls_fail(c, TFL_ERR_SHAPE, "%s: %s has rank %d and must be %s", function, want->name, (int)t->ndim,
                     type_text(want, text, sizeof text));
  if (t->ndim && !t->shape) return tfls_fail(c, TFL_ERR_ARG, "%s: %s has no shape", function, want->name);
  int64_t n = tfls_bytes(want->dtype);
  for (int i = 0; i < t->ndim; ++i) {
    if (t->shape[i] < 0 || __builtin_mul_overflow(n, t->shape[i] ? t->shape[i] : 1, &n))
      return tfls_fail(c, TFL_ERR_SHAPE, "%s: size %d of %s is %lld", function, i, want->name, (long long)t->shape[i]);
  }
  bool empty = false;
  for (int i = 0; i < t->ndim; ++i) empty |= t->shape[i] == 0;
  if (!empty && !t->data) return tfls_fail(c, TFL_ERR_ARG, "%s: %s has no data", function, want->name);
  return TFL_OK;
}

bool tfls_row_major(const tfl_tensor* t) {
  if (!t->strides) return true;
  int64_t step = 1;
  for (int i = t->ndim; i-- > 0;) {
    if (t->shape[i] != 1 && t->strides[i] != step) return t->shape[i] == 0;
    step *= t->shape[i];
  }
  return true;
}
int64_t tfls_size_of(const tfl_tensor* t) {
  int64_t n = 1;
  for (int i = 0; i < t->ndim; ++i) n *= t->shape[i];
  return n;
}

void tfls_copy(const tfl_tensor* t, int64_t bytes, char* to) {
  int64_t index[TFLS_MAX_RANK] = {0}, n = tfls_size_of(t);
  const char* from = (const char*)t->data + t->byte_offset;
  if (tfls_row_major(t)) {
    if (n > 0) memcpy(to, from, (size_t)(n * bytes));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = 0;
    for (int k = 0; k < t->ndim; ++k) at += index[k] * t->strides[k];
    memcpy(to + i * bytes, from + at * bytes, (size_t)bytes);
    for (int k = t->ndim; k-- > 0 && ++index[k] == t->shape[k];) index[k] = 0;
  }
}

tfl_tensor tfls_tensor(int dtype, int rank, const void* data, const int64_t* shape) {
  tfl_tensor t = {.data = (void*)(uintptr_t)data, .device = {1, 0}, .ndim = rank, .shape = (int64_t*)(uintptr_t)shape};
  t.dtype.code = tfls_dtypes[dtype].code;
  t.dtype.bits = tfls_dtypes[dtype].bits;
  t.dtype.lanes = 1;
  return t;
}

static tfl_status find(tfl_context* c, uint32_t number, void* const* tensors, const tfls_function** f) {
  if (!c) return TFL_ERR_ARG;
  c->error[0] = 0;
  *f = &c->library.function[number];
  return tensors ? TFL_OK : tfls_fail(c, TFL_ERR_ARG, "%s: no arguments", (*f)->name);
}

/* `f` becomes the function for these sizes. */
tfl_status tfls_check_inputs(tfl_context* c, const tfls_function** f, void* const* tensors, const int64_t** shape, int64_t* symbols) {
  const tfls_function* first = *f;
  for (uint32_t i = 0; i < first->inputs; ++i) {
    if (i >= first->arguments) {
      shape[i] = c->library.state[first->state_of_input[i - first->arguments]].type.dims;
      continue;
    }
    const tfl_tensor* t = tensors[i];
    tfl_status status = tfls_check_tensor(c, first->name, &first->input[i], t);
    if (status != TFL_OK) return status;
    shape[i] = t->shape;
  }
  return tfls_choose(c, f, shape, tensors, symbols);
}

enum { SMALL = 24 };

tfl_status tfls_shape(tfl_context* c, uint32_t number, void* const* arguments) {
  const tfls_function* f;
  tfl_status status = find(c, number, arguments, &f);
  if (status != TFL_OK) return status;
  int64_t few_symbols[SMALL], *symbols = few_symbols;
  const int64_t *few_shapes[SMALL], **shape = few_shapes;
  void* memory = NULL;
  if (f->most_symbols > SMALL || f->inputs > SMALL) {
    memory = malloc(8 * ((size_t)f->most_symbols + f->inputs));
    if (!memory) return tfls_fail(c, TFL_ERR_OOM, "%s: no memory", f->name);
    symbols = memory;
    shape = (const int64_t**)(symbols + f->most_symbols);
  }
  c->takes_gpu = c->library.image->gpu != NULL;
  status = tfls_check_inputs(c, &f, arguments, shape, symbols);
  c->takes_gpu = false;
  for (uint32_t i = 0; status == TFL_OK && i < f->outputs; ++i) {
    int64_t* to = arguments[f->arguments + i];
    if (!to && f->result[i].type.rank)
      status = tfls_fail(c, TFL_ERR_ARG, "%s: the shape of %s is NULL", f->name, f->result[i].type.name);
    for (int k = 0; status == TFL_OK && k < f->result[i].type.rank; ++k)
      to[k] = tfls_resolve(symbols, f->result[i].type.dims[k]);
  }
  free(memory);
  return status;
}

static bool overlap(const void* a, size_t n, const void* b, size_t m) {
  return n && m && (uintptr_t)a < (uintptr_t)b + m && (uintptr_t)b < (uintptr_t)a + n;
}

/* Bytes of the arena: slots, copies of strided inputs, new values of variables, the frame. */
static bool add_room(size_t* total, int64_t count, int64_t size, size_t* offset) {
  int64_t bytes;
  if (count < 0 || __builtin_mul_overflow(count, size, &bytes) || bytes > INT64_MAX / 2 - (int64_t)*total - 64)
    return false;
  *offset = *total;
  *total += ((size_t)bytes + 63) / 64 * 64;
  return true;
}

static int64_t count_of(const tfls_type* t, const int64_t* symbols, bool* bad) {
  int64_t n = 1;
  for (int i = 0; i < t->rank; ++i) {
    int64_t d = tfls_resolve(symbols, t->dims[i]);
    *bad |= d < 0 || __builtin_mul_overflow(n, d, &n);
  }
  return n;
}

/* The caller's results: their types and sizes, and that they are row-major and nobody else's memory. */
tfl_status tfls_check_outputs(tfl_context* c, const tfls_function* f, void* const* tensors, const int64_t* symbols, const void* const* input,
                              void** result) {
  for (uint32_t i = 0; i < f->outputs; ++i) {
    const tfls_type* type = &f->result[i].type;
    const tfl_tensor* t = tensors[f->arguments + i];
    tfl_status status = tfls_check_tensor(c, f->name, type, t);
    if (status != TFL_OK) return status;
    for (int k = 0; k < type->rank; ++k) {
      int64_t want = tfls_resolve(symbols, type->dims[k]);
      if (t->shape[k] != want)
        return tfls_fail(c, TFL_ERR_SHAPE, "%s: size %d of %s is %lld and must be %lld", f->name, k, type->name,
                         (long long)t->shape[k], (long long)want);
    }
    if (!tfls_row_major(t)) return tfls_fail(c, TFL_ERR_ARG, "%s: %s must be row-major", f->name, type->name);
    result[i] = (char*)t->data + t->byte_offset;
    size_t bytes = (size_t)(tfls_size_of(t) * tfls_bytes(type->dtype));
    for (uint32_t k = 0; k < f->arguments; ++k) {
      size_t other = (size_t)(tfls_size_of(tensors[k]) * tfls_bytes(f->input[k].dtype));
      if (overlap(result[i], bytes, input[k], other))
        return tfls_fail(c, TFL_ERR_ARG, "%s: %s lies in the memory of %s", f->name, type->name, f->input[k].name);
    }
    for (uint32_t k = 0; k < i; ++k) {
      size_t other = (size_t)(tfls_size_of(tensors[f->arguments + k]) * tfls_bytes(f->result[k].type.dtype));
      if (overlap(result[i], bytes, result[k], other))
        return tfls_fail(c, TFL_ERR_ARG, "%s: %s lies in the memory of %s", f->name, type->name,
                         f->result[k].type.name);
    }
  }
  return TFL_OK;
}

/* Of inputs that have been checked. */
static tfl_status run(tfl_context* c, const tfls_function* f, void* const* tensors, const int64_t** shape,
                      int64_t* symbols, const void** input, void** result, size_t* offsets) {
  tfl_status status = TFL_OK;
  if (f->steps >= 0) {
    for (uint32_t i = 0; i < f->arguments; ++i) {
      const tfl_tensor* t = tensors[i];
      input[i] = (const char*)t->data + t->byte_offset;
    }
    status = tfls_check_outputs(c, f, tensors, symbols, input, result);
    return status == TFL_OK ? c->library.image->run_steps(c, (uint32_t)f->steps, tensors) : status;
  }

  /* Where everything is to lie. */
  size_t total = 0, frame_at;
  bool fits = add_room(&total, (int64_t)(offsetof(tfls_frame, words) / 8 + f->words + 1), 8, &frame_at), bad = false;
  for (uint32_t i = 0; i < f->slots && fits; ++i) fits = add_room(&total, tfls_resolve(symbols, f->slot[i]), 1, &offsets[i]);
  for (uint32_t i = 0; i < f->arguments && fits; ++i) {
    const tfl_tensor* t = tensors[i];
    offsets[f->slots + i] = SIZE_MAX;
    if (!tfls_row_major(t))
      fits = add_room(&total, tfls_size_of(t), tfls_bytes(f->input[i].dtype), &offsets[f->slots + i]);
  }
  for (uint32_t i = f->outputs; i < f->results && fits; ++i) {
    const tfls_type* t = &f->result[i].type;
    fits = add_room(&total, count_of(t, symbols, &bad), tfls_bytes(t->dtype), &offsets[f->slots + f->arguments + i]);
  }
  if (!fits || bad) return tfls_fail(c, TFL_ERR_SHAPE, "%s: these sizes are too large", f->name);
  if (total > c->arena_bytes) {
    tfls_free(c, c->arena, c->arena_bytes);
    c->arena_bytes = 0;
    c->arena = tfls_alloc(c, total);
    if (!c->arena) return tfls_fail(c, TFL_ERR_OOM, "%s: no memory for %zu bytes", f->name, total);
    c->arena_bytes = total;
  }
  char* arena = c->arena;

  for (uint32_t i = 0; i < f->inputs; ++i) {
    if (i >= f->arguments) {
      input[i] = c->states[f->state_of_input[i - f->arguments]];
      continue;
    }
    const tfl_tensor* t = tensors[i];
    input[i] = (const char*)t->data + t->byte_offset;
    if (offsets[f->slots + i] == SIZE_MAX) continue;
    tfls_copy(t, tfls_bytes(f->input[i].dtype), arena + offsets[f->slots + i]);
    input[i] = arena + offsets[f->slots + i];
  }
  status = tfls_check_outputs(c, f, tensors, symbols, input, result);
  if (status != TFL_OK) return status;
  for (uint32_t i = f->outputs; i < f->results; ++i) result[i] = arena + offsets[f->slots + f->arguments + i];

  tfls_frame* frame = (tfls_frame*)(arena + frame_at);
  frame->services = &c->library.services;
  frame->self = c;
  frame->interrupt = (const uint32_t*)&c->cancelled;
  frame->failed = 0;
  memcpy(frame->words, symbols, 8 * f->symbols);
  for (uint32_t i = 0; i < f->values; ++i) {
    const tfls_value* v = &f->value[i];
    const void* p = NULL;
    switch (v->home) {
      case HOME_INPUT: p = input[v->index]; break;
      case HOME_CONSTANT: p = f->constant[v->index]; break;
      case HOME_RESULT: p = result[v->index]; break;
      case HOME_TEMPORARY: p = arena + offsets[v->index]; break;
      default: break;
    }
    frame->words[v->word] = (int64_t)(uintptr_t)p;
  }

  /* The language is defined for the default floating-point environment. */
#if defined(__x86_64__)
  unsigned before = _mm_getcsr();
  if ((before & 0xffc0) != 0x1f80) _mm_setcsr(0x1f80);
#endif
  int64_t outcome = atomic_load(&c->cancelled) ? 2 : f->entry(frame);
#if defined(__x86_64__)
  if ((before & 0xffc0) != 0x1f80) _mm_setcsr(before);
#endif
  if (outcome == 2) {
    atomic_store(&c->cancelled, 0);
    return tfls_fail(c, TFL_ERR_CANCELLED, "%s: cancelled", f->name);
  }
  if (outcome != 0 || frame->failed) {
    if (frame->failed < 0) return tfls_fail(c, TFL_ERR_OOM, "%s: no memory for a product", f->name);
    return tfls_explain(c, f, frame->failed - 1, input, shape);
  }

  for (uint32_t i = 0; i < f->results; ++i) {
    const tfls_result* r = &f->result[i];
    size_t bytes = (size_t)(count_of(&r->type, symbols, &bad) * tfls_bytes(r->type.dtype));
    if (r->kind == RESULT_SCALAR) memcpy(result[i], &frame->words[r->index], bytes);
    if (r->kind == RESULT_INPUT && bytes) memcpy(result[i], input[r->index], bytes);
    if (r->kind == RESULT_CONSTANT && bytes) memcpy(result[i], f->constant[r->index], bytes);
  }
  if (f->outputs < f->results) ++c->state_changes;
  for (uint32_t i = f->outputs; i < f->results; ++i) {
    const tfls_type* t = &f->result[i].type;
    memcpy(c->states[f->result[i].state], result[i], (size_t)(tfls_count(t) * tfls_bytes(t->dtype)));
  }
  return TFL_OK;
}

/* Whether the call is a GPU's: because the context is, or some tensor lies there. */
static bool wants_gpu(const tfl_context* c, uint32_t number, void* const* tensors) {
  const tfls_function* f = &c->library.function[number];
  bool any = c->device > 0;
  for (uint32_t i = 0; tensors && !any && i < f->arguments + f->outputs; ++i)
    any = tensors[i] && tfls_on_gpu(tensors[i]);
  return any;
}

tfl_status tfls_call(tfl_context* c, uint32_t number, void* const* tensors) {
  if (c && c->library.image->gpu && wants_gpu(c, number, tensors)) return c->library.image->gpu->call(c, number, tensors);
  return tfls_call_host(c, number, tensors);
}

/* `known`: the symbols of inputs that have been checked; NULL: they have not. */
static tfl_status call_with(tfl_context* c, const tfls_function* f, void* const* tensors, const int64_t* known) {
  tfl_status status = TFL_OK;
  /* Scratch for the call: on the stack where there is little of it. */
  size_t words = (size_t)f->most_symbols + 2u * f->inputs + 2u * f->results + f->most_slots + f->arguments;
  void *few[128], *memory = NULL, **at = few;
  if (words > sizeof few / sizeof *few) {
    memory = malloc(words * sizeof *few);
    if (!memory) return tfls_fail(c, TFL_ERR_OOM, "%s: no memory", f->name);
    at = memory;
  }
  int64_t* symbols = (int64_t*)at;
  const int64_t** shape = (const int64_t**)(symbols + f->most_symbols);
  const void** input = (const void**)(shape + f->inputs);
  void** result = (void**)(input + f->inputs);
  size_t* offsets = (size_t*)(result + f->results);
  if (known) {
    memcpy(symbols, known, 8 * (size_t)f->symbols);
    for (uint32_t i = 0; i < f->arguments; ++i) shape[i] = ((const tfl_tensor*)tensors[i])->shape;
    for (uint32_t i = f->arguments; i < f->inputs; ++i) shape[i] = c->library.state[f->state_of_input[i - f->arguments]].type.dims;
  } else {
    status = tfls_check_inputs(c, &f, tensors, shape, symbols);
  }
  if (status == TFL_OK) status = run(c, f, tensors, shape, symbols, input, result, offsets);
  free(memory);
  return status;
}

tfl_status tfls_call_host(tfl_context* c, uint32_t number, void* const* tensors) {
  const tfls_function* f;
  tfl_status status = find(c, number, tensors, &f);
  return status == TFL_OK ? call_with(c, f, tensors, NULL) : status;
}

tfl_status tfls_call_flat(tfl_context* c, uint32_t number, void* const* pointers, const int64_t* dims) {
  const tfls_function* f;
  tfl_status status = find(c, number, pointers, &f);
  if (status != TFL_OK) return status;
  uint32_t n = f->arguments + f->outputs;
  int64_t ranks = 0;
  for (uint32_t i = 0; i < f->arguments; ++i) ranks += f->input[i].rank;
  for (uint32_t i = 0; i < f->outputs; ++i) ranks += f->result[i].type.rank;
  size_t bytes = n * (sizeof(tfl_tensor) + sizeof(void*)) + 8 * ((size_t)ranks + f->most_symbols + 1) + sizeof(void*) * f->inputs;
  _Alignas(16) char few[1024];
  char* memory = bytes <= sizeof few ? few : malloc(bytes);
  if (!memory) return tfls_fail(c, TFL_ERR_OOM, "%s: no memory", f->name);
  tfl_tensor* tensor = (tfl_tensor*)memory;
  void** tensors = (void**)(tensor + n);
  const int64_t** shape = (const int64_t**)(tensors + n);
  int64_t *size = (int64_t*)(shape + f->inputs), *symbols = size + ranks;
  uint32_t axis = 0;
  for (uint32_t i = 0; i < f->inputs; ++i) {
    const tfls_type* t = &f->input[i];
    shape[i] = i < f->arguments ? size : c->library.state[f->state_of_input[i - f->arguments]].type.dims;
    for (int k = 0; i < f->arguments && k < t->rank; ++k, ++axis) {
      int64_t open = axis < f->opens ? f->open[axis] : -1;
      size[k] = open >= 0 ? dims[open] : t->dims[k];
      if (size[k] < 0)
        status = tfls_fail(c, TFL_ERR_SHAPE, "%s: size %d of %s is %lld", f->name, k, t->name, (long long)size[k]);
    }
    if (i >= f->arguments) continue;
    tensor[i] = tfls_tensor(t->dtype, t->rank, pointers[i], size);
    tensors[i] = &tensor[i];
    size += t->rank;
  }
  /* What is NULL and not empty, and sizes that are too large, the checks tell. */
  for (uint32_t i = 0; status == TFL_OK && i < f->arguments; ++i) {
    int64_t bytes = tfls_bytes(f->input[i].dtype);
    bool plain = tensor[i].data != NULL;
    for (int k = 0; k < tensor[i].ndim; ++k) plain &= !__builtin_mul_overflow(bytes, tensor[i].shape[k] ? tensor[i].shape[k] : 1, &bytes);
    if (!plain) status = tfls_check_tensor(c, f->name, &f->input[i], &tensor[i]);
  }
  if (status == TFL_OK) status = tfls_choose(c, &f, shape, tensors, symbols);
  for (uint32_t i = 0; status == TFL_OK && i < f->outputs; ++i) {
    const tfls_type* t = &f->result[i].type;
    tfl_tensor* o = &tensor[f->arguments + i];
    *o = tfls_tensor(t->dtype, t->rank, pointers[f->arguments + i], size);
    tensors[f->arguments + i] = o;
    for (int k = 0; k < t->rank; ++k) size[k] = tfls_resolve(symbols, t->dims[k]);
    size += t->rank;
  }
  if (status == TFL_OK) status = c->device == 0 ? call_with(c, f, tensors, symbols) : tfls_call(c, number, tensors);
  if (memory != few) free(memory);
  return status;
}
