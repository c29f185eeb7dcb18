/* What tfl.h promises, asked by a C99 program. Prints what is wrong; exit status 0: nothing. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tfl.h>

static int failures;
#define CHECK(condition) ((condition) ? (void)0 : (void)(++failures, printf("%d: %s\n", __LINE__, #condition)))
#define OK(call) ok((call), __LINE__)

static void ok(tfl_error *error, int line) {
  if (!error) return;
  printf("%d: %s", line, tfl_error_traceback(error));
  ++failures;
  tfl_error_free(error);
  exit(1);
}

static tfl_value *run_text(tfl_interp *interp, const char *text) {
  tfl_value *module = NULL;
  OK(tfl_run_text(interp, text, strlen(text), "text.tfl", 1, &module));
  return module;
}

static tfl_value *get(tfl_interp *interp, tfl_value *from, const char *name) {
  tfl_value *out;
  OK(tfl_get(interp, from, name, &out));
  return out;
}

/* f(x), which it frees. */
static tfl_value *call(tfl_interp *interp, tfl_value *f, tfl_value *x) {
  const tfl_value *args[1];
  tfl_value *out;
  args[0] = x;
  OK(tfl_call(interp, f, 1, args, 0, NULL, NULL, &out));
  tfl_value_free(x);
  return out;
}

static void is_error(tfl_error *error, const char *kind, const char *part, int line) {
  if (!error || strcmp(tfl_error_kind(error), kind) != 0 || !strstr(tfl_error_message(error), part)) {
    printf("%d: not %s: %s, but %s: %s\n", line, kind, part, error ? tfl_error_kind(error) : "nothing", error ? tfl_error_message(error) : "");
    ++failures;
  }
  tfl_error_free(error);
}
#define FAILS(call, kind, part) is_error((call), kind, part, __LINE__)

static tfl_interp *quiet(double time_limit) {
  tfl_interp_options options;
  tfl_interp *interp;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.keep_output = 1;
  options.time_limit = time_limit;
  OK(tfl_interp_new(&options, &interp));
  return interp;
}

static void values(void) {
  tfl_interp *interp = quiet(0);
  tfl_value *module = run_text(interp, "def same(x): return x\nprint('said')\nnames = {'a': [1, 2.5, None, True], 'b': ('t', b'b')}\n");
  tfl_value *same = get(interp, module, "same"), *names = get(interp, module, "names"), *v, *key, *out;
  size_t size;
  CHECK(tfl_value_kind(module) == TFL_KIND_MODULE && tfl_value_kind(same) == TFL_KIND_FUNCTION);
  out = tfl_interp_output(interp, 1);
  CHECK(strcmp(tfl_value_text(out, &size), "said\n") == 0 && size == 5);
  tfl_value_free(out);
  v = call(interp, same, tfl_int(interp, INT64_MIN));
  CHECK(tfl_value_kind(v) == TFL_KIND_INT && tfl_value_int(v) == INT64_MIN);
  tfl_value_free(v);
  v = call(interp, same, tfl_float(interp, -0.0));
  CHECK(tfl_value_kind(v) == TFL_KIND_FLOAT && signbit(tfl_value_float(v)));
  tfl_value_free(v);
  CHECK(tfl_value_kind(names) == TFL_KIND_DICT && tfl_value_size(names) == 2);
  OK(tfl_value_item(interp, names, 0, &key, &v));
  CHECK(strcmp(tfl_value_text(key, NULL), "a") == 0 && tfl_value_size(v) == 4);
  tfl_value_free(key);
  OK(tfl_value_item(interp, v, 1, NULL, &out));
  CHECK(tfl_value_float(out) == 2.5);
  tfl_value_free(out);
  FAILS(tfl_value_item(interp, v, 4, NULL, &out), "IndexError", "no item 4");
  tfl_value_free(v);
  FAILS(tfl_str(interp, "\xff", 1, &out), "ValueError", "UTF-8");
  FAILS(tfl_get(interp, module, "nothing", &out), "AttributeError", "nothing");
  OK(tfl_to_repr(interp, names, &out));
  CHECK(strcmp(tfl_value_text(out, NULL), "{'a': [1, 2.5, None, True], 'b': ('t', b'b')}") == 0);
  tfl_value_free(out);
  tfl_value_free(names);
  tfl_value_free(same);
  tfl_interp_free(interp); /* before its last value */
  CHECK(tfl_value_kind(module) == TFL_KIND_MODULE);
  tfl_value_free(module);
}

