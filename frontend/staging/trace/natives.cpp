// The module `_graph`: graphs under construction, for the library's control flow, AutoGraph's operators and tf.function.
//
//   building() -> bool; is_symbolic(v)
//   r = Region(name)                     a closed block under construction inside the current one; outer values are captured by themselves
//   x = r.add_input(like, shape=None, name=None, sizes=None)   a parameter with the type of the tensor or TensorSpec `like` (shape:
//                                        overrides it; sizes: names of those that are not known)
//   r.enter() / r.exit()                 make it the place where operations go / go back to the outer one (use try/finally)
//   cond(pred, then_region, then_outputs, else_region, else_outputs, name) -> list of results in the current scope
//   switch(index, regions, outputs_lists, name) -> list
//   while_loop(initial_values, cond_region, cond_output, body_region, body_outputs, maximum_iterations, name, checkpoint_every) -> list;
//                                        the last: its gradient keeps the variables every so many iterations and computes the rest again
//   host_call(callable, operands, output_specs, name) -> list: calls `callable` with eager tensors each time the graph runs
//   apply(op, operands, attributes, name) -> list: any row of runtime/ops by name; attributes {name: int, float, bool, str, dtype, list}
//   constant(value, name), known(v) -> eager tensor or None
//   Trace(name): a function being traced: Region's methods, add_variable(like), add_resource(), allow_variables(values),
//     finish(outputs) -> Graph
//   suspend() / resume(state)            eager execution inside a trace (tf.init_scope)
//   key(values, shapes) -> (bytes, leaves); replace(structure, leaves) -> structure
//   graphs_to_text(graphs), graphs_from_text(text, file), bind(graph, captures): saved models (saved.cpp)
//   run(graph, operands) -> list; graph_nodes(graph), graph_text(graph), ...
#include "frontend/core/code.h"
#include "frontend/core/concrete.h"
#include "frontend/core/native_module.h"
#include "frontend/core/signature.h"
#include "frontend/staging/trace/introspect.h"
#include "frontend/staging/trace/keys.h"
#include "frontend/staging/trace/record.h"
#include "frontend/staging/trace/region.h"
#include "frontend/staging/trace/saved.h"
#include "frontend/tensors/tensor/shape.h"
#include "ir/text.h"

