/* What tf.print writes, to the stream that the script names. */
#include <stdint.h>

#include "runtime/standalone/text.h"

enum { PIECE_TEXT, PIECE_TENSOR };

static bool shown_of(const tfls_run* run, uint32_t value, shown* out) {
  const tfl_tensor* t = &run->value[value];
  *out = (shown){run->function->value[value].dtype, t->ndim, (const char*)t->data + t->byte_offset, t->shape};
  return tfls_row_major(t);
}

static void say_all(const tfls_step* s, const shown* tensors, text* t) {
  for (uint32_t i = 1; i < s->pieces; ++i) {
    const tfls_piece* p = &s->piece[i];
    if (p->kind == PIECE_TENSOR && p->a >= 0 && p->a < (int64_t)s->inputs)
      tfls_say_tensor(t, &tensors[p->a], p->number);
    else
      tfls_say(t, "%s", p->text);
  }
}

/* "stderr", "stdout", or a file at whose end it goes. */
static bool write_text(const char* stream, const char* bytes, size_t n) {
  bool file = strncmp(stream, "file://", 7) == 0;
  FILE* to = file ? fopen(stream + 7, "a") : strcmp(stream, "stdout") == 0 ? stdout : stderr;
  if (!to) return false;
  bool ok = fwrite(bytes, 1, n, to) == n;
  return (file ? fclose(to) : fflush(to)) == 0 && ok;
}

tfl_status tfls_print(tfls_run* run, const tfls_step* s) {
  tfl_context* c = run->context;
  if (!s->pieces) return tfls_fail(c, TFL_ERR_ABI, "%s: damaged", run->function->name);
  shown* tensors = calloc((size_t)s->inputs + 1, sizeof *tensors);
  tfl_tensor* copies = calloc((size_t)s->inputs + 1, sizeof *copies);
  bool ok = tensors && copies;
  for (uint32_t i = 0; ok && i < s->inputs; ++i) {
    if (shown_of(run, s->input[i], &tensors[i])) continue;
    const tfl_tensor* t = &run->value[s->input[i]];
    ok = tfls_new_tensor(c, tensors[i].dtype, t->ndim, t->shape, &copies[i]);
    if (ok) tfls_copy(t, tfls_bytes(tensors[i].dtype), copies[i].data);
    tensors[i].data = copies[i].data;
  }
  text t = {NULL, 0, 0};
  if (ok) say_all(s, tensors, &t);
  size_t n = t.length;
  char* bytes = ok ? tfls_alloc(c, n + 1) : NULL;
  t = (text){bytes, n + 1, 0};
  if (bytes) say_all(s, tensors, &t);
  tfl_status status = !bytes ? tfls_fail(c, TFL_ERR_OOM, "%s: no memory to print", run->function->name) : TFL_OK;
  if (bytes && !write_text(s->piece[0].text, bytes, n))
    status = tfls_fail(c, TFL_ERR_RUNTIME, "%s: cannot print to %s", run->function->name, s->piece[0].text);
  tfls_free(c, bytes, n + 1);
  for (uint32_t i = 0; copies && i < s->inputs; ++i) tfls_tensor_free(c, &copies[i]);
  free(tensors);
  free(copies);
  return status;
}
