/* tfl.Value: a reference to something of TFL that Python has no type for: functions, modules, models, variables. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"
#include "structmember.h"

PyTypeObject *ValueType;

PyObject *wrap(InterpObject *interp, tfl_value *value);
static PyObject *call_vector(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);

PyObject *wrap(InterpObject *interp, tfl_value *value) {
  ValueObject *o = PyObject_New(ValueObject, ValueType);
  if (!o) {
    tfl_value_free(value);
    return NULL;
  }
  Py_INCREF((PyObject *)interp);
  o->vectorcall = call_vector;
  o->interp = interp;
  o->value = value;
  o->kind = tfl_value_kind(value);
  o->seen = 0;
  return (PyObject *)o;
}

static void value_dealloc(PyObject *self) {
  ValueObject *v = (ValueObject *)self;
  PyTypeObject *type = Py_TYPE(self);
  tfl_value_free(v->value);
  Py_DECREF((PyObject *)v->interp);
  PyObject_Free(self);
  Py_DECREF(type);
}

int look(ValueObject *v) {
  if (v->seen) return 0;
  if (v->kind != TFL_KIND_TENSOR && v->kind != TFL_KIND_ARRAY && v->kind != TFL_KIND_VARIABLE) {
    PyErr_SetString(PyExc_TypeError, "the value is no tensor");
    return -1;
  }
  enter(v->interp);
  tfl_error *error = tfl_to_view(v->interp->interp, v->value, &v->view);
  leave(v->interp);
  if (error) return raise_error(error), -1;
  v->seen = 1;
  return 0;
}

/* ------------------------------------------------------------------------------------------------------------ calls */

enum { kFew = 8 };

static PyObject *call_vector(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
  ValueObject *f = (ValueObject *)self;
  const Py_ssize_t count = TFL_NARGS(nargsf), named = names ? PyTuple_Size(names) : 0, all = count + named;
  tfl_value *few[kFew], **values = few, *result = NULL;
  const char *few_names[kFew], **keywords = few_names;
  PyObject *out = NULL;
  if (all > kFew) {
    values = malloc((size_t)all * sizeof *values);
    keywords = malloc((size_t)all * sizeof *keywords);
    if (!values || !keywords) {
      free(values);
      free(keywords);
      return PyErr_NoMemory();
    }
  }
  /* A plain function gets NumPy's arrays as arrays, everything else as tensors. */
  const int tensors = f->kind == TFL_KIND_TRACED;
  enter(f->interp);
  Py_ssize_t done = 0;
  for (; done < all; ++done) {
    if (done >= count && !(keywords[done - count] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, done - count), NULL))) break;
    if (!(values[done] = from_python(f->interp, args[done], tensors))) break;
  }
  if (done == all) {
    tfl_error *error;
    tfl_interp *before = begin_work(f->interp->interp);
    Py_BEGIN_ALLOW_THREADS;
    error = tfl_call(f->interp->interp, f->value, (size_t)count, (const tfl_value *const *)values, (size_t)named, keywords,
                     (const tfl_value *const *)(values + count), &result);
    Py_END_ALLOW_THREADS;
    end_work(before);
    out = error ? raise_error(error) : to_python(f->interp, result);
  }
  while (done-- > 0) tfl_value_free(values[done]);
  leave(f->interp);
  if (values != few) {
    free(values);
    free(keywords);
  }
  return out;
}

/* tp_call, for callers that have a tuple and a dict. */
static PyObject *value_call(PyObject *self, PyObject *args, PyObject *kwargs) {
  const Py_ssize_t count = PyTuple_Size(args), named = kwargs ? PyDict_Size(kwargs) : 0;
  PyObject **all = calloc(1, (size_t)(count + named + 1) * sizeof *all), *names = named ? PyTuple_New(named) : NULL, *key, *item, *out;
  if (!all || (named && !names)) {
    free(all);
    return PyErr_NoMemory();
  }
  for (Py_ssize_t i = 0; i < count; ++i) all[i] = PyTuple_GetItem(args, i);
  Py_ssize_t at = 0, i = 0;
  while (i < named && PyDict_Next(kwargs, &at, &key, &item)) {
    Py_INCREF(key);
    PyTuple_SetItem(names, i, key);
    all[count + i++] = item;
  }
  out = call_vector(self, all, (size_t)count, names);
  Py_XDECREF(names);
  free(all);
  return out;
}

