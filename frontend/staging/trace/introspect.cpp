// The nodes of a graph as rows, and the symbolic values they give: what stdlib/tensorflow/_graphs/definition.tfl is made from.
#include "frontend/staging/trace/introspect.h"

#include <span>

#include "frontend/core/concrete.h"
#include "frontend/core/native_module.h"
#include "frontend/staging/trace/region.h"
#include "frontend/tensors/tensor/shape.h"
#include "ir/text.h"

namespace tfl {

namespace {

std::string tf_op(const ir::Node& n) {
  if (n.op == Op::matmul && !n.types.empty() && n.types[0].tensor.ranked && n.types[0].tensor.dims.size() == 2) return "MatMul";
  if (n.op == Op::parameter && n.types[0].kind == ir::TypeKind::Resource) return "Placeholder";
  return std::string(op_info(n.op).tf_name);
}

std::string input_text(const ir::Ref& r) { return r.index == 0 ? r.node->name : r.node->name + ":" + std::to_string(r.index); }

}  // namespace

Value node_value(Interp& interp, const ir::Node& n) {
  std::vector<Value> inputs, types;
  for (const ir::Ref& r : n.operands) inputs.push_back(interp.str(input_text(r)));
  for (const ir::Type& t : n.types) {
    types.push_back(interp.tuple({dtype_value(interp, t.tensor.dtype),
                                  t.tensor.ranked ? shape_value(interp,
                                                                [&] {
                                                                  Dims dims = t.tensor.dims;
                                                                  for (int64_t& d : dims) d = d < 0 ? -1 : d;
                                                                  return dims;
                                                                }())
                                                  : unknown_shape_value(interp),
                                  interp.str(t.kind == ir::TypeKind::Tensor  ? "tensor"
                                             : t.kind == ir::TypeKind::Array ? "array"
                                                                             : "resource")}));
  }
  Value attrs = interp.dict();
  for (const AttrValue& a : n.attrs.items()) {
    Value v;
    switch (a.kind) {
      case AttrValue::Kind::Int: v = Value::integer(a.integer); break;
      case AttrValue::Kind::Bool: v = Value::boolean(a.integer != 0); break;
      case AttrValue::Kind::Float: v = Value::real(a.real); break;
      case AttrValue::Kind::Type: v = dtype_value(interp, a.dtype); break;
      case AttrValue::Kind::Text: v = interp.str(a.text); break;
      case AttrValue::Kind::Ints: v = shape_value(interp, a.ints); break;
    }
    dict_set_str(attrs.as<Dict>(), interp.intern(attr_name(a.name)), v);
  }
  return interp.tuple({interp.str(n.name), interp.str(tf_op(n)), interp.list(std::move(inputs)), attrs,
                       interp.list(std::move(types)), n.constant ? Value::of(n.constant) : Value::none(), interp.str(n.variable),
                       Value::integer(static_cast<int64_t>(n.regions.size())),
                       interp.str(n.target() ? n.target()->name : std::string()), interp.str(std::string(op_info(n.op).name))});
}

namespace {

void add_nodes(Interp& interp, std::vector<Value>& list, const ir::Block& block, bool deep) {
  for (const auto& p : block.params) list.push_back(node_value(interp, *p));
  for (const auto& n : block.nodes) {
    list.push_back(node_value(interp, *n));
    if (!deep) continue;
    for (const auto& region : n->regions) add_nodes(interp, list, *region, true);
  }
}

/// graph_nodes(graph, deep, prepared)
Result<Value> graph_nodes(Interp& interp, Value* args) {
  TracedGraph* g = TFL_TRY(graph_argument(interp, args[0]));
  std::vector<Value> list;
  std::shared_ptr<ir::Function> f = g->call.function;
  if (TFL_TRY(truth(interp, args[2]))) {
    TFL_TRY(program_of(interp, g->call));
    f = ir::without_native(*g->call.prepared);
  }
  add_nodes(interp, list, f->body, TFL_TRY(truth(interp, args[1])));
  return interp.list(std::move(list));
}

/// node_of(symbolic) -> (node, the scope's name, number of the scope)
Result<Value> node_of(Interp& interp, Value* args) {
  SymbolicValue* s = symbolic(args[0]);
  return interp.tuple(
      {node_value(interp, *s->node), interp.str(s->scope->name), Value::integer(static_cast<int64_t>(s->scope->id))});
}
/// scope_nodes(symbolic) -> the nodes of the scope it lives in
Result<Value> scope_nodes(Interp& interp, Value* args) {
  std::vector<Value> list;
  add_nodes(interp, list, *symbolic(args[0])->node->block, false);
  return interp.list(std::move(list));
}
Value results_of(Interp& interp, const std::shared_ptr<Scope>& scope, const ir::Node& n) {
  std::vector<Value> list;
  for (uint32_t i = 0; i < n.types.size(); ++i) list.push_back(symbolic_value(interp, scope, {const_cast<ir::Node*>(&n), i}));
  return interp.list(std::move(list));
}
Value block_values(Interp& interp, const std::shared_ptr<Scope>& scope, const ir::Block& block) {
  std::vector<Value> list;
  for (const auto& p : block.params) list.push_back(results_of(interp, scope, *p));
  for (const auto& n : block.nodes) list.push_back(results_of(interp, scope, *n));
  return interp.list(std::move(list));
}
/// graph_values(graph) -> the values of each of its nodes; None for a graph without operands and results
Result<Value> graph_values(Interp& interp, Value* args) {
  TracedGraph* g = TFL_TRY(graph_argument(interp, args[0]));
  for (const std::vector<Value>* some : {&g->inputs, &g->outputs}) {
    for (const Value& v : *some) {
      if (v.is(Kind::Symbolic)) return block_values(interp, symbolic(v)->scope, g->call.function->body);
    }
  }
  return Value::none();
}
/// scope_values(symbolic) -> the values of each node of the scope it lives in
Result<Value> scope_values(Interp& interp, Value* args) {
  return block_values(interp, symbolic(args[0])->scope, *symbolic(args[0])->node->block);
}

/// operand_values(symbolic) -> the symbolic values its node uses
Result<Value> operand_values(Interp& interp, Value* args) {
  SymbolicValue* s = symbolic(args[0]);
  std::vector<Value> list;
  for (const ir::Ref& r : s->node->operands) list.push_back(symbolic_value(interp, s->scope, r));
  return interp.list(std::move(list));
}
Result<Value> result_values(Interp& interp, Value* args) {
  SymbolicValue* s = symbolic(args[0]);
  std::vector<Value> list;
  for (uint32_t i = 0; i < s->node->types.size(); ++i) list.push_back(symbolic_value(interp, s->scope, {s->node, i}));
  return interp.list(std::move(list));
}

void add_places(Interp& interp, std::vector<Value>& list, const ir::Function& f, const ir::Block& block) {
  for (const auto& n : block.nodes) {
    std::vector<Value> types;
    for (const ir::Type& t : n->types) types.push_back(interp.str(ir::type_text(t, &f.symbols)));
    Value results = interp.tuple(types);
    uint32_t at = n->location;
    for (int guard = 0; at != 0 && at < f.locations->size() && guard < 1000; ++guard) {
      const ir::Location& l = (*f.locations)[at];
      list.push_back(
          interp.tuple({interp.str(l.file), Value::integer(l.line), Value::integer(l.column), Value::integer(l.end_line),
                        Value::integer(l.end_column), results, interp.str(std::string(op_info(n->op).name))}));
      at = l.caller;
    }
    for (const auto& region : n->regions) add_places(interp, list, f, *region);
  }
}

/// graph_places(graph): rows (file, line, column, end line, end column, types of the results, operation) of the expressions that gave a node,
/// in the order of the nodes: the last row of an expression is what it gave.
Result<Value> graph_places(Interp& interp, Value* args) {
  TracedGraph* g = TFL_TRY(graph_argument(interp, args[0]));
  std::vector<Value> list;
  add_places(interp, list, *g->call.function, g->call.function->body);
  return interp.list(std::move(list));
}

/// mark_literal(tensor): graphs that take it in have it as a constant of theirs, as one that was made of a number.
Result<Value> mark_literal(Interp&, Value* args) {
  if (args[0].is_tensor()) args[0].tensor_rep()->flags |= kLiteral;
  return Value::none();
}

/// row_major(tensor) -> the same elements without gaps; what machine code takes in again and again need not be copied each time then.
Result<Value> row_major(Interp& interp, Value* args) {
  if (!args[0].is_tensor()) return args[0];
  return Value::of(TFL_TRY(contiguous(interp.context, Tensor::share(args[0].tensor_rep()))));
}

constexpr NativeDef kIntrospectionNatives[] = {
    function("mark_literal", "tensor", mark_literal),
    function("row_major", "tensor", row_major),
    function("graph_nodes", "graph, deep=False, prepared=False", graph_nodes),
    function("graph_places", "graph", graph_places),
    function("node_of", "v: symbolic", node_of),
    function("scope_nodes", "v: symbolic", scope_nodes),
    function("graph_values", "graph", graph_values),
    function("scope_values", "v: symbolic", scope_values),
    function("operand_values", "v: symbolic", operand_values),
    function("result_values", "v: symbolic", result_values),
};

}  // namespace

std::span<const NativeDef> introspection_natives() { return kIntrospectionNatives; }

}  // namespace tfl
