// A graph with everything in it, for what writes it in another program's format: as it was traced, or as it runs with what its
// variables hold standing in it.
#include <map>
#include <span>

#include "frontend/core/concrete.h"
#include "frontend/core/native_module.h"
#include "frontend/core/tensor_api.h"
#include "frontend/interpreter/object/containers/dict.h"
#include "frontend/staging/trace/introspect.h"
#include "frontend/tensors/tensor/shape.h"
#include "ir/infer.h"
#include "ir/native.h"
#include "ir/regions.h"

namespace tfl {

namespace {

/// Values are (number of the node, its result).
struct ProgramRecord {
  Interp& interp;
  std::map<const ir::Node*, int64_t> numbers = {};
  std::map<const ir::Function*, int64_t> functions = {};
  std::vector<Value> bodies = {};

  Value refs(std::span<const ir::Ref> given) {
    std::vector<Value> list;
    for (const ir::Ref& r : given) list.push_back(interp.tuple({Value::integer(numbers.at(r.node)), Value::integer(r.index)}));
    return interp.list(std::move(list));
  }
  /// "line 3 of model.tfl", or None.
  Value place(const ir::Node& n) {
    const ir::Location& at = (*n.block->function->locations)[n.location];
    if (at.line == 0) return Value::none();
    return interp.str(fmt::format("line {} of {}", at.line, at.file));
  }
  /// For each result its sizes: a number, the name that the function has for it, or None.
  Value sizes(const ir::Node& n) {
    std::vector<Value> all;
    for (const ir::Type& t : n.types) {
      std::vector<Value> dims;
      for (int64_t d : t.tensor.dims) {
        auto symbol = static_cast<size_t>(-2 - d);
        dims.push_back(d >= 0                                                  ? Value::integer(d)
                       : d <= -2 && symbol < n.block->function->symbols.size() ? interp.str(n.block->function->symbols[symbol])
                                                                               : Value::none());
      }
      all.push_back(interp.list(std::move(dims)));
    }
    return interp.list(std::move(all));
  }
  /// (number, the row of node_value, operands, regions, number of the called function or None, {attribute: list of numbers}, place, sizes)
  Value node(const ir::Node& n) {
    numbers.emplace(&n, static_cast<int64_t>(numbers.size()));
    std::vector<Value> regions;
    for (const auto& region : n.regions) regions.push_back(block(*region));
    Value called = n.target() ? Value::integer(function(*n.target())) : Value::none();
    Value lists = interp.dict();
    for (const AttrValue& a : n.attrs.items()) {
      if (a.kind != AttrValue::Kind::Ints) continue;
      std::vector<Value> items;
      for (int64_t i : a.ints) items.push_back(Value::integer(i));
      dict_set_str(lists.as<Dict>(), interp.intern(attr_name(a.name)), interp.list(std::move(items)));
    }
    return interp.tuple({Value::integer(numbers.at(&n)), node_value(interp, n), refs(n.operands), interp.list(std::move(regions)),
                         called, lists, place(n), sizes(n)});
  }
  /// (parameters, nodes, results)
  Value block(const ir::Block& b) {
    std::vector<Value> params, nodes;
    for (const auto& p : b.params) params.push_back(node(*p));
    for (const auto& n : b.nodes) nodes.push_back(node(*n));
    return interp.tuple({interp.list(std::move(params)), interp.list(std::move(nodes)), refs(b.results)});
  }
  int64_t function(const ir::Function& f) {
    auto known = functions.find(&f);
    if (known != functions.end()) return known->second;
    auto number = static_cast<int64_t>(functions.size());
    functions.emplace(&f, number);
    bodies.emplace_back();
    Value body = block(f.body);
    bodies[static_cast<size_t>(number)] = interp.tuple({interp.str(f.name), body});
    return number;
  }
};

/// What captures hold takes the places of their parameters, in regions as well: a tensor itself, a variable where it is read.
class Freezer {
 public:
  explicit Freezer(std::map<const ir::Node*, Tensor> held) : held_(std::move(held)) {}

  void freeze(ir::Block& block) {
    size_t count = block.nodes.size();
    std::map<const ir::Node*, ir::Ref> constants;
    auto constant = [&](const ir::Node* param) {
      auto [at, fresh] = constants.emplace(param, ir::Ref());
      if (fresh) at->second = ir::append_constant(block, held_.at(param));
      return at->second;
    };
    for (const auto& p : block.params) {
      if (p->types[0].is_tensor() && held_.contains(p.get())) ir::replace_uses(block, {p.get(), 0}, constant(p.get()));
    }
    for (size_t i = 0; i < count; ++i) {
      ir::Node& n = *block.nodes[i];
      if (n.op == Op::read_variable && held_.contains(n.operands[0].node))
        ir::replace_uses(block, {&n, 0}, constant(n.operands[0].node));
      size_t first = n.regions.empty() ? 0 : ir::inputs_from(n);
      for (auto& region : n.regions) {
        for (size_t k = 0; k < region->params.size() && first + k < n.operands.size(); ++k) {
          auto found = held_.find(n.operands[first + k].node);
          if (found != held_.end() && region->params[k]->types[0].kind == ir::TypeKind::Resource)
            held_.emplace(region->params[k].get(), found->second);
        }
        freeze(*region);
      }
    }
    std::rotate(block.nodes.begin(), block.nodes.begin() + static_cast<ptrdiff_t>(count), block.nodes.end());
  }

 private:
  std::map<const ir::Node*, Tensor> held_;  // by parameter
};

bool writes_variables(const ir::Function& f) {
  bool found = false;
  ir::walk(f.body, [&](const ir::Node& n) { found |= n.op == Op::assign_variable || (n.callee && writes_variables(*n.callee)); });
  return found;
}

/// The graph as it runs, calls inlined, with what its captures hold now.
Result<std::shared_ptr<ir::Function>> frozen(Interp& interp, const FunctionCall& call) {
  TFL_TRY(program_of(interp, call));
  std::shared_ptr<ir::Function> f = ir::without_native(*call.prepared);
  std::map<const ir::Node*, Tensor> held;
  bool writes = writes_variables(*f);
  for (size_t i = 0; i < call.captures.size(); ++i) {
    const ir::Node* param = f->body.params[call.arguments + i].get();
    const Value& v = call.captures[i];
    if (v.is_tensor()) held.emplace(param, v.tensor());
    if (!v.is(Kind::Variable) || writes) continue;
    const VariableObject* storage = variable_storage(v.as<VariableObject>());
    if (storage->value) held.emplace(param, TFL_TRY(to_concrete(interp, v)));
  }
  Freezer(std::move(held)).freeze(f->body);
  ir::prune(*f, interp.tensors->strict);
  if (interp.tensors->prepare_graph) TFL_TRY(interp.tensors->prepare_graph(interp.context, *f));
  return ir::without_native(*f);
}

/// graph_program(graph, frozen=False): (name, body) of the graph, which is the first, and of each function that it calls.
Result<Value> graph_program(Interp& interp, Value* args) {
  TracedGraph* g = TFL_TRY(graph_argument(interp, args[0]));
  std::shared_ptr<ir::Function> f = g->call.function;
  if (TFL_TRY(truth(interp, args[1]))) f = TFL_TRY(frozen(interp, g->call));
  ProgramRecord record{interp};
  record.function(*f);
  return interp.list(std::move(record.bodies));
}

constexpr NativeDef kProgramRecordNatives[] = {
    function("graph_program", "graph, frozen=False", graph_program),
};

}  // namespace

std::span<const NativeDef> program_record_natives() { return kProgramRecordNatives; }

}  // namespace tfl
