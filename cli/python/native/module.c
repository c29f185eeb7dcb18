/* tfl._native: interpreters, and how their errors become Python's. */
#include <stdlib.h>

#include "native.h"
#include "structmember.h"

PyTypeObject *InterpType;
static PyObject *make_exception; /* tfl._errors.exception */

void enter(InterpObject *interp) {
  if (tfl_try_lock(interp->interp)) return;
  Py_BEGIN_ALLOW_THREADS;
  tfl_lock(interp->interp);
  Py_END_ALLOW_THREADS;
}

PyObject *raise_error(tfl_error *error) {
  PyObject *places = PyList_New(0), *exception = NULL;
  if (!make_exception) {
    PyObject *module = PyImport_ImportModule("tfl._errors");
    make_exception = module ? PyObject_GetAttrString(module, "exception") : NULL;
    Py_XDECREF(module);
  }
  for (size_t i = 0; places && i < tfl_error_depth(error); ++i) {
    const char *file, *function;
    int32_t line;
    tfl_error_place(error, i, &file, &line, &function);
    PyObject *place = Py_BuildValue("(sis)", file, (int)line, function);
    if (!place || PyList_Append(places, place) != 0) Py_CLEAR(places);
    Py_XDECREF(place);
  }
  if (places && make_exception) {
    exception = PyObject_CallFunction(make_exception, "ssssOi", tfl_error_kind(error), tfl_error_message(error), tfl_error_traceback(error),
                                      tfl_error_hint(error), places, (int)tfl_error_exit_code(error));
  }
  Py_XDECREF(places);
  tfl_error_free(error);
  /* Of Ctrl-C Python knows, too: one of the two is enough. */
  if (exception && (PyObject *)Py_TYPE(exception) == PyExc_KeyboardInterrupt && PyErr_CheckSignals() != 0) Py_CLEAR(exception);
  if (exception) {
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
  }
  return NULL;
}

/* A list of texts as C has them; free() it. NULL with an exception, or for None. */
static const char **texts(PyObject *list) {
  if (!list || list == Py_None) return NULL;
  const Py_ssize_t n = PySequence_Size(list);
  const char **out = n < 0 ? NULL : calloc((size_t)n + 1, sizeof *out);
  for (Py_ssize_t i = 0; out && i < n; ++i) {
    PyObject *item = PySequence_GetItem(list, i);
    out[i] = item ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
    Py_XDECREF(item); /* the list keeps it */
    if (!out[i]) {
      free(out);
      return NULL;
    }
  }
  return out;
}

static PyObject *interp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"memory", "time", "threads", "depth", "jit", "cache", "allow_read", "allow_write", "allow_all", "folder", "keep_output", NULL};
  unsigned long long memory = 0;
  double time = 0;
  int threads = 0, depth = 0, jit = 0, cache = 1, allow_all = 0, keep_output = 0;
  PyObject *read = NULL, *write = NULL;
  const char *folder = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$KdiiipOOpzp", names, &memory, &time, &threads, &depth, &jit, &cache, &read, &write, &allow_all,
                                   &folder, &keep_output))
    return NULL;
  const char **readable = texts(read), **writable = PyErr_Occurred() ? NULL : texts(write);
  if (PyErr_Occurred()) {
    free(readable);
    return NULL;
  }
  tfl_interp_options options = {sizeof options, (size_t)memory, time,     threads,  depth,    jit,   !cache,
                                allow_all,      keep_output,    readable, writable, folder};
  tfl_interp *made;
  tfl_error *error;
  Py_BEGIN_ALLOW_THREADS;
  error = tfl_interp_new(&options, &made);
  Py_END_ALLOW_THREADS;
  free(readable);
  free(writable);
  if (error) return raise_error(error);
  allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  InterpObject *self = (InterpObject *)alloc(type, 0);
  if (!self) {
    tfl_interp_free(made);
    return NULL;
  }
  self->interp = made;
  return (PyObject *)self;
}

static void interp_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  tfl_interp *interp = ((InterpObject *)self)->interp;
  Py_BEGIN_ALLOW_THREADS; /* it may wait for a compilation, and gives back what Python lent */
  tfl_interp_free(interp);
  Py_END_ALLOW_THREADS;
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static PyObject *finish(InterpObject *self, tfl_error *error, tfl_value *value) {
  if (error) return raise_error(error);
  enter(self);
  PyObject *out = to_python(self, value);
  leave(self);
  return out;
}

static PyObject *interp_run(PyObject *object, PyObject *args) {
  InterpObject *self = (InterpObject *)object;
  const char *path;
  PyObject *list;
  if (!PyArg_ParseTuple(args, "sO", &path, &list)) return NULL;
  const char **argv = texts(list);
  if (PyErr_Occurred()) return NULL;
  size_t argc = 0;
  while (argv && argv[argc]) ++argc;
  tfl_value *module = NULL;
  tfl_error *error;
  tfl_interp *before = begin_work(self->interp);
  Py_BEGIN_ALLOW_THREADS;
  error = tfl_run(self->interp, path, argc, argv, &module);
  Py_END_ALLOW_THREADS;
  end_work(before);
  free(argv);
  return finish(self, error, module);
}

