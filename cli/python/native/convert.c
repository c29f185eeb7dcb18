/* Python's objects as values of TFL, and back. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

static PyObject *empty_tuple, *modules, *name_numpy, *name_dlpack, *name_tolist, *name_array;
/* NumPy's, once the program has imported it or a result needs it. */
static PyObject *ndarray, *dtypes[256];

int init_convert(void) {
  empty_tuple = PyTuple_New(0);
  modules = PyImport_GetModuleDict();
  name_numpy = PyUnicode_InternFromString("numpy");
  name_dlpack = PyUnicode_InternFromString("__dlpack__");
  name_tolist = PyUnicode_InternFromString("tolist");
  name_array = PyUnicode_InternFromString("__array__");
  return empty_tuple && name_numpy && name_dlpack && name_tolist && name_array ? 0 : -1;
}

static int find_numpy(int wanted) {
  if (ndarray) return 1;
  PyObject *numpy = PyDict_GetItemWithError(modules, name_numpy);
  Py_XINCREF(numpy);
  if (!numpy) {
    if (!wanted) return 0;
    numpy = PyImport_Import(name_numpy);
    if (!numpy) {
      PyErr_Clear();
      return 0;
    }
  }
  ndarray = PyObject_GetAttrString(numpy, "ndarray");
  if (ndarray)
    use_numpy(numpy);
  else
    PyErr_Clear();
  Py_DECREF(numpy);
  return ndarray != NULL;
}

/* np.dtype of an element type, borrowed; NULL where NumPy has none. */
static PyObject *dtype_of(uint8_t code, uint8_t bits) {
  static const char *const kNames[7][4] = {{"int8", "int16", "int32", "int64"}, {"uint8", "uint16", "uint32", "uint64"},
                                           {NULL, "float16", "float32", "float64"}, {NULL}, {NULL}, {NULL}, {"bool"}};
  const int log = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
  const int at = code * 4 + log;
  if (code > 6 || !kNames[code][log]) return NULL;
  if (!dtypes[at]) {
    PyObject *numpy = PyImport_Import(name_numpy);
    if (!numpy) return NULL;
    dtypes[at] = PyObject_CallMethod(numpy, "dtype", "s", kNames[code][log]);
    Py_DECREF(numpy);
  }
  return dtypes[at];
}

/* ------------------------------------------------------------------------------------------------------------ to TFL */

/* The element type of a buffer's format, as struct and NumPy write it. 0: none. */
static int element_of(const char *format, Py_ssize_t size, tfl_view *view) {
  const char *f = format ? format : "B";
  if (*f == '@' || *f == '=' || *f == '<') ++f;
  if (!*f || f[1]) return 0;
  view->bits = (uint8_t)(8 * size);
  if (strchr("bhilqn", *f)) return view->code = 0, 1;
  if (strchr("BHILQN", *f)) return view->code = 1, 1;
  if (strchr("efd", *f)) return view->code = 2, 1;
  if (*f == '?') return view->code = 6, 1;
  return 0;
}

static void release_buffer(void *user) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  PyBuffer_Release((Py_buffer *)user);
  free(user);
  PyGILState_Release(state);
}

/* 1: it is a value now; 0: it has no elements that TFL knows; -1: an exception. */
static int from_buffer(InterpObject *interp, PyObject *object, int tensors, tfl_value **out) {
  Py_buffer *buffer = malloc(sizeof *buffer);
  if (!buffer) return PyErr_NoMemory(), -1;
  if (PyObject_GetBuffer(object, buffer, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    free(buffer);
    return 0;
  }
  int64_t strides[64];
  tfl_view view = {0};
  int known = buffer->ndim <= 64 && buffer->suboffsets == NULL && element_of(buffer->format, buffer->itemsize, &view);
  for (int i = 0; known && i < buffer->ndim; ++i) {
    if (buffer->strides[i] % buffer->itemsize) known = 0;
    strides[i] = buffer->strides[i] / buffer->itemsize;
  }
  if (!known) {
    PyBuffer_Release(buffer);
    free(buffer);
    return 0;
  }
  view.data = buffer->buf;
  view.ndim = buffer->ndim;
  view.shape = (const int64_t *)buffer->shape;
  view.strides = strides;
  tfl_error *error = tfl_from_view(interp->interp, tensors ? TFL_KIND_TENSOR : TFL_KIND_ARRAY, &view, release_buffer, buffer, out);
  return error ? (raise_error(error), -1) : 1;
}

static void release_object(void *user) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF((PyObject *)user);
  PyGILState_Release(state);
}

