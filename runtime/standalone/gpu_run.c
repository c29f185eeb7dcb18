/* One run of a function on a GPU, in its default stream. */
#include "runtime/standalone/gpu.h"

enum { STEP_LAUNCH, STEP_BRANCH, STEP_LOOP };
enum { ALIGNMENT = 16, SLOTS = 256, MOST_BLOCKS = 1 << 20 };

typedef struct {
  tfl_context *c;
  const tfls_function *f;
  tfls_gpu_function *g;
  tfls_gpu_state *gpu;
  const int64_t *symbols;
  uint64_t *input, *result, *taken; /* addresses; `taken` go back */
  uint32_t takes;
  uint64_t arena;
  tfls_frame *frame;
  size_t frame_bytes;
  tfl_status status;
} run;

static bool fine(run *r, int error, const char *what) {
  if (error && r->status == TFL_OK) r->status = tfls_gpu_failed(r->c, error, what);
  return r->status == TFL_OK;
}
static uint64_t take(run *r, size_t bytes) {
  unsigned long long address = 0;
  if (fine(r, r->gpu->driver.allocate(&address, bytes ? bytes : 1, NULL), "memory")) r->taken[r->takes++] = address;
  return r->status == TFL_OK ? address : 0;
}
static void to_device(run *r, uint64_t to, const void *from, size_t bytes) {
  if (bytes && r->status == TFL_OK) fine(r, r->gpu->driver.to_device(to, from, bytes, NULL), "copying to it");
}
static void to_host(run *r, void *to, uint64_t from, size_t bytes) {
  if (!bytes || r->status != TFL_OK) return;
  if (fine(r, r->gpu->driver.to_host(to, from, bytes, NULL), "copying from it")) fine(r, r->gpu->driver.synchronize(NULL), "work");
}
static size_t bytes_of(const run *r, const tfls_type *t) {
  int64_t n = tfls_bytes(t->dtype);
  for (int i = 0; i < t->rank; ++i) n *= tfls_resolve(r->symbols, t->dims[i]);
  return (size_t)n;
}

static bool load(run *r) {
  tfls_gpu_function *g = r->g;
  tfls_driver *d = &r->gpu->driver;
  if (g->module) return true;
  if (!fine(r, d->load_module(&g->module, g->code, 0, NULL, NULL), "loading code")) return false;
  for (uint32_t i = 0; i < r->f->constants; ++i) {
    unsigned long long address = 0;
    size_t bytes = r->f->constant_bytes[i];
    if (!fine(r, d->allocate(&address, bytes ? bytes : 1, NULL), "memory")) return false;
    g->constants[i] = address;
    to_device(r, address, r->f->constant[i], bytes);
  }
  return r->status == TFL_OK;
}

/* Variables stay on the GPU until somebody changes them. */
static uint64_t state(run *r, uint32_t i) {
  tfls_gpu_state *gpu = r->gpu;
  const tfls_type *t = &r->c->library.state[i].type;
  size_t bytes = (size_t)(tfls_count(t) * tfls_bytes(t->dtype));
  if (!gpu->states[i]) {
    unsigned long long address = 0;
    if (!fine(r, gpu->driver.allocate(&address, bytes ? bytes : 1, NULL), "memory")) return 0;
    gpu->states[i] = address;
    gpu->seen[i] = UINT64_MAX;
  }
  if (gpu->seen[i] != r->c->state_changes) {
    to_device(r, gpu->states[i], r->c->states[i], bytes);
    gpu->seen[i] = r->c->state_changes;
  }
  return gpu->states[i];
}

static void place_inputs(run *r, void *const *tensors, void **copies) {
  for (uint32_t i = 0; i < r->f->inputs && r->status == TFL_OK; ++i) {
    if (i >= r->f->arguments) {
      r->input[i] = state(r, r->f->state_of_input[i - r->f->arguments]);
      continue;
    }
    const tfl_tensor *t = tensors[i];
    size_t bytes = bytes_of(r, &r->f->input[i]);
    if (tfls_on_gpu(t)) {
      r->input[i] = tfls_address(t);
      if (r->input[i] % ALIGNMENT == 0) continue;
      uint64_t aligned = take(r, bytes);
      if (bytes && r->status == TFL_OK) fine(r, r->gpu->driver.copy(aligned, r->input[i], bytes, NULL), "copying on it");
      r->input[i] = aligned;
      continue;
    }
    const void *from = (const char *)t->data + t->byte_offset;
    if (!tfls_row_major(t)) {
      copies[i] = malloc(bytes ? bytes : 1);
      if (!copies[i]) {
        r->status = tfls_fail(r->c, TFL_ERR_OOM, "%s: no memory", r->f->name);
        return;
      }
      tfls_copy(t, tfls_bytes(r->f->input[i].dtype), copies[i]);
      from = copies[i];
    }
    r->input[i] = take(r, bytes);
    to_device(r, r->input[i], from, bytes);
  }
}