namespace tfl {

namespace {

Result<Value> building(Interp& interp, Value*) { return Value::boolean(current_scope(interp) != nullptr); }
Result<Value> is_symbolic(Interp&, Value* args) { return Value::boolean(args[0].is(Kind::Symbolic)); }

Result<Value> trace(Interp& interp, Value* args) {
  return region_value(interp, begin_function(interp, args[0].is_str() ? text_of(args[0]) : std::string("function")), "");
}

Result<Value> constant(Interp& interp, Value* args) {
  ToTensor wanted;
  if (!args[2].is_none()) wanted.dtype = TFL_TRY(to_dtype(interp, args[2]));
  Value v = TFL_TRY(to_tensor(interp, args[0], wanted));
  if (!v.is_tensor() || !current_scope(interp)) return v;
  return symbolic_constant(interp, v.tensor(), args[1].is_str() ? std::string_view(text_of(args[1])) : "Const");
}

Result<Value> known(Interp& interp, Value* args) {
  Tensor t = known_value(interp, args[0]);
  return t ? Value::of(std::move(t)) : Value::none();
}

Result<Op> op_named(const Value& v) {
  for (int i = 0; v.is_str() && i < op_count(); ++i) {
    if (op_info(static_cast<Op>(i)).name == text_of(v)) return static_cast<Op>(i);
  }
  return fail(ErrorKind::ValueError, "there is no operation of that name");
}

Result<void> set_attribute(Interp& interp, Attrs& attrs, Attr name, const Value& v) {
  if (v.is_bool())
    attrs.set_bool(name, v.as_bool());
  else if (v.is_int())
    attrs.set_int(name, v.as_int());
  else if (v.is_float())
    attrs.set_float(name, v.as_float());
  else if (v.is_str())
    attrs.set_text(name, text_of(v));
  else if (v.is(Kind::DType))
    attrs.set_dtype(name, v.as<DTypeObject>()->dtype);
  else if (v.is(Kind::Shape)) {
    if (v.as<ShapeObject>()->ranked) attrs.set_ints(name, v.as<ShapeObject>()->dims);
  } else if (!v.is_none()) {
    attrs.set_ints(name, TFL_TRY(to_dims(interp, v, true)));
  }
  return {};
}

Result<Attrs> attributes(Interp& interp, const Value& v) {
  Attrs attrs;
  if (!v.is(Kind::Dict)) return attrs;
  for (const Dict::Entry& e : v.as<Dict>()->entries) {
    if (!e.key.is_str()) continue;
    int at = 0;
    while (attr_name(static_cast<Attr>(at)) != text_of(e.key)) {
      if (++at > static_cast<int>(Attr::size) + 64)
        return fail(ErrorKind::ValueError, "there is no attribute '{}'", text_of(e.key));
    }
    TFL_TRY(set_attribute(interp, attrs, static_cast<Attr>(at), e.value));
  }
  return attrs;
}

Result<Value> list_of(Interp& interp, ir::Node* node, std::span<const Value> operands) {
  SmallVec<Value, 2> results;
  results_of(interp, node, results);
  if (interp.sink) interp.sink->node_made(interp, operands, node, results);
  return interp.list(std::vector<Value>(results.begin(), results.end()));
}

Result<void> need_graph(Interp& interp) {
  return current_scope(interp) ? Result<void>() : fail(ErrorKind::RuntimeError, "no graph is being built");
}

/// Operands of control nodes: tensors, arrays and resources as they are, host values as constants.
Result<std::vector<Value>> operands_of(Interp& interp, const Value& v, bool resource_first) {
  std::vector<Value> operands = TFL_TRY(to_vector(interp, v));
  for (size_t i = resource_first ? 1 : 0; i < operands.size(); ++i) {
    if (!operands[i].is(Kind::Symbolic) && !operands[i].is(Kind::Variable)) operands[i] = TFL_TRY(to_tensor(interp, operands[i]));
  }
  return operands;
}

Result<Value> apply_any(Interp& interp, Value* args) {
  TFL_TRY(need_graph(interp));
  Op op = TFL_TRY(op_named(args[0]));
  std::vector<Value> operands = TFL_TRY(operands_of(interp, args[1], false));
  Attrs attrs = TFL_TRY(attributes(interp, args[2]));
  if (!is_control(op)) {
    SmallVec<Value, 2> results;
    TFL_TRY(apply_op(interp, op, operands, attrs, results));
    return interp.list(std::vector<Value>(results.begin(), results.end()));
  }
  ir::Node* node = TFL_TRY(append_node(interp, op, operands, attrs, {}, nullptr,
                                       args[3].is_str() ? std::string_view(text_of(args[3])) : std::string_view()));
  return list_of(interp, node, operands);
}

Result<Value> host_call(Interp& interp, Value* args) {
  TFL_TRY(need_graph(interp));
  std::vector<Value> operands = {args[0]};
  for (const Value& v : TFL_TRY(to_vector(interp, args[1])))
    operands.push_back(v.is(Kind::Symbolic) ? v : TFL_TRY(to_tensor(interp, v)));
  std::vector<ir::Type> types;
  Dims said;  // the types as an attribute: a gradient may repeat the node
  for (const Value& spec : TFL_TRY(to_vector(interp, args[2]))) {
    Value shape = TFL_TRY(find_attr(interp, spec, interp.intern("shape")));
    Value dtype = TFL_TRY(find_attr(interp, spec, interp.intern("dtype")));
    TensorType t;
    t.ranked = false;
    if (dtype.is_empty() || spec.is(Kind::DType)) dtype = spec;
    t.dtype = TFL_TRY(to_dtype(interp, dtype));
    if (shape.is(Kind::Shape) && shape.as<ShapeObject>()->ranked) {
      t.ranked = true;
      t.dims = shape.as<ShapeObject>()->dims;
    }
    said.push_back(static_cast<int64_t>(t.dtype));
    said.push_back(t.ranked ? static_cast<int64_t>(t.dims.size()) : -1);
    for (int64_t d : t.dims) said.push_back(d < 0 ? -1 : d);
    types.push_back(ir::Type::of(std::move(t)));
  }
  ir::Node* node = TFL_TRY(append_node(interp, Op::host_call, operands, Attrs().set_ints(Attr::shape, said), {}, nullptr,
                                       args[3].is_str() ? std::string_view(text_of(args[3])) : "EagerPyFunc"));
  node->types = std::move(types);
  return list_of(interp, node, operands);
}

// ------------------------------------------------------------------------------------------------------ eager inside a trace

Result<Value> suspend(Interp& interp, Value*) {
  // A region object keeps what resume() puts back.
  Tracer& tracer = tracer_of(interp);
  Value state = region_value(interp, nullptr, "");
  auto* r = state.as<RegionObject>();
  r->saved_sink = interp.sink;
  r->saved_scope = tracer.scope;
  r->saved_names = interp.tensors->name_scope;
  interp.sink = nullptr;
  tracer.scope = nullptr;
  interp.tensors->name_scope.clear();
  return state;
}

Result<Value> resume(Interp& interp, Value* args) {
  if (!args[0].is_object() || args[0].is_tensor() || args[0].object()->type != interp.types.graph_region)
    return fail(ErrorKind::TypeError, "resume() needs what suspend() gave, not '{}'", interp.type_name(args[0]));
  auto* r = args[0].as<RegionObject>();
  interp.sink = r->saved_sink;
  // What was suspended may be resumed again: by each replica of a step.
  tracer_of(interp).scope = r->saved_scope;
  interp.tensors->name_scope = r->saved_names;
  return Value::none();
}

/// same_place(a, b): were both suspended in the same part of the same graph, or outside of any?
Result<Value> same_place(Interp& interp, Value* args) {
  for (int i : {0, 1}) {
    if (!args[i].is_object() || args[i].is_tensor() || args[i].object()->type != interp.types.graph_region)
      return fail(ErrorKind::TypeError, "same_place() needs what suspend() gave, not '{}'", interp.type_name(args[i]));
  }
  return Value::boolean(args[0].as<RegionObject>()->saved_scope == args[1].as<RegionObject>()->saved_scope);
}

Result<Value> run_eagerly(Interp& interp, Value* args) {
  tracer_of(interp).run_eagerly = TFL_TRY(truth(interp, args[0]));
  return Value::none();
}

Result<Value> scope_name(Interp& interp, Value*) {
  Scope* s = current_scope(interp);
  return s ? interp.str(s->root()->name) : Value::none();
}

Result<Value> next_number(Interp& interp, Value*) {
  return Value::integer(static_cast<int64_t>(tracer_of(interp).next_function++));
}

// -------------------------------------------------------------------------------------------------------------------- keys

/// key(values, shapes=True) -> (bytes, leaves, pins, lasting, tracing types)
Result<Value> key_of(Interp& interp, Value* args) {
  ArgumentKey key;
  key.shapes = TFL_TRY(truth(interp, args[1]));
  TFL_TRY(add_to_key(interp, key, args[0]));
  return interp.tuple({interp.bytes(std::move(key.exact)), interp.list(std::move(key.leaves)), interp.list(std::move(key.pins)),
                       Value::boolean(key.lasting), interp.list(std::move(key.typed))});
}

Result<Value> replace(Interp& interp, Value* args) {
  std::vector<Value> leaves = TFL_TRY(to_vector(interp, args[1]));
  size_t at = 0;
  return replace_leaves(interp, args[0], leaves, at);
}

/// parameters(f) -> [(name, kind, default or Ellipsis, annotation or None)], None when f says nothing about them.
Result<Value> parameters(Interp& interp, Value* args) {
  if (!args[0].is(Kind::Function)) return Value::none();
  auto* f = args[0].as<Function>();
  Code* code = f->code.as<Code>();
  TFL_TRY(complete(interp, *code));
  std::vector<Value> list;
  size_t defaults = f->defaults.is(Kind::Tuple) ? static_cast<size_t>(f->defaults.as<Tuple>()->size) : 0;
  auto add = [&](Str* name, std::string_view kind, Value value) {
    Value note = f->annotations.is(Kind::Dict) ? dict_get_str(f->annotations.as<Dict>(), name) : Value();
    list.push_back(interp.tuple({interp.str(name), interp.str(std::string(kind)), value.is_empty() ? interp.ellipsis : value,
                                 note.is_empty() ? Value::none() : note}));
  };
  for (size_t i = 0; i < code->params.size(); ++i) {
    Str* name = code->params[i].name;
    if (i < code->positional) {
      Value value;
      if (i + defaults >= code->positional) value = f->defaults.as<Tuple>()->items[i + defaults - code->positional];
      add(name, i < code->positional_only ? "POSITIONAL_ONLY" : "POSITIONAL_OR_KEYWORD", value);
    } else if (i < size_t{code->positional} + code->keyword_only) {
      // In the order they are written: what takes the other positional arguments stands before these.
      if (i == code->positional && code->var_positional)
        add(code->params[size_t{code->positional} + code->keyword_only].name, "VAR_POSITIONAL", Value());
      Value value = f->kw_defaults.is(Kind::Dict) ? dict_get_str(f->kw_defaults.as<Dict>(), name) : Value();
      add(name, "KEYWORD_ONLY", value);
    } else if (code->var_positional && i == size_t{code->positional} + code->keyword_only) {
      if (code->keyword_only == 0) add(name, "VAR_POSITIONAL", Value());
    } else {
      add(name, "VAR_KEYWORD", Value());
    }
  }
  return interp.list(std::move(list));
}

// ------------------------------------------------------------------------------------------------------------------ graphs

/// run(graph, operands) -> list of results
Result<Value> run(Interp& interp, Value* args) {
  TracedGraph* g = TFL_TRY(graph_argument(interp, args[0]));
  std::vector<Value> operands;
  for (const Value& v : TFL_TRY(to_vector(interp, args[1]))) {
    operands.push_back(v.is(Kind::Variable) || v.is(Kind::Symbolic) || v.is_tensor() ? v : TFL_TRY(to_tensor(interp, v)));
  }
  operands.insert(operands.end(), g->call.captures.begin(), g->call.captures.end());
  SmallVec<Value, 2> results;
  TFL_TRY(call_function(interp, g->call, operands, results));
  return interp.list(std::vector<Value>(results.begin(), results.end()));
}

Result<Value> graph_inputs(Interp& interp, Value* args) { return interp.list(TFL_TRY(graph_argument(interp, args[0]))->inputs); }
Result<Value> graph_outputs(Interp& interp, Value* args) {
  return interp.list(TFL_TRY(graph_argument(interp, args[0]))->outputs);
}
Result<Value> graph_captures(Interp& interp, Value* args) {
  return interp.list(TFL_TRY(graph_argument(interp, args[0]))->call.captures);
}

Result<Value> graph_text(Interp& interp, Value* args) {
  TracedGraph* g = TFL_TRY(graph_argument(interp, args[0]));
  ir::TextOptions options;
  options.names = TFL_TRY(truth(interp, args[2]));
  options.locations = TFL_TRY(truth(interp, args[3]));
  if (TFL_TRY(truth(interp, args[1]))) {
    TFL_TRY(program_of(interp, g->call));
    return interp.str(ir::to_text(*ir::without_native(*g->call.prepared), options));
  }
  return interp.str(ir::to_text(*g->call.function, options));
}

Result<Value> prepare(Interp& interp, Value* args) {
  TracedGraph* g = TFL_TRY(graph_argument(interp, args[0]));
  TFL_TRY(program_of(interp, g->call));
  return Value::none();
}

Result<Value> compile_first(Interp& interp, Value* args) {
  TracedGraph* g = TFL_TRY(graph_argument(interp, args[0]));
  g->call.compiled = true;
  return Value::none();
}

Result<Value> graph_dropped(Interp& interp, Value* args) {
  TracedGraph* g = TFL_TRY(graph_argument(interp, args[0]));
  TFL_TRY(program_of(interp, g->call));
  std::vector<Value> lines;
  for (const std::string& s : g->call.function->dropped) lines.push_back(interp.str(s));
  return interp.list(std::move(lines));
}

/// array_spec(symbolic array) -> (dtype, shape of an element)
Result<Value> array_spec(Interp& interp, Value* args) {
  const TensorType& t = symbolic_type(args[0]);
  Dims dims = t.dims;
  for (int64_t& d : dims) d = d < 0 ? -1 : d;
  return interp.tuple({dtype_value(interp, t.dtype), t.ranked ? shape_value(interp, dims) : unknown_shape_value(interp)});
}

/// placeholder(spec, name, sizes): a symbolic value of that type in no graph, which stands for an argument of get_concrete_function.
Result<Value> placeholder(Interp& interp, Value* args) {
  std::shared_ptr<Scope> scope = begin_function(interp, "signature");
  Value shape = TFL_TRY(get_attr(interp, args[0], interp.intern("shape")));
  Value dtype = TFL_TRY(get_attr(interp, args[0], interp.intern("dtype")));
  if (!shape.is(Kind::Shape))
    return fail(ErrorKind::TypeError, "the shape of a TensorSpec is needed, not '{}'", interp.type_name(shape));
  TensorType t;
  t.dtype = TFL_TRY(to_dtype(interp, dtype));
  t.ranked = shape.as<ShapeObject>()->ranked;
  t.dims = shape.as<ShapeObject>()->dims;
  ir::Type type = ir::Type::of(std::move(t));
  TFL_TRY(name_sizes(interp, *scope->function, args[2], type));
  Value v = add_input(interp, scope, std::move(type), args[1].is_str() ? std::string_view(text_of(args[1])) : "placeholder");
  scope->inputs.clear();  // the value holds the scope, not the other way round
  return v;
}

/// capture_params(graph) -> the symbolic tensors that stand for captured tensors
Result<Value> capture_params(Interp& interp, Value* args) {
  TracedGraph* g = TFL_TRY(graph_argument(interp, args[0]));
  std::vector<Value> list;
  auto scope = std::static_pointer_cast<Scope>(g->scope);
  if (scope) {
    for (const ir::Ref& r : scope->capture_params) list.push_back(symbolic_value(interp, scope, r));
  }
  return interp.list(std::move(list));
}

/// name_next(name): what the next node is called; "" or None leaves it to the operation.
Result<Value> name_next(Interp& interp, Value* args) {
  interp.tensors->node_name =
      args[0].is_str() && current_scope(interp) ? std::string_view(interp.intern(text_of(args[0]))->text) : std::string_view();
  return Value::none();
}

constexpr NativeDef kTraceNatives[] = {
    function("building", "", building),
    function("is_symbolic", "v", is_symbolic),
    function("Trace", "name", trace),
    function("constant", "value, name='Const', dtype=None", constant),
    function("known", "v", known),
    function("cond", "pred, then_region, then_outputs, else_region, else_outputs, name=None", region_cond),
    function("switch", "index, regions, outputs, name=None", region_switch),
    function("while_loop",
             "initial_values, cond_region, cond_output, body_region, body_outputs, maximum_iterations=None, name=None, "
             "checkpoint_every=None",
             region_while),
    function("host_call", "callable, operands, output_specs, name=None", host_call),
    function("apply", "op, operands, attributes=None, name=None", apply_any),
    function("suspend", "", suspend),
    function("resume", "state", resume),
    function("same_place", "a, b, /", same_place),
    function("run_eagerly", "on", run_eagerly),
    function("scope_name", "", scope_name),
    function("next_number", "", next_number),
    function("key", "values, shapes=True", key_of),
    function("replace", "structure, leaves", replace),
    function("parameters", "f", parameters),
    function("run", "graph, operands", run),
    function("graph_inputs", "graph", graph_inputs),
    function("graph_outputs", "graph", graph_outputs),
    function("graph_captures", "graph", graph_captures),
    function("graph_text", "graph, prepared=False, names=False, places=False", graph_text),
    function("graph_dropped", "graph", graph_dropped),
    function("prepare", "graph", prepare),              // to be run: prunes and optimises it, and makes it ready
    function("compile_first", "graph", compile_first),  // no call of it runs before there is machine code
    function("array_spec", "v: symbolic", array_spec),
    function("placeholder", "spec, name=None, sizes=None", placeholder),
    function("size_names", "value", size_names),
    function("capture_params", "graph", capture_params),
    function("name_next", "name", name_next),
};

constexpr NativeDef kGraphMethods[] = {
    getter("inputs", graph_inputs),
    getter("outputs", graph_outputs),
    getter("captures", graph_captures),
};

}  // namespace

std::span<const NativeDef> traced_graph_methods() { return kGraphMethods; }

Result<void> init_graph(Interp& interp, Module& module) {
  define_all(interp, module, kTraceNatives);
  define_all(interp, module, introspection_natives());
  define_all(interp, module, program_record_natives());
  define_all(interp, module, record_natives());
  define_all(interp, module, saved_natives());
  define(interp, module, "Region", Value::share(interp.types.graph_region));
  define(interp, module, "Dispatcher", Value::share(interp.types.graph_dispatcher));
  return {};
}

}  // namespace tfl
