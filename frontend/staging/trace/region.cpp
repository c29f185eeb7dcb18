// Regions: what they take from outside becomes parameters of each region of a node, in one order.
#include "frontend/staging/trace/region.h"

#include "frontend/core/concrete.h"
#include "frontend/core/native.h"
#include "frontend/tensors/tensor/shape.h"

namespace tfl {

namespace {

RegionObject* self_of(const Value& v) { return v.as<RegionObject>(); }

Result<RegionObject*> region_argument(Interp& interp, const Value& v) {
  if (v.is_object() && !v.is_tensor() && v.object()->type == interp.types.graph_region) return self_of(v);
  return fail(ErrorKind::TypeError, "a region of a graph is needed, not '{}'", interp.type_name(v));
}

Result<void> need_graph(Interp& interp, std::string_view what) {
  if (current_scope(interp)) return {};
  return fail(ErrorKind::RuntimeError, "{}: no graph is being built", what);
}

// -------------------------------------------------------------------------------------------------------------- methods

Result<Value> construct_region(Interp& interp, Type*, CallArgs& args) {
  TFL_TRY(need_graph(interp, "Region"));
  std::string name = args.count > 0 && args.values[0].is_str() ? text_of(args.values[0]) : std::string("region");
  // AutoGraph's names for what TensorFlow calls otherwise.
  if (name == "then") name = "cond_true";
  if (name == "else") name = "cond_false";
  if (name == "for_cond") name = "while_cond";
  if (name == "for_body") name = "while_body";
  Scope& outer = *tracer_of(interp).scope;
  // The name that the node will have, once it is made: "while" for its regions while_cond and while_body.
  std::string_view node = name;
  for (std::string_view part : {"_cond", "_body", "_true", "_false", "_then", "_else"}) {
    if (node.ends_with(part) && node.size() > part.size()) node.remove_suffix(part.size());
  }
  std::string names = interp.tensors->name_scope + std::string(node);
  auto used = outer.names.find(names);
  if (used != outer.names.end() && used->second > 0) names += "_" + std::to_string(used->second);
  return region_value(interp, begin_region(interp, name), names + "/");
}

/// The type of `like`, with another shape where one is given.
Result<ir::Type> type_like(Interp& interp, const Value& like, const Value& shape) {
  ir::Type type;
  if (like.is(Kind::Symbolic)) {
    type = symbolic(like)->ir_type();
  } else if (like.is(Kind::Variable)) {
    const VariableObject* v = variable_storage(like.as<VariableObject>());
    type = ir::Type::of({v->dtype, v->shape_ranked, v->shape});
  } else if (like.is_object() && !is_tensor_like(like)) {
    // A TensorSpec: anything with a shape and a dtype.
    Value dtype = TFL_TRY(find_attr(interp, like, interp.intern("dtype")));
    Value spec_shape = TFL_TRY(find_attr(interp, like, interp.intern("shape")));
    if (!dtype.is_empty() && spec_shape.is(Kind::Shape)) {
      const auto* s = spec_shape.as<ShapeObject>();
      type = ir::Type::of({TFL_TRY(to_dtype(interp, dtype)), s->ranked, s->dims});
    } else {
      Value t = TFL_TRY(to_tensor(interp, like));
      return type_like(interp, t, shape);
    }
  } else {
    Value t = TFL_TRY(to_tensor(interp, like));
    if (!t.is_tensor()) return type_like(interp, t, shape);
    type = ir::Type::of({t.tensor_rep()->dtype, true, Dims(t.tensor().dims())});
  }
  if (!shape.is_none() && !shape.is_empty() && type.kind != ir::TypeKind::Resource) {
    Value s = TFL_TRY(as_shape(interp, shape));
    type.tensor.ranked = s.as<ShapeObject>()->ranked;
    type.tensor.dims = s.as<ShapeObject>()->dims;
  }
  return type;
}

Result<Value> region_add_input(Interp& interp, Value* args) {
  RegionObject* r = self_of(args[0]);
  ir::Type type = TFL_TRY(type_like(interp, args[1], args[2]));
  TFL_TRY(name_sizes(interp, *r->scope->function, args[4], type));
  std::string outer = std::move(interp.tensors->name_scope);
  interp.tensors->name_scope = r->names;
  Value v = add_input(interp, r->scope, std::move(type), args[3].is_str() ? text_of(args[3]) : std::string("placeholder"));
  interp.tensors->name_scope = std::move(outer);
  return v;
}

/// add_variable(like): a parameter that is a variable of the type of `like`, as an object of its own.
Result<Value> region_add_variable(Interp& interp, Value* args) {
  RegionObject* r = self_of(args[0]);
  VariableObject* like = variable_storage(args[1].as<VariableObject>());
  VariableObject* v = interp.allocate<VariableObject>(args[1].object()->type);
  Value result = Value::adopt(v);
  v->dtype = like->dtype;
  v->trainable = like->trainable;
  v->shape_ranked = like->shape_ranked;
  v->shape = like->shape;
  v->name = like->name;
  v->constraint = like->constraint;
  v->id = like->id;
  ir::Ref param = r->scope->block->add_param(ir::Type::variable({v->dtype, v->shape_ranked, v->shape}),
                                             unique_name(interp, *r->scope, v->name));
  r->scope->captured.emplace(v, param);
  r->scope->inputs.push_back(result);
  return result;
}

/// add_resource(): a parameter that is something of the host.
Result<Value> region_add_resource(Interp& interp, Value* args) {
  return add_input(interp, self_of(args[0])->scope, ir::Type::resource(),
                   args[1].is_str() ? text_of(args[1]) : std::string("resource"));
}

Result<Value> region_enter(Interp& interp, Value* args) {
  RegionObject* r = self_of(args[0]);
  Tracer& tracer = tracer_of(interp);
  if (r->entered) return fail(ErrorKind::RuntimeError, "the region is entered already");
  r->entered = true;
  r->saved_sink = interp.sink;
  r->saved_scope = tracer.scope;
  r->saved_names = interp.tensors->name_scope;
  interp.tensors->name_scope = r->names;
  interp.tensors->node_name = {};
  tracer.scope = r->scope;
  interp.sink = &tracer;
  return args[0];
}

Result<Value> region_exit(Interp& interp, Value* args) {
  RegionObject* r = self_of(args[0]);
  Tracer& tracer = tracer_of(interp);
  if (!r->entered) return Value::none();
  r->entered = false;
  tracer.scope = std::move(r->saved_scope);
  interp.sink = r->saved_sink;
  interp.tensors->name_scope = std::move(r->saved_names);
  interp.tensors->node_name = {};
  if (r->scope->is_function) {
    // Symbolic values hold their scope: it must not hold them as well.
    r->scope->open = false;
    r->scope->inputs.clear();
    r->scope->input_values.clear();
  }
  return Value::none();
}

Result<Value> region_inputs(Interp& interp, Value* args) { return interp.list(self_of(args[0])->scope->inputs); }
Result<Value> region_captures(Interp& interp, Value* args) { return interp.list(self_of(args[0])->scope->captures); }
Result<Value> region_created(Interp& interp, Value* args) { return interp.list(self_of(args[0])->scope->created); }
Result<Value> region_name(Interp& interp, Value* args) { return interp.str(self_of(args[0])->scope->name); }

/// capture(values): takes these values in before anything else does, so that a function that calls itself can pass them on.
Result<Value> region_capture(Interp& interp, Value* args) {
  for (const Value& v : TFL_TRY(to_vector(interp, args[1]))) TFL_TRY(import_into(interp, *self_of(args[0])->scope, v));
  return Value::none();
}

/// call(operands, specs) -> list: a call of this function, which is still being traced, from inside itself.
Result<Value> region_call(Interp& interp, Value* args) {
  TFL_TRY(need_graph(interp, "call"));
  RegionObject* r = self_of(args[0]);
  Tracer& tracer = tracer_of(interp);
  std::vector<Value> operands = TFL_TRY(to_vector(interp, args[1]));
  for (const Value& v : r->scope->captures) operands.push_back(v);
  TFL_TRY(check_named_sizes(interp, *r->scope->function, operands));
  std::vector<ir::Ref> refs;
  for (const Value& v : operands) refs.push_back(TFL_TRY(import_into(interp, *tracer.scope, v)));
  std::vector<ir::Type> types;
  for (const Value& spec : TFL_TRY(to_vector(interp, args[2]))) types.push_back(TFL_TRY(type_like(interp, spec, Value::none())));
  ir::Node* node = tracer.scope->block->add(Op::call, std::move(refs), Attrs(), std::move(types));
  node->recursive = r->scope->function.get();
  node->name = unique_name(interp, *tracer.scope, "PartitionedCall");
  node->location = current_location(interp, *tracer.scope);
  SmallVec<Value, 2> results;
  results_of(interp, node, results);
  if (interp.sink) interp.sink->node_made(interp, operands, node, results);
  return interp.list(std::vector<Value>(results.begin(), results.end()));
}

/// allow_variables(values): this trace may make variables; `values` are those of the arguments, for their initial values.
Result<Value> region_allow_variables(Interp& interp, Value* args) {
  Scope& scope = *self_of(args[0])->scope;
  scope.creates_variables = true;
  scope.input_values = TFL_TRY(to_vector(interp, args[1]));
  return Value::none();
}

/// finish(outputs): the results of a function; gives its Graph.
Result<Value> region_finish(Interp& interp, Value* args) {
  RegionObject* r = self_of(args[0]);
  std::shared_ptr<Scope> scope = r->scope;
  if (!scope->is_function || !r->entered) return fail(ErrorKind::RuntimeError, "only the trace in progress can be finished");
  std::vector<Value> outputs = TFL_TRY(to_vector(interp, args[1]));
  std::vector<Value> shown;
  for (const Value& v : outputs) {
    ir::Ref ref = TFL_TRY(result_in(interp, *scope, v, nullptr));
    Value inner = symbolic_value(interp, scope, ref);
    if (ref.type().is_tensor()) {
      ir::Node* node = TFL_TRY(append_node(interp, Op::identity, std::span<const Value>(&inner, 1), Attrs()));
      ref = {node, 0};
      inner = symbolic_value(interp, scope, ref);
    }
    scope->block->results.push_back(ref);
    shown.push_back(inner);
  }
  Value graph =
      traced_graph(interp, scope->function, scope->function->body.params.size() - scope->captures.size(), scope->captures);
  auto* g = graph.as<TracedGraph>();
  g->outputs = std::move(shown);
  g->inputs = scope->inputs;
  g->scope = scope;
  g->call.device = scope->device;
  g->call.compiled = scope->compiled;
  // Parameters of arguments come first, in the order they were added; a capture may have come between them.
  std::vector<std::unique_ptr<ir::Node>> arguments, captured;
  for (auto& p : scope->function->body.params) {
    bool capture = false;
    for (const ir::Ref& c : scope->capture_params) capture |= c.node == p.get();
    (capture ? captured : arguments).push_back(std::move(p));
  }
  for (auto& p : captured) arguments.push_back(std::move(p));
  scope->function->body.params = std::move(arguments);
  return graph;
}

constexpr NativeDef kRegionMethods[] = {
    method("add_input", "self, like, shape=None, name=None, sizes=None", region_add_input),
    method("add_variable", "self, like: variable", region_add_variable),
    method("add_resource", "self, name=None", region_add_resource),
    method("enter", "self", region_enter),
    method("exit", "self", region_exit),
    method("allow_variables", "self, values", region_allow_variables),
    method("finish", "self, outputs", region_finish),
    method("capture", "self, values", region_capture),
    method("call", "self, operands, specs", region_call),
    getter("inputs", region_inputs),
    getter("captures", region_captures),
    getter("created", region_created),
    getter("name", region_name),
};

void destroy_region(Object* o) {
  static_cast<RegionObject*>(o)->~RegionObject();
  Heap::release(o, sizeof(RegionObject));
}

// ------------------------------------------------------------------------------------------------------- joining regions

/// Every outside value that one of the regions uses, once, and the regions' parameters in that order behind their inputs.
Result<std::vector<Value>> join_captures(std::span<RegionObject* const> regions) {
  std::vector<Value> all;
  std::unordered_map<uint64_t, size_t> places;
  auto key_of = [](const Value& v) {
    if (v.is(Kind::Symbolic))
      return reinterpret_cast<uintptr_t>(symbolic(v)->node) ^ static_cast<uint64_t>(symbolic(v)->index) << 48;
    return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(v.counted()));
  };
  for (RegionObject* r : regions) {
    for (const Value& v : r->scope->captures) {
      if (places.emplace(key_of(v), all.size()).second) all.push_back(v);
    }
  }
  for (RegionObject* r : regions) {
    Scope& s = *r->scope;
    std::vector<ir::Node*> have(all.size(), nullptr);
    for (size_t i = 0; i < s.captures.size(); ++i) have[places[key_of(s.captures[i])]] = s.capture_params[i].node;
    std::vector<std::unique_ptr<ir::Node>> ordered;
    for (const Value& input : s.inputs) {
      for (auto& p : s.block->params) {
        bool same = p && (input.is(Kind::Symbolic) ? p.get() == symbolic(input)->node : false);
        if (same) {
          ordered.push_back(std::move(p));
          break;
        }
      }
    }
    for (size_t i = 0; i < all.size(); ++i) {
      if (!have[i]) {
        // The region does not use it: a parameter of its type, taken from a region that does.
        ir::Type type;
        std::string name;
        for (RegionObject* other : regions) {
          for (size_t k = 0; k < other->scope->captures.size(); ++k) {
            if (key_of(other->scope->captures[k]) == key_of(all[i])) {
              type = other->scope->capture_params[k].type();
              name = other->scope->capture_params[k].node->name;
            }
          }
        }
        auto param = std::make_unique<ir::Node>();
        param->op = Op::parameter;
        param->types.push_back(std::move(type));
        param->name = name + "_unused";
        param->block = s.block;
        ordered.push_back(std::move(param));
        continue;
      }
      for (auto& p : s.block->params) {
        if (p.get() == have[i]) {
          ordered.push_back(std::move(p));
          break;
        }
      }
    }
    s.block->params = std::move(ordered);
  }
  return all;
}

Result<std::vector<Value>> outputs_of(Interp& interp, const Value& v) {
  if (v.is_none()) return std::vector<Value>();
  return to_vector(interp, v);
}

Result<Value> made(Interp& interp, Op op, std::span<RegionObject* const> regions, std::vector<Value> operands, const Attrs& attrs,
                   const Value& name) {
  std::vector<std::unique_ptr<ir::Block>> blocks;
  for (RegionObject* r : regions) {
    if (r->entered || !r->scope->open || !r->scope->region)
      return fail(ErrorKind::RuntimeError, "the region '{}' is in use or was used before", r->scope->name);
  }
  for (RegionObject* r : regions) {
    r->scope->open = false;
    blocks.push_back(std::move(r->scope->region));
  }
  std::string_view called = name.is_str() && text_of(name) != "for" ? std::string_view(text_of(name)) : default_name(op);
  ir::Node* node = TFL_TRY(append_node(interp, op, operands, attrs, std::move(blocks), nullptr, called));
  for (RegionObject* r : regions) r->scope->inputs.clear();
  SmallVec<Value, 2> results;
  results_of(interp, node, results);
  if (interp.sink) interp.sink->node_made(interp, operands, node, results);
  std::vector<Value> list(results.begin(), results.end());
  return interp.list(std::move(list));
}

/// A result that a host value gives in one branch takes the type it has in another.
Result<void> give_results(Interp& interp, std::span<RegionObject* const> regions, std::span<const std::vector<Value>> outputs) {
  for (size_t b = 0; b < regions.size(); ++b) {
    for (size_t i = 0; i < outputs[b].size(); ++i) {
      const Value* like = nullptr;
      for (const auto& other : outputs) {
        if (i < other.size() && is_tensor_like(other[i])) like = &other[i];
      }
      regions[b]->scope->block->results.push_back(TFL_TRY(result_in(interp, *regions[b]->scope, outputs[b][i], like)));
    }
  }
  return {};
}

}  // namespace

