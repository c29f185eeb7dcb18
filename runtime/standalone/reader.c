/* Reads the description that the compiler left in the library. */
#include "runtime/standalone/reader.h"

static void type(reader *r, tfls_type *t) {
  t->name = string(r);
  t->dtype = (int)integer(r);
  t->rank = (int)integer(r);
  if (t->dtype < 0 || t->dtype >= TFLS_DTYPES || t->rank < 0 || t->rank > TFLS_MAX_RANK || r->end - r->at < 8 * t->rank) r->ok = false;
  if (!r->ok) return;
  t->dims = (const int64_t *)r->at;
  r->at += 8 * t->rank;
}

static tfls_piece *pieces(reader *r, uint32_t *n) {
  *n = count(r);
  tfls_piece *list = table(r, *n, sizeof *list);
  for (uint32_t i = 0; r->ok && i < *n; ++i) {
    list[i].kind = (uint8_t)integer(r);
    list[i].text = string(r);
    list[i].a = integer(r);
    list[i].b = integer(r);
    list[i].number = integer(r);
  }
  return list;
}

static void function(reader *r, tfls_function *f) {
  f->name = string(r);
  f->inputs = count(r);
  f->arguments = count(r);
  f->results = count(r);
  f->outputs = count(r);
  f->symbols = count(r);
  f->guards = count(r);
  f->values = count(r);
  f->constants = count(r);
  f->slots = count(r);
  f->words = count(r);
  f->failures = count(r);
  f->otherwise = integer(r);
  f->steps = integer(r);
  if (f->arguments > f->inputs || f->outputs > f->results) r->ok = false;
  if (!r->ok) return;
  f->input = table(r, f->inputs, sizeof *f->input);
  f->state_of_input = table(r, f->inputs - f->arguments, sizeof *f->state_of_input);
  f->result = table(r, f->results, sizeof *f->result);
  f->symbol = table(r, f->symbols, sizeof *f->symbol);
  f->guard = table(r, f->guards, sizeof *f->guard);
  f->value = table(r, f->values, sizeof *f->value);
  f->constant = table(r, f->constants, sizeof *f->constant);
  f->constant_bytes = table(r, f->constants, sizeof *f->constant_bytes);
  f->slot = table(r, f->slots, sizeof *f->slot);
  f->failure = table(r, f->failures, sizeof *f->failure);
  for (uint32_t i = 0; r->ok && i < f->inputs; ++i) type(r, &f->input[i]);
  f->opens = count(r);
  if (r->ok && r->end - r->at < 8 * (int64_t)f->opens) r->ok = false;
  if (!r->ok) return;
  f->open = (const int64_t *)r->at;
  r->at += 8 * (size_t)f->opens;
  for (uint32_t i = 0; r->ok && i < f->inputs - f->arguments; ++i) f->state_of_input[i] = (uint32_t)integer(r);
  for (uint32_t i = 0; r->ok && i < f->results; ++i) {
    type(r, &f->result[i].type);
    f->result[i].kind = (uint8_t)integer(r);
    f->result[i].index = (uint32_t)integer(r);
    f->result[i].state = integer(r);
  }
  for (uint32_t i = 0; r->ok && i < f->symbols; ++i) {
    tfls_symbol *s = &f->symbol[i];
    s->kind = (uint8_t)integer(r);
    s->input = (uint32_t)integer(r);
    s->axis = (uint32_t)integer(r);
    s->a = integer(r);
    s->b = integer(r);
  }
  for (uint32_t i = 0; r->ok && i < f->guards; ++i) {
    f->guard[i].kind = (uint8_t)integer(r);
    f->guard[i].a = integer(r);
    f->guard[i].b = integer(r);
    f->guard[i].location = (uint32_t)integer(r);
  }
  for (uint32_t i = 0; r->ok && i < f->values; ++i) {
    f->value[i].home = (uint8_t)integer(r);
    f->value[i].index = (uint32_t)integer(r);
    f->value[i].word = (uint32_t)integer(r);
  }
  for (uint32_t i = 0; r->ok && i < f->constants; ++i) f->constant[i] = elements(r, &f->constant_bytes[i]);
  for (uint32_t i = 0; r->ok && i < f->slots; ++i) f->slot[i] = integer(r);
  for (uint32_t i = 0; r->ok && i < f->failures; ++i) {
    tfls_failure *text = &f->failure[i];
    text->place = string(r);
    text->explanation = integer(r);
    text->piece = pieces(r, &text->pieces);
    text->size_piece = pieces(r, &text->size_pieces);
  }
}

static uint32_t *numbers(reader *r, uint32_t *n, uint32_t below) {
  *n = count(r);
  uint32_t *list = table(r, *n, sizeof *list);
  for (uint32_t i = 0; r->ok && i < *n; ++i) {
    list[i] = (uint32_t)integer(r);
    if (list[i] >= below) r->ok = false;
  }
  return list;
}

