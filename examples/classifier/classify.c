/* Classifies pictures, each a file of 784 bytes (28 rows, white is 255).
 *
 *     cc examples/classifier/classify.c -Iout -Lout -lclothes -Wl,-rpath,out -o classify
 *     ./classify clothes.safetensors picture...
 */
#include <stdio.h>

#include "clothes.h"

static const char *const names[] = {"T-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"};

int main(int argc, char **argv) {
  tfl_context *context = NULL;
  tfl_status status;
  int i;
  if (argc < 3) {
    fprintf(stderr, "usage: classify WEIGHTS PICTURE...\n");
    return 2;
  }
  status = clothes_context_new(NULL, &context);
  if (status == TFL_OK) status = clothes_state_load(context, argv[1]);
  for (i = 2; i < argc && status == TFL_OK; ++i) {
    unsigned char bytes[784];
    float x[784], probability;
    int32_t label;
    int k;
    FILE *f = fopen(argv[i], "rb");
    if (!f || fread(bytes, 1, sizeof bytes, f) != sizeof bytes) {
      fprintf(stderr, "%s is no picture of 784 bytes\n", argv[i]);
      if (f) fclose(f);
      continue;
    }
    fclose(f);
    for (k = 0; k < 784; ++k) x[k] = (float)bytes[k] / 255.0f;
    status = clothes_classify_f32(context, x, 1, &label, &probability);
    if (status == TFL_OK) printf("%s: %s (%.1f %%)\n", argv[i], names[label], 100 * (double)probability);
  }
  if (status != TFL_OK) fprintf(stderr, "%s\n", clothes_last_error(context));
  clothes_context_free(context);
  return status != TFL_OK;
}
