// From a traced function to one without captures: tensors become constants, variables parameters, and results where they are
// assigned (ir/state.h). Then the graph is optimised once more and planned as a whole, or in steps (steps.cpp).
#include <fmt/core.h>

#include <algorithm>

#include "codegen/library/library.h"
#include "codegen/plan/build.h"
#include "codegen/plan/outline.h"
#include "ir/infer.h"
#include "ir/state.h"
#include "optimizer/pass.h"

namespace tfl::codegen {

namespace {

using ir::Block;
using ir::Node;
using ir::Ref;

// What is in the way of variables as values: the first node that does something else with them than to read and assign them.
const Node* other_use(const Block& b) {
  for (const auto& n : b.nodes) {
    bool plain = n->op == Op::read_variable || n->op == Op::assign_variable || n->op == Op::is_initialized ||
                 !n->regions.empty();
    bool uses = std::any_of(n->operands.begin(), n->operands.end(),
                            [](Ref r) { return r.type().kind == ir::TypeKind::Resource; });
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
    return fail(ErrorKind::ValueError, "{} cannot be part of a library: it assigns a variable whose size may change",
                f.name);
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
Result<std::vector<uint32_t>> take_captures(const LibraryRequest& request, const ExportedFunction& exported,
                                            ir::Function& f) {
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
      return fail(ErrorKind::ValueError, "{} captures something that is neither a tensor nor a variable",
                  exported.name);
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

bool add_part(Context& context, std::shared_ptr<ir::Function> graph, std::vector<Part>& parts) {
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

Result<LoweredFunction> lower_function(Context& context, const LibraryRequest& request,
                                       const ExportedFunction& exported) {
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
  if (!all_native(context, f) || !add_part(context, graph, out.parts)) TFL_TRY(lower_to_steps(context, f, out));
  out.face = interface_of(out);
  return out;
}

}  // namespace tfl::codegen