static void errors(void) {
  tfl_interp *interp = quiet(0);
  tfl_value *module = run_text(interp, "def inner(n):\n    return [1][n]\n\ndef outer(n):\n    return inner(n)\n");
  tfl_value *outer = get(interp, module, "outer"), *n = tfl_int(interp, 3), *out;
  const tfl_value *args[1];
  const char *file, *function;
  int32_t line;
  tfl_error *error;
  args[0] = n;
  error = tfl_call(interp, outer, 1, args, 0, NULL, NULL, &out);
  CHECK(error && tfl_error_depth(error) == 2 && !out);
  tfl_error_place(error, 1, &file, &line, &function);
  CHECK(strcmp(file, "text.tfl") == 0 && line == 2 && strcmp(function, "inner") == 0);
  tfl_error_place(error, 9, &file, &line, &function);
  CHECK(line == 0 && !*file);
  CHECK(strstr(tfl_error_traceback(error), "return [1][n]") != NULL);
  FAILS(error, "IndexError", "list index out of range");
  FAILS(tfl_call(interp, outer, 0, NULL, 0, NULL, NULL, &out), "TypeError", "missing 1 required positional argument");
  FAILS(tfl_run_text(interp, "x = (1\n", 7, "bad.tfl", 5, NULL), "SyntaxError", "");
  FAILS(tfl_run(interp, "/nowhere/at/all.tfl", 0, NULL, NULL), "FileNotFoundError", "all.tfl");
  FAILS(tfl_load(interp, NULL, &out), "ValueError", "NULL");
  error = tfl_run_text(interp, "import sys\nsys.exit(7)\n", 23, "exit.tfl", 1, NULL);
  CHECK(error && tfl_error_exit_code(error) == 7);
  FAILS(error, "SystemExit", "7");
  /* After all that it goes on. */
  tfl_value_free(n);
  n = tfl_int(interp, 0);
  args[0] = n;
  OK(tfl_call(interp, outer, 1, args, 0, NULL, NULL, &out));
  CHECK(tfl_value_int(out) == 1);
  tfl_value_free(out);
  tfl_value_free(n);
  tfl_value_free(outer);
  tfl_value_free(module);
  tfl_interp_free(interp);
}

static void count(void *user) { ++*(int *)user; }

