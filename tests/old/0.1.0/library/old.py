"""old: made by tfl build from saved.

    import old
    with old.Context() as c:
        output_0 = c.predict(x)
        output_0 = c.collatz(n)

Arguments are NumPy arrays (strided ones are not copied here); results are new arrays, or those given as `out`. Elements of type bfloat16
are uint16 here.
"""
import ctypes as _c
import os as _os

import numpy as _np


class _Tensor(_c.Structure):
    _fields_ = [("data", _c.c_void_p), ("device_type", _c.c_int32), ("device_id", _c.c_int32), ("ndim", _c.c_int32), ("code", _c.c_uint8),
                ("bits", _c.c_uint8), ("lanes", _c.c_uint16), ("shape", _c.POINTER(_c.c_int64)), ("strides", _c.POINTER(_c.c_int64)),
                ("byte_offset", _c.c_uint64)]


class _Options(_c.Structure):
    _fields_ = [("struct_size", _c.c_size_t), ("num_threads", _c.c_int32), ("device", _c.c_int32), ("memory_limit", _c.c_uint64),
                ("alloc", _c.c_void_p), ("dealloc", _c.c_void_p), ("user", _c.c_void_p)]


_lib = _c.CDLL(_os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "libold.so"))
_lib.old_last_error.restype = _lib.old_metadata_json.restype = _c.c_char_p
_lib.old_context_free.restype = None
_lib.old_context_free.argtypes = _lib.old_last_error.argtypes = _lib.old_context_cancel.argtypes = [_c.c_void_p]
_ndarray, _empty = _np.ndarray, _np.empty
_Elements = _c.c_char * 0
_elements = _Elements.from_buffer
_float32 = _np.dtype("float32")
_int32 = _np.dtype("int32")
_flat_predict = _lib.old_predict_f32
_flat_predict.argtypes = [_c.c_void_p, _Elements, _c.c_int64, _Elements]
_flat_collatz = _lib.old_collatz_i32
_flat_collatz.argtypes = [_c.c_void_p, _Elements, _Elements]
_FUNCTIONS = {
    "predict": ((("x", _np.float32, ("n", 3, )), ), (("output_0", _np.float32, ("n", 2, )), )),
    "collatz": ((("n", _np.int32, ()), ), (("output_0", _np.int32, ()), )),
}
_BFLOAT16 = {} or set()
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
_NO_CONTEXT = {4: "no memory for a context", 6: "this machine has not the processor or the GPU that the library was built for"}


