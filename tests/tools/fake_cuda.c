/* A driver library without a GPU, for tests: memory is the process's own, launches do nothing, and what TFL_FAKE_CUDA names goes wrong.
   Several may be named, with commas. TFL_FAKE_CUDA_LOG is a file that gets a line for each call that tests look at. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wanted(const char* what) {
  const char* list = getenv("TFL_FAKE_CUDA");
  const char* at = list ? strstr(list, what) : NULL;
  return at != NULL && (at == list || at[-1] == ',') && (at[strlen(what)] == ',' || at[strlen(what)] == 0);
}

static void note(const char* format, unsigned long long number, const char* text) {
  const char* path = getenv("TFL_FAKE_CUDA_LOG");
  FILE* f = path ? fopen(path, "a") : NULL;
  if (!f) return;
  fprintf(f, format, number, text);
  fclose(f);
}

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, UNSUPPORTED_PTX = 222, NOT_FOUND = 500, OPERATING_SYSTEM = 304, ILLEGAL_ADDRESS = 700, MISMATCH = 803 };

int cuInit(unsigned flags) {
  (void)flags;
  if (wanted("no-device")) return NO_DEVICE;
  if (wanted("no-permission")) return OPERATING_SYSTEM;
  if (wanted("mismatch")) return MISMATCH;
  if (wanted("stub")) return 34;
  return OK;
}
int cuDriverGetVersion(int* version) { return *version = wanted("old-driver") ? 10020 : wanted("driver-12.2") ? 12020 : 12040, OK; }
int cuGetErrorName(int error, const char** name) {
  *name = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : error == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : error == OPERATING_SYSTEM ? "CUDA_ERROR_OPERATING_SYSTEM"
          : error == UNSUPPORTED_PTX ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" : error == NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_NOT_FOUND";
  return OK;
}
int cuGetErrorString(int error, const char** text) {
  *text = error == OUT_OF_MEMORY ? "out of memory" : error == ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : error == OPERATING_SYSTEM ? "OS call failed or operation not supported on this OS"
          : error == UNSUPPORTED_PTX ? "the provided PTX was compiled with an unsupported toolchain." : error == NO_DEVICE ? "no CUDA-capable device is detected" : "named symbol not found";
  return OK;
}
int cuDeviceGetCount(int* n) { return *n = wanted("none") ? 0 : wanted("two") ? 2 : 1, OK; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, OK; }
int cuDeviceGetName(char* name, int size, int device) { return snprintf(name, (size_t)size, "Pretended GPU %d", device), OK; }
int cuDeviceGetAttribute(int* value, int which, int device) {
  (void)device;
  switch (which) {
    case 16: *value = 132; break;
    case 75: *value = wanted("old-gpu") ? 7 : 9; break;
    case 76: *value = wanted("old-gpu") ? 5 : 0; break;
    case 97: *value = 232448; break;
    case 115: *value = !wanted("no-pools"); break;
    default: *value = 1;
  }
  return OK;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) { return (void)device, *bytes = (size_t)1 << 30, OK; }

static char context, stream, pool;
int cuDevicePrimaryCtxRetain(void** c, int device) { return (void)device, note("context %llu%s\n", (unsigned long long)device, ""), *c = &context, OK; }
int cuDevicePrimaryCtxRelease_v2(int device) { return note("no context %llu%s\n", (unsigned long long)device, ""), OK; }
static _Thread_local void* current;
int cuCtxGetCurrent(void** c) { return *c = current, OK; }
int cuCtxSetCurrent(void* c) { return current = c, OK; }
int cuStreamCreate(void** s, unsigned flags) { return (void)flags, *s = &stream, OK; }
int cuStreamDestroy_v2(void* s) { return (void)s, OK; }
static int broken;  /* a launch has failed: as on a GPU, everything does from then on */
int cuStreamSynchronize(void* s) { return (void)s, broken ? ILLEGAL_ADDRESS : OK; }
int cuStreamQuery(void* s) {
  static int asked;
  return (void)s, broken ? ILLEGAL_ADDRESS : ++asked % 3 ? 600 : OK;
}
int cuDeviceGetDefaultMemPool(void** p, int device) { return (void)device, *p = &pool, OK; }
int cuMemPoolSetAttribute(void* p, int which, void* value) { return (void)p, note("pool attribute %llu%s\n", which == 4 && *(uint64_t*)value == UINT64_MAX, ""), OK; }
int cuMemPoolTrimTo(void* p, size_t bytes) { return (void)p, note("trim %llu%s\n", bytes, ""), OK; }
int cuMemAllocAsync(unsigned long long* address, size_t bytes, void* s) {
  (void)s;
  if (wanted("out-of-memory") && bytes > 1000) return OUT_OF_MEMORY;
  void* memory = NULL;
  if (posix_memalign(&memory, 256, bytes)) return OUT_OF_MEMORY;
  memset(memory, 0, bytes);
  *address = (unsigned long long)(uintptr_t)memory;
  note("allocate %llu%s\n", bytes, "");
  return OK;
}
int cuMemFreeAsync(unsigned long long address, void* s) { return (void)s, free((void*)(uintptr_t)address), note("release%.0llu%s\n", 0, ""), OK; }
int cuMemAllocHost_v2(void** memory, size_t bytes) { return *memory = malloc(bytes), *memory ? OK : OUT_OF_MEMORY; }
int cuMemFreeHost(void* memory) { return free(memory), OK; }
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, size_t bytes, void* s) {
  return (void)s, note("to device %llu%s\n", bytes, ""), memcpy((void*)(uintptr_t)to, from, bytes), broken ? ILLEGAL_ADDRESS : OK;
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t bytes, void* s) {
  static int asked;
  (void)s;
  note("to host %llu%s\n", bytes, "");
  memcpy(to, (void*)(uintptr_t)from, bytes);
  /* What the host reads of a frame to know how a loop goes on ends with the condition; no kernel says so. */
  if (bytes % 256 && bytes < 4096 && wanted("loops-go-on") && asked++ < 5) *(uint64_t*)((char*)to + bytes - 8) = 1;
  return broken ? ILLEGAL_ADDRESS : OK;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes, void* s) {
  return (void)s, note("copy %llu%s\n", bytes, ""), memcpy((void*)(uintptr_t)to, (void*)(uintptr_t)from, bytes), OK;
}
static char module, function;
int cuModuleLoadDataEx(void** m, const void* image, unsigned n, int* options, void** values) {
  for (unsigned i = 0; i < n; ++i) {
    if (wanted("bad-code") && options[i] == 5) strcpy(values[i], "ptxas application ptx input, line 3; error   : Unexpected instruction");
  }
  note("load %llu%s\n", strlen(image), "");
  if (wanted("bad-code")) return 218;
  if (wanted("old-ptx")) return UNSUPPORTED_PTX;
  return *m = &module, OK;
}
int cuModuleUnload(void* m) { return (void)m, note("unload%.0llu%s\n", 0, ""), OK; }
int cuModuleGetFunction(void** f, void* m, const char* name) {
  (void)m;
  if (strcmp(name, "missing") == 0) return NOT_FOUND;
  return *f = &function, OK;
}
int cuFuncSetAttribute(void* f, int which, int value) { return (void)f, note("shared bytes %llu%s\n", which == 8 ? (unsigned)value : 0, ""), OK; }
int cuLaunchKernel(void* f, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c, unsigned shared, void* s, void** parameters, void** extra) {
  (void)f, (void)y, (void)z, (void)b, (void)c, (void)shared, (void)s, (void)extra;
  note("launch %llu blocks%s\n", x, a == 64 && *(uint64_t*)parameters[0] == 7 ? " of 64, the first argument is 7" : "");
  if (wanted("launch-refused")) return ILLEGAL_ADDRESS;
  if (wanted("launch-fails")) broken = 1;
  return OK;
}
int cuLaunchCooperativeKernel(void* f, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c, unsigned shared, void* s, void** parameters) {
  note("together %llu%s\n", x, "");
  return cuLaunchKernel(f, x, y, z, a, b, c, shared, s, parameters, NULL);
}
/* Graphs: a chain of nodes each, so that a node may depend on the last one of its own graph and on no other. */
struct graph {
  int nodes, bodies;
  struct graph* body[8];
};
static struct graph* made_graph(void) { return calloc(1, sizeof(struct graph)); }
static int chained(struct graph* g, void** dependencies, size_t n) { return g->nodes == 0 ? n == 0 : n == 1 && dependencies[0] == (char*)g + g->nodes; }
static void* added(struct graph* g) { return (char*)g + ++g->nodes; }

