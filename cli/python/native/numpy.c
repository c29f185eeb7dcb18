/* NumPy's arrays without its headers: by the table of functions that it gives to modules compiled against it, whose places and whose layout of
 * arrays are the same in all its versions since 1.7. What is read of arrays is compared with what Python says of one, once; where that
 * is not so, or there is no table, arrays go the ways that all of Python's objects go (convert.c). */
#include <string.h>

#include "native.h"

typedef struct {
  PyObject_HEAD
  PyTypeObject *scalar;
  char kind, type, byteorder, flags;
  int number;
} Descr;

typedef struct {
  PyObject_HEAD
  char *data;
  int ndim;
  Py_ssize_t *shape, *strides;
  PyObject *base;
  Descr *descr;
  int flags;
} Array;

enum { kWriteable = 0x400, kAligned = 0x100 };
enum { kNewFromDescr = 94, kDescrFromType = 45, kSetBaseObject = 282 };

static PyTypeObject *array_type;
static PyObject *(*new_from_descr)(PyTypeObject *, PyObject *, int, const Py_ssize_t *, const Py_ssize_t *, void *, int, PyObject *);
static PyObject *(*descr_from_type)(int);
static int (*set_base)(PyObject *, PyObject *);

/* NumPy's numbers of element types. */
static const struct {
  uint8_t code, bits;
} kElements[24] = {{6, 8},  {0, 8},  {1, 8},  {0, 16}, {1, 16}, {0, 32}, {1, 32}, {0, 64}, {1, 64}, {0, 64}, {1, 64}, {2, 32},
                   {2, 64}, {0, 0},  {0, 0},  {0, 0},  {0, 0},  {0, 0},  {0, 0},  {0, 0},  {0, 0},  {0, 0},  {0, 0},  {2, 16}};

int is_array(PyObject *object) { return Py_TYPE(object) == array_type; }

/* 0: the array has elements that TFL does not know. */
int read_array(PyObject *object, tfl_view *view, int64_t strides[64]) {
  const Array *a = (const Array *)object;
  const Descr *d = a->descr;
  if (d->number < 0 || d->number >= 24 || kElements[d->number].bits == 0 || d->byteorder == '>' || a->ndim > 64) return 0;
  view->code = kElements[d->number].code;
  view->bits = kElements[d->number].bits;
  view->data = a->data;
  view->ndim = a->ndim;
  view->shape = (const int64_t *)a->shape;
  view->strides = strides;
  const Py_ssize_t size = view->bits / 8;
  for (int i = 0; i < a->ndim; ++i) {
    if (a->strides[i] % size) return 0;
    strides[i] = a->strides[i] / size;
  }
  return 1;
}

/* An array over the elements of `view`, which live as long as `owner`; NULL without an exception where there is no table. */
PyObject *make_array(const tfl_view *view, PyObject *owner) {
  int number = -1;
  if (!new_from_descr) return NULL;
  for (int i = 0; i < 24 && number < 0; ++i) {
    if (kElements[i].bits == view->bits && kElements[i].code == view->code) number = i;
  }
  PyObject *descr = number >= 0 ? descr_from_type(number) : NULL;
  if (!descr) return NULL;
  Py_ssize_t strides[64];
  if (view->ndim > 64) {
    Py_DECREF(descr);
    return NULL;
  }
  for (int32_t i = 0; i < view->ndim; ++i) strides[i] = (Py_ssize_t)view->strides[i] * (view->bits / 8);
  static char none[8];
  PyObject *array = new_from_descr(array_type, descr, view->ndim, (const Py_ssize_t *)view->shape, strides, view->data ? view->data : none,
                                   kAligned | (view->read_only ? 0 : kWriteable), NULL);
  if (!array) return NULL;
  Py_INCREF(owner);
  if (set_base(array, owner) != 0) Py_CLEAR(array);
  return array;
}

/* Whether what is read of an array is so. */
static int as_expected(PyObject *numpy) {
  PyObject *a = PyObject_CallMethod(numpy, "zeros", "((iii)s)", 3, 5, 7, "float32");
  PyObject *interface = a ? PyObject_GetAttrString(a, "__array_interface__") : NULL;
  PyObject *data = interface ? PyDict_GetItemString(interface, "data") : NULL;
  tfl_view view;
  int64_t strides[64];
  int right = data && Py_TYPE(a) == array_type && read_array(a, &view, strides) && view.code == 2 && view.bits == 32 && view.ndim == 3 &&
              view.shape[0] == 3 && view.shape[1] == 5 && view.shape[2] == 7 && strides[0] == 35 && strides[2] == 1 &&
              PyLong_AsVoidPtr(PyTuple_GetItem(data, 0)) == view.data;
  Py_XDECREF(interface);
  Py_XDECREF(a);
  PyErr_Clear();
  return right;
}

void use_numpy(PyObject *numpy) {
  PyObject *module = PyImport_ImportModule("numpy._core._multiarray_umath");
  if (!module) {
    PyErr_Clear();
    module = PyImport_ImportModule("numpy.core._multiarray_umath"); /* before 2.0 */
  }
  PyObject *capsule = module ? PyObject_GetAttrString(module, "_ARRAY_API") : NULL;
  void **table = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
  if (table) {
    array_type = (PyTypeObject *)table[2];
    if (as_expected(numpy)) {
      memcpy(&new_from_descr, &table[kNewFromDescr], sizeof new_from_descr);
      memcpy(&descr_from_type, &table[kDescrFromType], sizeof descr_from_type);
      memcpy(&set_base, &table[kSetBaseObject], sizeof set_base);
    } else {
      array_type = NULL;
    }
  }
  PyErr_Clear();
  Py_XDECREF(capsule);
  Py_XDECREF(module);
}
