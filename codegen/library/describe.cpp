// What a library says about itself to its own runtime: see runtime/standalone/reader.c for the form.
#include <fmt/core.h>

#include <algorithm>

#include "codegen/library/library.h"
#include "codegen/library/writer.h"
#include "runtime/tensor/copy.h"

namespace tfl::codegen {

namespace {

// A graph's machine code as the runtime calls it: the first of the inputs are `arguments`, the others variables.
struct Callable {
  const std::string& name;
  const Part& part;
  std::vector<std::string> arguments, outputs;
  std::vector<uint32_t> state_inputs, state_results;
  std::vector<int64_t> open;  // of each axis of the arguments: which of the sizes that the caller chooses; -1: none
  int64_t steps = -1;         // what runs in its place
};

void pieces(Writer& w, const std::vector<FailureText::Piece>& list) {
  w.count(list);
  for (const FailureText::Piece& piece : list) {
    w.integer(static_cast<int64_t>(piece.kind));
    w.string(piece.text);
    w.integer(piece.a);
    w.integer(piece.b);
    w.integer(piece.number);
  }
}

void function(Writer& w, const Callable& f, uint32_t first_part) {
  const plan::Plan& p = f.part.plan;
  std::vector<const plan::Value*> placed;
  for (const plan::Value& v : p.values) {
    if (v.word != plan::kNone && v.home != plan::Home::scalar && v.home != plan::Home::pointer) placed.push_back(&v);
  }
  w.string(f.name);
  w.count(p.inputs);
  w.count(f.arguments);
  w.count(p.results);
  w.count(f.outputs);
  w.count(p.symbols);
  w.count(p.guards);
  w.count(placed);
  w.count(p.constants);
  w.count(p.slots);
  w.integer(p.words);
  w.count(f.part.failures);
  w.integer(f.part.otherwise < 0 ? -1 : first_part + f.part.otherwise);
  w.integer(f.steps);
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    std::string name = i < f.arguments.size() ? f.arguments[i] : fmt::format("variable {}", i);
    w.type(name, p.inputs[i].dtype, p.inputs[i].dims);
  }
  w.count(f.open);
  for (int64_t n : f.open) w.integer(n);
  for (uint32_t s : f.state_inputs) w.integer(s);
  for (size_t i = 0; i < p.results.size(); ++i) {
    const plan::ResultPlace& r = p.results[i];
    w.type(i < f.outputs.size() ? f.outputs[i] : std::string(), r.dtype, r.dims);
    w.integer(static_cast<int64_t>(r.kind));
    w.integer(r.kind == plan::ResultPlace::Kind::scalar ? p.values[r.index].word : r.index);
    w.integer(i < f.outputs.size() ? -1 : f.state_results[i - f.outputs.size()]);
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
    w.integer(g.location);
  }
  for (const plan::Value* v : placed) {
    w.integer(static_cast<int64_t>(v->home));
    w.integer(v->index);
    w.integer(v->word);
  }
  for (const Tensor& t : p.constants) w.elements(t);
  for (plan::Size s : p.slots) w.integer(s);
  for (const FailureText& text : f.part.failures) {
    w.string(text.place);
    w.integer(text.explanation < 0 ? -1 : first_part + text.explanation);
    pieces(w, text.pieces);
    pieces(w, text.sizes);
  }
}

std::vector<int64_t> open_axes(const Interface& face) {
  std::vector<int64_t> out;
  for (const Interface::Value& v : face.arguments) {
    for (plan::Size d : v.dims) {
      auto open = std::find_if(face.open.begin(), face.open.end(), [&](const auto& o) { return d == ~int64_t{o.number}; });
      out.push_back(open == face.open.end() ? -1 : open - face.open.begin());
    }
  }
  return out;
}

// One after the other, in the order of build.cpp's entries.
void parts(Writer& w, const LoweredFunction& f, uint32_t& number, uint32_t& stepwise) {
  uint32_t first = number;
  number += static_cast<uint32_t>(f.parts.size());
  std::vector<uint32_t> whole = whole_parts(f);
  for (const Part& part : f.parts) {
    Callable c{f.from->name, part, {}, {}, {}, {}, {}};
    if (!part.has_code) c.steps = stepwise;
    if (std::find(whole.begin(), whole.end(), &part - f.parts.data()) != whole.end()) {
      for (const auto& v : f.face.arguments) c.arguments.push_back(v.name);
      for (const auto& v : f.face.outputs) c.outputs.push_back(v.name);
      c.state_inputs = f.state_inputs;
      c.state_results = f.state_results;
      if (&part == &f.parts[0]) c.open = open_axes(f.face);
    } else {
      c.arguments.resize(part.plan.inputs.size(), "a value");
      c.outputs.resize(part.plan.results.size(), "a result");
    }
    function(w, c, first);
  }
  stepwise += f.stepwise();
}

void numbers(Writer& w, const std::vector<uint32_t>& list) {
  w.count(list);
  for (uint32_t v : list) w.integer(v);
}

// The steps of a function in one list: its own, then those of regions, each region's one after the other.
struct StepList {
  struct Item {
    const Step* step;
    size_t first_region;
  };
  struct Region {
    const Step::Region* of;
    size_t first;
  };
  std::vector<Item> items;
  std::vector<Region> regions;

