/* tfl.h: TFL in another program. C99.
 *
 * An interpreter (tfl_interp) runs scripts, loads models and calls functions; a value (tfl_value) is a reference to something that lives in
 * one; an error (tfl_error) is a value, too: every function that can fail gives one, or NULL where nothing went wrong.
 *
 * Interpreters know nothing of each other: any number of them run at once, on any threads. One interpreter does one thing at a time: a second
 * thread that calls it waits. Values and errors are the caller's, who frees them (on any thread, also after the interpreter). Nothing here
 * installs a handler of signals, ends the process or writes anywhere but where scripts write.
 *
 * The library has no state but its interpreters. What is declared here stays as it is through all versions with the same
 * TFL_ABI_VERSION; structs that callers fill in begin with their size and only ever grow at their end. */
#ifndef TFL_H
#define TFL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TFL_ABI_VERSION 1

#if defined(__GNUC__)
#define TFL_API __attribute__((visibility("default")))
#else
#define TFL_API
#endif

typedef struct tfl_interp tfl_interp;
typedef struct tfl_value tfl_value;
typedef struct tfl_error tfl_error;
struct DLManagedTensor; /* of DLPack's dlpack.h */

/* The TFL_ABI_VERSION that the library was built with, its version ("0.1.0") and what it was built from ("0.1.0 (1a2b3c4d)"). */
TFL_API uint32_t tfl_abi_version(void);
TFL_API const char* tfl_version(void);
TFL_API const char* tfl_build(void);

/* ------------------------------------------------------------------------------------------------------------------- errors */

/* The class of the exception: "ValueError", "InvalidArgumentError", "SyntaxError" ... Of errors that no script can raise: "TimeLimitError". */
TFL_API const char* tfl_error_kind(const tfl_error* error);
/* What the exception says, without its class. */
TFL_API const char* tfl_error_message(const tfl_error* error);
/* All that the program tfl would print: the way to the error with the script's lines, hints and causes. */
TFL_API const char* tfl_error_traceback(const tfl_error* error);
/* What to do about it; "" where there is nothing to say. */
TFL_API const char* tfl_error_hint(const tfl_error* error);
/* The calls that led to the error, outermost first: how many, and where number `i` was. Texts live as long as the error. */
TFL_API size_t tfl_error_depth(const tfl_error* error);
TFL_API void tfl_error_place(const tfl_error* error, size_t i, const char** file, int32_t* line, const char** function);
/* Of SystemExit, the exit code of a program that ends with it; else 1. */
TFL_API int32_t tfl_error_exit_code(const tfl_error* error);
TFL_API void tfl_error_free(tfl_error* error);

/* ------------------------------------------------------------------------------------------------------------- interpreters */

enum { TFL_JIT_AUTO = 0, TFL_JIT_WAIT = 1, TFL_JIT_OFF = 2 };

/* All fields but the first may be zero. */
typedef struct tfl_interp_options {
  size_t struct_size;  /* sizeof(tfl_interp_options) */
  size_t memory_limit; /* bytes of tensors; 0: 80 % of the machine */
  double time_limit;   /* seconds that one call from outside may take; 0: any */
  int32_t threads;     /* 0: all processors */
  int32_t depth;       /* calls within calls; 0: 1000 */
  int32_t jit;         /* TFL_JIT_...: when functions become machine code */
  int32_t no_cache;    /* 1: nothing is kept on disk, no bytecode and no machine code */
  int32_t allow_all;   /* 1: scripts may use every file */
  int32_t keep_output; /* 1: what scripts print is kept for tfl_interp_output instead of being written to descriptors 1 and 2 */
  const char* const* allow_read;  /* folders that scripts may read, NULL behind the last; or NULL */
  const char* const* allow_write; /* folders that they may read and write; or NULL */
  const char* folder; /* the scripts' own folder, where import looks and which they may use; NULL: the working directory.
                                     Folders of files that are loaded are added. */
} tfl_interp_options;

