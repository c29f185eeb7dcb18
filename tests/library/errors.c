/* What a caller may do wrong: each mistake is a status with a text, never a crash, and nothing is written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "tensor.h"

static int failures = 0;
#define CHECK(condition)                                            \
  do {                                                              \
    if (!(condition)) {                                             \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);       \
      ++failures;                                                   \
    }                                                               \
  } while (0)

static size_t taken = 0;
static int calls_before_failure = -1;
static void *own_alloc(size_t bytes, size_t alignment, void *user) {
  void *p = NULL;
  (void)user;
  if (calls_before_failure == 0) return NULL;
  if (calls_before_failure > 0) --calls_before_failure;
  if (posix_memalign(&p, alignment, bytes) != 0) return NULL;
  taken += bytes;
  return p;
}
static void own_dealloc(void *memory, size_t bytes, void *user) {
  (void)user;
  taken -= bytes;
  free(memory);
}

int main(int argc, char **argv) {
  tfl_context *c = NULL, *other = NULL;
  tfl_options options;
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8], z[8] = {0}, weights[4];
  int32_t steps, number = 27;
  int64_t n3[1] = {3}, n4[1] = {4}, bad[1] = {-1}, m34[2] = {3, 4}, stride[1] = {2}, back[1] = {-1};
  tfl_tensor tx, ty, tz;
  int64_t shape[1] = {77};
  char path[1000], broken[1000];
  FILE *f;
  (void)argc;

  CHECK(functions_abi_version() == FUNCTIONS_ABI_VERSION);
  CHECK(strstr(functions_metadata_json(), "\"collatz\"") != NULL);
  CHECK(functions_context_new(NULL, NULL) == TFL_ERR_ARG);
  memset(&options, 0, sizeof options);
  CHECK(functions_context_new(&options, &c) == TFL_ERR_ABI && c == NULL);
  options.struct_size = sizeof options;
  options.num_threads = -3;
  CHECK(functions_context_new(&options, &c) == TFL_ERR_ARG && c == NULL);
  options.num_threads = 2;
  CHECK(functions_context_new(&options, &c) == TFL_OK && c != NULL);
  CHECK(functions_last_error(NULL) != NULL);
  CHECK(functions_context_cancel(NULL) == TFL_ERR_ARG);
  functions_context_free(NULL);

  tx = tensor(x, 2, 32, 1, n3);
  ty = tensor(y, 2, 32, 1, n3);
  tz = tensor(z, 2, 32, 1, n3);
  CHECK(functions_add(c, &tx, &tx, &tz) == TFL_OK && z[0] == 2 && z[2] == 6);
  CHECK(functions_add(NULL, &tx, &tx, &tz) == TFL_ERR_ARG);
  CHECK(functions_add(c, NULL, &tx, &tz) == TFL_ERR_ARG && strstr(functions_last_error(c), "x is NULL"));
  CHECK(functions_add(c, &tx, &tx, NULL) == TFL_ERR_ARG);
  CHECK(functions_add(c, &tx, &tx, &tx) == TFL_ERR_ARG); /* the result lies in an argument */
  memcpy(y, x, sizeof y);
  ty.dtype.bits = 64;
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_ERR_DTYPE && strstr(functions_last_error(c), "float32"));
  ty = tensor(y, 0, 32, 1, n3);
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_ERR_DTYPE);
  ty = tensor(y, 2, 32, 1, n3);
  ty.dtype.lanes = 4;
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_ERR_DTYPE);
  ty = tensor(y, 2, 32, 2, m34);
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_ERR_SHAPE);
  ty = tensor(y, 2, 32, 1, n4);
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_ERR_SHAPE && strstr(functions_last_error(c), "must be 3"));
  ty = tensor(y, 2, 32, 1, bad);
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_ERR_SHAPE);
  ty = tensor(y, 2, 32, -1, n3);
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_ERR_SHAPE);
  ty = tensor(y, 2, 32, 1, NULL);
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_ERR_ARG);
  ty = tensor(NULL, 2, 32, 1, n3);
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_ERR_ARG);
  ty = tensor(y, 2, 32, 1, n3);
  ty.device.device_type = 2;
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_ERR_ARG);
  ty = tensor(y, 2, 32, 1, n3);
  tz.shape = n4;
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_ERR_SHAPE);
  tz = tensor(z, 2, 32, 1, n3);
  tz.strides = stride;
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_ERR_ARG);
  tz.strides = NULL;
  CHECK(z[0] == 2 && z[1] == 4 && z[2] == 6); /* none of these wrote anything */

  /* Strided arguments, also backwards, and byte offsets. */
  ty.strides = stride;
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_OK && z[0] == 2 && z[1] == 5 && z[2] == 8);
  ty.strides = back;
  ty.byte_offset = 2 * sizeof(float);
  CHECK(functions_add(c, &tx, &ty, &tz) == TFL_OK && z[0] == 4 && z[1] == 4 && z[2] == 4);
  CHECK(functions_add_shape(c, &tx, &tx, shape) == TFL_OK && shape[0] == 3);
  CHECK(functions_add_shape(c, &tx, NULL, shape) == TFL_ERR_ARG);
  CHECK(functions_add_f32(c, x, x, 3, z) == TFL_OK && z[2] == 6);
  CHECK(functions_add_f32(c, x, x, -3, z) == TFL_ERR_SHAPE);
  CHECK(functions_add_f32(c, NULL, x, 3, z) == TFL_ERR_ARG);

  /* An index out of range. */
  number = 6;
  CHECK(functions_element_f32(c, x, &number, z) == TFL_ERR_RUNTIME && strstr(functions_last_error(c), "functions.tfl:"));
  number = -6;
  CHECK(functions_element_f32(c, x, &number, z) == TFL_OK && z[0] == 1);

  /* Cancelled before it began; then it runs. */
  number = 27;
  CHECK(functions_context_cancel(c) == TFL_OK);
  CHECK(functions_collatz_i32(c, &number, &steps) == TFL_ERR_CANCELLED);
  CHECK(functions_collatz_i32(c, &number, &steps) == TFL_OK && steps == 111);

  /* Variables live in their context, and go to files and back. */
  {
    int32_t count = 0;
    CHECK(functions_context_new(&options, &other) == TFL_OK);
    CHECK(functions_step_f32(c, x, 1, weights, &count) == TFL_OK && count == 1 && weights[0] == 2.25f);
    CHECK(functions_step_f32(c, x, 1, weights, &count) == TFL_OK && count == 2 && weights[0] == 1.125f);
    CHECK(functions_step_f32(other, x, 1, weights, &count) == TFL_OK && count == 1 && weights[0] == 2.25f);
    sprintf(path, "%s/state.safetensors", argv[1]);
    sprintf(broken, "%s/broken.safetensors", argv[1]);
    CHECK(functions_state_save(c, path) == TFL_OK);
    CHECK(functions_state_load(other, path) == TFL_OK);
    CHECK(functions_step_f32(other, x, 1, weights, &count) == TFL_OK && count == 3 && weights[0] == 0.5625f);
    CHECK(functions_state_save(c, NULL) == TFL_ERR_ARG);
    CHECK(functions_state_save(c, "/no/such/folder/x") == TFL_ERR_ARG);
    CHECK(functions_state_load(c, "/no/such/file") == TFL_ERR_ARG);
  }
  /* A file that is cut, or has a bit turned, loads or is refused; it never crashes. */
  {
    char bytes[4096];
    size_t size, i, refused = 0;
    f = fopen(path, "rb");
    size = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    if (f) fclose(f);
    CHECK(size > 100 && size < sizeof bytes);
    for (i = 0; i < size; ++i) {
      f = fopen(broken, "wb");
      if (!f || fwrite(bytes, 1, i, f) != i) CHECK(0);
      if (f) fclose(f);
      CHECK(functions_state_load(other, broken) == TFL_ERR_ARG);
    }
    for (i = 0; i < size; ++i) {
      bytes[i] = (char)(bytes[i] ^ 0x15);
      f = fopen(broken, "wb");
      if (!f || fwrite(bytes, 1, size, f) != size) CHECK(0);
      if (f) fclose(f);
      bytes[i] = (char)(bytes[i] ^ 0x15);
      if (functions_state_load(other, broken) != TFL_OK) ++refused;
    }
    CHECK(refused > 50);
  }
  functions_context_free(other);

  /* Results that are allocated. */
  {
    tfl_tensor kept, again;
    float data[4] = {0.5f, 2.0f, 3.0f, 1.0f};
    int64_t four[1] = {4};
    int i;
    memset(&kept, 0, sizeof kept);
    tx = tensor(data, 2, 32, 1, four);
    CHECK(functions_positive_part_alloc(c, &tx, &kept) == TFL_OK && kept.shape[0] == 4 && memcmp(kept.data, data, sizeof data) == 0);
    CHECK(functions_positive_part_alloc(c, &kept, &again) == TFL_OK && again.data != kept.data && again.shape[0] == 4);
    functions_tensor_free(c, &kept);
    CHECK(kept.data == NULL);
    functions_tensor_free(c, &kept); /* nothing happens */
    functions_tensor_free(c, &again);
    functions_tensor_free(c, NULL);
    functions_tensor_free(NULL, &again);
    CHECK(functions_positive_part_alloc(c, &tx, NULL) == TFL_ERR_ARG);
    CHECK(functions_positive_part_alloc(c, NULL, &kept) == TFL_ERR_ARG);
    CHECK(functions_positive_part_alloc(NULL, &tx, &kept) == TFL_ERR_ARG);
    CHECK(functions_positive_part_alloc(c, &tx, &tx) == TFL_ERR_ARG);
    tx.dtype.bits = 64;
    CHECK(functions_positive_part_alloc(c, &tx, &kept) == TFL_ERR_DTYPE);
    tx.dtype.bits = 32;
    CHECK(functions_context_cancel(c) == TFL_OK);
    CHECK(functions_positive_part_alloc(c, &tx, &kept) == TFL_ERR_CANCELLED);
    CHECK(functions_positive_part_alloc(c, &tx, &kept) == TFL_OK);
    functions_tensor_free(c, &kept);
    /* No memory, at each place where some is asked for: a status, nothing lost, and it works again. */
    functions_context_free(c);
    options.alloc = own_alloc;
    options.dealloc = own_dealloc;
    options.user = &options;
    CHECK(functions_context_new(&options, &c) == TFL_OK);
    for (i = 0; i < 40; ++i) {
      size_t before = taken;
      tfl_status status;
      calls_before_failure = i;
      status = functions_positive_part_alloc(c, &tx, &kept);
      calls_before_failure = -1;
      CHECK(status == TFL_OK || status == TFL_ERR_OOM);
      if (status == TFL_OK) functions_tensor_free(c, &kept);
      CHECK(taken >= before);
      if (status == TFL_OK) break;
    }
    CHECK(i > 2 && i < 40);
    CHECK(functions_positive_part_alloc(c, &tx, &kept) == TFL_OK && kept.shape[0] == 4);
    functions_tensor_free(c, &kept);
    functions_context_free(c);
    CHECK(taken == 0);
    c = NULL;
    options.alloc = NULL;
    options.dealloc = NULL;
    options.user = NULL;
  }
  functions_context_free(c);

  /* Memory: a limit, and an allocator that has none. */
  options.memory_limit = 64;
  CHECK(functions_context_new(&options, &c) == TFL_OK || c == NULL);
  if (c) {
    float *large = calloc(100000, sizeof(float)), *result = calloc(100000, sizeof(float));
    CHECK(functions_softmax_f32(c, large, 33, result) == TFL_ERR_OOM || functions_softmax_f32(c, large, 33, result) == TFL_OK);
    free(large);
    free(result);
  }
  functions_context_free(c);
  options.memory_limit = 0;
  options.alloc = own_alloc;
  options.dealloc = own_dealloc;
  CHECK(functions_context_new(&options, &c) == TFL_OK && taken > 0);
  CHECK(functions_add_f32(c, x, x, 3, z) == TFL_OK);
  functions_context_free(c);
  CHECK(taken == 0);
  for (calls_before_failure = 0; calls_before_failure < 3;) {
    int left = calls_before_failure;
    tfl_status status = functions_context_new(&options, &c);
    if (status == TFL_OK) {
      status = functions_add_f32(c, x, x, 3, z);
      functions_context_free(c);
    }
    CHECK(status == TFL_OK || status == TFL_ERR_OOM);
    CHECK(taken == 0);
    calls_before_failure = left + 1;
  }
  printf(failures ? "%d failures\n" : "all right\n", failures);
  return failures != 0;
}