/* The same of a NumPy array. */
static int from_array(InterpObject *interp, PyObject *object, int tensors, tfl_value **out) {
  tfl_view view = {0};
  int64_t strides[64];
  if (!read_array(object, &view, strides)) return 0;
  Py_INCREF(object);
  tfl_error *error = tfl_from_view(interp->interp, tensors ? TFL_KIND_TENSOR : TFL_KIND_ARRAY, &view, release_object, object, out);
  return error ? (raise_error(error), -1) : 1;
}

static tfl_value *from_dlpack(InterpObject *interp, PyObject *object, int tensors) {
  PyObject *capsule = PyObject_CallMethodObjArgs(object, name_dlpack, NULL);
  if (!capsule) return NULL;
  tfl_value *out = NULL;
  void *managed = PyCapsule_GetPointer(capsule, "dltensor");
  if (managed) {
    PyCapsule_SetName(capsule, "used_dltensor");
    tfl_error *error = tfl_from_dlpack(interp->interp, tensors ? TFL_KIND_TENSOR : TFL_KIND_ARRAY, managed, &out);
    if (error) raise_error(error);
  }
  Py_DECREF(capsule);
  return out;
}

static tfl_value *from_sequence(InterpObject *interp, PyObject *object, int tensors, int tuple) {
  const Py_ssize_t n = tuple ? PyTuple_Size(object) : PyList_Size(object);
  tfl_value **items = calloc((size_t)n + 1, sizeof *items), *out = NULL;
  if (!items) return PyErr_NoMemory(), NULL;
  Py_ssize_t i = 0;
  for (; i < n; ++i) {
    PyObject *item = tuple ? PyTuple_GetItem(object, i) : PyList_GetItem(object, i);
    if (!item || !(items[i] = from_python(interp, item, tensors))) break;
  }
  if (i == n) {
    out = tfl_sequence(interp->interp, tuple ? TFL_KIND_TUPLE : TFL_KIND_LIST, (size_t)n, (const tfl_value *const *)items);
  }
  while (i-- > 0) tfl_value_free(items[i]);
  free(items);
  return out;
}

static tfl_value *from_dict(InterpObject *interp, PyObject *object, int tensors) {
  const Py_ssize_t n = PyDict_Size(object);
  tfl_value **items = calloc(2 * (size_t)n + 1, sizeof *items), *out = NULL;
  if (!items) return PyErr_NoMemory(), NULL;
  PyObject *key, *item;
  Py_ssize_t at = 0, i = 0;
  int failed = 0;
  for (; i < n && PyDict_Next(object, &at, &key, &item); ++i) {
    items[i] = from_python(interp, key, 0);
    items[n + i] = items[i] ? from_python(interp, item, tensors) : NULL;
    if (!items[n + i]) {
      failed = 1;
      break;
    }
  }
  if (!failed) {
    tfl_error *error = tfl_dict(interp->interp, (size_t)i, (const tfl_value *const *)items, (const tfl_value *const *)(items + n), &out);
    if (error) raise_error(error);
  }
  for (i = 0; i < 2 * n; ++i) tfl_value_free(items[i]);
  free(items);
  return out;
}

/* The value of the result of a method without arguments. */
static tfl_value *from_method(InterpObject *interp, PyObject *object, PyObject *name, int tensors) {
  PyObject *result = PyObject_CallMethodObjArgs(object, name, NULL);
  if (!result) return NULL;
  tfl_value *out = NULL;
  if (Py_TYPE(result) == Py_TYPE(object))
    PyErr_Format(PyExc_TypeError, "an object of type %S cannot be handed to TFL", (PyObject *)Py_TYPE(object));
  else
    out = from_python(interp, result, tensors);
  Py_DECREF(result);
  return out;
}

static tfl_value *from_value(InterpObject *interp, ValueObject *v) {
  if (v->interp->interp == interp->interp) return tfl_value_copy(v->value);
  PyErr_SetString(PyExc_ValueError, "the value belongs to another tfl.Context: hand it over as an array (numpy.asarray(value))");
  return NULL;
}

