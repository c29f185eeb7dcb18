/* Operations whose results have sizes that follow from values. */
#include <stdint.h>

#include "runtime/standalone/standalone.h"

enum { STEP_PART, STEP_NONZERO, STEP_BOOLEAN_MASK, STEP_UNIQUE, STEP_UNIQUE_WITH_COUNTS };

/* Row-major elements of an input: its own, or a copy. */
typedef struct {
  const char* data;
  void* copy;
  size_t bytes;
} elements;

static bool take(tfl_context* c, const tfl_tensor* t, int dtype, elements* out) {
  *out = (elements){(const char*)t->data + t->byte_offset, NULL, 0};
  if (tfls_row_major(t)) return true;
  out->bytes = (size_t)(tfls_size_of(t) * tfls_bytes(dtype));
  out->copy = tfls_alloc(c, out->bytes);
  if (!out->copy) return false;
  tfls_copy(t, tfls_bytes(dtype), out->copy);
  out->data = out->copy;
  return true;
}
static void drop(tfl_context* c, elements* e) { tfls_free(c, e->copy, e->bytes); }

/* Floating-point zeros have a sign that does not count; all else is a zero when its bytes are. */
bool tfls_is_true(int dtype, const char* p) {
  uint64_t v = 0;
  memcpy(&v, p, (size_t)tfls_bytes(dtype));
  if (dtype <= TFLS_F64) v <<= 65 - tfls_dtypes[dtype].bits;
  return v != 0;
}
static int64_t count_true(int dtype, const char* p, int64_t n) {
  int64_t found = 0;
  for (int64_t i = 0; i < n; ++i) found += tfls_is_true(dtype, p + i * tfls_bytes(dtype));
  return found;
}

static bool nonzero(tfl_context* c, const tfl_tensor* x, int dtype, tfl_tensor* out) {
  elements e;
  if (!take(c, x, dtype, &e)) return false;
  int64_t n = tfls_size_of(x), shape[2] = {count_true(dtype, e.data, n), x->ndim};
  bool ok = tfls_new_tensor(c, TFLS_I64, 2, shape, out);
  int64_t* to = ok ? out->data : NULL;
  for (int64_t i = 0; ok && i < n; ++i) {
    if (!tfls_is_true(dtype, e.data + i * tfls_bytes(dtype))) continue;
    for (int64_t k = x->ndim, rest = i; k-- > 0; rest /= x->shape[k]) to[k] = rest % x->shape[k];
    to += x->ndim;
  }
  drop(c, &e);
  return ok;
}

static bool boolean_mask(tfl_context* c, const tfl_tensor* x, int dtype, const tfl_tensor* mask, int mask_dtype,
                         int axis, tfl_tensor* out) {
  elements from, m;
  if (!take(c, x, dtype, &from)) return false;
  if (!take(c, mask, mask_dtype, &m)) {
    drop(c, &from);
    return false;
  }
  int64_t outer = 1, inner = tfls_bytes(dtype), n = tfls_size_of(mask), shape[TFLS_MAX_RANK];
  int rank = 0;
  for (int i = 0; i < axis; ++i) outer *= shape[rank++] = x->shape[i];
  shape[rank++] = count_true(mask_dtype, m.data, n);
  for (int i = axis + mask->ndim; i < x->ndim; ++i) inner *= shape[rank++] = x->shape[i];
  bool ok = tfls_new_tensor(c, dtype, rank, shape, out);
  char* to = ok ? out->data : NULL;
  for (int64_t o = 0; ok && inner && o < outer; ++o) {
    for (int64_t i = 0; i < n; ++i) {
      if (!tfls_is_true(mask_dtype, m.data + i * tfls_bytes(mask_dtype))) continue;
      memcpy(to, from.data + (o * n + i) * inner, (size_t)inner);
      to += inner;
    }
  }
  drop(c, &m);
  drop(c, &from);
  return ok;
}

