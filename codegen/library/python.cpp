// The Python module of a library: the functions through ctypes, on NumPy's arrays.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "codegen/library/library.h"
#include "codegen/library/listed.h"

namespace tfl::codegen {

namespace {

std::string_view numpy_type(DType d) {
  switch (d) {
    case DType::BF16: return "uint16";
    case DType::Bool: return "bool_";
    default: return dtype_name(d);
  }
}

std::string with_name(std::string_view text, const std::string& library) {
  constexpr std::string_view kName = "LIBRARY";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t next = std::min(text.find(kName, at), text.size());
    out += text.substr(at, next - at);
    if (next < text.size()) out += library;
    at = next + kName.size();
  }
  return out;
}

constexpr std::string_view kStructures = R"py(
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


_lib = _c.CDLL(_os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "libLIBRARY.so"))
_lib.LIBRARY_last_error.restype = _lib.LIBRARY_metadata_json.restype = _c.c_char_p
_lib.LIBRARY_context_free.restype = None
_lib.LIBRARY_context_free.argtypes = _lib.LIBRARY_last_error.argtypes = _lib.LIBRARY_context_cancel.argtypes = [_c.c_void_p]
)py";

// A row-major array is handed to the form for plain pointers as a ctypes array of no elements in its memory, which costs a fifth of what asking NumPy for
// the address does.
constexpr std::string_view kHelpers = R"py(_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
_NO_CONTEXT = {4: "no memory for a context", 6: "this machine has not the processor or the GPU that the library was built for"}


