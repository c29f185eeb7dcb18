/* Texts with tensors in them, as runtime/text/print_tensor.cpp writes them: for errors and for what a function prints. */
#include "runtime/standalone/text.h"

#include <stdarg.h>
#include <stdint.h>

void tfls_say(text* t, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(t->at, t->room, format, arguments);
  va_end(arguments);
  if (n < 0) return;
  t->length += (size_t)n;
  if (!t->room) return;
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
int64_t tfls_integer_at(int dtype, const char* p) {
  int64_t v = 0;
  memcpy(&v, p, (size_t)tfls_bytes(dtype)); /* little-endian */
  int unused = 64 - tfls_dtypes[dtype].bits;
  return dtype >= TFLS_I8 && dtype <= TFLS_I64 ? (int64_t)((uint64_t)v << unused) >> unused : v;
}

/* Six digits where they read back as the same value, else all that it takes; as runtime/text/print_number.cpp. */
static void say_floating(text* t, int dtype, double v) {
  char digits[40];
  if (v != v || v - v != 0) {
    tfls_say(t, "%s", v != v ? "nan" : v < 0 ? "-inf" : "inf");
    return;
  }
  bool is_double = dtype == TFLS_F64;
  snprintf(digits, sizeof digits, is_double ? "%.15g" : "%.6g", v);
  if (is_double ? strtod(digits, NULL) != v : strtof(digits, NULL) != (float)v)
    snprintf(digits, sizeof digits, is_double ? "%.17g" : "%.9g", v);
  /* The point, whatever the program's locale has in its place. */
  for (char* c = digits; *c; ++c) {
    if ((*c < '0' || *c > '9') && *c != '-' && *c != '+' && *c != 'e') *c = '.';
  }
  tfls_say(t, "%s", digits);
}

static void say_element(text* t, const shown* x, int64_t index) {
  const char* p = x->data + index * tfls_bytes(x->dtype);
  if (x->dtype <= TFLS_F64)
    say_floating(t, x->dtype, floating_at(x->dtype, p));
  else if (x->dtype == TFLS_U64)
    tfls_say(t, "%llu", (unsigned long long)tfls_integer_at(x->dtype, p));
  else
    tfls_say(t, "%lld", (long long)tfls_integer_at(x->dtype, p));
}

/* The first elements in the order they lie in, for a failed assertion. */
static void say_first(text* t, const shown* x, int axis, int64_t first, int64_t* left) {
  if (*left <= 0) return;
  if (axis == x->rank) {
    --*left;
    say_element(t, x, first);
    return;
  }
  bool innermost = axis == x->rank - 1;
  for (int64_t i = 0; i < x->shape[axis]; ++i) {
    if (*left <= 0) {
      if (innermost && axis) tfls_say(t, "...");
      return;
    }
    if (innermost && i > 0) tfls_say(t, " ");
    if (!innermost) tfls_say(t, "[");
    say_first(t, x, axis + 1, first * x->shape[axis] + i, left);
    if (!innermost) tfls_say(t, "]");
  }
}

static void say_axis(text* t, const shown* x, int axis, int64_t first, int64_t edge) {
  if (axis == x->rank) {
    say_element(t, x, first);
    return;
  }
  int64_t n = x->shape[axis];
  tfls_say(t, "[");
  for (int64_t i = 0; i < n && (!t->at || t->room > 1); ++i) {
    if (i > 0 && axis == x->rank - 1) tfls_say(t, " ");
    for (int k = axis; i > 0 && k < x->rank - 1; ++k) tfls_say(t, "\n");
    for (int k = 0; i > 0 && axis < x->rank - 1 && k <= axis; ++k) tfls_say(t, " ");
    if (i == edge && n > 2 * edge) {
      tfls_say(t, "...");
      i = n - edge - 1;
    } else {
      say_axis(t, x, axis + 1, first * n + i, edge);
    }
  }
  tfls_say(t, "]");
}
int64_t tfls_count_of(const shown* x) {
  int64_t n = 1;
  for (int i = 0; i < x->rank; ++i) n *= x->shape[i];
  return n;
}
void tfls_say_tensor(text* t, const shown* x, int64_t summarize) {
  int64_t n = tfls_count_of(x);
  if (summarize <= -2) { /* of_check() in runtime/text/print_tensor.h */
    int64_t left = summarize == -2 || -3 - summarize > n ? n : -3 - summarize;
    bool more = left < n;
    say_first(t, x, 0, 0, &left);
    if (more) tfls_say(t, "...");
    return;
  }
  say_axis(t, x, 0, 0, summarize < 0 || summarize > n ? n : summarize);
}
void tfls_say_shape(text* t, const shown* x) {
  tfls_say(t, "[");
  for (int i = 0; i < x->rank; ++i) tfls_say(t, i ? ",%lld" : "%lld", (long long)x->shape[i]);
  tfls_say(t, "]");
}
