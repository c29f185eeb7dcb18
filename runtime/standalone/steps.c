/* Functions whose sizes follow from values: machine code and operations of step_kinds.c, one after the other. Every value but the
 * caller's has memory of its own, freed at the end; variables change when all has gone well. */
#include <stdint.h>

#include "runtime/standalone/standalone.h"

enum { STEP_PART, STEP_BRANCH = 5, STEP_PRINT = 8, STEP_RANGE };

/* Before the sizes, in the same piece of memory. */
typedef struct {
  size_t bytes;
  uint64_t mark;
} head;
static const uint64_t kMark = 0x74656e736f72746cu;

bool tfls_new_tensor(tfl_context* c, int dtype, int rank, const int64_t* shape, tfl_tensor* out) {
  size_t before = (sizeof(head) + 8 * (size_t)(rank ? rank : 1) + 63) / 64 * 64;
  int64_t bytes = tfls_bytes(dtype);
  for (int i = 0; i < rank; ++i) {
    if (shape[i] < 0 || __builtin_mul_overflow(bytes, shape[i], &bytes)) return false;
  }
  if (bytes > INT64_MAX / 2) return false;
  head* h = tfls_alloc(c, before + (size_t)bytes);
  if (!h) return false;
  h->bytes = before + (size_t)bytes;
  h->mark = kMark;
  int64_t* sizes = (int64_t*)(h + 1);
  if (rank) memcpy(sizes, shape, 8 * (size_t)rank);
  *out = tfls_tensor(dtype, rank, (char*)h + before, sizes);
  return true;
}

void tfls_tensor_free(tfl_context* c, tfl_tensor* t) {
  if (!c || !t || !t->shape) return;
  head* h = (head*)t->shape - 1;
  if (h->mark == kMark) {
    h->mark = 0;
    tfls_free(c, h, h->bytes);
  }
  t->data = NULL;
  t->shape = NULL;
}

/* Sizes with equal numbers are equal. */
static tfl_status check_arguments(tfl_context* c, const tfls_stepwise* p, void* const* tensors) {
  for (uint32_t i = 0; i < p->arguments; ++i) {
    const tfls_type* want = &p->argument[i];
    const tfl_tensor* t = tensors[i];
    tfl_status status = tfls_check_tensor(c, p->name, want, t);
    if (status != TFL_OK) return status;
    for (int k = 0; k < want->rank; ++k) {
      int64_t size = want->dims[k] >= 0 ? want->dims[k] : t->shape[k];
      for (uint32_t j = 0; want->dims[k] < 0 && j <= i; ++j) {
        for (int m = 0; m < (j < i ? p->argument[j].rank : k); ++m) {
          if (p->argument[j].dims[m] == want->dims[k]) size = ((const tfl_tensor*)tensors[j])->shape[m];
        }
      }
      if (t->shape[k] != size)
        return tfls_fail(c, TFL_ERR_SHAPE, "%s: size %d of %s is %lld and must be %lld", p->name, k, want->name,
                         (long long)t->shape[k], (long long)size);
    }
  }
  return TFL_OK;
}

static tfl_status run_part(tfl_context* c, const tfls_step* s, tfl_tensor* values) {
  const tfls_function* f = &c->library.function[s->function];
  if (s->inputs != f->inputs || s->results != f->outputs) return tfls_fail(c, TFL_ERR_ABI, "%s: damaged", f->name);
  void** pointers = calloc((size_t)s->inputs + s->results + 1, sizeof *pointers);
  int64_t* sizes = calloc((size_t)s->results + 1, sizeof *sizes * TFLS_MAX_RANK);
  tfl_status status = pointers && sizes ? TFL_OK : tfls_fail(c, TFL_ERR_OOM, "%s: no memory", f->name);
  for (uint32_t i = 0; status == TFL_OK && i < s->inputs; ++i) pointers[i] = &values[s->input[i]];
  for (uint32_t i = 0; status == TFL_OK && i < s->results; ++i) pointers[s->inputs + i] = sizes + i * TFLS_MAX_RANK;
  if (status == TFL_OK) status = tfls_shape(c, s->function, pointers);
  for (uint32_t i = 0; status == TFL_OK && i < s->results; ++i) {
    const tfls_type* t = &f->result[i].type;
    if (!tfls_new_tensor(c, t->dtype, t->rank, sizes + i * TFLS_MAX_RANK, &values[s->result[i]]))
      status = tfls_fail(c, TFL_ERR_OOM, "%s: no memory for a result", f->name);
    pointers[s->inputs + i] = &values[s->result[i]];
  }
  if (status == TFL_OK) status = tfls_call_host(c, s->function, pointers);
  free(pointers);
  free(sizes);
  return status;
}

tfl_status tfls_run_steps(tfls_run* run, uint32_t first, uint32_t steps) {
  tfl_context* c = run->context;
  for (uint32_t i = first; i < first + steps; ++i) {
    const tfls_step* s = &run->function->step[i];
    if (atomic_exchange(&c->cancelled, 0))
      return tfls_fail(c, TFL_ERR_CANCELLED, "%s: cancelled", run->function->name);
    tfl_status status = s->kind == STEP_PART     ? run_part(c, s, run->value)
                        : s->kind == STEP_PRINT  ? c->library.image->print(run, s)
                        : s->kind == STEP_RANGE  ? c->library.image->range(run, s)
                        : s->kind >= STEP_BRANCH ? tfls_run_control(run, s)
                                                 : tfls_run_step(c, run->function, s, run->value);
    if (status != TFL_OK) return status;
  }
  return TFL_OK;
}

