/* Stands for what the compiler writes, in the tests of the loader: code, constants, tables of addresses, data, calls of the C library. */
#include <stdint.h>
#include <string.h>

struct Frame {
  const void* services;
  void* self;
  const uint32_t* interrupt;
  int64_t failed;
  int64_t words[8];
};

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int64_t counter = 40;  /* reached through a slot, since it might lie elsewhere */
static int64_t zeros[300];

static __attribute__((noinline)) int64_t twice(int64_t x) { return 2 * x; }
static __attribute__((noinline)) int64_t square(int64_t x) { return x * x; }
static int64_t (*const volatile kFunctions[])(int64_t) = {twice, square};  /* a table that is relocated */
static const double kNumbers[] = {1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5};

EXPORTED int64_t tfl_run(struct Frame* f) {
  int64_t* w = f->words;
  w[0] = ++counter;
  w[1] = kFunctions[w[7] & 1](w[6]);
  w[2] = (int64_t)(2 * kNumbers[w[5] & 7]);
  zeros[w[5] & 255] += 1;
  w[3] = zeros[w[5] & 255];
  unsigned char from[256], to[256];
  memset(from, (int)w[6], (size_t)(w[5] & 255) + 1);
  memcpy(to, from, (size_t)(w[5] & 255) + 1);
  w[4] = to[w[5] & 255] + memcmp(from, to, (size_t)(w[5] & 255) + 1);
  return f->failed;
}
