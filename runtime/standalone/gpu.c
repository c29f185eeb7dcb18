/* Calls with tensors on a GPU, or of a context that works there. What has no code for GPUs, and what an operation makes fail, runs on the
 * processor with copies. */
#include "runtime/standalone/gpu.h"

static tfl_status on_host(tfl_context *c, uint32_t number, const tfls_function *f, void *const *tensors) {
  tfls_driver *d = &c->gpu->driver;
  uint32_t n = f->arguments + f->outputs;
  tfl_tensor *host = calloc((size_t)n + 1, sizeof *host);
  void **pointers = calloc((size_t)n + 1, sizeof *pointers);
  tfl_status status = host && pointers ? TFL_OK : tfls_fail(c, TFL_ERR_OOM, "%s: no memory", f->name);
  for (uint32_t i = 0; status == TFL_OK && i < n; ++i) {
    const tfl_tensor *t = tensors[i];
    pointers[i] = (void *)(uintptr_t)t;
    if (!tfls_on_gpu(t)) continue;
    int dtype = i < f->arguments ? f->input[i].dtype : f->result[i - f->arguments].type.dtype;
    size_t bytes = (size_t)(tfls_size_of(t) * tfls_bytes(dtype));
    if (!tfls_new_tensor(c, dtype, t->ndim, t->shape, &host[i])) {
      status = tfls_fail(c, TFL_ERR_OOM, "%s: no memory", f->name);
      break;
    }
    pointers[i] = &host[i];
    int error = i < f->arguments && bytes ? d->to_host(host[i].data, tfls_address(t), bytes, NULL) : 0;
    if (error) status = tfls_gpu_failed(c, error, "copying from it");
  }
  int error = status == TFL_OK ? d->synchronize(NULL) : 0;
  if (error) status = tfls_gpu_failed(c, error, "work");
  if (status == TFL_OK) status = tfls_call_host(c, number, pointers);
  for (uint32_t i = f->arguments; status == TFL_OK && i < n; ++i) {
    const tfl_tensor *t = tensors[i];
    size_t bytes = (size_t)(tfls_size_of(t) * tfls_bytes(f->result[i - f->arguments].type.dtype));
    error = tfls_on_gpu(t) && bytes ? d->to_device(tfls_address(t), host[i].data, bytes, NULL) : 0;
    if (error) status = tfls_gpu_failed(c, error, "copying to it");
  }
  error = status == TFL_OK ? d->synchronize(NULL) : 0;
  if (error) status = tfls_gpu_failed(c, error, "work");
  for (uint32_t i = 0; host && i < n; ++i) tfls_tensor_free(c, &host[i]);
  free(host);
  free(pointers);
  return status;
}

/* Checks everything, and runs. */
static tfl_status call(tfl_context *c, uint32_t number, const tfls_function *f, void *const *tensors, void *memory) {
  const tfls_function *first = f;
  int64_t *symbols = memory;
  const int64_t **shape = (const int64_t **)(symbols + f->most_symbols);
  const void **input = (const void **)(shape + f->inputs);
  void **result = (void **)(input + f->inputs);
  c->takes_gpu = true;
  tfl_status status = tfls_check_inputs(c, &f, tensors, shape, symbols);
  for (uint32_t i = 0; status == TFL_OK && i < f->arguments; ++i) {
    const tfl_tensor *t = tensors[i];
    input[i] = (const char *)t->data + t->byte_offset;
    if (tfls_on_gpu(t) && !tfls_row_major(t)) status = tfls_fail(c, TFL_ERR_ARG, "%s: %s lies on a GPU and must be row-major", f->name, f->input[i].name);
  }
  if (status == TFL_OK) status = tfls_check_outputs(c, f, tensors, symbols, input, result);
  c->takes_gpu = false;
  if (status != TFL_OK) return status;
  for (uint32_t i = 0; i < c->gpu->functions; ++i) {
    tfls_gpu_function *g = &c->gpu->function[i];
    if (&c->library.function[g->function] != f) continue;
    bool done;
    status = tfls_gpu_run(c, f, g, tensors, symbols, &done);
    if (done || status != TFL_OK) return status;
    break;
  }
  return on_host(c, number, first, tensors);
}

static tfl_status gpu_call(tfl_context *c, uint32_t number, void *const *tensors) {
  c->error[0] = 0;
  const tfls_function *f = &c->library.function[number];
  if (!tensors) return tfls_fail(c, TFL_ERR_ARG, "%s: no arguments", f->name);
  int ordinal = c->device > 0 ? c->device - 1 : -1;
  for (uint32_t i = 0; i < f->arguments + f->outputs; ++i) {
    const tfl_tensor *t = tensors[i];
    if (!t || !tfls_on_gpu(t)) continue;
    if (ordinal >= 0 && t->device.device_id != ordinal)
      return tfls_fail(c, TFL_ERR_ARG, "%s: a tensor lies on GPU %d, and the call is one of GPU %d", f->name, (int)t->device.device_id, ordinal);
    ordinal = t->device.device_id;
  }
  tfl_status status = tfls_gpu_start(c, ordinal);
  if (status != TFL_OK) return status;
  void *memory = calloc((size_t)f->most_symbols + 2 * (size_t)f->inputs + f->results + 1, 8);
  if (!memory) return tfls_fail(c, TFL_ERR_OOM, "%s: no memory", f->name);
  tfls_driver *d = &c->gpu->driver;
  void *before = NULL;
  d->current_context(&before);
  int error = d->set_context(c->gpu->context);
  status = error ? tfls_gpu_failed(c, error, "entering it") : call(c, number, f, tensors, memory);
  d->set_context(before);
  free(memory);
  return status;
}

const tfls_gpu_hooks tfls_gpu = {gpu_call, tfls_gpu_release};
