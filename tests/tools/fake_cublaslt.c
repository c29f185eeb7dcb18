/* A library of matrix products without a GPU, for tests: matrices lie column after column in the process's own memory, as NVIDIA's documentation
   says, and every description is checked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { OK = 0, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };

struct product { int transpose_a, transpose_b; };
struct layout {
  uint64_t rows, columns;
  int64_t ld, distance;
  int32_t count;
};

static int alive;
int cublasLtCreate(void** handle) { return *handle = &alive, OK; }
int cublasLtDestroy(void* handle) {
  const char* path = getenv("TFL_FAKE_CUDA_LOG");
  FILE* f = path ? fopen(path, "a") : NULL;
  if (f) fprintf(f, "library ends with %d descriptions\n", alive), fclose(f);
  return handle == &alive ? OK : INVALID_VALUE;
}
int cublasLtMatmulDescCreate(struct product** p, int compute, int scale) {
  if (compute != 77 || scale != 0) return NOT_SUPPORTED;
  return ++alive, *p = calloc(1, sizeof **p), OK;
}
int cublasLtMatmulDescSetAttribute(struct product* p, int which, const void* value, size_t bytes) {
  if (bytes != 4 || *(const int32_t*)value < 0 || *(const int32_t*)value > 1) return INVALID_VALUE;
  if (which == 3) return p->transpose_a = *(const int32_t*)value, OK;
  if (which == 4) return p->transpose_b = *(const int32_t*)value, OK;
  return NOT_SUPPORTED;
}
int cublasLtMatmulDescDestroy(struct product* p) { return --alive, free(p), OK; }
int cublasLtMatrixLayoutCreate(struct layout** l, int type, uint64_t rows, uint64_t columns, int64_t ld) {
  if (type != 0 || rows == 0 || columns == 0 || ld < (int64_t)rows) return INVALID_VALUE;
  *l = calloc(1, sizeof **l);
  **l = (struct layout){rows, columns, ld, 0, 1};
  return ++alive, OK;
}
int cublasLtMatrixLayoutSetAttribute(struct layout* l, int which, const void* value, size_t bytes) {
  if (which == 5 && bytes == 4) return l->count = *(const int32_t*)value, OK;
  if (which == 6 && bytes == 8) return l->distance = *(const int64_t*)value, OK;
  return INVALID_VALUE;
}
int cublasLtMatrixLayoutDestroy(struct layout* l) { return --alive, free(l), OK; }

static float at(const float* m, const struct layout* l, int64_t batch, uint64_t i, uint64_t j) { return m[batch * l->distance + (int64_t)i + (int64_t)j * l->ld]; }

int cublasLtMatmul(void* handle, struct product* p, const float* alpha, const float* a, struct layout* la, const float* b, struct layout* lb, const float* beta, const float* c,
                   struct layout* lc, float* d, struct layout* ld, const void* algorithm, void* workspace, size_t workspace_bytes, void* stream) {
  uint64_t m = p->transpose_a ? la->columns : la->rows, k = p->transpose_a ? la->rows : la->columns;
  uint64_t n = p->transpose_b ? lb->rows : lb->columns, k2 = p->transpose_b ? lb->columns : lb->rows;
  if (handle != &alive || *alpha != 1 || *beta != 0 || algorithm || (const void*)c != d || lc != ld || !stream || (workspace_bytes && !workspace)) return INVALID_VALUE;
  if (k != k2 || ld->rows != m || ld->columns != n || la->count != ld->count || lb->count != ld->count) return INVALID_VALUE;
  for (int64_t batch = 0; batch < ld->count; ++batch) {
    for (uint64_t i = 0; i < m; ++i) {
      for (uint64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (uint64_t q = 0; q < k; ++q)
          sum += (p->transpose_a ? at(a, la, batch, q, i) : at(a, la, batch, i, q)) * (p->transpose_b ? at(b, lb, batch, j, q) : at(b, lb, batch, q, j));
        d[batch * ld->distance + (int64_t)i + (int64_t)j * ld->ld] = sum;
      }
    }
  }
  return OK;
}