/* `options` may be NULL. */
TFL_API tfl_error* tfl_interp_new(const tfl_interp_options* options, tfl_interp** out);
/* The interpreter goes when the last value and tensor of it has gone. NULL is nothing. */
TFL_API void tfl_interp_free(tfl_interp* interp);
/* Stops what it is doing, soon: the call gives KeyboardInterrupt. Any thread, and handlers of signals, may ask for it. */
TFL_API void tfl_interp_cancel(tfl_interp* interp);
/* What was printed since the last question, where options ask to keep it: stream 1 is standard output, 2 standard error. A Str. */
TFL_API tfl_value* tfl_interp_output(tfl_interp* interp, int32_t stream);
/* Keeps other threads out between several calls. May be nested. tfl_try_lock gives 0 where another thread is in. */
TFL_API void tfl_lock(tfl_interp* interp);
TFL_API int32_t tfl_try_lock(tfl_interp* interp);
TFL_API void tfl_unlock(tfl_interp* interp);

/* ------------------------------------------------------------------------------------------------------ running and loading */

/* Runs a script as the program does: its __name__ is "__main__", argv[0] its file. `module` (may be NULL) gets what it defined. exit() in it
 * is an error of kind SystemExit. */
TFL_API tfl_error* tfl_run(tfl_interp* interp, const char* path, size_t argc, const char* const* argv, tfl_value** module);
/* Runs a text: in `module`, when that is not NULL and points to a module, else in a new one, which it then points to. `name` stands for the file
 * in messages, and the text begins in its line `first_line`. */
TFL_API tfl_error* tfl_run_text(tfl_interp* interp, const char* text, size_t size, const char* name, int32_t first_line,
                                tfl_value** module);
/* Loads a script (.tfl; its __name__ is the file's), a saved model (a folder; what tf.saved_model.load gives), an ONNX model (.onnx; a traced
 * function) or a Keras model (.keras, .h5; a traced function). */
TFL_API tfl_error* tfl_load(tfl_interp* interp, const char* path, tfl_value** out);
/* A module by name: "tensorflow", "numpy", or a script's. */
TFL_API tfl_error* tfl_import(tfl_interp* interp, const char* name, tfl_value** out);
/* f(*args, **named). */
TFL_API tfl_error* tfl_call(tfl_interp* interp, const tfl_value* f, size_t count, const tfl_value* const* args, size_t named,
                            const char* const* names, const tfl_value* const* named_args, tfl_value** out);

/* ------------------------------------------------------------------------------------------------------------------- values */

typedef enum tfl_kind {
  TFL_KIND_NONE,
  TFL_KIND_BOOL,
  TFL_KIND_INT,
  TFL_KIND_FLOAT,
  TFL_KIND_STR,
  TFL_KIND_BYTES,
  TFL_KIND_LIST,
  TFL_KIND_TUPLE,
  TFL_KIND_DICT,
  TFL_KIND_TENSOR,   /* tf.Tensor */
  TFL_KIND_VARIABLE, /* tf.Variable */
  TFL_KIND_ARRAY,    /* np.ndarray, and NumPy's scalars */
  TFL_KIND_MODULE,
  TFL_KIND_FUNCTION, /* a function of a script */
  TFL_KIND_TRACED,   /* what tf.function made, and what acts like it: arrays become tensors */
  TFL_KIND_OBJECT    /* anything else */
} tfl_kind;

TFL_API tfl_kind tfl_value_kind(const tfl_value* value);
/* The name of its type: "int", "Dense". A Str. */
TFL_API tfl_value* tfl_value_type(tfl_interp* interp, const tfl_value* value);
/* A second reference to the same thing. */
TFL_API tfl_value* tfl_value_copy(const tfl_value* value);
TFL_API void tfl_value_free(tfl_value* value);

TFL_API tfl_value* tfl_none(tfl_interp* interp);
TFL_API tfl_value* tfl_bool(tfl_interp* interp, int32_t value);
TFL_API tfl_value* tfl_int(tfl_interp* interp, int64_t value);
TFL_API tfl_value* tfl_float(tfl_interp* interp, double value);
TFL_API tfl_error* tfl_str(tfl_interp* interp, const char* text, size_t size, tfl_value** out); /* UTF-8 */
TFL_API tfl_value* tfl_bytes(tfl_interp* interp, const void* data, size_t size);
/* `kind` is TFL_KIND_LIST or TFL_KIND_TUPLE. */
TFL_API tfl_value* tfl_sequence(tfl_interp* interp, tfl_kind kind, size_t count, const tfl_value* const* items);
TFL_API tfl_error* tfl_dict(tfl_interp* interp, size_t count, const tfl_value* const* keys, const tfl_value* const* values,
                            tfl_value** out);

