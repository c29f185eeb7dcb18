// What a library says about itself to its own runtime: see runtime/standalone/reader.c for the form.
#include <fmt/core.h>

#include <algorithm>

#include "codegen/library/library.h"
#include "runtime/kernels/copy.h"

namespace tfl::codegen {

namespace {

class Writer {
 public:
  void integer(int64_t v) { bytes.append(reinterpret_cast<const char*>(&v), 8); }
  template <class T>
  void count(const T& container) {
    integer(static_cast<int64_t>(container.size()));
  }
  void string(std::string_view s) {
    integer(static_cast<int64_t>(s.size()));
    bytes.append(s);
    bytes.append(8 - s.size() % 8, '\0');
  }
  void elements(const Tensor& t) {
    integer(static_cast<int64_t>(t.bytes()));
    while (bytes.size() % 64) bytes.push_back('\0');
    bytes.append(reinterpret_cast<const char*>(t.raw()), t.bytes());
    while (bytes.size() % 8) bytes.push_back('\0');
  }
  template <class D>
  void type(std::string_view name, DType dtype, const D& dims) {
    string(name);
    integer(static_cast<int64_t>(dtype));
    count(dims);
    for (int64_t d : dims) integer(d);
  }

  std::string bytes;
};

void function(Writer& w, const LoweredFunction& f) {
  const plan::Plan& p = f.plan;
  const Interface& face = f.face;
  std::vector<const plan::Value*> placed;
  for (const plan::Value& v : p.values) {
    if (v.word != plan::kNone && v.home != plan::Home::scalar && v.home != plan::Home::pointer) placed.push_back(&v);
  }
  const ir::Locations& locations = *f.graph->locations;
  w.string(f.from->name);
  w.count(p.inputs);
  w.count(face.arguments);
  w.count(p.results);
  w.count(face.outputs);
  w.count(p.symbols);
  w.count(p.guards);
  w.count(placed);
  w.count(p.constants);
  w.count(p.slots);
  w.integer(p.words);
  w.integer(static_cast<int64_t>(locations.size()));
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    std::string name = i < face.arguments.size() ? face.arguments[i].name : fmt::format("variable {}", i);
    w.type(name, p.inputs[i].dtype, p.inputs[i].dims);
  }
  for (uint32_t s : f.state_inputs) w.integer(s);
  for (size_t i = 0; i < p.results.size(); ++i) {
    const plan::ResultPlace& r = p.results[i];
    w.type(i < face.outputs.size() ? face.outputs[i].name : std::string(), r.dtype, r.dims);
    w.integer(static_cast<int64_t>(r.kind));
    w.integer(r.kind == plan::ResultPlace::Kind::scalar ? p.values[r.index].word : r.index);
    w.integer(i < face.outputs.size() ? -1 : f.state_results[i - face.outputs.size()]);
  }
  for (const plan::Symbol& s : p.symbols) {
    w.integer(static_cast<int64_t>(s.kind));
    w.integer(s.input);
    w.integer(s.axis);
    w.integer(s.a);
    w.integer(s.b);
  }
  for (const plan::Guard& g : p.guards) {
    w.integer(static_cast<int64_t>(g.kind));
    w.integer(g.a);
    w.integer(g.b);
  }
  for (const plan::Value* v : placed) {
    w.integer(static_cast<int64_t>(v->home));
    w.integer(v->index);
    w.integer(v->word);
  }
  for (const Tensor& t : p.constants) w.elements(t);
  for (plan::Size s : p.slots) w.integer(s);
  for (uint32_t i = 0; i < locations.size(); ++i) {
    const ir::Location& l = locations[i];
    // Without the folder: libraries do not depend on where they were built.
    w.string(l.line ? fmt::format("{}:{}", l.file.substr(l.file.rfind('/') + 1), l.line) : std::string());
  }
}

}  // namespace

std::string describe_library(const LibraryRequest& request, const std::vector<LoweredFunction>& functions) {
  Writer w;
  w.bytes = "TFLLIB01";
  w.string(request.name);
  w.string(cpu_name(request.cpu));
  w.count(functions);
  w.count(request.states);
  for (const LoweredFunction& f : functions) function(w, f);
  for (const ExportedState& s : request.states) {
    w.type(s.name, s.value.dtype(), s.value.dims());
    const auto* bytes = reinterpret_cast<const char*>(s.value.raw());
    bool zero = std::all_of(bytes, bytes + s.value.bytes(), [](char b) { return b == 0; });  // a context begins with zeros anyway
    zero |= request.weights_in_file;
    w.integer(!zero);
    if (!zero) w.elements(s.value);
  }
  return std::move(w.bytes);
}

}  // namespace tfl::codegen