static PyObject *interp_run_text(PyObject *object, PyObject *args) {
  InterpObject *self = (InterpObject *)object;
  const char *text, *name;
  Py_ssize_t size;
  int line;
  PyObject *in = Py_None;
  if (!PyArg_ParseTuple(args, "s#si|O", &text, &size, &name, &line, &in)) return NULL;
  if (in != Py_None && Py_TYPE(in) != ValueType) return PyErr_SetString(PyExc_TypeError, "a text is run in a module"), NULL;
  tfl_value *module = in == Py_None ? NULL : ((ValueObject *)in)->value;
  tfl_error *error;
  tfl_interp *before = begin_work(self->interp);
  Py_BEGIN_ALLOW_THREADS;
  error = tfl_run_text(self->interp, text, (size_t)size, name, line, &module);
  Py_END_ALLOW_THREADS;
  end_work(before);
  if (in == Py_None || error) return finish(self, error, module);
  Py_INCREF(in);
  return in;
}

static PyObject *interp_load(PyObject *object, PyObject *path) {
  InterpObject *self = (InterpObject *)object;
  const char *text = PyUnicode_AsUTF8AndSize(path, NULL);
  if (!text) return NULL;
  tfl_value *out = NULL;
  tfl_error *error;
  tfl_interp *before = begin_work(self->interp);
  Py_BEGIN_ALLOW_THREADS;
  error = tfl_load(self->interp, text, &out);
  Py_END_ALLOW_THREADS;
  end_work(before);
  return finish(self, error, out);
}

static PyObject *interp_import(PyObject *object, PyObject *name) {
  InterpObject *self = (InterpObject *)object;
  const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
  if (!text) return NULL;
  tfl_value *out = NULL;
  tfl_error *error;
  tfl_interp *before = begin_work(self->interp);
  Py_BEGIN_ALLOW_THREADS;
  error = tfl_import(self->interp, text, &out);
  Py_END_ALLOW_THREADS;
  end_work(before);
  return finish(self, error, out);
}

static PyObject *interp_tensor(PyObject *object, PyObject *of) {
  InterpObject *self = (InterpObject *)object;
  enter(self);
  tfl_value *value = from_python(self, of, 1);
  PyObject *out = value ? wrap(self, value) : NULL;
  leave(self);
  return out;
}

static PyObject *interp_output(PyObject *object, PyObject *stream) {
  InterpObject *self = (InterpObject *)object;
  const long number = PyLong_AsLong(stream);
  if (number == -1 && PyErr_Occurred()) return NULL;
  enter(self);
  PyObject *out = to_python(self, tfl_interp_output(self->interp, (int32_t)number));
  leave(self);
  return out;
}

static PyObject *interp_cancel(PyObject *object, PyObject *Py_UNUSED(none)) {
  tfl_interp_cancel(((InterpObject *)object)->interp);
  Py_RETURN_NONE;
}

PyTypeObject *make_interp_type(void) {
  static PyMethodDef methods[] = {{"run", interp_run, METH_VARARGS, NULL},       {"run_text", interp_run_text, METH_VARARGS, NULL},
                                  {"load", interp_load, METH_O, NULL},           {"import_module", interp_import, METH_O, NULL},
                                  {"tensor", interp_tensor, METH_O, NULL},       {"output", interp_output, METH_O, NULL},
                                  {"cancel", interp_cancel, METH_NOARGS, NULL},  {NULL, NULL, 0, NULL}};
  static struct PyMemberDef members[] = {{NULL, 0, 0, 0, NULL}};
  static PyType_Slot slots[] = {{Py_tp_new, interp_new},     {Py_tp_dealloc, interp_dealloc}, {Py_tp_methods, methods},
                                {Py_tp_members, members},    {0, NULL}};
  static PyType_Spec spec = {"tfl._native.Interp", sizeof(InterpObject), 0, Py_TPFLAGS_DEFAULT, slots};
  return InterpType = (PyTypeObject *)PyType_FromSpec(&spec);
}

PyMODINIT_FUNC PyInit__native(void) {
  static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "tfl._native", NULL, -1, NULL, NULL, NULL, NULL, NULL};
  PyObject *module = PyModule_Create(&definition);
  watch_interrupts();
  if (!module || init_convert() != 0 || !make_interp_type() || !make_value_type()) return NULL;
  if (PyModule_AddObjectRef(module, "Interp", (PyObject *)InterpType) != 0 || PyModule_AddObjectRef(module, "Value", (PyObject *)ValueType) != 0 ||
      PyModule_AddStringConstant(module, "version", tfl_version()) != 0 || PyModule_AddStringConstant(module, "build", tfl_build()) != 0)
    return NULL;
  return module;
}