/* Of bool and int; of float. What has another kind gives 0. */
TFL_API int64_t tfl_value_int(const tfl_value* value);
TFL_API double tfl_value_float(const tfl_value* value);
/* Of str and bytes: NUL stands behind the last byte, the size is without it. NULL for what is neither. */
TFL_API const char* tfl_value_text(const tfl_value* value, size_t* size);
/* How many items a list, tuple or dict has; 0 for what is none of these. */
TFL_API size_t tfl_value_size(const tfl_value* value);
/* Item `i` of a list or tuple; of a dict, the key and value that were put in as number `i`. `key` may be NULL. */
TFL_API tfl_error* tfl_value_item(tfl_interp* interp, const tfl_value* value, size_t i, tfl_value** key, tfl_value** item);
/* value.name, value.name = to, dir(value), str(value), repr(value). */
TFL_API tfl_error* tfl_get(tfl_interp* interp, const tfl_value* value, const char* name, tfl_value** out);
TFL_API tfl_error* tfl_set(tfl_interp* interp, const tfl_value* value, const char* name, const tfl_value* to);
TFL_API tfl_error* tfl_names(tfl_interp* interp, const tfl_value* value, tfl_value** out);
TFL_API tfl_error* tfl_to_str(tfl_interp* interp, const tfl_value* value, tfl_value** out);
TFL_API tfl_error* tfl_to_repr(tfl_interp* interp, const tfl_value* value, tfl_value** out);

/* ------------------------------------------------------------------------------------------------------------------ tensors */

/* Elements in memory. Element types are DLPack's: code 0 signed, 1 unsigned, 2 float, 4 bfloat16, 6 bool, and the bits of one. `strides`
 * count elements; NULL is row-major. */
typedef struct tfl_view {
  void* data;
  const int64_t* shape;
  const int64_t* strides;
  int32_t ndim;
  uint8_t code, bits;
  uint8_t read_only; /* somebody else sees the elements: who writes to them changes what nobody expects to change */
  uint8_t reserved;
} tfl_view;

/* A tensor (`kind` TFL_KIND_TENSOR) or an array (TFL_KIND_ARRAY) of these elements. They are not copied, unless they are few or do not lie as
 * elements must: the memory belongs to the caller, must not change while the value lives, and `release(user)` says that nobody sees it any more: at
 * once, or on a thread that has called this interpreter. It may be NULL, and is called once when there is an error, too. Scripts never write
 * to it: arrays are copied before they are written to, variables when they are assigned. */
TFL_API tfl_error* tfl_from_view(tfl_interp* interp, tfl_kind kind, const tfl_view* view, void (*release)(void* user), void* user,
                                 tfl_value** out);
/* The elements of a tensor, a variable or an array, where they lie; `view` holds as long as `value` lives. Texts have none: TypeError. */
TFL_API tfl_error* tfl_to_view(tfl_interp* interp, tfl_value* value, tfl_view* view);
/* The same with DLPack's managed tensors. The first takes `tensor` over (its deleter is called when it is not needed, and when there is an error);
 * the second makes one, whose deleter may be called on any thread, also when the interpreter has been freed. Processor memory only. */
TFL_API tfl_error* tfl_from_dlpack(tfl_interp* interp, tfl_kind kind, struct DLManagedTensor* tensor, tfl_value** out);
TFL_API tfl_error* tfl_to_dlpack(tfl_interp* interp, tfl_value* value, struct DLManagedTensor** out);
/* A tensor, variable or array as numbers, texts and nested lists of them. */
TFL_API tfl_error* tfl_to_host(tfl_interp* interp, const tfl_value* value, tfl_value** out);

#ifdef __cplusplus
}
#endif
#endif /* TFL_H */