  void add(const std::vector<Step>& steps) {
    size_t first = items.size();
    for (const Step& s : steps) items.push_back({&s, 0});
    for (size_t i = 0; i < steps.size(); ++i) {
      items[first + i].first_region = regions.size();
      for (const Step::Region& r : steps[i].regions) regions.push_back({&r, 0});
      for (size_t k = 0; k < steps[i].regions.size(); ++k) {
        regions[items[first + i].first_region + k].first = items.size();
        add(steps[i].regions[k].steps);
      }
    }
  }
};

void steps(Writer& w, const LoweredFunction& f, uint32_t& number) {
  StepList list;
  list.add(f.steps);
  w.string(f.from->name);
  w.count(f.face.arguments);
  w.count(f.face.outputs);
  w.count(f.values);
  w.count(list.items);
  w.count(list.regions);
  w.count(f.steps);
  for (const auto& v : f.face.arguments) w.type(v.name, v.dtype, v.dims);
  numbers(w, f.state_inputs);
  for (const StepValue& v : f.values) {
    w.integer(static_cast<int64_t>(v.dtype));
    w.integer(v.rank);
    w.integer(bool(v.constant));
    if (v.constant) {
      for (int64_t d : v.constant.dims()) w.integer(d);
      w.elements(v.constant);
    }
  }
  for (auto& [step, first_region] : list.items) {
    w.integer(static_cast<int64_t>(step->kind));
    w.integer(number + step->part);
    w.integer(step->axis);
    w.integer(static_cast<int64_t>(first_region));
    w.count(step->regions);
    numbers(w, step->inputs);
    numbers(w, step->results);
    pieces(w, step->pieces);
  }
  for (auto& [region, first] : list.regions) {
    w.integer(static_cast<int64_t>(first));
    w.count(region->steps);
    numbers(w, region->params);
    numbers(w, region->results);
  }
  numbers(w, f.results);
  numbers(w, f.state_results);
  number += static_cast<uint32_t>(f.parts.size());
}

}  // namespace

std::vector<uint32_t> whole_parts(const LoweredFunction& f) {
  std::vector<uint32_t> out;
  for (int64_t i = f.allocates() ? -1 : 0; i >= 0; i = f.parts[static_cast<size_t>(i)].otherwise)
    out.push_back(static_cast<uint32_t>(i));
  return out;
}

DataObject describe_library(const LibraryRequest& request, const std::vector<LoweredFunction>& functions) {
  Writer w;
  w.bytes = "TFLLIB06";
  w.string(request.name);
  w.string(cpu_name(request.cpu));
  size_t entries = 0, stepwise = 0;
  for (const LoweredFunction& f : functions) {
    entries += f.parts.size();
    stepwise += f.stepwise();
  }
  w.integer(static_cast<int64_t>(entries));
  w.integer(static_cast<int64_t>(stepwise));
  w.count(request.states);
  uint32_t number = 0, steps_number = 0;
  for (const LoweredFunction& f : functions) parts(w, f, number, steps_number);
  number = 0;
  for (const LoweredFunction& f : functions) {
    if (f.stepwise())
      steps(w, f, number);
    else
      number += static_cast<uint32_t>(f.parts.size());
  }
  for (const ExportedState& s : request.states) {
    w.type(s.name, s.value.dtype(), s.value.dims());
    const auto* bytes = reinterpret_cast<const char*>(s.value.raw());
    bool zero = std::all_of(bytes, bytes + s.value.bytes(), [](char b) { return b == 0; });  // a context begins with zeros anyway
    zero |= request.weights_in_file;
    w.integer(!zero);
    if (!zero) w.elements(s.value);
  }
  return {"tfld_" + request.name, std::move(w.pieces), std::move(w.bytes)};
}

}  // namespace tfl::codegen
