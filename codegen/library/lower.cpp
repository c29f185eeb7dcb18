// From a traced function to one without captures: tensors become constants, variables parameters, and results where they are
// assigned (ir/state.h). Then the graph is optimised once more and planned as a whole, or in steps (steps.cpp).
#include <fmt/core.h>

#include <algorithm>

#include "codegen/library/library.h"
#include "codegen/plan/build.h"
#include "codegen/plan/outline.h"
#include "codegen/plan/shapes.h"
#include "ir/infer.h"
#include "ir/state.h"
#include "optimizer/pass.h"
#include "runtime/ops/facts.h"

namespace tfl::codegen {

namespace {

using ir::Block;
using ir::Node;
using ir::Ref;

// What is in the way of variables as values: the first node that does something else with them than to read and assign them.
const Node* other_use(const Block& b) {
  for (const auto& n : b.nodes) {
    bool plain = op_facts(n->op).variable || !n->regions.empty();
    bool uses =
        std::any_of(n->operands.begin(), n->operands.end(), [](Ref r) { return r.type().kind == ir::TypeKind::Resource; });
    if (uses && !plain) return n.get();
    for (const auto& region : n->regions) {
      if (const Node* inside = other_use(*region)) return inside;
    }
  }
  return nullptr;
}

Failure refused_variables(const ir::Function& f) {
  const Node* n = other_use(f.body);
  if (!n)
    return fail(ErrorKind::ValueError, "{} cannot be part of a library: it assigns a variable whose size may change", f.name);
  return fail(ErrorKind::ValueError,
              "{}{} cannot be part of a library: it uses a variable in another way than to read and to assign it ({})",
              place_of(f, *n), f.name, op_info(n->op).name);
}

bool all_native(Context& context, const ir::Function& f) {
  return std::all_of(f.body.nodes.begin(), f.body.nodes.end(),
                     [&](const auto& n) { return n->op == Op::constant || plan::is_native(context, *n); });
}

// Tensors that the function captures become constants at the head of its body; what remains behind the arguments are variables, whose
// types are those of their values. Their states, in order.
Result<std::vector<uint32_t>> take_captures(const LibraryRequest& request, const ExportedFunction& exported, ir::Function& f) {
  std::vector<uint32_t> states;
  size_t arguments = exported.arguments.size();
  for (size_t i = arguments; i < f.body.params.size(); ++i) {
    Node* p = f.body.params[i].get();
    const Capture& c = exported.captures[i - arguments];
    if (c.state >= 0) {
      const Tensor& value = request.states[static_cast<size_t>(c.state)].value;
      p->types[0].tensor = {value.dtype(), true, Dims(value.dims())};
      states.push_back(static_cast<uint32_t>(c.state));
      continue;
    }
    if (!c.constant)
      return fail(ErrorKind::ValueError, "{} captures something that is neither a tensor nor a variable", exported.name);
    auto constant = std::make_unique<Node>();
    constant->op = Op::constant;
    constant->types = {ir::Type::of({c.constant.dtype(), true, Dims(c.constant.dims())})};
    constant->constant = c.constant;
    constant->name = p->name;
    constant->block = &f.body;
    ir::replace_uses(f.body, {p, 0}, {constant.get(), 0});
    f.body.nodes.insert(f.body.nodes.begin(), std::move(constant));
    f.body.params[i].reset();
  }
  std::erase_if(f.body.params, [](const auto& p) { return !p; });
  return states;
}

}  // namespace

std::string place_of(const ir::Function& f, const Node& n) {
  // What gradients compute stands nowhere; what it is computed from does.
  const Node* at = &n;
  for (int steps = 0; steps < 8 && !(*f.locations)[at->location].line && !at->operands.empty(); ++steps)
    at = at->operands[0].node;
  const ir::Location& l = (*f.locations)[at->location];
  return l.line ? fmt::format("{}:{}: ", l.file, l.line) : std::string();
}

namespace {

constexpr size_t kMostForms = 8;     // of one part, for other sizes than those taken to be equal
constexpr size_t kLargestForm = 12;  // kernels, products and calls of a part that has them

bool add_form(Context& context, std::shared_ptr<ir::Function> graph, std::vector<Part>& parts) {
  std::vector<Explanation> explanations;
  Part part;
  part.failures = find_failures(context, *graph, explanations);
  std::optional<plan::Plan> plan = plan::build_plan(context, *graph);
  if (!plan) return false;
  part.plan = std::move(*plan);
  part.graph = std::move(graph);
  size_t at = parts.size();
  parts.push_back(std::move(part));
  for (Explanation& e : explanations) {
    Part own;
    std::vector<Explanation> none;
    own.failures = find_failures(context, *e.graph, none);
    own.graph = std::move(e.graph);
    // Where there is no code for it the text goes without.
    if (std::optional<plan::Plan> shown = plan::build_plan(context, *own.graph)) {
      own.plan = std::move(*shown);
      parts[at].failures[e.location].explanation = static_cast<int64_t>(parts.size());
      parts.push_back(std::move(own));
    }
  }
  return true;
}

// Sizes of inputs.
struct Place {
  uint32_t input, axis;
  bool operator==(const Place&) const = default;
};
using Places = std::vector<Place>;

// Those that a plan takes to be equal because operations meet them.
std::vector<Places> met_sizes(const plan::Plan& p) {
  std::vector<Places> out;
  auto dim = [&](plan::Size s) -> std::optional<Place> {
    if (plan::is_known(s) || p.symbols[plan::symbol_of(s)].kind != plan::Symbol::Kind::dim) return std::nullopt;
    const plan::Symbol& symbol = p.symbols[plan::symbol_of(s)];
    return Place{symbol.input, symbol.axis};
  };
  auto group_of = [&](Place place) {
    for (size_t i = 0; i < out.size(); ++i) {
      if (std::find(out[i].begin(), out[i].end(), place) != out[i].end()) return i;
    }
    out.push_back({place});
    return out.size() - 1;
  };
  for (const plan::Guard& g : p.guards) {
    std::optional<Place> a = dim(g.a), b = dim(g.b);
    if (g.kind != plan::Guard::Kind::equal || !g.location || !a || !b) continue;
    size_t x = group_of(*a), y = group_of(*b);
    if (x == y) continue;
    out[x].insert(out[x].end(), out[y].begin(), out[y].end());
    out.erase(out.begin() + static_cast<ptrdiff_t>(y));
  }
  return out;
}

// The function for arguments whose sizes at `ones` are 1, and so are those of the same name.
std::shared_ptr<ir::Function> with_ones(const ir::Function& f, const Places& ones) {
  std::shared_ptr<ir::Function> out = ir::clone(f);
  for (Place one : ones) {
    int64_t& d = out->body.params[one.input]->types[0].tensor.dims[one.axis];
    int64_t name = d;
    d = 1;
    for (auto& p : out->body.params) {
      for (int64_t& other : p->types[0].tensor.dims) {
        if (name < -1 && other == name) other = 1;
      }
    }
  }
  return out;
}

// Where one of two sizes that meet is 1 the operation broadcasts: a form of the part for each way.
void add_broadcasts(Context& context, size_t at, std::vector<Part>& parts) {
  const plan::Plan& p = parts[at].plan;
  std::vector<Places> groups = met_sizes(p);
  size_t forms = 1;
  for (const Places& g : groups) forms *= g.size() > 4 ? kMostForms + 2 : (1u << g.size()) - 1;
  if (groups.empty() || forms > kMostForms + 1 || p.kernels.size() + p.products.size() + p.routines.size() > kLargestForm) return;
  std::vector<size_t> chosen(groups.size(), 0);  // which of each group are 1, as bits
  for (size_t last = at;;) {
    size_t g = 0;
    while (g < groups.size() && ++chosen[g] == (1u << groups[g].size()) - 1) chosen[g++] = 0;
    if (g == groups.size()) return;
    Places ones, others;
    for (size_t i = 0; i < groups.size(); ++i) {
      for (size_t k = 0; k < groups[i].size(); ++k) (chosen[i] >> k & 1 ? ones : others).push_back(groups[i][k]);
    }
    size_t next = parts.size();
    if (!add_form(context, with_ones(*parts[at].graph, ones), parts)) continue;
    // Where the others must be 1 then, nothing broadcasts.
    const plan::Plan& made = parts[next].plan;
    if (std::any_of(others.begin(), others.end(), [&](Place o) { return made.inputs[o.input].dims[o.axis] == 1; })) {
      parts.resize(next);
      continue;
    }
    parts[last].otherwise = static_cast<int64_t>(next);
    last = next;
  }
}

// Prints and what they alone need.
void drop_prints(ir::Block& b) {
  std::erase_if(b.nodes, [](const auto& n) { return n->op == Op::print; });
  for (auto& n : b.nodes) {
    for (auto& region : n->regions) drop_prints(*region);
  }
}

}  // namespace

bool add_part(Context& context, std::shared_ptr<ir::Function> graph, std::vector<Part>& parts) {
  size_t at = parts.size();
  if (!add_form(context, std::move(graph), parts)) return false;
  add_broadcasts(context, at, parts);
  return true;
}

std::optional<Part> sizes_of(Context& context, const ir::Function& graph) {
  Part part;
  part.has_code = false;
  part.graph = ir::clone(graph);
  drop_prints(part.graph->body);
  ir::prune(*part.graph);
  if (!all_native(context, *part.graph)) return std::nullopt;
  std::vector<Explanation> unused;
  part.failures = find_failures(context, *part.graph, unused);
  std::shared_ptr<const ir::Function> tensors = plan::of_tensors(context, *part.graph);
  std::optional<plan::Shapes> shapes;
  if (tensors) shapes = plan::Shapes::of(context, *tensors, part.plan);
  if (!shapes) return std::nullopt;
  for (Ref r : tensors->body.results)
    part.plan.results.push_back({plan::ResultPlace::Kind::memory, 0, r.type().tensor.dtype, shapes->dims(r)});
  part.plan.words = static_cast<uint32_t>(part.plan.symbols.size());
  return part;
}

std::optional<Part> typed_sizes(Context& context, const ir::Function& graph) {
  Part part;
  part.has_code = false;
  part.graph = std::make_shared<ir::Function>();
  part.graph->name = graph.name;
  part.graph->symbols = graph.symbols;
  for (const auto& p : graph.body.params) part.graph->body.results.push_back(part.graph->body.add_param(p->types[0], p->name));
  std::optional<plan::Shapes> shapes = plan::Shapes::of(context, *part.graph, part.plan);
  if (!shapes) return std::nullopt;
  for (Ref r : graph.body.results) {
    if (!r.type().is_tensor() || !r.type().tensor.ranked || r.type().tensor.dtype == DType::String) return std::nullopt;
    plan::Sizes dims;
    for (int64_t d : r.type().tensor.dims) {
      if (d == -1) return std::nullopt;
      dims.push_back(d);
      for (size_t i = 0; d < 0 && i < graph.body.params.size(); ++i) {
        const Dims& own = graph.body.params[i]->types[0].tensor.dims;
        size_t at = static_cast<size_t>(std::find(own.begin(), own.end(), d) - own.begin());
        if (at == own.size()) continue;
        dims.back() = part.plan.inputs[i].dims[at];
        d = 0;
      }
      if (d < 0) return std::nullopt;
    }
    part.plan.results.push_back({plan::ResultPlace::Kind::memory, 0, r.type().tensor.dtype, dims});
  }
  part.plan.words = static_cast<uint32_t>(part.plan.symbols.size());
  return part;
}

static Result<void> check_types(const std::string& function, const std::vector<ir::Type>& types, std::string_view does) {
  for (const ir::Type& t : types) {
    std::string_view what = !t.is_tensor()                    ? "what is no tensor"
                            : !t.tensor.ranked                ? "a tensor of any rank"
                            : t.tensor.dtype == DType::String ? "text"
                                                              : "";
    if (!what.empty()) return fail(ErrorKind::ValueError, "{} cannot be part of a library: it {} {}", function, does, what);
  }
  return {};
}

Result<LoweredFunction> lower_function(Context& context, const LibraryRequest& request, const ExportedFunction& exported) {
  LoweredFunction out;
  out.from = &exported;
  std::shared_ptr<ir::Function> graph = ir::clone(*exported.graph);
  graph->name = exported.name;
  ir::prune(*graph);
  TFL_TRY(optimizer::optimize(context, *graph, 1));  // calls are inlined: what they do to variables can be seen
  out.state_inputs = TFL_TRY(take_captures(request, exported, *graph));
  std::vector<ir::VariableUse> uses;
  bool possible = true;
  std::shared_ptr<ir::Function> values = ir::without_variables(context, *graph, uses, possible);
  if (!possible) return refused_variables(*graph);
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].result != ir::VariableUse::kUnchanged) out.state_results.push_back(out.state_inputs[i]);
  }
  if (values) graph = std::move(values);
  ir::Function& f = *graph;
  size_t arguments = exported.arguments.size();
  if (!f.result_names.empty()) f.result_names.resize(f.body.results.size());
  ir::prune(f);
  TFL_TRY(optimizer::optimize(context, f, 2));
  if (std::vector<std::string> broken = ir::verify(context, f); !broken.empty())
    return fail(ErrorKind::InternalError, "the graph of {} does not verify: {}", exported.name, broken[0]);

  // Sizes of one name are one size.
  for (size_t i = 0; i < arguments && i < exported.sizes.size(); ++i) {
    Dims& dims = f.body.params[i]->types[0].tensor.dims;
    for (size_t k = 0; k < dims.size() && k < exported.sizes[i].size(); ++k) {
      const std::string& name = exported.sizes[i][k];
      if (dims[k] >= 0 || name.empty()) continue;
      size_t at = static_cast<size_t>(std::find(f.symbols.begin(), f.symbols.end(), name) - f.symbols.begin());
      if (at == f.symbols.size()) f.symbols.push_back(name);
      dims[k] = -2 - static_cast<int64_t>(at);
    }
  }
  for (size_t i = 0; i < f.body.params.size() && i < arguments; ++i) out.types.push_back(f.body.params[i]->types[0]);
  for (size_t i = 0; i + out.state_results.size() < f.body.results.size(); ++i)
    out.result_types.push_back(f.body.results[i].type());
  TFL_TRY(check_types(exported.name, out.types, "takes"));
  out.shown = ir::clone(f);
  TFL_TRY(expand_operations(context, f));
  if (!all_native(context, f) || !add_part(context, graph, out.parts)) TFL_TRY(lower_to_steps(context, f, out));
  TFL_TRY(check_types(exported.name, out.result_types, "gives"));  // what cannot be computed has been told before
  out.face = interface_of(out);
  return out;
}

}  // namespace tfl::codegen