static void place_results(run *r, void *const *tensors) {
  for (uint32_t i = 0; i < r->f->results && r->status == TFL_OK; ++i) {
    if (r->f->result[i].kind != RESULT_MEMORY) continue;
    const tfl_tensor *t = i < r->f->outputs ? tensors[r->f->arguments + i] : NULL;
    bool there = t && tfls_on_gpu(t) && tfls_address(t) % ALIGNMENT == 0;
    r->result[i] = there ? tfls_address(t) : take(r, bytes_of(r, &r->f->result[i].type));
  }
}

/* What routines share: as much as the largest of them needs. */
static uint64_t shared_memory(run *r) {
  size_t most = 0;
  for (uint32_t i = 0; i < r->g->needs; ++i) {
    size_t all = 0;
    for (uint32_t k = 0; k < r->g->need[i].pieces; ++k) {
      const tfls_gpu_memory *m = &r->g->need[i].piece[k];
      size_t bytes = (size_t)m->bytes;
      bool fits = true;
      for (uint32_t j = 0; j < m->factors; ++j) {
        int64_t size = tfls_resolve(r->symbols, m->factor[j].size);
        if (size < 0) size = 0;
        fits = fits && !__builtin_mul_overflow(bytes, (size_t)((size + m->factor[j].per - 1) / m->factor[j].per), &bytes);
      }
      if (!fits || __builtin_add_overflow(all, bytes, &all)) {
        r->status = tfls_fail(r->c, TFL_ERR_OOM, "%s: these sizes are too large", r->f->name);
        return 0;
      }
    }
    if (all > most) most = all;
  }
  return take(r, most);
}

/* The frame and, behind it, the slots. */
static void send_frame(run *r, size_t *places) {
  size_t all = r->frame_bytes;
  for (uint32_t i = 0; i < r->g->slots; ++i) {
    places[i] = all;
    all += ((size_t)tfls_resolve(r->symbols, r->g->slot[i]) + SLOTS - 1) / SLOTS * SLOTS;
  }
  r->arena = take(r, all);
  memcpy(r->frame->words, r->symbols, 8 * (size_t)r->f->symbols);
  for (uint32_t i = 0; i < r->g->values; ++i) {
    const tfls_value *v = &r->g->value[i];
    uint64_t at = 0;
    switch (v->home) {
      case HOME_INPUT: at = r->input[v->index]; break;
      case HOME_CONSTANT: at = r->g->constants[v->index]; break;
      case HOME_RESULT: at = r->result[v->index]; break;
      case HOME_TEMPORARY: at = r->arena + places[v->index]; break;
      default: break;
    }
    r->frame->words[v->word] = (int64_t)at;
  }
  if (r->g->memory_word >= 0) r->frame->words[r->g->memory_word] = (int64_t)shared_memory(r);
  to_device(r, r->arena, r->frame, r->frame_bytes);
}

static int64_t blocks_of(const run *r, const tfls_gpu_launch *l) {
  int64_t n = 1;
  for (uint32_t i = 0; i < l->factors; ++i) {
    int64_t size = tfls_resolve(r->symbols, l->factor[i].size);
    if (size <= 0) return l->least;
    if (__builtin_mul_overflow(n, (size - 1) / l->factor[i].per + 1, &n)) return MOST_BLOCKS;
  }
  n = (n - 1) / l->per + 1;
  return n < l->least ? l->least : n > MOST_BLOCKS ? MOST_BLOCKS : n;
}

static void launch(run *r, tfls_gpu_launch *l) {
  tfls_driver *d = &r->gpu->driver;
  int64_t blocks = blocks_of(r, l);
  if (blocks == 0) return;
  if (!l->kernel && !fine(r, d->function(&l->kernel, r->g->module, l->name), l->name)) return;
  uint64_t argument = r->arena;
  void *arguments[] = {&argument};
  fine(r, d->launch(l->kernel, (unsigned)blocks, 1, 1, l->threads, 1, 1, 0, NULL, arguments, NULL), l->name);
}

/* A word of the frame as the GPU has it now; false where something has failed there. */
static bool ask(run *r, uint32_t word, int64_t *value) {
  to_host(r, value, r->arena + offsetof(tfls_frame, words) + 8 * (uint64_t)word, 8);
  if (r->g->can_fail) to_host(r, &r->frame->failed, r->arena + offsetof(tfls_frame, failed), 8);
  if (atomic_load(&r->c->cancelled) && r->status == TFL_OK) {
    atomic_store(&r->c->cancelled, 0);
    r->status = tfls_fail(r->c, TFL_ERR_CANCELLED, "%s: cancelled", r->f->name);
  }
  return r->status == TFL_OK && !r->frame->failed;
}

static bool steps(run *r, uint32_t block);

