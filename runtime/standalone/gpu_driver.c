/* NVIDIA's driver, loaded when a call first asks for a GPU. */
#include <dlfcn.h>

#include "runtime/standalone/gpu.h"

enum { OUT_OF_MEMORY = 2, CAPABILITY_MAJOR = 75, OLDEST_CAPABILITY = 8, RELEASE_THRESHOLD = 4 };

tfl_status tfls_gpu_failed(tfl_context *c, int error, const char *what) {
  const char *text = NULL;
  if (c->gpu && c->gpu->driver.error_string) c->gpu->driver.error_string(error, &text);
  return tfls_fail(c, error == OUT_OF_MEMORY ? TFL_ERR_OOM : TFL_ERR_DEVICE, "%s: GPU: %s (error %d)", what, text ? text : "the driver fails", error);
}

static bool look_up(void *library, tfls_driver *d) {
  const struct {
    const char *symbol;
    void *to;
  } all[] = {{"cuInit", &d->init},
             {"cuGetErrorString", &d->error_string},
             {"cuDeviceGetCount", &d->device_count},
             {"cuDeviceGet", &d->device},
             {"cuDeviceGetAttribute", &d->device_attribute},
             {"cuDevicePrimaryCtxRetain", &d->retain_context},
             {"cuDevicePrimaryCtxRelease_v2", &d->release_context},
             {"cuCtxGetCurrent", &d->current_context},
             {"cuCtxSetCurrent", &d->set_context},
             {"cuDeviceGetDefaultMemPool", &d->pool},
             {"cuMemPoolSetAttribute", &d->set_pool},
             {"cuMemPoolTrimTo", &d->trim_pool},
             {"cuStreamSynchronize", &d->synchronize},
             {"cuMemAllocAsync", &d->allocate},
             {"cuMemFreeAsync", &d->release},
             {"cuMemcpyHtoDAsync_v2", &d->to_device},
             {"cuMemcpyDtoHAsync_v2", &d->to_host},
             {"cuMemcpyDtoDAsync_v2", &d->copy},
             {"cuModuleLoadDataEx", &d->load_module},
             {"cuModuleUnload", &d->unload_module},
             {"cuModuleGetFunction", &d->function},
             {"cuLaunchKernel", &d->launch}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    void *found = dlsym(library, all[i].symbol);
    if (!found) return false;
    memcpy(all[i].to, &found, sizeof found);
  }
  return true;
}

static tfl_status start(tfl_context *c, int ordinal) {
  tfls_gpu_state *g = c->gpu;
  tfls_driver *d = &g->driver;
  const char *name = getenv("TFL_CUDA_LIBRARY");
  void *library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL); /* stays: it cannot be unloaded safely */
  if (!library) return tfls_fail(c, TFL_ERR_DEVICE, "GPU: the driver's library cannot be loaded: %s", dlerror());
  if (!look_up(library, d)) return tfls_fail(c, TFL_ERR_DEVICE, "GPU: the driver is too old: it is before CUDA 11.2");
  int n = 0, major = 0, error = d->init(0);
  if (!error) error = d->device_count(&n);
  if (error) return tfls_gpu_failed(c, error, "start");
  if (ordinal < 0 || ordinal >= n) return tfls_fail(c, TFL_ERR_DEVICE, "GPU: there is no GPU %d: the driver finds %d", ordinal, n);
  error = d->device(&g->handle, ordinal);
  if (!error) error = d->device_attribute(&major, CAPABILITY_MAJOR, g->handle);
  if (error) return tfls_gpu_failed(c, error, "start");
  if (major < OLDEST_CAPABILITY) return tfls_fail(c, TFL_ERR_DEVICE, "GPU: GPU %d has compute capability %d, and 8.0 is needed", ordinal, major);
  /* Memory that calls give back stays with the process until the context goes. */
  uint64_t everything = UINT64_MAX;
  error = d->pool(&g->pool, g->handle);
  if (!error) error = d->set_pool(g->pool, RELEASE_THRESHOLD, &everything);
  if (!error) error = d->retain_context(&g->context, g->handle);
  return error ? tfls_gpu_failed(c, error, "start") : TFL_OK;
}

tfl_status tfls_gpu_start(tfl_context *c, int ordinal) {
  if (c->gpu && c->gpu->context) {
    if (c->gpu->ordinal == ordinal) return TFL_OK;
    return tfls_fail(c, TFL_ERR_ARG, "GPU: this context works on GPU %d, and a tensor lies on GPU %d", c->gpu->ordinal, ordinal);
  }
  if (!c->gpu) c->gpu = calloc(1, sizeof *c->gpu);
  tfls_gpu_state *g = c->gpu;
  if (!g) return tfls_fail(c, TFL_ERR_OOM, "GPU: no memory");
  g->ordinal = ordinal;
  if (!g->memory && !tfls_gpu_read(c, g)) return tfls_fail(c, TFL_ERR_ABI, "GPU: damaged");
  if (!g->states && c->library.states) {
    g->states = calloc(2 * (size_t)c->library.states, sizeof *g->states);
    if (!g->states) return tfls_fail(c, TFL_ERR_OOM, "GPU: no memory");
    g->seen = g->states + c->library.states;
  }
  return start(c, ordinal);
}

void tfls_gpu_release(tfl_context *c) {
  tfls_gpu_state *g = c->gpu;
  if (g->context) {
    tfls_driver *d = &g->driver;
    void *before = NULL;
    d->current_context(&before);
    d->set_context(g->context);
    for (uint32_t i = 0; g->states && i < c->library.states; ++i) {
      if (g->states[i]) d->release(g->states[i], NULL);
    }
    for (uint32_t i = 0; i < g->functions; ++i) {
      tfls_gpu_function *f = &g->function[i];
      for (uint32_t k = 0; k < c->library.function[f->function].constants; ++k) {
        if (f->constants[k]) d->release(f->constants[k], NULL);
      }
      if (f->module) d->unload_module(f->module);
    }
    d->synchronize(NULL);
    d->trim_pool(g->pool, 0);
    d->set_context(before);
    d->release_context(g->handle);
  }
  free(g->states);
  free(g->memory);
  free(g);
  c->gpu = NULL;
}