static void tensors(void) {
  enum { N = 1 << 16 };
  tfl_interp *interp = quiet(0);
  tfl_value *module = run_text(interp,
                               "import tensorflow as tf\nimport numpy as np\nkept = tf.Variable(tf.zeros([65536]))\n"
                               "@tf.function\ndef twice(x): return x + x\ndef same(x): return x\ndef write(a):\n    a[0] = 5.0\n    return a\n"
                               "def keep(x):\n    kept.assign(x)\n@tf.function\ndef keep_in_graph(x):\n    kept.assign(x)\n");
  float *data = malloc(N * sizeof *data);
  int64_t shape[1] = {N}, backwards[1] = {-1};
  tfl_view view = {NULL, NULL, NULL, 1, 2, 32, 0, 0}, seen;
  const char *names[] = {"keep", "keep_in_graph"};
  tfl_value *x, *y, *f;
  const tfl_value *args[1];
  int released = 0, i;
  for (i = 0; i < N; ++i) data[i] = (float)i;
  view.data = data;
  view.shape = shape;
  /* There and back, without a copy. */
  OK(tfl_from_view(interp, TFL_KIND_TENSOR, &view, count, &released, &x));
  f = get(interp, module, "same");
  y = call(interp, f, x);
  OK(tfl_to_view(interp, y, &seen));
  CHECK(seen.data == data && seen.read_only && seen.ndim == 1 && seen.shape[0] == N && seen.strides[0] == 1);
  CHECK(released == 0);
  tfl_value_free(y);
  tfl_value_free(f);
  CHECK(released == 1);
  /* A result belongs to the caller. */
  OK(tfl_from_view(interp, TFL_KIND_TENSOR, &view, count, &released, &x));
  f = get(interp, module, "twice");
  CHECK(tfl_value_kind(f) == TFL_KIND_TRACED);
  y = call(interp, f, x);
  OK(tfl_to_view(interp, y, &seen));
  CHECK(released == 2 && ((float *)seen.data)[N - 1] == 2.0f * (N - 1) && !seen.read_only);
  tfl_value_free(y);
  tfl_value_free(f);
  /* Scripts write to copies of what is lent, and variables keep copies. */
  OK(tfl_from_view(interp, TFL_KIND_ARRAY, &view, count, &released, &x));
  f = get(interp, module, "write");
  y = call(interp, f, x);
  OK(tfl_to_view(interp, y, &seen));
  CHECK(data[0] == 0 && ((float *)seen.data)[0] == 5 && released == 3);
  tfl_value_free(y);
  tfl_value_free(f);
  for (i = 0; i < 2; ++i) {
    OK(tfl_from_view(interp, TFL_KIND_TENSOR, &view, count, &released, &x));
    f = get(interp, module, names[i]);
    tfl_value_free(call(interp, f, x));
    tfl_value_free(f);
    CHECK(released == 4 + i);
  }
  y = get(interp, module, "kept");
  data[N - 1] = -1;
  OK(tfl_to_view(interp, y, &seen));
  CHECK(((float *)seen.data)[N - 1] == N - 1 && seen.read_only);
  tfl_value_free(y);
  /* Strides, also negative ones. */
  view.data = data + (N - 1);
  view.strides = backwards;
  OK(tfl_from_view(interp, TFL_KIND_TENSOR, &view, count, &released, &x));
  f = get(interp, module, "twice");
  y = call(interp, f, x);
  OK(tfl_to_view(interp, y, &seen));
  CHECK(((float *)seen.data)[0] == -2 && ((float *)seen.data)[1] == 2.0f * (N - 2));
  tfl_value_free(y);
  /* What is wrong. */
  released = 0;
  view.bits = 24;
  FAILS(tfl_from_view(interp, TFL_KIND_TENSOR, &view, count, &released, &y), "TypeError", "24 bits");
  view.bits = 32;
  shape[0] = -3;
  FAILS(tfl_from_view(interp, TFL_KIND_TENSOR, &view, count, &released, &y), "InvalidArgumentError", "must be >= 0");
  shape[0] = 3;
  view.data = NULL;
  FAILS(tfl_from_view(interp, TFL_KIND_TENSOR, &view, count, &released, &y), "ValueError", "NULL");
  CHECK(released == 3);
  x = tfl_int(interp, 1);
  FAILS(tfl_to_view(interp, x, &seen), "TypeError", "int is no tensor");
  args[0] = x;
  (void)args;
  tfl_value_free(x);
  tfl_value_free(f);
  tfl_value_free(module);
  tfl_interp_free(interp);
  free(data);
}

static void managed(void) {
  tfl_interp *interp = quiet(0);
  tfl_value *module = run_text(interp, "import tensorflow as tf\nx = tf.reshape(tf.range(200.0), [20, 10])\n");
  tfl_value *x = get(interp, module, "x"), *back;
  struct DLManagedTensor *tensor;
  tfl_view first, second;
  OK(tfl_to_view(interp, x, &first));
  OK(tfl_to_dlpack(interp, x, &tensor));
  tfl_value_free(x);
  OK(tfl_from_dlpack(interp, TFL_KIND_TENSOR, tensor, &back));
  OK(tfl_to_view(interp, back, &second));
  CHECK(first.data == second.data && second.ndim == 2 && second.shape[0] == 20 && second.read_only);
  tfl_value_free(module);
  tfl_interp_free(interp);
  tfl_value_free(back);
}