static bool branch(run *r, const tfls_gpu_step *s) {
  int64_t word = 0, index;
  if (!ask(r, s->word, &word)) return false;
  if (s->dtype == TFLS_BOOL) {
    index = (word & 0xff) ? 0 : (int64_t)s->blocks - 1;
  } else {
    index = tfls_bytes(s->dtype) == 4 ? (int32_t)word : word;
    if (index < 0 || index >= (int64_t)s->blocks) index = (int64_t)s->blocks - 1;
  }
  return steps(r, s->first_block + (uint32_t)index);
}

static bool loop(run *r, const tfls_gpu_step *s) {
  for (int64_t i = 0;; ++i) {
    int64_t word = 0;
    if (i > 0 && !steps(r, s->first_block + 1)) return false;
    if (s->limit >= 0 && i >= s->limit) return true;
    if (!steps(r, s->first_block) || !ask(r, s->word, &word)) return false;
    if ((word & 0xff) == 0) return true;
  }
  return true;
}

static bool steps(run *r, uint32_t block) {
  const tfls_gpu_block *b = &r->g->block[block];
  for (uint32_t i = 0; i < b->steps && r->status == TFL_OK; ++i) {
    tfls_gpu_step *s = &r->g->step[b->first + i];
    if (s->kind == STEP_LAUNCH)
      launch(r, &r->g->launch[s->index]);
    else if (s->kind == STEP_BRANCH ? !branch(r, s) : !loop(r, s))
      return false;
  }
  return r->status == TFL_OK;
}

/* Each result to where the caller wants it; `host` is the elements in the processor's memory, or else they lie at `there`. */
static void give(run *r, const tfl_tensor *t, const void *host, uint64_t there, size_t bytes) {
  if (!bytes) return;
  if (!tfls_on_gpu(t)) {
    if (host) memcpy((char *)t->data + t->byte_offset, host, bytes);
    else to_host(r, (char *)t->data + t->byte_offset, there, bytes);
  } else if (host) {
    to_device(r, tfls_address(t), host, bytes);
  } else if (there != tfls_address(t)) {
    fine(r, r->gpu->driver.copy(tfls_address(t), there, bytes, NULL), "copying on it");
  }
}

static void give_results(run *r, void *const *tensors) {
  bool changes = r->f->outputs < r->f->results;
  for (uint32_t i = 0; i < r->f->results && r->status == TFL_OK; ++i) {
    const tfls_result *p = &r->f->result[i];
    size_t bytes = bytes_of(r, &p->type);
    const void *host = p->kind == RESULT_SCALAR && r->g->scalar[i] >= 0 ? (const void *)&r->frame->words[r->g->scalar[i]]
                       : p->kind == RESULT_CONSTANT                     ? r->f->constant[p->index]
                                                                        : NULL;
    uint64_t there = p->kind == RESULT_INPUT ? r->input[p->index] : r->result[i];
    if (i < r->f->outputs) {
      give(r, tensors[r->f->arguments + i], host, there, bytes);
    } else {
      tfl_tensor own = tfls_tensor(p->type.dtype, 0, r->c->states[p->state], NULL);
      give(r, &own, host, there, bytes);
    }
  }
  if (changes) ++r->c->state_changes;
}

tfl_status tfls_gpu_run(tfl_context *c, const tfls_function *f, tfls_gpu_function *g, void *const *tensors, const int64_t *symbols, bool *done) {
  run r = {.c = c, .f = f, .g = g, .gpu = c->gpu, .symbols = symbols, .status = TFL_OK};
  r.frame_bytes = (offsetof(tfls_frame, words) + 8 * ((size_t)g->words + 1) + SLOTS - 1) / SLOTS * SLOTS;
  size_t numbers = 2 * (size_t)f->inputs + 2 * (size_t)f->results + 2 + g->slots;
  uint64_t *memory = calloc(numbers, sizeof *memory);
  void **copies = calloc((size_t)f->arguments + 1, sizeof *copies);
  r.frame = calloc(1, r.frame_bytes);
  *done = false;
  if (memory && copies && r.frame) {
    r.input = memory;
    r.result = r.input + f->inputs;
    r.taken = r.result + f->results;
    size_t *places = (size_t *)(r.taken + f->inputs + f->results + 2);
    if (load(&r)) place_inputs(&r, tensors, copies);
    if (r.status == TFL_OK) place_results(&r, tensors);
    if (r.status == TFL_OK) send_frame(&r, places);
    bool went = r.status == TFL_OK && steps(&r, 0);
    if (went && g->looks_back) to_host(&r, r.frame, r.arena, r.frame_bytes);
    if (went && r.status == TFL_OK && !r.frame->failed) {
      give_results(&r, tensors);
      *done = true;
    }
    for (uint32_t i = 0; i < r.takes; ++i) r.gpu->driver.release(r.taken[i], NULL);
    fine(&r, r.gpu->driver.synchronize(NULL), "work");
  } else {
    r.status = tfls_fail(c, TFL_ERR_OOM, "%s: no memory", f->name);
  }
  for (uint32_t i = 0; copies && i < f->arguments; ++i) free(copies[i]);
  free(copies);
  free(memory);
  free(r.frame);
  return r.status;
}