tfl_status tfls_hand_over(tfls_run* run, uint32_t from, bool may_go, tfl_tensor* out) {
  tfl_tensor* value = &run->value[from];
  if (run->own[from] && may_go) {
    *out = *value;
    memset(value, 0, sizeof *value);
    return TFL_OK;
  }
  int dtype = run->function->value[from].dtype;
  if (!tfls_new_tensor(run->context, dtype, value->ndim, value->shape, out))
    return tfls_fail(run->context, TFL_ERR_OOM, "%s: no memory for a result", run->function->name);
  tfls_copy(value, tfls_bytes(dtype), out->data);
  return TFL_OK;
}

/* New tensors for the outputs. */
static tfl_status give(tfls_run* run, void* const* tensors) {
  tfl_context* c = run->context;
  const tfls_stepwise* p = run->function;
  for (uint32_t i = 0; i < p->outputs; ++i) {
    bool used_again = false;
    for (uint32_t k = i + 1; k < p->results; ++k) used_again |= p->result[k] == p->result[i];
    tfl_status status = tfls_hand_over(run, p->result[i], !used_again, tensors[p->arguments + i]);
    if (status != TFL_OK) {
      for (uint32_t k = 0; k < i; ++k) tfls_tensor_free(c, tensors[p->arguments + k]);
      return status;
    }
  }
  return TFL_OK;
}

/* To the caller's memory. */
static tfl_status give_into(tfls_run* run, void* const* tensors) {
  const tfls_stepwise* p = run->function;
  for (bool copy = false;; copy = true) { /* nothing is written unless all of it fits */
    for (uint32_t i = 0; i < p->outputs; ++i) {
      const tfl_tensor *from = &run->value[p->result[i]], *to = tensors[p->arguments + i];
      bool same = from->ndim == to->ndim;
      for (int k = 0; same && k < from->ndim; ++k) same = from->shape[k] == to->shape[k];
      if (!same) return tfls_fail(run->context, TFL_ERR_SHAPE, "%s: result %u has another size", p->name, i);
      if (copy) tfls_copy(from, tfls_bytes(run->function->value[p->result[i]].dtype), (char*)to->data + to->byte_offset);
    }
    if (copy) return TFL_OK;
  }
}

static void change_states(tfls_run* run) {
  tfl_context* c = run->context;
  const tfls_stepwise* p = run->function;
  if (p->states_written) ++c->state_changes;
  for (uint32_t i = 0; i < p->states_written; ++i) {
    const tfls_type* t = &c->library.state[p->state_written[i]].type;
    tfls_copy(&run->value[p->result[p->outputs + i]], tfls_bytes(t->dtype), c->states[p->state_written[i]]);
  }
}

/* `into`: outputs have memory of the caller's. */
static tfl_status run_all(tfl_context* c, const tfls_stepwise* p, void* const* tensors, bool into) {
  tfl_status status = TFL_OK;
  tfl_tensor* values = calloc((size_t)p->values + 1, sizeof *values);
  bool* own = calloc((size_t)p->values + 1, sizeof *own);
  if (!values || !own) status = tfls_fail(c, TFL_ERR_OOM, "%s: no memory", p->name);
  if (status == TFL_OK) {
    for (uint32_t i = 0; i < p->values; ++i) {
      const tfls_step_value* v = &p->value[i];
      if (i < p->arguments) {
        values[i] = *(const tfl_tensor*)tensors[i];
      } else if (i < p->arguments + p->states_read) {
        uint32_t s = p->state_read[i - p->arguments];
        const tfls_type* t = &c->library.state[s].type;
        values[i] = tfls_tensor(t->dtype, t->rank, c->states[s], t->dims);
      } else if (v->dims) {
        values[i] = tfls_tensor(v->dtype, v->rank, v->elements, v->dims);
      } else {
        own[i] = true;
      }
    }
    for (uint32_t i = 0; i < p->regions; ++i) {
      for (uint32_t k = 0; k < p->region[i].params; ++k) own[p->region[i].param[k]] = false;
    }
    tfls_run run = {c, p, values, own};
    status = tfls_run_steps(&run, 0, p->first_steps);
    if (status == TFL_OK) status = into ? give_into(&run, tensors) : give(&run, tensors);
    if (status == TFL_OK) change_states(&run);
  }
  for (uint32_t i = 0; values && own && i < p->values; ++i) {
    if (own[i]) tfls_tensor_free(c, &values[i]);
  }
  free(values);
  free(own);
  return status;
}

tfl_status tfls_call_steps(tfl_context* c, uint32_t number, void* const* tensors) {
  if (!c) return TFL_ERR_ARG;
  c->error[0] = 0;
  const tfls_stepwise* p = &c->library.stepwise[number];
  if (!tensors) return tfls_fail(c, TFL_ERR_ARG, "%s: no arguments", p->name);
  for (uint32_t i = 0; i < p->outputs; ++i) {
    if (!tensors[p->arguments + i]) return tfls_fail(c, TFL_ERR_ARG, "%s: a result is NULL", p->name);
    for (uint32_t k = 0; k < p->arguments + i; ++k) {
      if (tensors[k] == tensors[p->arguments + i])
        return tfls_fail(c, TFL_ERR_ARG, "%s: a result is given twice", p->name);
    }
  }
  tfl_status status = check_arguments(c, p, tensors);
  return status == TFL_OK ? run_all(c, p, tensors, false) : status;
}

tfl_status tfls_call_steps_into(tfl_context* c, uint32_t number, void* const* tensors) {
  return run_all(c, &c->library.stepwise[number], tensors, true);
}
