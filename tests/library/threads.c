/* Eight threads with a context each, for a race detector. */
#include <pthread.h>
#include <stdio.h>

#include "functions.h"

static void *work(void *argument) {
  float x[2] = {1, 2}, y[2];
  int32_t count = 0, number = 27, steps = 0;
  tfl_options options = {sizeof(tfl_options), 2, 0, 0, NULL, NULL, NULL};
  tfl_context *c = NULL;
  int i, wrong = functions_context_new(&options, &c) != TFL_OK;
  for (i = 0; i < 200 && !wrong; ++i) {
    wrong |= functions_step_f32(c, x, 1, y, &count) != TFL_OK || count != i + 1;
    wrong |= functions_collatz_i32(c, &number, &steps) != TFL_OK || steps != 111;
  }
  {
    static const int n = 200;
    static float large[200 * 33];
    float result[200 * 33];
    wrong |= functions_softmax_f32(c, large, n, result) != TFL_OK;
  }
  functions_context_free(c);
  *(int *)argument = wrong;
  return NULL;
}

int main(void) {
  pthread_t threads[8];
  int wrong[8], i, all = 0;
  for (i = 0; i < 8; ++i) {
    if (pthread_create(&threads[i], NULL, work, &wrong[i]) != 0) return 2;
  }
  for (i = 0; i < 8; ++i) {
    pthread_join(threads[i], NULL);
    all |= wrong[i];
  }
  puts(all ? "wrong" : "all right");
  return all;
}