static void stepwise(reader *r, const tfls_library *l, tfls_stepwise *p) {
  p->name = string(r);
  p->arguments = count(r);
  p->outputs = count(r);
  p->values = count(r);
  p->steps = count(r);
  p->regions = count(r);
  p->first_steps = count(r);
  if (p->first_steps > p->steps) r->ok = false;
  p->argument = table(r, p->arguments, sizeof *p->argument);
  p->value = table(r, p->values, sizeof *p->value);
  p->step = table(r, p->steps, sizeof *p->step);
  p->region = table(r, p->regions, sizeof *p->region);
  for (uint32_t i = 0; r->ok && i < p->arguments; ++i) type(r, &p->argument[i]);
  p->state_read = numbers(r, &p->states_read, l->states);
  for (uint32_t i = 0; r->ok && i < p->values; ++i) {
    tfls_step_value *v = &p->value[i];
    v->dtype = (int)integer(r);
    v->rank = (int)integer(r);
    if (!integer(r)) continue;
    if (v->rank < 0 || v->rank > TFLS_MAX_RANK || r->end - r->at < 8 * v->rank) r->ok = false;
    if (!r->ok) return;
    v->dims = (const int64_t *)r->at;
    r->at += 8 * v->rank;
    v->elements = elements(r, NULL);
  }
  for (uint32_t i = 0; r->ok && i < p->steps; ++i) {
    tfls_step *s = &p->step[i];
    s->kind = (uint8_t)integer(r);
    s->function = (uint32_t)integer(r);
    s->axis = integer(r);
    s->first_region = (uint32_t)integer(r);
    s->regions = count(r);
    if (s->first_region > p->regions || s->regions > p->regions - s->first_region) r->ok = false;
    s->input = numbers(r, &s->inputs, p->values);
    s->result = numbers(r, &s->results, p->values);
    s->piece = pieces(r, &s->pieces);
  }
  for (uint32_t i = 0; r->ok && i < p->regions; ++i) {
    tfls_region *g = &p->region[i];
    g->first = (uint32_t)integer(r);
    g->steps = count(r);
    if (g->first > p->steps || g->steps > p->steps - g->first) r->ok = false;
    g->param = numbers(r, &g->params, p->values);
    g->result = numbers(r, &g->results, p->values);
  }
  p->result = numbers(r, &p->results, p->values);
  p->state_written = numbers(r, &p->states_written, l->states);
}

/* Numbers of other functions, and what a call of any of those for other sizes takes. */
static bool chains(tfls_library *l) {
  for (uint32_t i = 0; i < l->functions; ++i) {
    tfls_function *f = &l->function[i];
    const tfls_function *g = f;
    if (f->steps < -1 || f->steps >= (int64_t)l->stepwises) return false;
    for (int64_t last = i;; last = g->otherwise, g = &l->function[g->otherwise]) {
      if (f->most_symbols < g->symbols) f->most_symbols = g->symbols;
      if (f->most_slots < g->slots) f->most_slots = g->slots;
      if (g->otherwise < 0) break;
      if (g->otherwise <= last || g->otherwise >= (int64_t)l->functions) return false;
      const tfls_function *next = &l->function[g->otherwise];
      if (next->inputs != f->inputs || next->arguments != f->arguments || next->results != f->results || next->outputs != f->outputs) return false;
    }
  }
  return true;
}

bool tfls_read_library(const tfls_image *image, tfls_library *out) {
  /* A table's entry is at most three times as long as what it is read from. */
  size_t room = (size_t)image->description_bytes;
  if (room > 1u << 20) room = 1u << 20; /* the rest is elements */
  room = 4 * room + 4096;
  memset(out, 0, sizeof *out);
  out->services.parallel = tfls_parallel;
  out->services.beside = tfls_beside;
  out->wide = tfls_processor_serves("x86-64-v4");
  bool better = image->better_entries && out->wide;
  const tfls_entry *entries = better ? image->better_entries : image->entries;
  out->services.product = better ? image->better_product : image->product;
  out->services.routines = image->routines;
  out->image = image;
  out->memory = calloc(1, room);
  if (!out->memory) return false;
  reader r = {image->description, image->description, image->description + image->description_bytes, out->memory, (char *)out->memory + room, true};
  if (image->description_bytes < 8 || memcmp(r.at, "TFLLIB06", 8) != 0) r.ok = false;
  r.at += 8;
  out->name = string(&r);
  out->cpu = string(&r);
  out->functions = count(&r);
  out->stepwises = count(&r);
  out->states = count(&r);
  out->function = table(&r, out->functions, sizeof *out->function);
  out->stepwise = table(&r, out->stepwises, sizeof *out->stepwise);
  out->state = table(&r, out->states, sizeof *out->state);
  for (uint32_t i = 0; r.ok && i < out->functions; ++i) {
    function(&r, &out->function[i]);
    out->function[i].entry = entries[i];
  }
  for (uint32_t i = 0; r.ok && i < out->stepwises; ++i) stepwise(&r, out, &out->stepwise[i]);
  for (uint32_t i = 0; r.ok && i < out->states; ++i) {
    type(&r, &out->state[i].type);
    out->state[i].initial = integer(&r) ? elements(&r, NULL) : NULL;
  }
  r.ok = r.ok && chains(out);
  if (!r.ok) {
    free(out->memory);
    out->memory = NULL;
  }
  return r.ok;
}
