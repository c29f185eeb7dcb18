// What goes with a library besides its headers: metadata, the Python module, pkg-config, CMake.
#include <fmt/core.h>

#include <algorithm>

#include "codegen/library/library.h"
#include "codegen/library/listed.h"
#include "ir/text.h"

namespace tfl::codegen {

namespace {

std::string json_string(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", c);
    else
      out.push_back(c);
  }
  return out + "\"";
}

std::string json_value(const Interface::Value& v) {
  std::string dims;
  for (size_t i = 0; i < v.dims.size(); ++i)
    dims += (i ? ", " : "") + (plan::is_known(v.dims[i]) ? std::to_string(v.dims[i]) : json_string(v.sizes[i]));
  return fmt::format("{{\"name\": {}, \"dtype\": \"{}\", \"shape\": [{}]}}", json_string(v.name), dtype_name(v.dtype),
                     dims);
}
std::string json_values(const std::vector<Interface::Value>& values) {
  std::string out;
  for (const auto& v : values) out += (out.empty() ? "" : ", ") + json_value(v);
  return "[" + out + "]";
}

// Bytes of the arena where they are known.
std::string memory_of(const plan::Plan& p) {
  int64_t total = 0;
  for (plan::Size s : p.slots) {
    if (!plan::is_known(s)) return "null";
    total += (s + 63) / 64 * 64;
  }
  return std::to_string(total);
}

// "4 * n": a size in words of the caller's sizes; empty where those do not tell.
std::string size_text(const plan::Plan& p, plan::Size s, const Interface& face) {
  if (plan::is_known(s)) return std::to_string(s);
  const plan::Symbol& symbol = p.symbols[plan::symbol_of(s)];
  for (const Interface::OpenSize& o : face.open) {
    if (o.size == s) return o.name;
  }
  if (symbol.kind == plan::Symbol::Kind::dim || symbol.kind == plan::Symbol::Kind::element) return {};
  std::string a = size_text(p, symbol.a, face), b = size_text(p, symbol.b, face);
  if (a.empty() || b.empty()) return {};
  auto grouped = [](const std::string& x) { return x.find(' ') == std::string::npos || x.back() == ')' ? x : "(" + x + ")"; };
  switch (symbol.kind) {
    case plan::Symbol::Kind::add: return a + " + " + b;
    case plan::Symbol::Kind::subtract: return a + " - " + grouped(b);
    case plan::Symbol::Kind::multiply: return grouped(a) + " * " + grouped(b);
    case plan::Symbol::Kind::divide: return grouped(a) + " // " + grouped(b);
    case plan::Symbol::Kind::maximum: return fmt::format("max({}, {})", a, b);
    default: return fmt::format("min({}, {})", a, b);
  }
}

// Bytes that a call takes besides arguments and results, as text.
std::string memory_text(const LoweredFunction& f) {
  if (f.stepwise()) return "null";
  const plan::Plan& p = f.parts[0].plan;
  int64_t known = 0;
  std::string out;
  for (plan::Size s : p.slots) {
    if (plan::is_known(s)) {
      known += (s + 63) / 64 * 64;
      continue;
    }
    std::string text = size_text(p, s, f.face);
    if (text.empty()) return "null";
    out += (out.empty() ? "" : " + ") + text;
  }
  if (known || out.empty()) out = std::to_string(known) + (out.empty() ? "" : " + " + out);
  return json_string(out);
}

constexpr size_t kLargestText = 1 << 18;  // of a graph

// "graph": the text of `tfl inspect LIB --function NAME`, and the types of the constants that it leaves out.
std::string graph_json(const LoweredFunction& f) {
  std::vector<Tensor> apart;
  ir::TextOptions options;
  options.names = true;
  options.apart = &apart;
  std::string text = ir::to_text(*f.shown, options), types;
  for (const Tensor& t : apart) {
    std::string dims;
    for (int64_t d : t.dims()) dims += (dims.empty() ? "" : ", ") + std::to_string(d);
    types += fmt::format("{}{{\"dtype\": \"{}\", \"shape\": [{}]}}", types.empty() ? "" : ", ", dtype_name(t.dtype()), dims);
  }
  return fmt::format("\"graph\": {}, \"constants\": [{}]", text.size() <= kLargestText ? json_string(text) : "null", types);
}

std::string_view numpy_type(DType d) {
  switch (d) {
    case DType::BF16: return "uint16";
    case DType::Bool: return "bool_";
    default: return dtype_name(d);
  }
}

// A way around the description of tensors, for row-major arrays of the right types whose results have sizes that the arguments
// tell: the condition under which it serves, and its statements. Empty where there is none.
std::string python_fast_way(const std::string& library, const LoweredFunction& f, const Interface& face) {
  auto plain = [](const Interface::Value& v) { return v.dtype != DType::BF16; };
  for (const auto* list : {&face.arguments, &face.outputs}) {
    for (const auto& v : *list) {
      if (!plain(v) || std::find(v.sizes.begin(), v.sizes.end(), "?") != v.sizes.end()) return {};
    }
  }
  std::string condition = "out is None", sizes, arguments, results, made;
  std::vector<std::pair<std::string, std::string>> known;  // name of a size, where it is read
  for (const auto& v : face.arguments) {
    condition += fmt::format(
        " and type({0}) is _np.ndarray and {0}.dtype is _TYPES[\"{1}\"] and {0}.flags.c_contiguous and {0}.ndim == {2}",
        v.name, numpy_type(v.dtype), v.dims.size());
    for (size_t k = 0; k < v.dims.size(); ++k) {
      std::string place = fmt::format("{}.shape[{}]", v.name, k);
      if (plan::is_known(v.dims[k])) {
        condition += fmt::format(" and {} == {}", place, v.dims[k]);
        continue;
      }
      auto seen = std::find_if(known.begin(), known.end(), [&](const auto& e) { return e.first == v.sizes[k]; });
      if (seen == known.end())
        known.emplace_back(v.sizes[k], place);
      else
        condition += fmt::format(" and {} == {}", place, seen->second);
    }
    arguments += fmt::format(", {}.__array_interface__[\"data\"][0]", v.name);
  }
  for (const auto& o : face.open) {
    auto seen = std::find_if(known.begin(), known.end(), [&](const auto& e) { return e.first == o.name; });
    if (seen == known.end()) return {};
    sizes += fmt::format("            {}_ = {}\n", o.name, seen->second);
    arguments += fmt::format(", {}_", o.name);
  }
  for (const auto& v : face.outputs) {
    std::string dims;
    for (size_t k = 0; k < v.dims.size(); ++k)
      dims += (plan::is_known(v.dims[k]) ? v.sizes[k] : v.sizes[k] + "_") + ", ";
    made += fmt::format("            {}_ = _np.empty(({}), _TYPES[\"{}\"])\n", v.name, dims, numpy_type(v.dtype));
    arguments += fmt::format(", {}_.__array_interface__[\"data\"][0]", v.name);
    results += fmt::format("{}{}_", results.empty() ? "" : ", ", v.name);
  }
  return fmt::format(
      "        if {}:\n{}{}            status = _lib.{}_{}_{}(self._context{})\n            if status:\n               "
      " self._check(status)\n            return {}\n",
      condition, sizes, made, library, f.from->name, face.flat_suffix, arguments, results.empty() ? "None" : results);
}

// (name, dtype, shape with None or the name of a size)
std::string python_value(const Interface::Value& v) {
  std::string dims;
  for (size_t i = 0; i < v.dims.size(); ++i)
    dims += (plan::is_known(v.dims[i]) ? std::to_string(v.dims[i]) : "\"" + v.sizes[i] + "\"") + ", ";
  return fmt::format("(\"{}\", _np.{}, ({}))", v.name, numpy_type(v.dtype), dims);
}

}  // namespace

