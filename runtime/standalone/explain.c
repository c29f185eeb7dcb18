/* The text of a failure: what the evaluator would say, put together from pieces that the compiler left and tensors of the
 * call. */
#include <stdarg.h>
#include <stdint.h>

#include "runtime/standalone/standalone.h"

enum { PIECE_TEXT, PIECE_TENSOR, PIECE_INDEX, PIECE_ELEMENT, PIECE_SHAPE };

typedef struct {
  char* at;
  size_t room; /* with the zero at the end */
} text;

static void say(text* t, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void say(text* t, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(t->at, t->room, format, arguments);
  va_end(arguments);
  if (n < 0) return;
  size_t length = (size_t)n < t->room ? (size_t)n : t->room - 1;
  t->at += length;
  t->room -= length;
}

static float from_half(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float v = exponent ? (float)(fraction + 1024) : (float)fraction;
  for (int i = exponent ? exponent : 1; i < 25; ++i) v *= 0.5f;
  for (int i = 25; i < exponent; ++i) v *= 2.0f;
  if (exponent == 31) v = fraction ? __builtin_nanf("") : __builtin_inff();
  return bits & 0x8000 ? -v : v;
}
static double floating_at(int dtype, const char* p) {
  uint16_t half;
  uint32_t wide;
  float single;
  double v;
  switch (dtype) {
    case TFLS_F16: memcpy(&half, p, 2); return from_half(half);
    case TFLS_BF16:
      memcpy(&half, p, 2);
      wide = (uint32_t)half << 16;
      memcpy(&single, &wide, 4);
      return single;
    case TFLS_F32: memcpy(&single, p, 4); return single;
    default: memcpy(&v, p, 8); return v;
  }
}
static int64_t integer_at(int dtype, const char* p) {
  int64_t v = 0;
  memcpy(&v, p, (size_t)tfls_bytes(dtype)); /* little-endian */
  int unused = 64 - tfls_dtypes[dtype].bits;
  return dtype >= TFLS_I8 && dtype <= TFLS_I64 ? (int64_t)((uint64_t)v << unused) >> unused : v;
}

/* Six digits where they read back as the same value, else all that it takes; as runtime/text/print_number.cpp. */
static void say_floating(text* t, int dtype, double v) {
  char digits[40];
  if (v != v || v - v != 0) {
    say(t, "%s", v != v ? "nan" : v < 0 ? "-inf" : "inf");
    return;
  }
  bool is_double = dtype == TFLS_F64;
  snprintf(digits, sizeof digits, is_double ? "%.15g" : "%.6g", v);
  if (is_double ? strtod(digits, NULL) != v : strtof(digits, NULL) != (float)v)
    snprintf(digits, sizeof digits, is_double ? "%.17g" : "%.9g", v);
  say(t, "%s", digits);
}

typedef struct {
  int dtype, rank;
  const char* data;
  const int64_t* shape;
} shown;

static void say_axis(text* t, const shown* x, int axis, int64_t first, int64_t edge) {
  if (axis == x->rank) {
    const char* p = x->data + first * tfls_bytes(x->dtype);
    if (x->dtype <= TFLS_F64)
      say_floating(t, x->dtype, floating_at(x->dtype, p));
    else if (x->dtype == TFLS_U64)
      say(t, "%llu", (unsigned long long)integer_at(x->dtype, p));
    else
      say(t, "%lld", (long long)integer_at(x->dtype, p));
    return;
  }
  int64_t n = x->shape[axis];
  say(t, "[");
  for (int64_t i = 0; i < n && t->room > 1; ++i) {
    if (i > 0 && axis == x->rank - 1) say(t, " ");
    for (int k = axis; i > 0 && k < x->rank - 1; ++k) say(t, "\n");
    for (int k = 0; i > 0 && axis < x->rank - 1 && k <= axis; ++k) say(t, " ");
    if (i == edge && n > 2 * edge) {
      say(t, "...");
      i = n - edge - 1;
    } else {
      say_axis(t, x, axis + 1, first * n + i, edge);
    }
  }
  say(t, "]");
}
static int64_t count_of(const shown* x) {
  int64_t n = 1;
  for (int i = 0; i < x->rank; ++i) n *= x->shape[i];
  return n;
}
static void say_tensor(text* t, const shown* x, int64_t summarize) {
  int64_t n = count_of(x);
  say_axis(t, x, 0, 0, summarize < 0 || summarize > n ? n : summarize);
}
static void say_shape(text* t, const shown* x) {
  say(t, "[");
  for (int i = 0; i < x->rank; ++i) say(t, i ? ",%lld" : "%lld", (long long)x->shape[i]);
  say(t, "]");
}
/* False where all indices are inside. */
static bool say_index(text* t, const shown* x, int64_t size) {
  int64_t n = count_of(x), place[TFLS_MAX_RANK];
  for (int64_t i = 0; i < n; ++i) {
    int64_t v = integer_at(x->dtype, x->data + i * tfls_bytes(x->dtype));
    if (v >= 0 && v < size) continue;
    for (int64_t k = x->rank, rest = i; k-- > 0; rest /= x->shape[k]) place[k] = rest % x->shape[k];
    say(t, "indices");
    for (int k = 0; k < x->rank; ++k) say(t, k ? ",%lld" : "[%lld", (long long)place[k]);
    say(t, x->rank ? "] = %lld is not in [0, %lld)" : " = %lld is not in [0, %lld)", (long long)v, (long long)size);
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
    case PIECE_TENSOR: say_tensor(t, &a, p->number); return;
    case PIECE_SHAPE: say_shape(t, &a); return;
    case PIECE_INDEX:
      if (find(s, p->b, &b) && p->number < b.rank && say_index(t, &a, b.shape[p->number])) return;
      break;
    case PIECE_ELEMENT:
      if (find(s, p->b, &b) && p->number < b.rank && count_of(&a) == 1) {
        int64_t v = integer_at(a.dtype, a.data), size = b.shape[p->number];
        if (v < -size || v >= size)
          say(t, "slice index %lld of dimension %lld out of bounds.", (long long)(v < 0 ? v + size : v),
              (long long)p->number);
        return;
      }
      break;
    default: break;
  }
  say(t, "%s", p->kind == PIECE_TEXT || *p->text ? p->text : "...");
}

static text begin(tfl_context* c, const tfls_function* f, const tfls_failure* failure) {
  text t = {c->error, sizeof c->error};
  if (failure && *failure->place) say(&t, "%s: ", failure->place);
  say(&t, "%s: ", f->name);
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
  ok = ok && tfls_call(c, number, pointers) == TFL_OK;
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
  if (!failure || !failure->pieces) say(&t, "an operation failed");
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
    say(&t, "the sizes %lld and %lld do not go together", (long long)a, (long long)b);
  return TFL_ERR_SHAPE;
}