/* ------------------------------------------------------------------------------------------------------- attributes */

static PyObject *value_getattro(PyObject *self, PyObject *name) {
  ValueObject *v = (ValueObject *)self;
  PyObject *own = PyObject_GenericGetAttr(self, name);
  if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
  const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
  /* Special names are asked for by Python itself: those of TFL's objects would be taken for Python's. */
  if (!text || (text[0] == '_' && text[1] == '_' && strcmp(text, "__name__") != 0 && strcmp(text, "__doc__") != 0)) return NULL;
  PyErr_Clear();
  tfl_value *found;
  enter(v->interp);
  tfl_error *error = tfl_get(v->interp->interp, v->value, text, &found);
  PyObject *out = error ? raise_error(error) : to_python(v->interp, found);
  leave(v->interp);
  return out;
}

static int value_setattro(PyObject *self, PyObject *name, PyObject *to) {
  ValueObject *v = (ValueObject *)self;
  const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
  if (!text) return -1;
  if (!to) return PyErr_SetString(PyExc_TypeError, "attributes of TFL's objects cannot be deleted"), -1;
  enter(v->interp);
  tfl_value *value = from_python(v->interp, to, 0);
  tfl_error *error = value ? tfl_set(v->interp->interp, v->value, text, value) : NULL;
  tfl_value_free(value);
  if (error) raise_error(error);
  leave(v->interp);
  return value && !error ? 0 : -1;
}

typedef tfl_error *(*Question)(tfl_interp *, const tfl_value *, tfl_value **);

static PyObject *ask(PyObject *self, Question question) {
  ValueObject *v = (ValueObject *)self;
  tfl_value *answer;
  enter(v->interp);
  tfl_error *error = question(v->interp->interp, v->value, &answer);
  PyObject *out = error ? raise_error(error) : to_python(v->interp, answer);
  leave(v->interp);
  return out;
}

static PyObject *value_repr(PyObject *self) { return ask(self, tfl_to_repr); }
static PyObject *value_str(PyObject *self) { return ask(self, tfl_to_str); }
static PyObject *value_dir(PyObject *self, PyObject *Py_UNUSED(none)) { return ask(self, tfl_names); }

/* ---------------------------------------------------------------------------------------------------------- tensors */

static Py_ssize_t bytes_of(const tfl_view *v) {
  Py_ssize_t n = v->bits / 8;
  for (int32_t i = 0; i < v->ndim; ++i) n *= (Py_ssize_t)v->shape[i];
  return n;
}

static const char *format_of(const tfl_view *v) {
  static const char *const kFormats[7][4] = {{"b", "h", "i", "q"}, {"B", "H", "I", "Q"}, {NULL, "e", "f", "d"}, {NULL},
                                             {NULL, "H", NULL, NULL}, {NULL}, {"?", NULL, NULL, NULL}};
  return kFormats[v->code][v->bits == 8 ? 0 : v->bits == 16 ? 1 : v->bits == 32 ? 2 : 3];
}

static int value_getbuffer(PyObject *self, Py_buffer *buffer, int flags) {
  ValueObject *v = (ValueObject *)self;
  buffer->obj = NULL;
  if (look(v) != 0) {
    PyErr_SetString(PyExc_BufferError, "the value has no elements in memory");
    return -1;
  }
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && v->view.read_only) {
    PyErr_SetString(PyExc_BufferError, "others see the tensor's elements: they cannot be written to");
    return -1;
  }
  const tfl_view *view = &v->view;
  Py_ssize_t *strides = malloc((size_t)(view->ndim + 1) * sizeof *strides);
  if (!strides) return PyErr_NoMemory(), -1;
  int64_t step = 1;
  int contiguous = 1;
  for (int32_t i = view->ndim; i-- > 0;) {
    strides[i] = (Py_ssize_t)view->strides[i] * (view->bits / 8);
    if (view->shape[i] != 1 && view->strides[i] != step) contiguous = 0;
    step *= view->shape[i];
  }
  if (step == 0) contiguous = 1;
  if (!contiguous && (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
    free(strides);
    PyErr_SetString(PyExc_BufferError, "the elements do not lie in order");
    return -1;
  }
  static char none;
  Py_INCREF(self);
  buffer->obj = self;
  buffer->buf = view->data ? view->data : &none;
  buffer->len = bytes_of(view);
  buffer->readonly = view->read_only;
  buffer->itemsize = view->bits / 8;
  buffer->format = (flags & PyBUF_FORMAT) ? (char *)format_of(view) : NULL;
  buffer->ndim = view->ndim;
  buffer->shape = (flags & PyBUF_ND) == PyBUF_ND ? (Py_ssize_t *)view->shape : NULL;
  buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? strides : NULL;
  buffer->suboffsets = NULL;
  buffer->internal = strides;
  return 0;
}