Value region_value(Interp& interp, std::shared_ptr<Scope> scope, std::string names) {
  RegionObject* r = interp.allocate<RegionObject>(interp.types.graph_region);
  r->scope = std::move(scope);
  r->names = std::move(names);
  return Value::adopt(r);
}

Result<ir::Ref> result_in(Interp& interp, Scope& scope, const Value& v, const Value* like) {
  if (v.is(Kind::Symbolic) || v.is_tensor()) return import_into(interp, scope, v);
  Tracer& tracer = tracer_of(interp);
  // Host values and variables become nodes of that very scope.
  std::shared_ptr<Scope> here = tracer.scope;
  Sink* sink = interp.sink;
  tracer.scope = scope.shared_from_this();
  interp.sink = &tracer;
  ToTensor wanted;
  if (like && !v.is(Kind::Variable)) wanted.preferred = dtype_of(interp, *like);
  auto t = to_tensor(interp, v, wanted);
  Result<ir::Ref> ref = t ? import_into(interp, scope, *t) : Result<ir::Ref>(t.failure());
  tracer.scope = std::move(here);
  interp.sink = sink;
  return ref;
}

/// cond(pred, then_region, then_outputs, else_region, else_outputs, name)
Result<Value> region_cond(Interp& interp, Value* args) {
  TFL_TRY(need_graph(interp, "cond"));
  RegionObject* regions[2] = {TFL_TRY(region_argument(interp, args[1])), TFL_TRY(region_argument(interp, args[3]))};
  std::vector<Value> outputs[2] = {TFL_TRY(outputs_of(interp, args[2])), TFL_TRY(outputs_of(interp, args[4]))};
  if (outputs[0].size() != outputs[1].size())
    return fail(ErrorKind::ValueError,
                "Lengths of branch outputs of cond must match.\nlen(graphs[0].outputs): {}\nlen(graphs[1].outputs): {}\n",
                outputs[0].size(), outputs[1].size());
  TFL_TRY(give_results(interp, regions, outputs));
  std::vector<Value> operands = {args[0]};
  std::vector<Value> captures = TFL_TRY(join_captures(regions));
  operands.insert(operands.end(), captures.begin(), captures.end());
  return made(interp, Op::cond, regions, std::move(operands), Attrs(), args[5]);
}

