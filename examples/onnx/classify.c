/* Classifies pictures, each a file of 784 bytes (28 rows, white is 255), with the network that train.py wrote.
 *
 *     tfl build examples/onnx/clothes.onnx -o out
 *     cc examples/onnx/classify.c -Iout -Lout -lclothes -Wl,-rpath,out -o classify
 *     ./classify picture...
 *
 * The library needs libc and libm; its weights are in it.
 */
#include <stdio.h>

#include "clothes.h"

static const char *const names[] = {"T-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"};

int main(int argc, char **argv) {
  tfl_context *context = NULL;
  tfl_status status = clothes_context_new(NULL, &context);
  int i, k, best;
  for (i = 1; i < argc && status == TFL_OK; ++i) {
    unsigned char bytes[784];
    float x[784], y[10];
    FILE *f = fopen(argv[i], "rb");
    if (!f || fread(bytes, 1, sizeof bytes, f) != sizeof bytes) {
      fprintf(stderr, "%s is no picture of 784 bytes\n", argv[i]);
      if (f) fclose(f);
      continue;
    }
    fclose(f);
    for (k = 0; k < 784; ++k) x[k] = (float)bytes[k] / 255.0f;
    status = clothes_run_f32(context, x, 1, y);
    for (best = 0, k = 1; k < 10; ++k) {
      if (y[k] > y[best]) best = k;
    }
    if (status == TFL_OK) printf("%s: %s (%.1f %%)\n", argv[i], names[best], 100 * (double)y[best]);
  }
  if (status != TFL_OK) fprintf(stderr, "%s\n", clothes_last_error(context));
  clothes_context_free(context);
  return status != TFL_OK;
}
