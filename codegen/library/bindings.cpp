// What goes with a library besides its headers and its Python module: metadata, pkg-config, CMake.
#include <fmt/core.h>

#include "codegen/library/library.h"
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
  return fmt::format("{{\"name\": {}, \"dtype\": \"{}\", \"shape\": [{}]}}", json_string(v.name), dtype_name(v.dtype), dims);
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
        &f == &functions[0] ? "" : ",", json_string(f.from->name), json_values(face.arguments), json_values(face.outputs),
        f.allocates(), f.stepwise() ? "null" : memory_of(f.parts[0].plan), memory_text(f), json_string(f.from->doc),
        graph_json(f));
  }
  out += functions.empty() ? "],\n  \"variables\": [" : "\n  ],\n  \"variables\": [";
  for (const ExportedState& s : request.states) {
    std::string dims;
    for (int64_t d : s.value.dims()) dims += (dims.empty() ? "" : ", ") + std::to_string(d);
    out += fmt::format("{}\n    {{\"name\": {}, \"dtype\": \"{}\", \"shape\": [{}]}}", &s == &request.states[0] ? "" : ",",
                       json_string(s.name), dtype_name(s.value.dtype()), dims);
  }
  return out + (request.states.empty() ? "]\n}\n" : "\n  ]\n}\n");
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