class Error(RuntimeError):
    """What a call that failed had to say; `status` is the number of its tfl_status."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def metadata():
    """Functions, types and variables of the library as JSON text."""
    return _lib.LIBRARY_metadata_json().decode()


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
        status = _lib.LIBRARY_context_new(_c.byref(options), _c.byref(self._context))
        if status:
            raise Error(status, "LIBRARY: " + _NO_CONTEXT.get(status, f"no context can be made (status {status})"))

    def close(self):
        _lib.LIBRARY_context_free(self._context)
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
        _lib.LIBRARY_context_cancel(self._context)

    def _check(self, status):
        if status:
            raise Error(status, _lib.LIBRARY_last_error(self._context).decode())

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
            self._check(getattr(_lib, f"LIBRARY_{name}_shape")(self._context, *pointers, *shapes))
            out = [_np.empty(tuple(got[:len(s)]), dtype) for (_, dtype, s), got in zip(results, shapes)]
        else:
            out = self._results(name, out)
        given = [_describe(a, (name, own) in _BFLOAT16) for a, (own, _, _) in zip(out, results)]
        self._check(getattr(_lib, f"LIBRARY_{name}")(self._context, *pointers, *[_c.byref(t) for t in given]))
        return _as_returned(out)
)py";

constexpr std::string_view kVariables = R"py(
    def save(self, path):
        self._check(_lib.LIBRARY_state_save(self._context, _path(path)))

    def load(self, path):
        self._check(_lib.LIBRARY_state_load(self._context, _path(path)))
)py";

constexpr std::string_view kAllocating = R"py(
    def _call_alloc(self, name, values):
        results = _FUNCTIONS[name][1]
        tensors = self._arguments(name, values)
        given = [_Tensor() for _ in results]
        self._check(getattr(_lib, f"LIBRARY_{name}_alloc")(self._context, *[_c.byref(t) for t in tensors + given]))
        out = []
        for t, (_, dtype, shape) in zip(given, results):
            array = _np.empty(tuple(t.shape[:len(shape)]), dtype)
            if array.size:
                _c.memmove(array.ctypes.data, t.data, array.nbytes)
            _lib.LIBRARY_tensor_free(self._context, _c.byref(t))
            out.append(array)
        return _as_returned(out)
)py";

// (name, dtype, shape with None or the name of a size)
std::string described(const Interface::Value& v) {
  std::string dims;
  for (size_t i = 0; i < v.dims.size(); ++i)
    dims += (plan::is_known(v.dims[i]) ? std::to_string(v.dims[i]) : "\"" + v.sizes[i] + "\"") + ", ";
  return fmt::format("(\"{}\", _np.{}, ({}))", v.name, numpy_type(v.dtype), dims);
}
std::string described(const std::vector<Interface::Value>& values) {
  std::string out;
  for (const auto& v : values) out += described(v) + ", ";
  return "(" + out + ")";
}

// "(n_, 10)"
std::string shape_text(const Interface::Value& v) {
  std::string out;
  for (size_t k = 0; k < v.dims.size(); ++k) out += (k ? ", " : "") + v.sizes[k] + (plan::is_known(v.dims[k]) ? "" : "_");
  return fmt::format("({}{})", out, v.dims.size() == 1 ? "," : "");
}

std::string type_of(const Interface::Value& v) { return fmt::format("_{}", numpy_type(v.dtype)); }

// A way around the description of tensors, for row-major arrays of the right types whose results have sizes that the arguments
// tell. Empty where there is none. Elements of x are x_, the size n is n_; what begins with an underscore is the module's.
std::string fast_way(const LoweredFunction& f) {
  const Interface& face = f.face;
  auto own = [](const std::string& name) { return name.front() == '_' || name.back() == '_' || name == "out"; };
  for (const auto* list : {&face.arguments, &face.outputs}) {
    for (const auto& v : *list) {
      bool taken = list == &face.arguments ? own(v.name) : v.name.back() == '_';
      if (taken || v.dtype == DType::BF16 || std::find(v.sizes.begin(), v.sizes.end(), "?") != v.sizes.end()) return {};
    }
  }
  auto require = [](std::string& condition, const std::string& more) { condition += (condition.empty() ? "" : " and ") + more; };
  const bool one = face.outputs.size() == 1;
  std::string types = one ? "" : "out is None", read, fits, call = "self._context";
  std::vector<std::string> known;
  int axes = 0;
  for (const auto& v : face.arguments) {
    require(types,
            fmt::format("type({0}) is _ndarray and {0}.dtype is {1} and {0}.ndim == {2}", v.name, type_of(v), v.dims.size()));
    std::string names;
    for (size_t k = 0; k < v.dims.size(); ++k) {
      bool fixed = plan::is_known(v.dims[k]);
      std::string size = v.sizes[k] + (fixed ? "" : "_"), name = size;
      if (fixed || std::find(known.begin(), known.end(), size) != known.end())
        require(fits, fmt::format("{} == {}", name = fmt::format("_{}", axes++), size));
      else
        known.push_back(size);
      names += name + (v.dims.size() == 1 ? "," : k + 1 < v.dims.size() ? ", " : "");
    }
    if (!names.empty()) read += fmt::format("            {} = {}.shape\n", names, v.name);
    read += fmt::format("            {0}_ = _elements({0}) if {0}.flags.carray else _read_only({0})\n", v.name);
    require(fits, v.name + "_ is not None");
    call += fmt::format(", {}_", v.name);
  }
  if (face.arguments.empty()) return {};
  for (const auto& o : face.open) {
    if (own(o.name) || std::find(known.begin(), known.end(), o.name + "_") == known.end()) return {};
    call += fmt::format(", {}_", o.name);
  }
  std::string make, given;
  for (const auto& v : face.outputs) {
    std::string type = type_of(v), shape = shape_text(v);
    call += one ? ", _out" : fmt::format(", _elements({}_)", v.name);
    given += fmt::format("{}{}_", given.empty() ? "" : ", ", v.name);
    make += one ? fmt::format(
                      "                if out is None:\n                    out = _empty({0}, {1})\n                    _out = "
                      "_elements(out)\n"
                      "                else:\n                    _out = _given(out, {1}, {0})\n                if _out is not "
                      "None:\n",
                      shape, type)
                : fmt::format("                {}_ = _empty({}, {})\n", v.name, shape, type);
  }
  std::string indent = one ? "    " : "";
  return fmt::format(
      "        if {0}:\n{1}            if {2}:\n{3}                {4}_status = _flat_{5}({6})\n"
      "                {4}if _status:\n                    {4}self._check(_status)\n                {4}return {7}\n",
      types, read, fits, make, indent, f.from->name, call,
      one             ? "out"
      : given.empty() ? "None"
                      : given);
}

// What a function is called in the class, whose own members keep their names; and an argument beside `out`.
std::string method_name(const std::string& name) {
  constexpr std::array kOwn = {"close",  "cancel",     "save",     "load",  "_context",
                               "_check", "_arguments", "_results", "_call", "_call_alloc"};
  bool own = std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end() || name.starts_with("__");
  return own ? name + (name.ends_with("_") ? "2" : "_") : name;
}
std::string parameter_name(const Interface::Value& v) { return v.name == "out" ? "out_" : v.name; }

// The form for plain pointers: its types, and a name of its own.
std::string flat_form(const std::string& library, const LoweredFunction& f) {
  auto pointer = [](const auto&) { return std::string("_Elements"); };
  std::string types = listed("_c.c_void_p", f.face, pointer, [](const auto&) { return std::string("_c.c_int64"); }, pointer);
  return fmt::format("_flat_{0} = _lib.{1}_{0}_{2}\n_flat_{0}.argtypes = [{3}]\n", f.from->name, library, f.face.flat_suffix,
                     types);
}

}  // namespace

std::string library_python(const LibraryRequest& request, const std::vector<LoweredFunction>& functions) {
  const std::string& n = request.name;
  std::string out =
      fmt::format("\"\"\"{0}: made by tfl build from {1}.\n\n    import {0}\n    with {0}.Context() as c:\n", n, request.source);
  std::string flat, table, halves;
  std::vector<DType> types;
  for (const LoweredFunction& f : functions) {
    const Interface& face = f.face;
    auto name = [](const auto& v) { return v.name; };
    std::string in = listed("", face, parameter_name, kLeftOut, kLeftOut), results = listed("", face, kLeftOut, kLeftOut, name);
    out += fmt::format("        {}{}c.{}({})\n", results, results.empty() ? "" : " = ", method_name(f.from->name), in);
    if (!f.allocates()) flat += flat_form(n, f);
    table += fmt::format("    \"{}\": ({}, {}),\n", f.from->name, described(face.arguments), described(face.outputs));
    for (const auto* list : {&face.arguments, &face.outputs}) {
      for (const auto& v : *list) {
        if (v.dtype == DType::BF16) halves += fmt::format("(\"{}\", \"{}\"), ", f.from->name, v.name);
        if (std::find(types.begin(), types.end(), v.dtype) == types.end()) types.push_back(v.dtype);
      }
    }
  }
  out += with_name(kStructures, n);
  if (allocates(functions)) out += fmt::format("_lib.{0}_tensor_free.restype = None\n", n);
  out += "_ndarray, _empty = _np.ndarray, _np.empty\n_Elements = _c.c_char * 0\n_elements = _Elements.from_buffer\n";
  for (DType t : types) {
    if (t != DType::BF16) out += fmt::format("_{0} = _np.dtype(\"{1}\")\n", numpy_type(t), dtype_name(t));
  }
  out += flat + "_FUNCTIONS = {\n" + table + "}\n_BFLOAT16 = {" + halves + "} or set()\n" + with_name(kHelpers, n);
  if (!request.states.empty()) out += with_name(kVariables, n);
  if (allocates(functions)) out += with_name(kAllocating, n);
  for (const LoweredFunction& f : functions) {
    std::string in;
    for (const auto& v : f.face.arguments) in += parameter_name(v) + ", ";
    std::string_view way = f.allocates() ? "_call_alloc" : "_call", given = f.allocates() ? "" : "out=None",
                     last = f.allocates() ? "" : ", out";
    std::string parameters = "self, " + in + std::string(given);
    if (f.allocates()) parameters.resize(parameters.size() - 2);
    out += fmt::format("\n    def {}({}):\n{}        return self.{}(\"{}\", ({}){})\n", method_name(f.from->name), parameters,
                       f.allocates() ? "" : fast_way(f), way, f.from->name, in.empty() ? in : in.substr(0, in.size() - 1), last);
  }
  return out;
}

}  // namespace tfl::codegen
