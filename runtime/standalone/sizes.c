/* A function's symbolic sizes from the sizes of its inputs, and which of the functions for other sizes serves. */
#include <stdint.h>

#include "runtime/standalone/standalone.h"

enum { SYMBOL_DIM, SYMBOL_ADD, SYMBOL_SUBTRACT, SYMBOL_MULTIPLY, SYMBOL_DIVIDE, SYMBOL_MAXIMUM, SYMBOL_MINIMUM, SYMBOL_ELEMENT };

static int64_t floor_divide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/* Why sizes do not fit a function: they are too large, or a guard does not hold, or an input has another size. */
typedef struct {
  bool too_large;
  const tfls_guard* guard;
  int64_t left, right; /* of the guard; else what is there and what must be */
  uint32_t input;
  int axis;
} misfit;

/* An integer that is a size. Only parts of functions that run in steps have such sizes, and their inputs are in the processor's memory. */
static bool element_of(const tfl_tensor* t, int64_t at, int64_t* out) {
  if (t->ndim > 1 || (t->ndim == 1 && at >= t->shape[0])) return false;
  const char* from = (const char*)t->data + t->byte_offset + (t->ndim && t->strides ? t->strides[0] * at : at) * (t->dtype.bits / 8);
  int32_t narrow;
  if (t->dtype.bits == 64) {
    memcpy(out, from, 8);
  } else {
    memcpy(&narrow, from, 4);
    *out = narrow;
  }
  return true;
}

/* Symbols from the inputs' sizes, and the guards. `shape` gives input i's sizes. */
static bool fits(const tfls_function* f, const int64_t* const* shape, void* const* tensors, int64_t* symbols, misfit* why) {
  memset(why, 0, sizeof *why);
  for (uint32_t i = 0; i < f->symbols; ++i) {
    const tfls_symbol* s = &f->symbol[i];
    bool given = s->kind == SYMBOL_DIM || s->kind == SYMBOL_ELEMENT;
    int64_t a = given ? 0 : tfls_resolve(symbols, s->a), b = given ? 0 : tfls_resolve(symbols, s->b);
    bool bad = false;
    switch (s->kind) {
      case SYMBOL_DIM: symbols[i] = shape[s->input][s->axis]; break;
      case SYMBOL_ELEMENT: bad = !element_of(tensors[s->input], s->axis, &symbols[i]); break;
      case SYMBOL_ADD: bad = __builtin_add_overflow(a, b, &symbols[i]); break;
      case SYMBOL_SUBTRACT: bad = __builtin_sub_overflow(a, b, &symbols[i]); break;
      case SYMBOL_MULTIPLY: bad = __builtin_mul_overflow(a, b, &symbols[i]); break;
      case SYMBOL_DIVIDE:
        bad = b == 0 || (b == -1 && a == INT64_MIN);
        if (!bad) symbols[i] = floor_divide(a, b);
        break;
      case SYMBOL_MAXIMUM: symbols[i] = a > b ? a : b; break;
      default: symbols[i] = a < b ? a : b; break;
    }
    why->too_large = bad;
    if (bad) return false;
  }
  for (uint32_t i = 0; i < f->guards; ++i) {
    why->left = tfls_resolve(symbols, f->guard[i].a);
    why->right = tfls_resolve(symbols, f->guard[i].b);
    why->guard = &f->guard[i];
    if (f->guard[i].kind == 0 ? why->left != why->right : why->left < why->right) break;
    why->guard = NULL;
  }
  /* A guard that words what the script would say tells more than a size that is not as it must be. */
  if (why->guard && why->guard->location < f->failures && f->failure[why->guard->location].size_pieces) return false;
  for (uint32_t i = 0; i < f->inputs; ++i) {
    for (int k = 0; k < f->input[i].rank; ++k) {
      int64_t want = tfls_resolve(symbols, f->input[i].dims[k]);
      if (shape[i][k] == want) continue;
      *why = (misfit){.left = shape[i][k], .right = want, .input = i, .axis = k};
      return false;
    }
  }
  return !why->guard;
}

static tfl_status refuse(tfl_context* c, const tfls_function* f, const int64_t* const* shape, const misfit* why) {
  if (why->too_large) return tfls_fail(c, TFL_ERR_SHAPE, "%s: these sizes are too large", f->name);
  if (why->guard) return tfls_explain_sizes(c, f, why->guard->location, shape, why->left, why->right);
  return tfls_fail(c, TFL_ERR_SHAPE, "%s: size %d of %s is %lld and must be %lld", f->name, why->axis, f->input[why->input].name,
                   (long long)why->left, (long long)why->right);
}

tfl_status tfls_choose(tfl_context* c, const tfls_function** f, const int64_t* const* shape, void* const* tensors, int64_t* symbols) {
  const tfls_function* first = *f;
  misfit why;
  while (!fits(*f, shape, tensors, symbols, &why)) {
    if ((*f)->otherwise < 0) {
      if (*f != first) fits(first, shape, tensors, symbols, &why);
      return refuse(c, first, shape, &why);
    }
    *f = &c->library.function[(*f)->otherwise];
  }
  return TFL_OK;
}
