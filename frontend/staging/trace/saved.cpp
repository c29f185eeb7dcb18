// Graphs as text, for saved models. What comes back from text is trusted in nothing: its types must follow from its
// operations, and what is bound to its parameters must fit them.
#include "frontend/staging/trace/saved.h"

#include <fmt/core.h>

#include "frontend/core/concrete.h"
#include "frontend/core/scope.h"
#include "frontend/tensors/tensor/shape.h"
#include "ir/declared_types.h"
#include "ir/text.h"

namespace tfl {

namespace {

/// graphs_to_text(graphs) -> (text, [the name of each graph in it], [large constants, which the text has the numbers of])
Result<Value> graphs_to_text(Interp& interp, Value* args) {
  std::vector<Value> graphs = TFL_TRY(to_vector(interp, args[0]));
  std::vector<const ir::Function*> functions;
  for (const Value& v : graphs) functions.push_back(TFL_TRY(graph_argument(interp, v))->call.function.get());
  ir::TextOptions options;
  std::vector<Tensor> apart;
  options.names = options.locations = true;
  options.apart = &apart;
  std::vector<std::string> names;
  std::string text = ir::to_text(functions, options, names);
  std::vector<Value> list;
  for (std::string& name : names) list.push_back(interp.str(std::move(name)));
  std::vector<Value> constants;
  for (const Tensor& t : apart) constants.push_back(Value::of(TFL_TRY(contiguous(interp.context, t))));
  return interp.tuple({interp.str(std::move(text)), interp.list(std::move(list)), interp.list(std::move(constants))});
}

/// graphs_from_text(text, file, constants) -> {name: graph}; nothing is bound to their parameters yet.
Result<Value> graphs_from_text(Interp& interp, Value* args) {
  if (!args[0].is_str() || !args[1].is_str()) return fail(ErrorKind::TypeError, "a text and the name of its file are needed");
  std::vector<Tensor> apart;
  for (const Value& v : TFL_TRY(to_vector(interp, args[2]))) {
    if (!v.is_tensor()) return fail(ErrorKind::TypeError, "a constant is a tensor, not '{}'", interp.type_name(v));
    apart.push_back(v.tensor());
  }
  auto functions = TFL_TRY(ir::parse_text(interp.context, text_of(args[0]), text_of(args[1]), apart));
  Value found = interp.dict();
  for (std::shared_ptr<ir::Function>& f : functions) {
    std::string name = f->name;
    dict_set_str(found.as<Dict>(), interp.intern(name), traced_graph(interp, std::move(f), 0, {}));
  }
  return found;
}

ir::Type type_of(const Value& v) {
  if (v.is(Kind::Variable)) {
    const VariableObject* storage = variable_storage(v.as<VariableObject>());
    return ir::Type::variable({storage->dtype, storage->shape_ranked, storage->shape});
  }
  return ir::Type::of({v.tensor_rep()->dtype, true, Dims(v.tensor().dims())});
}

/// bind(graph, captures) -> graph: the last parameters stand for these variables and tensors, those before are arguments.
Result<Value> bind_graph(Interp& interp, Value* args) {
  std::shared_ptr<ir::Function> f = TFL_TRY(graph_argument(interp, args[0]))->call.function;
  std::vector<Value> captures = TFL_TRY(to_vector(interp, args[1]));
  const auto& params = f->body.params;
  if (captures.size() > params.size())
    return fail(ErrorKind::ValueError, "@{} has {} parameters, and {} values are captured", f->name, params.size(),
                captures.size());
  if (std::string wrong = ir::unproven_type(interp.context, *f); !wrong.empty()) return fail(ErrorKind::ValueError, "{}", wrong);
  if (!ir::owns_what_it_calls(*f))
    return fail(ErrorKind::ValueError, "@{}: a recursive call of a function that is not around it", f->name);
  size_t arguments = params.size() - captures.size();
  auto scope = std::make_shared<Scope>();
  scope->function = f;
  scope->block = &f->body;
  scope->name = f->name;
  scope->open = false;
  scope->is_function = true;
  scope->id = ++tracer_of(interp).next_id;
  for (size_t i = 0; i < params.size(); ++i) {
    const ir::Type& taken = params[i]->types[0];
    if (taken.opaque || taken.kind == ir::TypeKind::Array)
      return fail(ErrorKind::ValueError, "@{}: parameter {} is {}, which no file can hold", f->name, i, ir::type_text(taken));
    if (i < arguments) continue;
    const Value& v = captures[i - arguments];
    if (!v.is(Kind::Variable) && !v.is_tensor())
      return fail(ErrorKind::TypeError, "a variable or a tensor is captured, not '{}'", interp.type_name(v));
    ir::Type given = type_of(v);
    if (!ir::is_subtype(given, taken)) {
      return fail(ErrorKind::ValueError, "@{}: parameter {} is {}, and what is captured for it is {}", f->name, i,
                  ir::type_text(taken, &f->symbols), ir::type_text(given));
    }
    scope->capture_params.push_back(f->body.param(i));
  }
  Value graph = traced_graph(interp, f, arguments, captures);
  auto* g = graph.as<TracedGraph>();
  for (size_t i = 0; i < arguments; ++i) g->inputs.push_back(symbolic_value(interp, scope, f->body.param(i)));
  for (ir::Ref r : f->body.results) g->outputs.push_back(symbolic_value(interp, scope, r));
  g->scope = scope;
  return graph;
}

/// parameter_kinds(graph) -> "tensor", "variable", "array" or "resource" for each parameter
Result<Value> parameter_kinds(Interp& interp, Value* args) {
  std::vector<Value> kinds;
  for (const auto& p : TFL_TRY(graph_argument(interp, args[0]))->call.function->body.params) {
    const ir::Type& t = p->types[0];
    kinds.push_back(interp.str(std::string(t.opaque                           ? "resource"
                                           : t.kind == ir::TypeKind::Resource ? "variable"
                                           : t.kind == ir::TypeKind::Array    ? "array"
                                                                              : "tensor")));
  }
  return interp.list(std::move(kinds));
}

/// called_graphs(graph) -> the functions that its body calls, as graphs to look at
Result<Value> called_graphs(Interp& interp, Value* args) {
  std::vector<Value> list;
  for (const auto& n : TFL_TRY(graph_argument(interp, args[0]))->call.function->body.nodes) {
    if (n->callee) list.push_back(traced_graph(interp, n->callee, 0, {}));
  }
  return interp.list(std::move(list));
}

Result<Value> graph_size(Interp& interp, Value* args) {
  return Value::integer(static_cast<int64_t>(ir::node_count(*TFL_TRY(graph_argument(interp, args[0]))->call.function)));
}

constexpr NativeDef kSavedNatives[] = {
    function("graphs_to_text", "graphs", graphs_to_text), function("graphs_from_text", "text, file, constants", graphs_from_text),
    function("bind", "graph, captures", bind_graph),      function("parameter_kinds", "graph", parameter_kinds),
    function("called_graphs", "graph", called_graphs),    function("graph_size", "graph", graph_size),
};

}  // namespace

std::span<const NativeDef> saved_natives() { return kSavedNatives; }

}  // namespace tfl
