/* The text of a failure: what the evaluator would say, put together from pieces that the compiler left and tensors of the
 * call. */
#include <stdint.h>

#include "runtime/standalone/text.h"

enum { PIECE_TEXT, PIECE_TENSOR, PIECE_INDEX, PIECE_ELEMENT, PIECE_SHAPE };

/* False where all indices are inside. */
static bool say_index(text* t, const shown* x, int64_t size) {
  int64_t n = tfls_count_of(x), place[TFLS_MAX_RANK];
  for (int64_t i = 0; i < n; ++i) {
    int64_t v = tfls_integer_at(x->dtype, x->data + i * tfls_bytes(x->dtype));
    if (v >= 0 && v < size) continue;
    for (int64_t k = x->rank, rest = i; k-- > 0; rest /= x->shape[k]) place[k] = rest % x->shape[k];
    tfls_say(t, "indices");
    for (int k = 0; k < x->rank; ++k) tfls_say(t, k ? ",%lld" : "[%lld", (long long)place[k]);
    tfls_say(t, x->rank ? "] = %lld is not in [0, %lld)" : " = %lld is not in [0, %lld)", (long long)v, (long long)size);
    return true;
  }
  return false;
}

/* Of one failure: inputs of the call, and what the explanation gave; NULL where there is none. */
typedef struct {
  const tfls_function *f, *explanation;
  const void* const* input;
  const int64_t* const* shape;
  const tfl_tensor* result;
} sources;

static bool find(const sources* s, int64_t from, shown* out) {
  if (from >= 0 && from < (int64_t)s->f->inputs) {
    const tfls_type* type = &s->f->input[from];
    *out = (shown){type->dtype, type->rank, s->input ? s->input[from] : NULL, s->shape[from]};
    return true;
  }
  int64_t k = ~from;
  if (!s->result || k < 0 || k >= (int64_t)s->explanation->outputs) return false;
  *out = (shown){s->explanation->result[k].type.dtype, s->result[k].ndim, s->result[k].data, s->result[k].shape};
  return true;
}

static void say_piece(text* t, const sources* s, const tfls_piece* p) {
  shown a, b;
  bool found = p->kind == PIECE_TEXT || find(s, p->a, &a);
  switch (found ? p->kind : PIECE_TEXT) {
    case PIECE_TENSOR: tfls_say_tensor(t, &a, p->number); return;
    case PIECE_SHAPE: tfls_say_shape(t, &a); return;
    case PIECE_INDEX:
      if (find(s, p->b, &b) && p->number < b.rank && say_index(t, &a, b.shape[p->number])) return;
      break;
    case PIECE_ELEMENT:
      if (find(s, p->b, &b) && p->number < b.rank && tfls_count_of(&a) == 1) {
        int64_t v = tfls_integer_at(a.dtype, a.data), size = b.shape[p->number];
        if (v < -size || v >= size)
          tfls_say(t, "slice index %lld of dimension %lld out of bounds.", (long long)(v < 0 ? v + size : v),
              (long long)p->number);
        return;
      }
      break;
    default: break;
  }
  tfls_say(t, "%s", p->kind == PIECE_TEXT || *p->text ? p->text : "...");
}

static text begin(tfl_context* c, const tfls_function* f, const tfls_failure* failure) {
  text t = {c->error, sizeof c->error, 0};
  if (failure && *failure->place) tfls_say(&t, "%s: ", failure->place);
  tfls_say(&t, "%s: ", f->name);
  return t;
}

/* What an explanation gives, in memory that tfls_tensor_free takes back. */
static bool explained(tfl_context* c, uint32_t number, const sources* s, tfl_tensor* results) {
  const tfls_function* e = &c->library.function[number];
  uint32_t n = s->f->inputs;
  tfl_tensor* tensor = calloc((size_t)n + e->outputs + 1, sizeof *tensor);
  void** pointers = calloc((size_t)n + e->outputs + 1, sizeof *pointers);
  int64_t* sizes = calloc((size_t)e->outputs + 1, sizeof *sizes * TFLS_MAX_RANK);
  bool ok = tensor && pointers && sizes && e->inputs == n;
  for (uint32_t i = 0; ok && i < n; ++i) {
    tensor[i] = tfls_tensor(s->f->input[i].dtype, s->f->input[i].rank, s->input[i], s->shape[i]);
    pointers[i] = &tensor[i];
  }
  for (uint32_t i = 0; ok && i < e->outputs; ++i) pointers[n + i] = sizes + i * TFLS_MAX_RANK;
  ok = ok && tfls_shape(c, number, pointers) == TFL_OK;
  for (uint32_t i = 0; ok && i < e->outputs; ++i) {
    ok = tfls_new_tensor(c, e->result[i].type.dtype, e->result[i].type.rank, sizes + i * TFLS_MAX_RANK, &results[i]);
    pointers[n + i] = &results[i];
  }
  ok = ok && tfls_call_host(c, number, pointers) == TFL_OK;
  free(tensor);
  free(pointers);
  free(sizes);
  return ok;
}

tfl_status tfls_explain(tfl_context* c, const tfls_function* f, int64_t location, const void* const* input,
                        const int64_t* const* shape) {
  const tfls_failure* failure = location >= 0 && location < (int64_t)f->failures ? &f->failure[location] : NULL;
  sources s = {f, NULL, input, shape, NULL};
  tfl_tensor results[8] = {{0}};
  if (failure && failure->explanation >= 0 && failure->explanation < (int64_t)c->library.functions) {
    s.explanation = &c->library.function[failure->explanation];
    /* The call's own memory, which inputs may lie in, is put aside. */
    void* arena = c->arena;
    size_t arena_bytes = c->arena_bytes;
    c->arena = NULL;
    c->arena_bytes = 0;
    if (s.explanation->outputs <= sizeof results / sizeof *results &&
        explained(c, (uint32_t)failure->explanation, &s, results))
      s.result = results;
    tfls_free(c, c->arena, c->arena_bytes);
    c->arena = arena;
    c->arena_bytes = arena_bytes;
  }
  text t = begin(c, f, failure);
  if (!failure || !failure->pieces) tfls_say(&t, "an operation failed");
  for (uint32_t i = 0; failure && i < failure->pieces; ++i) say_piece(&t, &s, &failure->piece[i]);
  for (size_t i = 0; i < sizeof results / sizeof *results; ++i) tfls_tensor_free(c, &results[i]);
  return TFL_ERR_RUNTIME;
}

tfl_status tfls_explain_sizes(tfl_context* c, const tfls_function* f, uint32_t location, const int64_t* const* shape,
                              int64_t a, int64_t b) {
  const tfls_failure* failure = location < f->failures ? &f->failure[location] : NULL;
  text t = begin(c, f, failure);
  sources s = {f, NULL, NULL, shape, NULL};
  for (uint32_t i = 0; failure && i < failure->size_pieces; ++i) say_piece(&t, &s, &failure->size_piece[i]);
  if (!failure || !failure->size_pieces)
    tfls_say(&t, "the sizes %lld and %lld do not go together", (long long)a, (long long)b);
  return TFL_ERR_SHAPE;
}
