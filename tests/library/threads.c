/* Two libraries in one program, eight threads with a context of each for itself, for a race detector; another thread cancels. */
#include <pthread.h>
#include <stdio.h>

#include "functions.h"
#include "other.h"

static int work_of_functions(void) {
  float x[2] = {1, 2}, y[2];
  int32_t count = 0, number = 27, steps = 0;
  tfl_options options = {sizeof(tfl_options), 2, 0, 0, NULL, NULL, NULL};
  tfl_context *c = NULL;
  int i, wrong = functions_context_new(&options, &c) != TFL_OK;
  for (i = 0; i < 200 && !wrong; ++i) {
    wrong |= functions_step_f32(c, x, 1, y, &count) != TFL_OK || count != i + 1;
    wrong |= functions_collatz_i32(c, &number, &steps) != TFL_OK || steps != 111;
    wrong |= functions_collatz_i32(c, NULL, &steps) != TFL_ERR_ARG || functions_last_error(c)[0] == 0;
  }
  {
    static const int n = 200;
    static float large[200 * 33];
    float result[200 * 33];
    wrong |= functions_softmax_f32(c, large, n, result) != TFL_OK;
  }
  functions_context_free(c);
  return wrong;
}

static int work_of_other(void) {
  static float x[5000];
  float y[5000];
  tfl_options options = {sizeof(tfl_options), 2, 0, 0, NULL, NULL, NULL};
  tfl_context *c = NULL;
  int i, wrong = other_context_new(&options, &c) != TFL_OK;
  for (i = 0; i < 100 && !wrong; ++i) {
    wrong |= other_scale_f32(c, x, 5000, y) != TFL_OK;
    wrong |= other_scale_f32(c, x, -1, y) != TFL_ERR_SHAPE || other_last_error(c)[0] == 0;
    wrong |= other_context_cancel(c) != TFL_OK || other_scale_f32(c, x, 5000, y) != TFL_ERR_CANCELLED;
  }
  other_context_free(c);
  return wrong;
}

/* Cancelling comes from elsewhere: the call ends, with one status or the other. */
static void *cancel(void *context) {
  int i;
  for (i = 0; i < 50; ++i) functions_context_cancel(context);
  return NULL;
}
static int work_under_cancelling(void) {
  static float x[300];
  float y[300];
  tfl_context *c = NULL;
  pthread_t other;
  int i, wrong = functions_context_new(NULL, &c) != TFL_OK || pthread_create(&other, NULL, cancel, c) != 0;
  for (i = 0; i < 100 && !wrong; ++i) {
    tfl_status status = functions_add_f32(c, x, x, 300, y);
    wrong |= status != TFL_OK && status != TFL_ERR_CANCELLED;
  }
  pthread_join(other, NULL);
  functions_context_free(c);
  return wrong;
}

static void *work(void *argument) {
  *(int *)argument = work_of_functions() || work_of_other() || work_under_cancelling();
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