/* Bits that are equal where values are: zeros have no sign. NaN is nobody's equal. */
static uint64_t key_of(int dtype, const char* p, bool* nan) {
  uint64_t v = 0;
  memcpy(&v, p, (size_t)tfls_bytes(dtype));
  *nan = false;
  if (dtype > TFLS_F64) return v;
  static const uint64_t infinity[] = {0x7c00, 0x7f80, 0x7f800000, 0x7ff0000000000000};
  uint64_t sign = 1ull << (tfls_dtypes[dtype].bits - 1);
  *nan = (v & ~sign) > infinity[dtype];
  return v == sign ? 0 : v;
}
static uint64_t mix(uint64_t x) { /* the finaliser of MurmurHash3 */
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}
static void put(int dtype, void* to, int64_t i, int64_t v) {
  if (dtype == TFLS_I64)
    ((int64_t*)to)[i] = v;
  else
    ((int32_t*)to)[i] = (int32_t)v;
}

/* Results: values, the index of each element's value; `counts` may be NULL. */
static bool unique(tfl_context* c, const tfl_tensor* x, int dtype, tfl_tensor* values, tfl_tensor* index,
                   tfl_tensor* counts, int index_dtype) {
  elements e;
  if (!take(c, x, dtype, &e)) return false;
  int64_t n = tfls_size_of(x), found = 0, bytes = tfls_bytes(dtype);
  uint64_t slots = 1;
  while (slots < 2 * (uint64_t)n + 1) slots *= 2;
  /* An open-addressing table of distinct values: which of them, counted from 1; where each first stands, and how often. */
  size_t room = 8 * ((size_t)slots + 2 * (size_t)n);
  int64_t* table = tfls_alloc(c, room);
  bool ok = table && tfls_new_tensor(c, index_dtype, 1, &n, index);
  if (ok) memset(table, 0, room);
  int64_t *order = table + slots, *seen = order + n;
  for (int64_t i = 0; ok && i < n; ++i) {
    bool nan, other;
    uint64_t key = key_of(dtype, e.data + i * bytes, &nan), slot = mix(key) & (slots - 1);
    while (table[slot] && (nan || key_of(dtype, e.data + order[table[slot] - 1] * bytes, &other) != key))
      slot = (slot + 1) & (slots - 1);
    if (!table[slot]) {
      order[found] = i;
      table[slot] = ++found;
    }
    ++seen[table[slot] - 1];
    put(index_dtype, index->data, i, table[slot] - 1);
  }
  ok = ok && tfls_new_tensor(c, dtype, 1, &found, values) &&
       (!counts || tfls_new_tensor(c, index_dtype, 1, &found, counts));
  for (int64_t i = 0; ok && i < found; ++i) {
    memcpy((char*)values->data + i * bytes, e.data + order[i] * bytes, (size_t)bytes);
    if (counts) put(index_dtype, counts->data, i, seen[i]);
  }
  tfls_free(c, table, room);
  drop(c, &e);
  return ok;
}

tfl_status tfls_run_step(tfl_context* c, const tfls_stepwise* p, const tfls_step* s, tfl_tensor* values) {
  const tfl_tensor* x = &values[s->input[0]];
  tfl_tensor* out = &values[s->result[0]];
  int dtype = p->value[s->input[0]].dtype;
  bool ok = false;
  switch (s->kind) {
    case STEP_NONZERO: ok = nonzero(c, x, dtype, out); break;
    case STEP_BOOLEAN_MASK: {
      const tfl_tensor* mask = &values[s->input[1]];
      for (int i = 0; i < mask->ndim; ++i) {
        if (s->axis + i >= x->ndim || x->shape[s->axis + i] != mask->shape[i])
          return tfls_fail(c, TFL_ERR_SHAPE, "%s: size %d of a mask is %lld and does not fit what is masked", p->name,
                           i, (long long)mask->shape[i]);
      }
      ok = boolean_mask(c, x, dtype, mask, p->value[s->input[1]].dtype, (int)s->axis, out);
      break;
    }
    case STEP_UNIQUE: ok = unique(c, x, dtype, out, &values[s->result[1]], NULL, p->value[s->result[1]].dtype); break;
    case STEP_UNIQUE_WITH_COUNTS:
      ok = unique(c, x, dtype, out, &values[s->result[1]], &values[s->result[2]], p->value[s->result[1]].dtype);
      break;
    default: break;
  }
  return ok ? TFL_OK : tfls_fail(c, TFL_ERR_OOM, "%s: no memory for a result", p->name);
}