static tfl_value *any_from_python(InterpObject *interp, PyObject *object, int tensors) {
  if (PyList_Check(object)) return from_sequence(interp, object, tensors, 0);
  if (PyTuple_Check(object)) return from_sequence(interp, object, tensors, 1);
  if (PyDict_Check(object)) return from_dict(interp, object, tensors);
  tfl_value *out = NULL;
  if (PyObject_CheckBuffer(object)) {
    int done = from_buffer(interp, object, tensors, &out);
    if (done != 0) return done > 0 ? out : NULL;
  }
  if (PyObject_HasAttr(object, name_dlpack)) {
    out = from_dlpack(interp, object, tensors);
    // What DLPack has no type for (texts) is handed over as a list.
    if (out || !PyObject_HasAttr(object, name_tolist)) return out;
    PyErr_Clear();
  }
  if (PyObject_HasAttr(object, name_tolist)) return from_method(interp, object, name_tolist, tensors);
  if (PyFloat_Check(object)) return tfl_float(interp->interp, PyFloat_AsDouble(object));
  if (PyIndex_Check(object)) {
    PyObject *number = PyNumber_Index(object);
    if (!number) return NULL;
    long long value = PyLong_AsLongLong(number);
    Py_DECREF(number);
    return value == -1 && PyErr_Occurred() ? NULL : tfl_int(interp->interp, value);
  }
  if (PyUnicode_Check(object)) {
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(object, &size);
    tfl_error *error = text ? tfl_str(interp->interp, text, (size_t)size, &out) : NULL;
    return error ? (raise_error(error), NULL) : out;
  }
  if (PyObject_HasAttr(object, name_array)) return from_method(interp, object, name_array, tensors);
  PyObject *path = PyOS_FSPath(object);
  if (path) {
    out = from_python(interp, path, tensors);
    Py_DECREF(path);
    return out;
  }
  PyErr_Format(PyExc_TypeError, "an object of type %S cannot be handed to TFL", (PyObject *)Py_TYPE(object));
  return NULL;
}

tfl_value *from_python(InterpObject *interp, PyObject *object, int tensors) {
  if (!ndarray) find_numpy(0);
  PyTypeObject *type = Py_TYPE(object);
  tfl_value *out = NULL;
  if (type == ValueType) return from_value(interp, (ValueObject *)object);
  if (object == Py_None) return tfl_none(interp->interp);
  if (type == &PyBool_Type) return tfl_bool(interp->interp, object == Py_True);
  if (type == &PyFloat_Type) return tfl_float(interp->interp, PyFloat_AsDouble(object));
  if (type == &PyLong_Type) {
    long long value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred()) return NULL;
    return tfl_int(interp->interp, value);
  }
  if (type == &PyBytes_Type) {
    char *data;
    Py_ssize_t size;
    return PyBytes_AsStringAndSize(object, &data, &size) == 0 ? tfl_bytes(interp->interp, data, (size_t)size) : NULL;
  }
  if (is_array(object)) {
    int done = from_array(interp, object, tensors, &out);
    if (done != 0) return done > 0 ? out : NULL;
  }
  if (Py_EnterRecursiveCall(" while an object is handed to TFL")) return NULL;
  out = any_from_python(interp, object, tensors);
  Py_LeaveRecursiveCall();
  return out;
}

/* ---------------------------------------------------------------------------------------------------------- to Python */

static int row_major(const tfl_view *v) {
  int64_t step = 1;
  for (int32_t i = v->ndim; i-- > 0;) {
    if (v->shape[i] == 0) return 1;
    if (v->shape[i] != 1 && v->strides[i] != step) return 0;
    step *= v->shape[i];
  }
  return 1;
}

PyObject *as_numpy(ValueObject *value) {
  if (!find_numpy(1) || look(value) != 0) {
    if (PyErr_Occurred()) return NULL;
    Py_INCREF((PyObject *)value);
    return (PyObject *)value;
  }
  const tfl_view *v = &value->view;
  PyObject *made = make_array(v, (PyObject *)value);
  if (made || PyErr_Occurred()) return made;
  PyObject *dtype = dtype_of(v->code, v->bits);
  if (!dtype && PyErr_Occurred()) return NULL;
  if (!dtype) {
    Py_INCREF((PyObject *)value);
    return (PyObject *)value;
  }
  if (!row_major(v)) {
    PyObject *numpy = PyImport_Import(name_numpy);
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "from_dlpack", "O", value) : NULL;
    Py_XDECREF(numpy);
    return array;
  }
  PyObject *shape = PyTuple_New(v->ndim);
  for (int32_t i = 0; shape && i < v->ndim; ++i) PyTuple_SetItem(shape, i, PyLong_FromLongLong(v->shape[i]));
  if (!shape) return NULL;
  PyObject *array = PyObject_CallFunctionObjArgs(ndarray, shape, dtype, (PyObject *)value, NULL);
  Py_DECREF(shape);
  return array;
}

