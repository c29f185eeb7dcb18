/* Reads what the compiler says of the code for GPUs. */
#include "runtime/standalone/gpu.h"
#include "runtime/standalone/reader.h"

static tfls_gpu_factor *factors(reader *r, uint32_t *n) {
  *n = count(r);
  tfls_gpu_factor *list = table(r, *n, sizeof *list);
  for (uint32_t i = 0; r->ok && i < *n; ++i) {
    list[i].size = integer(r);
    list[i].per = integer(r);
    if (list[i].per < 1) r->ok = false;
  }
  return list;
}

static void need(reader *r, tfls_gpu_need *n) {
  n->pieces = count(r);
  n->piece = table(r, n->pieces, sizeof *n->piece);
  for (uint32_t i = 0; r->ok && i < n->pieces; ++i) {
    n->piece[i].bytes = integer(r);
    n->piece[i].factor = factors(r, &n->piece[i].factors);
  }
}

static void launch(reader *r, tfls_gpu_launch *l) {
  l->name = string(r);
  l->threads = (uint32_t)integer(r);
  l->least = integer(r);
  l->per = integer(r);
  l->factor = factors(r, &l->factors);
  if (l->per < 1) r->ok = false;
}

static void function(reader *r, const tfls_library *l, tfls_gpu_function *g) {
  g->function = (uint32_t)integer(r);
  g->code = string(r);
  g->can_fail = integer(r) != 0;
  g->looks_back = integer(r) != 0;
  g->words = count(r);
  g->values = count(r);
  g->value = table(r, g->values, sizeof *g->value);
  for (uint32_t i = 0; r->ok && i < g->values; ++i) {
    g->value[i].home = (uint8_t)integer(r);
    g->value[i].index = (uint32_t)integer(r);
    g->value[i].word = (uint32_t)integer(r);
    if (g->value[i].word >= g->words) r->ok = false;
  }
  g->slots = count(r);
  g->slot = table(r, g->slots, sizeof *g->slot);
  for (uint32_t i = 0; r->ok && i < g->slots; ++i) g->slot[i] = integer(r);
  g->results = count(r);
  g->scalar = table(r, g->results, sizeof *g->scalar);
  for (uint32_t i = 0; r->ok && i < g->results; ++i) g->scalar[i] = integer(r);
  g->memory_word = integer(r);
  if (g->memory_word >= g->words) r->ok = false;
  g->needs = count(r);
  g->need = table(r, g->needs, sizeof *g->need);
  for (uint32_t i = 0; r->ok && i < g->needs; ++i) need(r, &g->need[i]);
  g->launches = count(r);
  g->launch = table(r, g->launches, sizeof *g->launch);
  for (uint32_t i = 0; r->ok && i < g->launches; ++i) launch(r, &g->launch[i]);
  g->steps = count(r);
  g->step = table(r, g->steps, sizeof *g->step);
  for (uint32_t i = 0; r->ok && i < g->steps; ++i) {
    tfls_gpu_step *s = &g->step[i];
    s->kind = (uint8_t)integer(r);
    s->dtype = (uint8_t)integer(r);
    s->index = (uint32_t)integer(r);
    s->word = (uint32_t)integer(r);
    s->limit = integer(r);
    s->first_block = (uint32_t)integer(r);
    s->blocks = count(r);
    if (s->kind == 0 ? s->index >= g->launches : s->blocks == 0 || s->word >= g->words || s->dtype >= TFLS_DTYPES) r->ok = false;
  }
  g->blocks = count(r);
  g->block = table(r, g->blocks, sizeof *g->block);
  for (uint32_t i = 0; r->ok && i < g->blocks; ++i) {
    g->block[i].first = (uint32_t)integer(r);
    g->block[i].steps = (uint32_t)integer(r);
    if (g->block[i].first > g->steps || g->block[i].steps > g->steps - g->block[i].first) r->ok = false;
  }
  for (uint32_t i = 0; r->ok && i < g->steps; ++i) {
    if (g->step[i].first_block > g->blocks || g->step[i].blocks > g->blocks - g->step[i].first_block) r->ok = false;
  }
  if (!r->ok || g->function >= l->functions || g->blocks == 0 || g->results != l->function[g->function].results) {
    r->ok = false;
    return;
  }
  g->constants = table(r, l->function[g->function].constants, sizeof *g->constants);
}

bool tfls_gpu_read(tfl_context *c, tfls_gpu_state *gpu) {
  const tfls_library *l = &c->library;
  size_t room = 4096;
  for (uint32_t i = 0; i < l->functions; ++i) room += 8 * (size_t)l->function[i].constants;
  room += 4 * (size_t)l->image->gpu_description_bytes;
  gpu->memory = calloc(1, room);
  if (!gpu->memory) return false;
  reader r = {l->image->gpu_description, l->image->gpu_description, l->image->gpu_description + l->image->gpu_description_bytes, gpu->memory, (char *)gpu->memory + room, true};
  gpu->functions = count(&r);
  gpu->function = table(&r, gpu->functions, sizeof *gpu->function);
  for (uint32_t i = 0; r.ok && i < gpu->functions; ++i) function(&r, l, &gpu->function[i]);
  return r.ok;
}
