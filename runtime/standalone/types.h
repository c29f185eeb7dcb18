/* The types that every library made by `tfl build` shares. This text is part of each library's header, under one include guard, so
 * that two such headers go together. C99. */
#ifndef TFL_LIBRARY_TYPES_1
#define TFL_LIBRARY_TYPES_1

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  TFL_OK = 0,
  TFL_ERR_ARG,       /* a null pointer, a wrong count, an alias */
  TFL_ERR_SHAPE,     /* sizes that the function does not take */
  TFL_ERR_DTYPE,     /* element types that it does not take */
  TFL_ERR_OOM,       /* no memory, or more than memory_limit */
  TFL_ERR_RUNTIME,   /* an operation of the function failed */
  TFL_ERR_DEVICE,    /* this processor cannot run the library */
  TFL_ERR_CANCELLED, /* by ..._context_cancel */
  TFL_ERR_ABI        /* the caller was compiled for another version */
} tfl_status;

typedef struct tfl_context tfl_context;

/* DLTensor of DLPack, field for field. Element types: code 0 signed, 1 unsigned, 2 float, 4 bfloat16, 6 bool; lanes 1. Device 1 (CPU).
 * strides count elements; NULL is row-major. */
#ifndef TFL_TENSOR_IS_DLTENSOR
typedef struct {
  void *data;
  struct { int32_t device_type, device_id; } device;
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} tfl_tensor;
#endif

/* All fields but the first may be zero. Fields are only ever appended: struct_size says which of them there are. */
typedef struct {
  size_t struct_size;    /* sizeof(tfl_options) */
  int32_t num_threads;   /* that a call may use, the caller's among them; 0: all processors */
  int32_t reserved;
  uint64_t memory_limit; /* bytes that a context may hold; 0: none */
  void *(*alloc)(size_t bytes, size_t alignment, void *user);
  void (*dealloc)(void *memory, size_t bytes, void *user);
  void *user;
} tfl_options;

#ifdef __cplusplus
}
#endif
#endif /* TFL_LIBRARY_TYPES_1 */
