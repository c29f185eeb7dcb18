// From a traced function to one without captures: tensors become constants, variables become parameters where they are read and
// results where they are assigned. Then the graph is optimised once more and planned as a whole, or in steps (steps.cpp).
#include <fmt/core.h>

#include <algorithm>

#include "codegen/library/library.h"
#include "codegen/plan/build.h"
#include "codegen/plan/outline.h"
#include "ir/infer.h"
#include "optimizer/pass.h"

namespace tfl::codegen {

namespace {

using ir::Block;
using ir::Node;
using ir::Ref;

// Replaces reads and assignments of variables by the values themselves, in program order.
class Lift {
 public:
  Lift(Context& context, ir::Function& f) : context_(context), function_(f) {}

  // `value` is what the variable that parameter `resource` stands for holds at first.
  void begin(const Node* resource, Ref value) { current_[resource] = value; }
  Ref value_of(const Node* resource) const { return current_.at(resource); }
  bool assigned(const Node* resource) const { return assigned_.contains(resource); }

  Result<void> block(Block& b) {
    for (size_t i = 0; i < b.nodes.size(); ++i) {
      Node& n = *b.nodes[i];
      const Node* variable = n.operands.empty() ? nullptr : n.operands[0].node;
      switch (n.op) {
        case Op::read_variable: ir::replace_uses(b, {&n, 0}, current_.at(variable)); break;
        case Op::is_initialized: {
          Tensor yes = TFL_TRY(Tensor::empty(context_, DType::Bool, Dims{}));
          *yes.data<uint8_t>() = 1;
          n.op = Op::constant;
          n.operands.clear();
          n.constant = yes;
          continue;
        }
        case Op::assign_variable:
          if (b.owner)
            return fail(ErrorKind::ValueError,
                        "{}a library cannot assign a variable inside a staged branch or loop; assign it after",
                        place_of(function_, n));
          current_[variable] = n.operands[1];
          assigned_.emplace(variable, true);
          break;
        default:
          if (!n.regions.empty()) TFL_TRY(regions(n));
          continue;
      }
      n.id = kGone;
    }
    std::erase_if(b.nodes, [](const std::unique_ptr<Node>& n) { return n->id == kGone; });
    return {};
  }

 private:
  static constexpr uint32_t kGone = UINT32_MAX;

  // Variables go into regions as their values.
  Result<void> regions(Node& n) {
    size_t skip = n.op == Op::while_loop ? 0 : 1;
    for (size_t i = 0; i < n.operands.size(); ++i) {
      auto at = current_.find(n.operands[i].node);
      if (at == current_.end()) continue;
      n.operands[i] = at->second;
      for (auto& r : n.regions) {
        Node* p = r->params[i - skip].get();
        p->types[0] = ir::Type::of(at->second.type().tensor);
        current_[p] = Ref{p, 0};
      }
    }
    for (auto& r : n.regions) TFL_TRY(block(*r));
    return {};
  }

  Context& context_;
  ir::Function& function_;
  std::unordered_map<const Node*, Ref> current_;
  std::unordered_map<const Node*, bool> assigned_;
};

bool all_native(Context& context, const ir::Function& f) {
  return std::all_of(f.body.nodes.begin(), f.body.nodes.end(),
                     [&](const auto& n) { return n->op == Op::constant || plan::is_native(context, *n); });
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
  ir::Function& f = *graph;
  f.name = exported.name;
  ir::prune(f);
  TFL_TRY(optimizer::optimize(context, f, 1));  // calls are inlined: what they do to variables can be seen

  Lift lift(context, f);
  size_t arguments = exported.arguments.size();
  std::vector<std::pair<const Node*, uint32_t>> variables;
  std::vector<std::unique_ptr<Node>> resources;
  for (size_t i = arguments; i < f.body.params.size(); ++i) {
    Node* p = f.body.params[i].get();
    const Capture& c = exported.captures[i - arguments];
    if (c.state < 0) {
      if (!c.constant)
        return fail(ErrorKind::ValueError, "{} captures something that is neither a tensor nor a variable",
                    exported.name);
      // The parameter becomes a constant at the head of the body.
      auto constant = std::make_unique<Node>();
      constant->op = Op::constant;
      constant->types = {ir::Type::of({c.constant.dtype(), true, Dims(c.constant.dims())})};
      constant->constant = c.constant;
      constant->name = p->name;
      constant->block = &f.body;
      ir::replace_uses(f.body, {p, 0}, {constant.get(), 0});
      f.body.nodes.insert(f.body.nodes.begin(), std::move(constant));
      continue;
    }
    variables.emplace_back(p, static_cast<uint32_t>(c.state));
  }
  // Their nodes stay alive until nothing refers to them.
  for (size_t i = arguments; i < f.body.params.size(); ++i) resources.push_back(std::move(f.body.params[i]));
  f.body.params.resize(arguments);
  for (auto& [p, state] : variables) {
    const Tensor& value = request.states[state].value;
    Ref param = f.body.add_param(ir::Type::of({value.dtype(), true, Dims(value.dims())}), p->name);
    out.state_inputs.push_back(state);
    lift.begin(p, param);
  }
  TFL_TRY(lift.block(f.body));
  for (auto& [p, state] : variables) {
    if (!lift.assigned(p)) continue;
    f.body.results.push_back(lift.value_of(p));
    out.state_results.push_back(state);
  }
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
