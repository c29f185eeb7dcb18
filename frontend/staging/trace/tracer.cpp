// The sink that makes nodes: operands come in, the node is appended, its results become symbolic values.
#include "frontend/core/concrete.h"
#include "frontend/core/scope.h"
#include "frontend/staging/trace/resource.h"

namespace tfl {

namespace {

constexpr int64_t kLargestCopied = 128;  // elements of an integer tensor from outside that becomes a constant

uint64_t value_key(const SymbolicObject* s) {
  return reinterpret_cast<uintptr_t>(s->node) ^ static_cast<uint64_t>(s->index) << 48;
}

ir::Type variable_type(const VariableObject* v) {
  ir::Type type;
  type.kind = ir::TypeKind::Resource;
  type.tensor.dtype = v->dtype;
  type.tensor.ranked = v->shape_ranked;
  type.tensor.dims = v->shape;
  return type;
}

/// Integers, bools and text decide shapes and branches: the graph should know them. Floats may be what a gradient is asked for.
bool copied(const TensorRep* t) { return (t->flags & kLiteral) || (!is_floating(t->dtype) && t->size <= kLargestCopied); }

ir::Ref constant_in(Interp& interp, Scope& scope, const Tensor& t, std::string_view name) {
  auto found = scope.constants.find(t.rep());
  if (found != scope.constants.end()) return found->second;
  ir::Ref ref = ir::append_constant(*scope.block, t);
  ref.node->name = unique_name(interp, scope, name);
  ref.node->location = current_location(interp, scope);
  scope.constants.emplace(t.rep(), ref);
  return ref;
}

ir::Ref capture(Scope& scope, const Value& outside, ir::Type type, std::string name) {
  ir::Ref param = scope.block->add_param(std::move(type), std::move(name));
  scope.captures.push_back(outside);
  scope.capture_params.push_back(param);
  return param;
}

Result<ir::Ref> import_symbolic(Interp& interp, Scope& scope, const Value& v) {
  SymbolicValue* s = symbolic(v);
  if (s->scope.get() == &scope) {
    if (!scope.open) return out_of_scope(interp, s, &scope);
    return ref_of(v);
  }
  if (!s->scope->open || !Scope::reaches(&scope, s->scope.get())) return out_of_scope(interp, s, &scope);
  if (s->node->op == Op::constant && copied(s->node->constant.rep()))
    return constant_in(interp, scope, s->node->constant, s->node->name);
  uint64_t key = value_key(s);
  auto found = scope.captured_values.find(key);
  if (found != scope.captured_values.end()) return found->second;
  ir::Type type = s->ir_type();
  if (s->scope->function != scope.function) TFL_TRY(name_sizes(interp, *scope.function, Value::none(), type));
  ir::Ref param = capture(scope, v, std::move(type), unique_name(interp, scope, s->node->name));
  scope.captured_values.emplace(key, param);
  return param;
}

std::string type_name_of(DType d) {
  std::string name(dtype_name(d));
  if (name == "float32") return "FLOAT";
  if (name == "float64") return "DOUBLE";
  if (name == "float16") return "HALF";
  for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return name;
}

/// The words of TensorFlow's graph builder for a dtype that an operation does not take: by its name in the script, and with the parameter.
std::string passed_to(Op op, std::string_view text) {
  auto plain = [](std::string_view d) {
    return std::string(d == "float" ? "float32" : d == "double" ? "float64" : d == "half" ? "float16" : d);
  };
  std::string_view attr = text.substr(text.find('\'') + 1);
  attr = attr.substr(0, attr.find('\''));
  size_t of = text.find(" of ") + 4, is = text.find(" is not in the list"), list = text.rfind(": ");
  std::string_view parameter = attr == "Tindices" || attr == "TI"   ? "indices"
                               : op_info(op).kind == OpKind::Reduce ? "input"
                               : op == Op::matmul                   ? "a"
                                                                    : "x";
  std::string allowed;
  for (size_t at = list == text.npos ? text.size() : list + 2; at < text.size();) {
    size_t comma = std::min(text.find(", ", at), text.size());
    allowed += (allowed.empty() ? "" : ", ") + plain(text.substr(at, comma - at));
    at = comma + 2;
  }
  return fmt::format("Value passed to parameter '{}' has DataType {} not in list of allowed values: {}", parameter,
                     plain(text.substr(of, is - of)), allowed);
}

/// What TensorFlow's shape functions leave to the kernels: the error is that of the run.
bool of_kernels(Op op, std::string_view text) {
  return text.starts_with("Expected size[") || text.starts_with("ScanOp: ") || (op == Op::roll && text.starts_with("axis "));
}

/// An error that eager execution raises, in the class and words it has while a graph is built.
void reword(Interp& interp, Op op, std::span<const Value> operands, std::string_view name, Error& error) {
  std::string& text = error.message;
  if (of_kernels(op, text)) return;
  if (size_t at = text.rfind(" [Op:"); at != std::string::npos) text.resize(at);
  error.kind = ErrorKind::ValueError;
  if (text.starts_with("Value for attr '") && text.find(" of \"") == text.npos && text.find(" is not in the list") != text.npos) {
    error.kind = ErrorKind::TypeError;
    text = passed_to(op, text);
    return;
  }
  if (op_info(op).kind != OpKind::Elementwise || operands.size() != 2) {
    if (text.starts_with("cannot compute ")) error.kind = ErrorKind::TypeError;
    return;
  }
  auto x = dtype_of(interp, operands[0]), y = dtype_of(interp, operands[1]);
  if (x && y && *x != *y && text.starts_with("cannot compute ")) {
    error.kind = ErrorKind::TypeError;
    text = fmt::format("Input 'y' of '{}' Op has type {} that does not match type {} of argument 'x'.", op_info(op).tf_name,
                       dtype_name(*y), dtype_name(*x));
    return;
  }
  if (!text.starts_with("Incompatible shapes")) return;
  std::string names, shapes;
  Dims dims[2];
  for (size_t i = 0; i < 2; ++i) {
    const Value& v = operands[i];
    if (v.is(Kind::Symbolic))
      dims[i] = symbolic_type(v).dims;
    else if (v.is_tensor())
      dims[i] = Dims(v.tensor().dims());
    else
      return;
    std::string shape;
    for (int64_t d : dims[i]) shape += (shape.empty() ? "" : ",") + (d < 0 ? std::string("?") : std::to_string(d));
    names += (i ? ", " : "") + (v.is(Kind::Symbolic) ? symbolic(v)->node->name : std::string(i ? "y" : "x"));
    shapes += (i ? ", [" : "[") + shape + "]";
  }
  for (size_t k = 1; k <= dims[0].size() && k <= dims[1].size(); ++k) {
    int64_t a = dims[0][dims[0].size() - k], b = dims[1][dims[1].size() - k];
    if (a < 0 || b < 0 || a == b || a == 1 || b == 1) continue;
    text = fmt::format(
        "Dimensions must be equal, but are {} and {} for '{{{{node {}}}}} = {}[T=DT_{}]({})' with input shapes: {}.", a, b,
        name.empty() ? default_name(op) : name, op_info(op).tf_name, type_name_of(x ? *x : DType::F32), names, shapes);
    return;
  }
}

}  // namespace

Tracer& tracer_of(Interp& interp) {
  auto& t = interp.tensors->tracer;
  if (!t) t = std::make_shared<Tracer>();
  return *t;
}

Scope* current_scope(Interp& interp) {
  if (!interp.sink || !interp.sink->building()) return nullptr;
  return tracer_of(interp).scope.get();
}

Result<ir::Ref> import_value(Interp& interp, const Value& v) {
  Scope* scope = tracer_of(interp).scope.get();
  if (!scope) {
    if (v.is(Kind::Symbolic)) return out_of_scope(interp, symbolic(v), nullptr);
    return fail(ErrorKind::RuntimeError, "there is no graph to build");
  }
  return import_into(interp, *scope, v);
}

Result<ir::Ref> import_into(Interp& interp, Scope& scope, const Value& v) {
  switch (v.kind()) {
    case Kind::Symbolic: return import_symbolic(interp, scope, v);
    case Kind::Tensor: {
      if (copied(v.tensor_rep())) return constant_in(interp, scope, v.tensor(), "Const");
      auto found = scope.captured.find(v.counted());
      if (found != scope.captured.end()) return found->second;
      Tensor t = v.tensor();
      ir::Ref param =
          capture(scope, v, ir::Type::of({t.dtype(), true, Dims(t.dims())}), unique_name(interp, scope, "placeholder"));
      scope.captured.emplace(v.counted(), param);
      return param;
    }
    case Kind::Variable: {
      VariableObject* storage = variable_storage(v.as<VariableObject>());
      auto found = scope.captured.find(storage);
      if (found != scope.captured.end()) return found->second;
      ir::Ref param = capture(scope, Value::share(storage), variable_type(storage), unique_name(interp, scope, storage->name));
      scope.captured.emplace(storage, param);
      return param;
    }
    case Kind::NdArray:
    case Kind::NumPyScalar: {
      Value t = TFL_TRY(to_tensor(interp, v));
      return constant_in(interp, scope, t.tensor(), "Const");
    }
    default: break;
  }
  if (v.is_object() && is_resource_value(interp, v)) {
    auto found = scope.captured.find(v.counted());
    if (found != scope.captured.end()) return found->second;
    ir::Type type;
    type.kind = ir::TypeKind::Resource;
    type.opaque = true;
    ir::Ref param = capture(scope, v, type, unique_name(interp, scope, "resource"));
    scope.captured.emplace(v.counted(), param);
    return param;
  }
  Value t = TFL_TRY(to_tensor(interp, v));
  return import_into(interp, scope, t);
}

Value symbolic_value(Interp& interp, const std::shared_ptr<Scope>& scope, ir::Ref ref) {
  SymbolicValue* s = interp.allocate<SymbolicValue>(interp.types.symbolic);
  s->node = ref.node;
  s->index = ref.index;
  s->scope = scope;
  s->device = interp.tensors->tracer ? interp.tensors->tracer->device : nullptr;
  return Value::adopt(s);
}

ir::Ref ref_of(const Value& v) { return {v.as<SymbolicObject>()->node, v.as<SymbolicObject>()->index}; }

const TensorType& symbolic_type(const Value& v) { return symbolic(v)->ir_type().tensor; }

Result<ir::Node*> append_node(Interp& interp, Op op, std::span<const Value> operands, const Attrs& attrs,
                              std::vector<std::unique_ptr<ir::Block>> regions, std::shared_ptr<ir::Function> callee,
                              std::string_view name) {
  Scope* scope = tracer_of(interp).scope.get();
  // The name belongs to this node, not to those of its operands.
  if (name.empty()) name = interp.tensors->node_name;
  interp.tensors->node_name = {};
  if (name.empty()) name = attrs.get_text(Attr::name);
  if (name.empty()) name = default_name(op);
  std::string full(name);
  std::vector<ir::Ref> refs;
  refs.reserve(operands.size());
  for (const Value& v : operands) {
    if (v.is_tensor() && (v.tensor_rep()->flags & kLiteral)) {
      std::string inner = op_info(op).kind == OpKind::Elementwise && operands.size() == 2
                              ? full + (&v == operands.data() ? "/x" : "/y")
                              : full + "/Const";
      refs.push_back(constant_in(interp, *scope, v.tensor(), inner));
    } else {
      refs.push_back(TFL_TRY(import_into(interp, *scope, v)));
    }
  }
  if (!scope->open) return fail(ErrorKind::RuntimeError, "the graph of '{}' is finished", scope->name);
  ir::Node* node =
      TFL_TRY(ir::append(interp.context, *scope->block, op, std::move(refs), attrs, std::move(regions), std::move(callee)));
  node->name = unique_name(interp, *scope, full);
  node->location = current_location(interp, *scope);
  return node;
}

void results_of(Interp& interp, ir::Node* node, SmallVec<Value, 2>& results) {
  const std::shared_ptr<Scope>& scope = tracer_of(interp).scope;
  for (uint32_t i = 0; i < node->types.size(); ++i) results.push_back(symbolic_value(interp, scope, {node, i}));
}

Value symbolic_constant(Interp& interp, Tensor t, std::string_view name) {
  const std::shared_ptr<Scope>& scope = tracer_of(interp).scope;
  if (!interp.tensors->node_name.empty()) name = interp.tensors->node_name;
  std::string full(name);
  interp.tensors->node_name = {};
  ir::Ref ref = ir::append_constant(*scope->block, std::move(t));
  ref.node->name = unique_name(interp, *scope, full);
  ref.node->location = current_location(interp, *scope);
  return symbolic_value(interp, scope, ref);
}

Value shown_value(Interp& interp, Value v, std::string_view name) {
  if (!v.is_tensor() || !current_scope(interp)) return v;
  if (!(v.tensor_rep()->flags & kLiteral)) return v;
  Tensor t = v.tensor();
  return symbolic_constant(interp, std::move(t), name);
}

// -------------------------------------------------------------------------------------------------------------- the sink

Result<void> Tracer::apply(Interp& interp, Op op, std::span<const Value> operands, const Attrs& attrs,
                           SmallVec<Value, 2>& results) {
  std::string_view name = interp.tensors->node_name;
  auto node = append_node(interp, op, operands, attrs);
  if (!node) {
    // What shapes alone decide fails while tracing with the class that TensorFlow's shape functions give.
    if (node.error().kind == ErrorKind::InvalidArgumentError && !node.error().payload)
      reword(interp, op, operands, name, node.error());
    return node.failure();
  }
  results_of(interp, *node, results);
  return {};
}

Result<Value> Tracer::read_variable(Interp& interp, VariableObject* v) {
  Value variable = Value::share(variable_storage(v));
  std::string kept(interp.tensors->node_name);
  interp.tensors->node_name = {};
  ir::Node* node = TFL_TRY(
      append_node(interp, Op::read_variable, std::span<const Value>(&variable, 1), Attrs(), {}, nullptr, "ReadVariableOp"));
  node->variable = v->name;
  if (!kept.empty()) interp.tensors->node_name = interp.intern(kept)->text;
  return symbolic_value(interp, scope, {node, 0});
}

Result<void> Tracer::assign_variable(Interp& interp, VariableObject* v, Assignment how, const Value& value) {
  Value operands[2] = {Value::share(variable_storage(v)), value};
  if (how != Assignment::Set) {
    Value now = TFL_TRY(read_variable(interp, v));
    Value sum[2] = {now, value};
    SmallVec<Value, 2> results;
    TFL_TRY(apply(interp, how == Assignment::Add ? Op::add : Op::subtract, sum, Attrs(), results));
    operands[1] = results[0];
  }
  std::string_view name = how == Assignment::Set   ? "AssignVariableOp"
                          : how == Assignment::Add ? "AssignAddVariableOp"
                                                   : "AssignSubVariableOp";
  TFL_TRY(append_node(interp, Op::assign_variable, operands, Attrs(), {}, nullptr, name));
  return {};
}

void Tracer::node_made(Interp&, std::span<const Value>, ir::Node*, std::span<const Value>) {}

Result<void> Tracer::call(Interp& interp, const FunctionCall& call, std::span<const Value> operands,
                          SmallVec<Value, 2>& results) {
  TFL_TRY(check_named_sizes(interp, *call.function, operands));
  ir::Node* node = TFL_TRY(append_node(interp, Op::call, operands, Attrs(), {}, call.function, "StatefulPartitionedCall"));
  if (call.device != gpu::kCpu) scope->root()->device = call.device;
  if (call.compiled) scope->root()->compiled = true;
  results_of(interp, node, results);
  return {};
}

// ------------------------------------------------------------------------------------------------------------------ scopes

std::shared_ptr<Scope> begin_function(Interp& interp, std::string name) {
  Tracer& tracer = tracer_of(interp);
  auto scope = std::make_shared<Scope>();
  scope->outer = current_scope(interp) ? tracer.scope : nullptr;
  scope->function = std::make_shared<ir::Function>();
  scope->function->name = name;
  scope->block = &scope->function->body;
  scope->name = std::move(name);
  scope->is_function = true;
  scope->id = ++tracer.next_id;
  scope->root_frame = interp.frame;
  return scope;
}

std::shared_ptr<Scope> begin_region(Interp& interp, std::string name) {
  Tracer& tracer = tracer_of(interp);
  auto scope = std::make_shared<Scope>();
  scope->outer = tracer.scope;
  scope->function = tracer.scope->function;
  scope->region = std::make_unique<ir::Block>();
  scope->region->function = scope->function.get();
  scope->block = scope->region.get();
  scope->name = std::move(name);
  scope->id = ++tracer.next_id;
  return scope;
}

Value add_input(Interp& interp, const std::shared_ptr<Scope>& scope, ir::Type type, std::string_view name) {
  ir::Ref param = scope->block->add_param(std::move(type), unique_name(interp, *scope, name.empty() ? "placeholder" : name));
  Value v = symbolic_value(interp, scope, param);
  scope->inputs.push_back(v);
  return v;
}

Tensor known_value(Interp& interp, const Value& v) {
  if (v.is_tensor()) return v.tensor();
  if (!v.is(Kind::Symbolic) || !symbolic(v)->scope->open) return {};
  return ir::static_value(interp.context, ref_of(v));
}

}  // namespace tfl