class Error(RuntimeError):
    """What a call that failed had to say; `status` is the number of its tfl_status."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def metadata():
    """Functions, types and variables of the library as JSON text."""
    return _lib.old_metadata_json().decode()


def _read_only(array):
    """The elements of an array that from_buffer does not take; None where they are not row-major."""
    return _Elements.from_address(array.__array_interface__["data"][0]) if array.flags.c_contiguous else None


def _given(out, dtype, shape):
    """The elements of a result that the caller gives, where they can be written as they lie."""
    plain = type(out) is _ndarray and out.dtype is dtype and out.shape == shape and out.flags.carray
    return _elements(out) if plain else None


def _path(path):
    path = _os.fsencode(path)
    if b"\0" in path:
        raise ValueError("embedded null byte")
    return path


def _as_returned(out):
    return None if not out else out[0] if len(out) == 1 else tuple(out)


def _describe(array, bfloat16):
    t = _Tensor(array.ctypes.data, 1, 0, array.ndim, 4 if bfloat16 else _CODES[array.dtype.kind], array.dtype.itemsize * 8, 1)
    shape = (_c.c_int64 * (2 * array.ndim + 1))(*array.shape, *[s // array.itemsize for s in array.strides])
    t.shape = _c.cast(shape, _c.POINTER(_c.c_int64))
    t.strides = _c.cast(_c.byref(shape, 8 * array.ndim), _c.POINTER(_c.c_int64))
    t.keep = shape, array
    return t


class Context:
    """Variables, memory and threads of the library; one thread at a time."""

    def __init__(self, num_threads=0, memory_limit=0, device=0):
        for name, value, most in ("num_threads", num_threads, 2**31), ("memory_limit", memory_limit, 2**64), ("device", device, 2**31):
            if not 0 <= value < most:
                raise ValueError(f"{name} is {value}")
        options = _Options(_c.sizeof(_Options), num_threads, device, memory_limit, None, None, None)
        self._context = _c.c_void_p()
        status = _lib.old_context_new(_c.byref(options), _c.byref(self._context))
        if status:
            raise Error(status, "old: " + _NO_CONTEXT.get(status, f"no context can be made (status {status})"))

    def close(self):
        _lib.old_context_free(self._context)
        self._context = _c.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_context", None):
            self.close()

    def cancel(self):
        """From any thread: the call in progress, or else the next one, fails."""
        _lib.old_context_cancel(self._context)

    def _check(self, status):
        if status:
            raise Error(status, _lib.old_last_error(self._context).decode())

    def _arguments(self, name, values):
        tensors = []
        for value, (own, dtype, _) in zip(values, _FUNCTIONS[name][0]):
            if value is None:
                raise TypeError(f"{name}: {own} is None")
            bfloat16 = (name, own) in _BFLOAT16
            array = value if isinstance(value, _ndarray) else _np.asarray(value, dtype)
            if bfloat16 and array.dtype.name == "bfloat16":
                array = array.view(dtype)
            if array.dtype != dtype:
                raise TypeError(f"{name}: {own} must be {_np.dtype(dtype)!r} and is {array.dtype!r}")
            if array.size and any(s % array.itemsize for s in array.strides):
                array = _np.ascontiguousarray(array)
            tensors.append(_describe(array, bfloat16))
        return tensors

    def _results(self, name, out):
        wanted = _FUNCTIONS[name][1]
        out = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(out) != len(wanted):
            raise TypeError(f"{name}: out must be {len(wanted)} arrays and is {len(out)}")
        for array, (own, dtype, _) in zip(out, wanted):
            if not isinstance(array, _ndarray) or array.dtype != dtype:
                kind = array.dtype if isinstance(array, _ndarray) else type(array).__name__
                raise TypeError(f"{name}: {own} must be an array of {_np.dtype(dtype)!r} and is {kind!r}")
            if not array.flags.writeable:
                raise ValueError(f"{name}: {own} is read-only")
            if array.size and any(s % array.itemsize for s in array.strides):
                raise ValueError(f"{name}: {own} must be row-major")
        return out

    def _call(self, name, values, out):
        results = _FUNCTIONS[name][1]
        tensors = self._arguments(name, values)
        pointers = [_c.byref(t) for t in tensors]
        if out is None:
            shapes = [(_c.c_int64 * max(len(s), 1))() for _, _, s in results]
            self._check(getattr(_lib, f"old_{name}_shape")(self._context, *pointers, *shapes))
            out = [_np.empty(tuple(got[:len(s)]), dtype) for (_, dtype, s), got in zip(results, shapes)]
        else:
            out = self._results(name, out)
        given = [_describe(a, (name, own) in _BFLOAT16) for a, (own, _, _) in zip(out, results)]
        self._check(getattr(_lib, f"old_{name}")(self._context, *pointers, *[_c.byref(t) for t in given]))
        return _as_returned(out)

    def save(self, path):
        self._check(_lib.old_state_save(self._context, _path(path)))

    def load(self, path):
        self._check(_lib.old_state_load(self._context, _path(path)))

    def predict(self, x, out=None):
        if type(x) is _ndarray and x.dtype is _float32 and x.ndim == 2:
            n_, _0 = x.shape
            x_ = _elements(x) if x.flags.carray else _read_only(x)
            if _0 == 3 and x_ is not None:
                if out is None:
                    out = _empty((n_, 2), _float32)
                    _out = _elements(out)
                else:
                    _out = _given(out, _float32, (n_, 2))
                if _out is not None:
                    _status = _flat_predict(self._context, x_, n_, _out)
                    if _status:
                        self._check(_status)
                    return out
        return self._call("predict", (x,), out)

    def collatz(self, n, out=None):
        if type(n) is _ndarray and n.dtype is _int32 and n.ndim == 0:
            n_ = _elements(n) if n.flags.carray else _read_only(n)
            if n_ is not None:
                if out is None:
                    out = _empty((), _int32)
                    _out = _elements(out)
                else:
                    _out = _given(out, _int32, ())
                if _out is not None:
                    _status = _flat_collatz(self._context, n_, _out)
                    if _status:
                        self._check(_status)
                    return out
        return self._call("collatz", (n,), out)