int cuGraphCreate(struct graph** g, unsigned flags) {
  if (flags) return INVALID_VALUE;
  note("record%.0llu%s\n", 0, "");
  return *g = made_graph(), OK;
}
int cuGraphDestroy(struct graph* g) {
  for (int i = 0; i < g->bodies; ++i) cuGraphDestroy(g->body[i]);
  return free(g), OK;
}
struct kernel_node {
  void* function;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra;
};
int cuGraphAddKernelNode(void** node, struct graph* g, void** dependencies, size_t n, const struct kernel_node* k) {
  if (!chained(g, dependencies, n) || k->function != &function || k->grid[0] == 0 || k->grid[1] != 1 || k->grid[2] != 1 || k->block[0] == 0 || k->extra) return INVALID_VALUE;
  if (wanted("launch-refused-in-recording")) return ILLEGAL_ADDRESS;
  if (k->block[0] == 1) { /* the kernel that looks at a condition: handle, word, bytes, blocks, block, failed, counter, limit, begins, stop */
    uint64_t v[10];
    for (int i = 0; i < 10; ++i) v[i] = *(uint64_t*)k->parameters[i];
    if (v[0] < 1000 || v[1] % 8 || (v[2] != 1 && v[2] != 4 && v[2] != 8) || v[4] >= v[3] || v[5] % 8 || v[8] > 1 || v[9] == 0) return INVALID_VALUE;
    note("node: condition %llu%s\n", v[0], v[8] ? " begins" : " again");
  } else {
    note("node: %llu blocks%s\n", k->grid[0], "");
  }
  return *node = added(g), OK;
}
static uint64_t handles = 1000;
int cuGraphConditionalHandleCreate(uint64_t* handle, struct graph* g, void* c, unsigned value, unsigned flags) {
  if (wanted("no-conditions")) return 801;
  if (!g || c != &context || value || flags) return INVALID_VALUE;
  return *handle = handles++, OK;
}
struct condition_node {
  int type, reserved0[3];
  uint64_t handle;
  int kind;
  unsigned size;
  struct graph** out;
  void* context;
  long long reserved1[25], reserved2;
};
int cuGraphAddNode_v2(void** node, struct graph* g, void** dependencies, const void* data, size_t n, struct condition_node* c) {
  if (!chained(g, dependencies, n) || data || c->type != 13 || c->handle < 1000 || c->handle >= handles || c->size != 1 || c->context != &context) return INVALID_VALUE;
  if (c->reserved0[0] || c->reserved0[1] || c->reserved0[2] || c->reserved2) return INVALID_VALUE;
  for (int i = 0; i < 25; ++i) {
    if (c->reserved1[i]) return INVALID_VALUE;
  }
  note("node: %llu%s\n", c->handle, c->kind ? " repeats" : " once");
  c->out = &g->body[g->bodies++];
  *c->out = made_graph();
  return *node = added(g), OK;
}
int cuGraphInstantiateWithFlags(void** e, struct graph* g, unsigned long long flags) {
  if (!g || flags) return INVALID_VALUE;
  return note("recorded%.0llu%s\n", 0, ""), *e = g, OK;
}
int cuGraphLaunch(void* e, void* s) { return (void)e, (void)s, note("launch graph%.0llu%s\n", 0, ""), OK; }
int cuGraphExecDestroy(void* e) { return (void)e, note("no graph%.0llu%s\n", 0, ""), OK; }