static void limits(void) {
  static const char loop[] = "n = 0\nwhile True:\n    n += 1\n";
  static const char large[] = "import tensorflow as tf\nx = tf.zeros([1000000000])\n";
  static const char deep[] = "def f(n): return f(n + 1)\nf(0)\n";
  static const char outside[] = "open('/etc/hostname').read()\n";
  tfl_interp_options options;
  tfl_interp *interp = quiet(0.05);
  tfl_value *module = NULL;
  FAILS(tfl_run_text(interp, loop, sizeof loop - 1, "loop.tfl", 1, NULL), "TimeLimitError", "0.05 s");
  OK(tfl_run_text(interp, "x = 1\n", 6, "after.tfl", 1, &module));
  tfl_value_free(module);
  tfl_interp_free(interp);
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.memory_limit = 100 << 20;
  OK(tfl_interp_new(&options, &interp));
  FAILS(tfl_run_text(interp, large, sizeof large - 1, "large.tfl", 1, NULL), "ResourceExhaustedError", "OOM");
  FAILS(tfl_run_text(interp, deep, sizeof deep - 1, "deep.tfl", 1, NULL), "RecursionError", "recursion");
  FAILS(tfl_run_text(interp, outside, sizeof outside - 1, "outside.tfl", 1, NULL), "PermissionError", "/etc/hostname");
  tfl_interp_free(interp);
  options.struct_size = 3;
  FAILS(tfl_interp_new(&options, &interp), "ValueError", "struct_size");
}

static void *stop_soon(void *interp) {
  const struct timespec pause = {0, 50000000};
  nanosleep(&pause, NULL);
  tfl_interp_cancel(interp);
  return NULL;
}

static void cancelled(void) {
  static const char loop[] = "while True:\n    pass\n";
  tfl_interp *interp = quiet(0);
  pthread_t other;
  pthread_create(&other, NULL, stop_soon, interp);
  FAILS(tfl_run_text(interp, loop, sizeof loop - 1, "loop.tfl", 1, NULL), "KeyboardInterrupt", "");
  pthread_join(other, NULL);
  tfl_interp_free(interp);
}

static void *work(void *out) {
  static const char script[] =
      "import tensorflow as tf\n@tf.function\ndef step(x):\n    return tf.reduce_sum(x * x)\n"
      "total = 0.0\nfor i in range(200):\n    total += float(step(tf.range(float(i + 1))))\n"
      "def deep(n): return deep(n + 1)\ntry:\n    deep(0)\nexcept RecursionError:\n    total += 1.0\n";
  tfl_interp *interp = quiet(0);
  tfl_value *module = run_text(interp, script), *total = get(interp, module, "total");
  *(double *)out = tfl_value_float(total);
  tfl_value_free(total);
  tfl_value_free(module);
  tfl_interp_free(interp);
  return NULL;
}

/* Interpreters of their own on four threads with small stacks; then one interpreter, which four threads ask for the same thing. */
static tfl_interp *shared;
static tfl_value *shared_function;

static void *ask(void *out) {
  int i;
  for (i = 0; i < 200; ++i) {
    tfl_value *y = call(shared, shared_function, tfl_int(shared, i));
    *(double *)out += (double)tfl_value_int(y);
    tfl_value_free(y);
  }
  return NULL;
}

static void threads(void) {
  pthread_t all[4];
  double totals[4] = {0, 0, 0, 0};
  pthread_attr_t small;
  tfl_value *module;
  int i;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 20);
  for (i = 0; i < 4; ++i) pthread_create(&all[i], &small, work, &totals[i]);
  for (i = 0; i < 4; ++i) pthread_join(all[i], NULL);
  for (i = 0; i < 4; ++i) CHECK(totals[i] == totals[0] && totals[i] > 1);
  shared = quiet(0);
  module = run_text(shared, "def f(n): return n * n\n");
  shared_function = get(shared, module, "f");
  for (i = 0; i < 4; ++i) totals[i] = 0;
  for (i = 0; i < 4; ++i) pthread_create(&all[i], NULL, ask, &totals[i]);
  for (i = 0; i < 4; ++i) pthread_join(all[i], NULL);
  for (i = 0; i < 4; ++i) CHECK(totals[i] == 2646700.0);
  tfl_value_free(shared_function);
  tfl_value_free(module);
  tfl_interp_free(shared);
}

int main(void) {
  CHECK(tfl_abi_version() == TFL_ABI_VERSION && strncmp(tfl_build(), tfl_version(), strlen(tfl_version())) == 0);
  values();
  errors();
  tensors();
  managed();
  limits();
  cancelled();
  threads();
  tfl_value_free(NULL);
  tfl_interp_free(NULL);
  return failures != 0;
}