static void value_releasebuffer(PyObject *Py_UNUSED(self), Py_buffer *buffer) { free(buffer->internal); }

static void drop_capsule(PyObject *capsule) {
  struct Managed {
    char tensor[48];
    void *context;
    void (*deleter)(void *);
  } *managed = PyCapsule_GetPointer(capsule, "dltensor");
  if (managed)
    managed->deleter(managed);
  else
    PyErr_Clear(); /* somebody has taken it */
}

static PyObject *value_dlpack(PyObject *self, PyObject *args, PyObject *kwargs) {
  ValueObject *v = (ValueObject *)self;
  (void)args; /* stream, max_version, dl_device, copy: the elements lie in the processor's memory, under DLPack's first version */
  (void)kwargs;
  struct DLManagedTensor *managed;
  enter(v->interp);
  tfl_error *error = tfl_to_dlpack(v->interp->interp, v->value, &managed);
  leave(v->interp);
  return error ? raise_error(error) : PyCapsule_New(managed, "dltensor", drop_capsule);
}

static PyObject *value_dlpack_device(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(none)) { return Py_BuildValue("(ii)", 1, 0); }

static PyObject *value_numpy(PyObject *self, PyObject *Py_UNUSED(none)) {
  if (look((ValueObject *)self) != 0) return NULL;
  return as_numpy((ValueObject *)self);
}

static PyObject *value_kind(PyObject *self, void *Py_UNUSED(closure)) {
  static const char *const kNames[] = {"none", "bool", "int", "float", "str", "bytes", "list", "tuple", "dict", "tensor", "variable", "array",
                                       "module", "function", "traced", "object"};
  return PyUnicode_FromString(kNames[((ValueObject *)self)->kind]);
}

static PyObject *value_type(PyObject *self, void *Py_UNUSED(closure)) {
  ValueObject *v = (ValueObject *)self;
  enter(v->interp);
  PyObject *out = to_python(v->interp, tfl_value_type(v->interp->interp, v->value));
  leave(v->interp);
  return out;
}

PyTypeObject *make_value_type(void) {
  static PyMethodDef methods[] = {
      {"__dir__", value_dir, METH_NOARGS, NULL},
      {"__dlpack__", (PyCFunction)(void (*)(void))value_dlpack, METH_VARARGS | METH_KEYWORDS, "The elements for another library."},
      {"__dlpack_device__", value_dlpack_device, METH_NOARGS, NULL},
      {"numpy", value_numpy, METH_NOARGS, "The elements of a tensor or variable as a NumPy array over the same memory."},
      {NULL, NULL, 0, NULL}};
  static PyGetSetDef properties[] = {
      {"_kind", value_kind, NULL, "What it is: \"tensor\", \"variable\", \"module\", \"function\", \"traced\" or \"object\".", NULL},
      {"_type", value_type, NULL, "The name of its type in TFL.", NULL},
      {NULL, NULL, NULL, NULL, NULL}};
  static struct PyMemberDef members[] = {
      {"__vectorcalloffset__", 19 /* Py_T_PYSSIZET */, offsetof(ValueObject, vectorcall), 1 /* Py_READONLY */, NULL},
      {NULL, 0, 0, 0, NULL}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, value_dealloc},
                                {Py_tp_call, value_call},
                                {Py_tp_getattro, value_getattro},
                                {Py_tp_setattro, value_setattro},
                                {Py_tp_repr, value_repr},
                                {Py_tp_str, value_str},
                                {Py_tp_methods, methods},
                                {Py_tp_getset, properties},
                                {Py_tp_members, members},
                                {Py_bf_getbuffer, value_getbuffer},
                                {Py_bf_releasebuffer, value_releasebuffer},
                                {Py_tp_doc, "A reference to something of TFL. Attributes and calls are TFL's."},
                                {0, NULL}};
  static PyType_Spec spec = {"tfl.Value", sizeof(ValueObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return ValueType = (PyTypeObject *)PyType_FromSpec(&spec);
}