/// switch(index, regions, outputs, name)
Result<Value> region_switch(Interp& interp, Value* args) {
  TFL_TRY(need_graph(interp, "switch"));
  std::vector<RegionObject*> regions;
  std::vector<std::vector<Value>> outputs;
  for (const Value& r : TFL_TRY(to_vector(interp, args[1]))) regions.push_back(TFL_TRY(region_argument(interp, r)));
  for (const Value& o : TFL_TRY(to_vector(interp, args[2]))) outputs.push_back(TFL_TRY(outputs_of(interp, o)));
  if (regions.empty() || regions.size() != outputs.size()) return fail(ErrorKind::ValueError, "each branch needs its results");
  TFL_TRY(give_results(interp, regions, outputs));
  std::vector<Value> operands = {args[0]};
  std::vector<Value> captures = TFL_TRY(join_captures(regions));
  operands.insert(operands.end(), captures.begin(), captures.end());
  return made(interp, Op::switch_case, regions, std::move(operands), Attrs(), args[3]);
}

/// while_loop(initial_values, cond_region, cond_output, body_region, body_outputs, maximum_iterations, name, checkpoint_every)
Result<Value> region_while(Interp& interp, Value* args) {
  TFL_TRY(need_graph(interp, "while_loop"));
  std::vector<Value> operands = TFL_TRY(to_vector(interp, args[0]));
  RegionObject* regions[2] = {TFL_TRY(region_argument(interp, args[1])), TFL_TRY(region_argument(interp, args[3]))};
  std::vector<Value> body = TFL_TRY(outputs_of(interp, args[4]));
  size_t variables = operands.size();
  for (RegionObject* r : regions) {
    if (r->scope->inputs.size() != variables)
      return fail(ErrorKind::ValueError, "a loop of {} variables whose region has {} inputs", variables, r->scope->inputs.size());
  }
  if (body.size() != variables)
    return fail(ErrorKind::ValueError, "a loop of {} variables whose body gives {}", variables, body.size());
  regions[0]->scope->block->results.push_back(TFL_TRY(result_in(interp, *regions[0]->scope, args[2], nullptr)));
  for (size_t i = 0; i < variables; ++i) {
    regions[1]->scope->block->results.push_back(
        TFL_TRY(result_in(interp, *regions[1]->scope, body[i], &regions[1]->scope->inputs[i])));
  }
  // An initial host value has the type of the variable.
  for (size_t i = 0; i < variables; ++i) {
    if (is_tensor_like(operands[i]) || !regions[1]->scope->inputs[i].is(Kind::Symbolic)) continue;
    if (symbolic(regions[1]->scope->inputs[i])->ir_type().kind != ir::TypeKind::Tensor) continue;
    ToTensor wanted;
    wanted.dtype = symbolic_type(regions[1]->scope->inputs[i]).dtype;
    operands[i] = TFL_TRY(to_tensor(interp, operands[i], wanted));
  }
  std::vector<Value> captures = TFL_TRY(join_captures(regions));
  operands.insert(operands.end(), captures.begin(), captures.end());
  Attrs attrs;
  attrs.set_int(Attr::num, static_cast<int64_t>(variables));
  if (args[5].is_int()) attrs.set_int(Attr::limit, args[5].as_int());
  if (args[7].is_int()) attrs.set_int(Attr::k, args[7].as_int());
  return made(interp, Op::while_loop, regions, std::move(operands), attrs, args[6]);
}

extern const Slots region_slots;
const Slots region_slots = {.kind = Kind::Native, .destroy = destroy_region, .construct = construct_region};

std::span<const NativeDef> region_methods() { return kRegionMethods; }

}  // namespace tfl