static PyObject *tensor_to_python(InterpObject *interp, tfl_value *value) {
  ValueObject *object = (ValueObject *)wrap(interp, value);
  if (!object) return NULL;
  if (look(object) != 0) {
    // Texts: a list of them, as an array of objects where NumPy is.
    PyErr_Clear();
    tfl_value *host;
    tfl_error *error = tfl_to_host(interp->interp, object->value, &host);
    Py_DECREF((PyObject *)object);
    if (error) return raise_error(error);
    PyObject *list = to_python(interp, host);
    if (!list || !PyList_Check(list) || !find_numpy(1)) return list;
    PyObject *numpy = PyImport_Import(name_numpy);
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "array", "Os", list, "O") : NULL;
    Py_XDECREF(numpy);
    Py_DECREF(list);
    return array;
  }
  PyObject *array = as_numpy(object);
  const int scalar = array && object->view.ndim == 0 && array != (PyObject *)object;
  Py_DECREF((PyObject *)object);
  if (!scalar) return array;
  PyObject *element = PyObject_GetItem(array, empty_tuple);
  Py_DECREF(array);
  return element;
}

static PyObject *items_to_python(InterpObject *interp, const tfl_value *value, tfl_kind kind) {
  const size_t n = tfl_value_size(value);
  PyObject *out = kind == TFL_KIND_DICT ? PyDict_New() : kind == TFL_KIND_LIST ? PyList_New((Py_ssize_t)n) : PyTuple_New((Py_ssize_t)n);
  for (size_t i = 0; out && i < n; ++i) {
    tfl_value *key, *item;
    tfl_error *error = tfl_value_item(interp->interp, value, i, &key, &item);
    PyObject *object = error ? raise_error(error) : to_python(interp, item);
    int failed = !object;
    if (!failed && kind == TFL_KIND_DICT) {
      PyObject *name = to_python(interp, key);
      failed = !name || PyDict_SetItem(out, name, object) != 0;
      Py_XDECREF(name);
      Py_DECREF((PyObject *)object);
    } else if (!failed) {
      failed = (kind == TFL_KIND_LIST ? PyList_SetItem(out, (Py_ssize_t)i, object) : PyTuple_SetItem(out, (Py_ssize_t)i, object)) != 0;
    }
    if (failed) Py_CLEAR(out);
  }
  return out;
}

PyObject *to_python(InterpObject *interp, tfl_value *value) {
  PyObject *out = NULL;
  const tfl_kind kind = tfl_value_kind(value);
  size_t size;
  const char *text;
  switch (kind) {
    case TFL_KIND_TENSOR:
    case TFL_KIND_ARRAY: return tensor_to_python(interp, value);
    case TFL_KIND_VARIABLE:
    case TFL_KIND_MODULE:
    case TFL_KIND_FUNCTION:
    case TFL_KIND_TRACED:
    case TFL_KIND_OBJECT: return wrap(interp, value);
    case TFL_KIND_NONE:
      out = Py_None;
      Py_INCREF(out);
      break;
    case TFL_KIND_BOOL: out = PyBool_FromLong(tfl_value_int(value) != 0); break;
    case TFL_KIND_INT: out = PyLong_FromLongLong(tfl_value_int(value)); break;
    case TFL_KIND_FLOAT: out = PyFloat_FromDouble(tfl_value_float(value)); break;
    case TFL_KIND_STR:
      text = tfl_value_text(value, &size);
      out = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "surrogatepass");
      break;
    case TFL_KIND_BYTES:
      text = tfl_value_text(value, &size);
      out = PyBytes_FromStringAndSize(text, (Py_ssize_t)size);
      break;
    case TFL_KIND_LIST:
    case TFL_KIND_TUPLE:
    case TFL_KIND_DICT:
      if (!Py_EnterRecursiveCall(" while a value of TFL is made Python's")) {
        out = items_to_python(interp, value, kind);
        Py_LeaveRecursiveCall();
      }
  }
  tfl_value_free(value);
  return out;
}
