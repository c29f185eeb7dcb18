/* Branches and loops of functions that run step by step. What a region computes is freed at its end, but for its results; its parameters
 * are other names for values around it. */
#include <stdint.h>

#include "runtime/standalone/standalone.h"

enum { STEP_BRANCH = 5, STEP_CHOICE, STEP_LOOP };

static void name_params(tfls_run* run, const tfls_region* g, const tfl_tensor* values) {
  for (uint32_t i = 0; i < g->params; ++i) run->value[g->param[i]] = values[i];
}

/* The names go, and what the region's own steps have made. */
static void leave(tfls_run* run, const tfls_region* g) {
  for (uint32_t i = 0; i < g->params; ++i) memset(&run->value[g->param[i]], 0, sizeof *run->value);
  for (uint32_t i = 0; i < g->steps; ++i) {
    const tfls_step* s = &run->function->step[g->first + i];
    for (uint32_t k = 0; k < s->results; ++k) tfls_tensor_free(run->context, &run->value[s->result[k]]);
  }
}

/* Runs a region; its results go to `out`, which has none of them unless all went well. */
static tfl_status run_region(tfls_run* run, const tfls_region* g, const tfl_tensor* values, tfl_tensor* out) {
  name_params(run, g, values);
  tfl_status status = tfls_run_steps(run, g->first, g->steps);
  for (uint32_t i = 0; status == TFL_OK && i < g->results; ++i) {
    bool used_again = false;
    for (uint32_t k = i + 1; k < g->results; ++k) used_again |= g->result[k] == g->result[i];
    status = tfls_hand_over(run, g->result[i], !used_again, &out[i]);
    for (uint32_t k = 0; status != TFL_OK && k < i; ++k) tfls_tensor_free(run->context, &out[k]);
  }
  leave(run, g);
  return status;
}

static int64_t chosen(tfls_run* run, const tfls_step* s) {
  const tfl_tensor* t = &run->value[s->input[0]];
  int dtype = run->function->value[s->input[0]].dtype;
  const char* at = (const char*)t->data + t->byte_offset;
  if (s->kind == STEP_BRANCH) return tfls_is_true(dtype, at) ? 0 : 1;
  int64_t index = 0;
  if (tfls_bytes(dtype) == 8) {
    memcpy(&index, at, 8);
  } else {
    int32_t narrow = 0;
    memcpy(&narrow, at, 4);
    index = narrow;
  }
  return index >= 0 && index < s->regions ? index : (int64_t)s->regions - 1;
}

static tfl_status run_branch(tfls_run* run, const tfls_step* s, tfl_tensor* values, tfl_tensor* results) {
  const tfls_region* g = &run->function->region[s->first_region + chosen(run, s)];
  for (uint32_t i = 1; i < s->inputs; ++i) values[i - 1] = run->value[s->input[i]];
  tfl_status status = run_region(run, g, values, results);
  for (uint32_t i = 0; status == TFL_OK && i < s->results; ++i) run->value[s->result[i]] = results[i];
  return status;
}

static tfl_status holds(tfls_run* run, const tfls_region* g, const tfl_tensor* values, bool* out) {
  name_params(run, g, values);
  tfl_status status = tfls_run_steps(run, g->first, g->steps);
  if (status == TFL_OK) {
    const tfl_tensor* t = &run->value[g->result[0]];
    *out = tfls_is_true(run->function->value[g->result[0]].dtype, (const char*)t->data + t->byte_offset);
  }
  leave(run, g);
  return status;
}

/* The loop's variables are copies that belong to it. */
static tfl_status run_loop(tfls_run* run, const tfls_step* s, tfl_tensor* values, tfl_tensor* results) {
  tfl_context* c = run->context;
  const tfls_region* g = &run->function->region[s->first_region];
  uint32_t variables = (uint32_t)s->axis, own = 0;
  tfl_status status = TFL_OK;
  for (uint32_t i = 0; i < s->inputs; ++i) values[i] = run->value[s->input[i]];
  for (; status == TFL_OK && own < variables; own += status == TFL_OK) status = tfls_hand_over(run, s->input[own], false, &values[own]);
  for (bool again = true; status == TFL_OK;) {
    if (atomic_exchange(&c->cancelled, 0)) status = tfls_fail(c, TFL_ERR_CANCELLED, "%s: cancelled", run->function->name);
    if (status == TFL_OK) status = holds(run, &g[0], values, &again);
    if (status != TFL_OK || !again) break;
    status = run_region(run, &g[1], values, results);
    for (uint32_t i = 0; status == TFL_OK && i < variables; ++i) {
      tfls_tensor_free(c, &values[i]);
      values[i] = results[i];
    }
  }
  for (uint32_t i = 0; i < own; ++i) {
    if (status == TFL_OK)
      run->value[s->result[i]] = values[i];
    else
      tfls_tensor_free(c, &values[i]);
  }
  return status;
}

/* What the reader has not seen to: that regions and their values go with the step. */
static bool fits(const tfls_run* run, const tfls_step* s) {
  bool loop = s->kind == STEP_LOOP;
  uint32_t decides = loop ? 0 : 1;
  if (s->regions == 0 || (s->kind != STEP_CHOICE && s->regions != 2) || s->inputs < decides) return false;
  if (loop && (s->axis != s->results || s->results > s->inputs)) return false;
  for (uint32_t i = 0; i < s->regions; ++i) {
    const tfls_region* g = &run->function->region[s->first_region + i];
    if (g->params != s->inputs - decides || g->results != (loop && i == 0 ? 1 : s->results)) return false;
  }
  return true;
}

tfl_status tfls_run_control(tfls_run* run, const tfls_step* s) {
  if (!fits(run, s)) return tfls_fail(run->context, TFL_ERR_ABI, "%s: damaged", run->function->name);
  tfl_tensor* values = calloc((size_t)s->inputs + s->results + 1, sizeof *values);
  if (!values) return tfls_fail(run->context, TFL_ERR_OOM, "%s: no memory", run->function->name);
  tfl_tensor* results = values + s->inputs;
  tfl_status status = s->kind == STEP_LOOP ? run_loop(run, s, values, results) : run_branch(run, s, values, results);
  free(values);
  return status;
}
