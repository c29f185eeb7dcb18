// Texts that grow in memory of a given size; what does not fit is left out, and counted.
#pragma once

#include "runtime/standalone/standalone.h"

typedef struct {
  char* at;      /* NULL: only the length is asked for */
  size_t room;   /* with the zero at the end */
  size_t length; /* of all that was said, whether it fits or not */
} text;
typedef struct {
  int dtype, rank;
  const char* data; /* row-major */
  const int64_t* shape;
} shown;

void tfls_say(text* t, const char* format, ...) __attribute__((format(printf, 2, 3)));
void tfls_say_tensor(text* t, const shown* x, int64_t summarize);
void tfls_say_shape(text* t, const shown* x);
int64_t tfls_count_of(const shown* x);
int64_t tfls_integer_at(int dtype, const char* p);