std::string library_metadata(const LibraryRequest& request, const std::vector<LoweredFunction>& functions) {
  std::string out =
      fmt::format("{{\n  \"name\": {},\n  \"abi\": 1,\n  \"source\": {},\n  \"target\": \"{}\",\n  \"functions\": [",
                  json_string(request.name), json_string(request.source), cpu_name(request.cpu));
  for (const LoweredFunction& f : functions) {
    const Interface& face = f.face;
    out += fmt::format(
        "{}\n    {{\"name\": {}, \"arguments\": {}, \"results\": {}, \"allocates\": {}, \"temporary_bytes\": {}, "
        "\"temporary\": {}, \"doc\": {}, {}}}",
        &f == &functions[0] ? "" : ",", json_string(f.from->name), json_values(face.arguments),
        json_values(face.outputs), f.allocates(), f.stepwise() ? "null" : memory_of(f.parts[0].plan),
        memory_text(f), json_string(f.from->doc), graph_json(f));
  }
  out += functions.empty() ? "],\n  \"variables\": [" : "\n  ],\n  \"variables\": [";
  for (const ExportedState& s : request.states) {
    std::string dims;
    for (int64_t d : s.value.dims()) dims += (dims.empty() ? "" : ", ") + std::to_string(d);
    out += fmt::format("{}\n    {{\"name\": {}, \"dtype\": \"{}\", \"shape\": [{}]}}",
                       &s == &request.states[0] ? "" : ",", json_string(s.name), dtype_name(s.value.dtype()), dims);
  }
  return out + (request.states.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

std::string library_python(const LibraryRequest& request, const std::vector<LoweredFunction>& functions) {
  const std::string& n = request.name;
  std::string out = fmt::format(
      "\"\"\"{0}: made by tfl build from {1}.\n\n    import {0}\n    with {0}.Context() as c:\n", n, request.source);
  for (const LoweredFunction& f : functions) {
    const Interface& face = f.face;
    auto name = [](const auto& v) { return v.name; };
    std::string in = listed("", face, name, kLeftOut, kLeftOut), results = listed("", face, kLeftOut, kLeftOut, name);
    out += fmt::format("        {}{}c.{}({})\n", results, results.empty() ? "" : " = ", f.from->name, in);
  }
  out +=
      "\nArguments are NumPy arrays (strided ones are not copied here); results are new arrays, or those given as "
      "`out`.\n\"\"\"\n"
      "import ctypes as _c\nimport os as _os\n\nimport numpy as _np\n\n\n"
      "class _Tensor(_c.Structure):\n"
      "    _fields_ = [(\"data\", _c.c_void_p), (\"device_type\", _c.c_int32), (\"device_id\", _c.c_int32), (\"ndim\", "
      "_c.c_int32), (\"code\", _c.c_uint8),\n"
      "                (\"bits\", _c.c_uint8), (\"lanes\", _c.c_uint16), (\"shape\", _c.POINTER(_c.c_int64)), "
      "(\"strides\", _c.POINTER(_c.c_int64)),\n"
      "                (\"byte_offset\", _c.c_uint64)]\n\n\n"
      "class _Options(_c.Structure):\n"
      "    _fields_ = [(\"struct_size\", _c.c_size_t), (\"num_threads\", _c.c_int32), (\"device\", _c.c_int32), "
      "(\"memory_limit\", _c.c_uint64),\n"
      "                (\"alloc\", _c.c_void_p), (\"dealloc\", _c.c_void_p), (\"user\", _c.c_void_p)]\n\n\n";
  out += fmt::format(
      "_lib = _c.CDLL(_os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "
      "\"lib{0}.so\"))\n_lib.{0}_last_error.restype = _c.c_char_p\n_lib.{0}_metadata_json.restype = _c.c_char_p\n",
      n);
  if (allocates(functions)) out += fmt::format("_lib.{0}_tensor_free.restype = None\n", n);
  out += fmt::format(
      "_lib.{0}_context_free.restype = None\n_lib.{0}_context_free.argtypes = _lib.{0}_last_error.argtypes = "
      "_lib.{0}_context_cancel.argtypes = [_c.c_void_p]\n\n",
      n);
  for (const LoweredFunction& f : functions) {
    if (f.allocates()) continue;
    const Interface& face = f.face;
    auto pointer = [](const auto&) { return std::string("_c.c_void_p"); };
    std::string types = listed(
        "_c.c_void_p", face, pointer, [](const auto&) { return std::string("_c.c_int64"); }, pointer);
    out += fmt::format("_lib.{}_{}_{}.argtypes = [{}]\n", n, f.from->name, face.flat_suffix, types);
  }
  out +=
      "\n_TYPES = {name: _np.dtype(name) for name in (\"float16\", \"float32\", \"float64\", \"int8\", \"int16\", "
      "\"int32\", \"int64\", \"uint8\", \"uint16\", \"uint32\", \"uint64\")}\n_TYPES[\"bool_\"] = _np.dtype(bool)\n";
  out += "_FUNCTIONS = {\n";
  for (const LoweredFunction& f : functions) {
    const Interface& face = f.face;
    std::string in, results;
    for (const auto& v : face.arguments) in += python_value(v) + ", ";
    for (const auto& v : face.outputs) results += python_value(v) + ", ";
    out += fmt::format("    \"{}\": (({}), ({})),\n", f.from->name, in, results);
  }
  out += "}\n_BFLOAT16 = {";
  for (const LoweredFunction& f : functions) {
    const Interface& face = f.face;
    for (const auto* list : {&face.arguments, &face.outputs}) {
      for (const auto& v : *list) {
        if (v.dtype == DType::BF16) out += fmt::format("(\"{}\", \"{}\"), ", f.from->name, v.name);
      }
    }
  }
  out += "} or set()\n\n\n";
  out += fmt::format(
      "class Error(RuntimeError):\n    \"\"\"What a call that failed had to say; `status` is the number of its "
      "tfl_status.\"\"\"\n\n"
      "    def __init__(self, status, text):\n        super().__init__(text)\n        self.status = status\n\n\n"
      "def metadata():\n    \"\"\"Functions, types and variables of the library as JSON text.\"\"\"\n    return "
      "_lib.{0}_metadata_json().decode()\n\n\n"
      "_CODES = {{\"i\": 0, \"u\": 1, \"f\": 2, \"b\": 6}}\n\n\n"
      "def _describe(array, bfloat16, writes=False):\n"
      "    if writes and not array.flags.writeable:\n        raise ValueError(\"a result array is read-only\")\n"
      "    t = _Tensor(array.ctypes.data, 1, 0, array.ndim, 4 if bfloat16 else _CODES[array.dtype.kind], "
      "array.dtype.itemsize * 8, 1)\n"
      "    shape = (_c.c_int64 * (2 * array.ndim + 1))(*array.shape, *[s // array.itemsize for s in array.strides])\n"
      "    t.shape = _c.cast(shape, _c.POINTER(_c.c_int64))\n"
      "    t.strides = _c.cast(_c.byref(shape, 8 * array.ndim), _c.POINTER(_c.c_int64))\n"
      "    t.keep = shape\n"
      "    return t\n\n\n",
      n);
  out += fmt::format(
      "class Context:\n    \"\"\"Variables, memory and threads of the library; one thread at a time.\"\"\"\n\n"
      "    def __init__(self, num_threads=0, memory_limit=0, device=0):\n"
      "        options = _Options(_c.sizeof(_Options), num_threads, device, memory_limit, None, None, None)\n"
      "        self._context = _c.c_void_p()\n"
      "        status = _lib.{0}_context_new(_c.byref(options), _c.byref(self._context))\n"
      "        if status:\n            raise Error(status, \"{0}: no context can be made (status %d)\" % status)\n\n"
      "    def close(self):\n        _lib.{0}_context_free(self._context)\n        self._context = _c.c_void_p()\n\n"
      "    def __enter__(self):\n        return self\n\n    def __exit__(self, *_):\n        self.close()\n\n"
      "    def __del__(self):\n        if getattr(self, \"_context\", None):\n            self.close()\n\n"
      "    def cancel(self):\n        \"\"\"From any thread: the call in progress, or else the next one, "
      "fails.\"\"\"\n        _lib.{0}_context_cancel(self._context)\n\n"
      "    def _check(self, status):\n        if status:\n            raise Error(status, "
      "_lib.{0}_last_error(self._context).decode())\n\n",
      n);
  if (!request.states.empty())
    out += fmt::format(
        "    def save(self, path):\n        self._check(_lib.{0}_state_save(self._context, _os.fsencode(path)))\n\n"
        "    def load(self, path):\n        self._check(_lib.{0}_state_load(self._context, _os.fsencode(path)))\n\n",
        n);
  out += fmt::format(
      "    def _arguments(self, name, values):\n"
      "        tensors = []\n"
      "        for value, (own, dtype, _) in zip(values, _FUNCTIONS[name][0]):\n"
      "            if value is None:\n                raise TypeError(f\"{{name}}: {{own}} is None\")\n"
      "            array = value if isinstance(value, _np.ndarray) else _np.asarray(value, dtype)\n"
      "            if array.dtype != dtype:\n"
      "                raise TypeError(f\"{{name}}: {{own}} must be {{_np.dtype(dtype)!r}} and is {{array.dtype!r}}\")\n"
      "            if array.size and any(s % array.itemsize for s in array.strides):\n                array = "
      "_np.ascontiguousarray(array)\n"
      "            tensors.append(_describe(array, (name, own) in _BFLOAT16))\n"
      "            tensors[-1].array = array\n"
      "        return tensors\n\n"
      "    def _call(self, name, values, out):\n"
      "        results = _FUNCTIONS[name][1]\n"
      "        tensors = self._arguments(name, values)\n"
      "        pointers = [_c.byref(t) for t in tensors]\n"
      "        if out is None:\n"
      "            shapes = [(_c.c_int64 * max(len(s), 1))() for _, _, s in results]\n"
      "            self._check(getattr(_lib, f\"{0}_{{name}}_shape\")(self._context, *pointers, *shapes))\n"
      "            out = [_np.empty(tuple(got[:len(s)]), dtype) for (_, dtype, s), got in zip(results, shapes)]\n"
      "        elif len(results) == 1 and not isinstance(out, (tuple, list)):\n            out = [out]\n"
      "        for array, (own, dtype, _) in zip(out, results):\n"
      "            if array.dtype != dtype:\n                raise TypeError(f\"{{name}}: {{own}} is "
      "{{_np.dtype(dtype).name}}\")\n"
      "        given = [_describe(a, (name, own) in _BFLOAT16, True) for a, (own, _, _) in zip(out, results)]\n"
      "        self._check(getattr(_lib, f\"{0}_{{name}}\")(self._context, *pointers, *[_c.byref(t) for t in given]))\n"
      "        return out[0] if len(out) == 1 else tuple(out)\n",
      n);
  if (allocates(functions))
    out += fmt::format(
        "\n    def _call_alloc(self, name, values):\n"
        "        results = _FUNCTIONS[name][1]\n"
        "        tensors = self._arguments(name, values)\n"
        "        given = [_Tensor() for _ in results]\n"
        "        self._check(getattr(_lib, f\"{0}_{{name}}_alloc\")(self._context, *[_c.byref(t) for t in tensors + "
        "given]))\n"
        "        out = []\n"
        "        for t, (_, dtype, shape) in zip(given, results):\n"
        "            array = _np.empty(tuple(t.shape[:len(shape)]), dtype)\n"
        "            if array.size:\n                _c.memmove(array.ctypes.data, t.data, array.nbytes)\n"
        "            _lib.{0}_tensor_free(self._context, _c.byref(t))\n"
        "            out.append(array)\n"
        "        return out[0] if len(out) == 1 else tuple(out)\n",
        n);
  for (const LoweredFunction& f : functions) {
    const Interface& face = f.face;
    std::string in;
    for (const auto& v : face.arguments) in += v.name + ", ";
    if (f.allocates()) {
      out += fmt::format("\n    def {0}(self{1}):\n        return self._call_alloc(\"{0}\", ({2}))\n", f.from->name,
                         in.empty() ? "" : ", " + in.substr(0, in.size() - 2), in);
      continue;
    }
    out += fmt::format("\n    def {0}(self, {1}out=None):\n{2}        return self._call(\"{0}\", ({1}), out)\n",
                       f.from->name, in, python_fast_way(n, f, face));
  }
  return out;
}

std::string library_pkg_config(const LibraryRequest& request) {
  return fmt::format(
      "prefix=${{pcfiledir}}\n\nName: {0}\nDescription: functions of {1}, made by tfl build\nVersion: 1\nLibs: "
      "-L${{prefix}} -l{0}\nLibs.private: -lm -lpthread\nCflags: -I${{prefix}}\n",
      request.name, request.source);
}

std::string library_cmake(const LibraryRequest& request) {
  return fmt::format(
      "# find_package({0} CONFIG) gives {0}::{0}.\n"
      "if(NOT TARGET {0}::{0})\n"
      "  if(EXISTS ${{CMAKE_CURRENT_LIST_DIR}}/lib{0}.so)\n"
      "    add_library({0}::{0} SHARED IMPORTED)\n"
      "    set_target_properties({0}::{0} PROPERTIES IMPORTED_LOCATION ${{CMAKE_CURRENT_LIST_DIR}}/lib{0}.so "
      "IMPORTED_SONAME lib{0}.so)\n"
      "  else()\n"
      "    add_library({0}::{0} STATIC IMPORTED)\n"
      "    set_target_properties({0}::{0} PROPERTIES IMPORTED_LOCATION ${{CMAKE_CURRENT_LIST_DIR}}/lib{0}.a "
      "INTERFACE_LINK_LIBRARIES \"m;pthread\")\n"
      "  endif()\n"
      "  set_target_properties({0}::{0} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${{CMAKE_CURRENT_LIST_DIR}})\n"
      "endif()\n",
      request.name);
}

}  // namespace tfl::codegen
