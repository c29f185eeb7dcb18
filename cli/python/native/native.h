/* The Python module tfl._native: tfl.h in Python, over the stable ABI of Python 3.11 and later. What is pleasant about it is in the package's
 * Python files. */
#ifndef TFL_NATIVE_H
#define TFL_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <tfl.h>

/* Of the vector calls that the stable ABI has since 3.12; 3.11 has them under the same numbers. */
#ifndef Py_TPFLAGS_HAVE_VECTORCALL
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
typedef PyObject* (*vectorcallfunc)(PyObject* callable, PyObject* const* args, size_t nargsf, PyObject* kwnames);
#endif
#define TFL_NARGS(n) ((Py_ssize_t)((n) & ~((size_t)1 << (8 * sizeof(size_t) - 1))))

/* An interpreter. */
typedef struct {
  PyObject_HEAD tfl_interp* interp;
} InterpObject;

/* A value of one. */
typedef struct {
  PyObject_HEAD vectorcallfunc vectorcall;
  InterpObject* interp;
  tfl_value* value;
  tfl_kind kind;
  tfl_view view; /* once it has been asked for: data is not NULL or ndim >= 0 */
  int seen;
} ValueObject;

extern PyTypeObject *InterpType, *ValueType;
PyTypeObject* make_interp_type(void);
PyTypeObject* make_value_type(void);

/* Waits for the interpreter without keeping other Python threads from running. */
void enter(InterpObject* interp);
static inline void leave(InterpObject* interp) { tfl_unlock(interp->interp); }

/* Between the two, Ctrl-C stops the interpreter, if this is Python's main thread. Gives what `end_work` wants. */
tfl_interp* begin_work(tfl_interp* interp);
void end_work(tfl_interp* before);
void watch_interrupts(void);

/* Raises what `error` says, which it frees; gives NULL. */
PyObject* raise_error(tfl_error* error);

/* A value of a Python object, of NumPy arrays and the like without copying: as tensors where `tensors`, else as arrays. NULL: an exception. */
tfl_value* from_python(InterpObject* interp, PyObject* object, int tensors);
/* The Python object of a value, which it takes over. */
PyObject* to_python(InterpObject* interp, tfl_value* value);
/* The value itself as an object of Python, taken over. */
PyObject* wrap(InterpObject* interp, tfl_value* value);
/* A NumPy array over the elements of a tensor; the object itself where there is no NumPy. */
PyObject* as_numpy(ValueObject* value);
/* Looks where the elements lie: 0, or -1 with an exception. */
int look(ValueObject* value);
int init_convert(void);

/* NumPy's arrays (numpy.c). */
void use_numpy(PyObject* numpy);
int is_array(PyObject* object);
int read_array(PyObject* object, tfl_view* view, int64_t strides[64]);
PyObject* make_array(const tfl_view* view, PyObject* owner);

#endif
