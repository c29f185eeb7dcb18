// Running traced functions: programs made on first use, values in and out, errors with the lines of the script.
#include "frontend/core/concrete.h"

#include <algorithm>
#include <charconv>

#include "frontend/core/native.h"
#include "frontend/core/scope.h"
#include "frontend/staging/trace/resource.h"
#include "frontend/tensors/tensor/device.h"
#include "frontend/tensors/tensor/transaction.h"
#include "frontend/tensors/tensor/workers.h"

namespace tfl {

namespace {

/// What a running graph asks of the interpreter.
struct InterpHost final : ir::Host {
  explicit InterpHost(Interp& i) : interp(i) {}
  Result<void> print(std::string_view text, std::string_view stream) override {
    if (stream == "stdout") {
      interp.streams.out(text);
    } else if (stream.empty() || stream == "stderr") {
      interp.streams.err(text);
    } else {
      // Files are the library's: it knows what may be written.
      TFL_TRY(interp.import_module("tensorflow._framework.printing"));
      Value module = interp.find_module("tensorflow._framework.printing");
      Value writer = TFL_TRY(get_attr(interp, module, interp.intern("append_to_file")));
      TFL_TRY(interp.call(writer, {interp.str(std::string(stream)), interp.str(std::string(text))}));
    }
    return {};
  }
  Result<Tensor> next_seed(const ir::Node& n, int64_t groups) override {
    std::string_view stream = n.attrs.get_text(Attr::stream);
    int replica = -1;
    if (constexpr std::string_view kOfReplica = "replica "; stream.starts_with(kOfReplica)) {
      const char* end = std::from_chars(stream.data() + kOfReplica.size(), stream.data() + stream.size(), replica).ptr;
      stream.remove_prefix(static_cast<size_t>(end - stream.data()));
    }
    RandomStreams& streams = replica < 0 ? interp.tensors->random : random_streams_of(interp, replica);
    auto next = [&] {
      if (streams.function && streams.pass) {
        const AttrValue* seeds = n.attrs.find(Attr::graph_seeds);
        return seeds && seeds->ints.size() == 3 ? streams.next_of_pass(seeds->ints[2], seeds->ints[0], seeds->ints[1], groups)
                                                : streams.unseeded();
      }
      int64_t own = n.attrs.get_int(Attr::seed, -1);
      return streams.next(stream, own < 0 ? std::nullopt : std::optional(own), groups);
    };
    Tensor state = TFL_TRY(Tensor::empty(interp.context, DType::I64, Dims{3}));
    std::ranges::copy(next(), state.data<int64_t>());
    return state;
  }
  /// A call that is soon over goes on to its end.
  Result<void> check_interrupt() override {
    if (interp.context.interrupt.load(std::memory_order_relaxed) == 0) [[likely]]
      return {};
    return interp.check_interrupt();
  }
  Interp& interp;
};

void destroy_graph(Object* o) {
  static_cast<TracedGraph*>(o)->~TracedGraph();
  Heap::release(o, sizeof(TracedGraph));
}

void want_machine_code(const ir::Function& f) {
  ir::walk(f.body, [](const ir::Node& n) {
    if (!n.callee) return;
    if (n.callee->native)
      n.callee->native->wanted = true;
    else
      want_machine_code(*n.callee);
  });
}

}  // namespace

Result<std::shared_ptr<const ir::Program>> program_of(Interp& interp, const FunctionCall& call) {
  if (!call.program) {
    if (!call.prepared) {
      std::shared_ptr<ir::Function> copy = ir::clone(*call.function);
      ir::prune(*copy, interp.tensors->strict);
      if (interp.tensors->prepare_graph) TFL_TRY(interp.tensors->prepare_graph(interp.context, *copy));
      call.function->dropped = copy->dropped;
      if (call.compiled) want_machine_code(*copy);
      call.prepared = std::move(copy);
    }
    call.program = TFL_TRY(ir::Program::build(call.prepared));
  }
  return call.program;
}

Result<TracedGraph*> graph_argument(Interp& interp, const Value& v) {
  if (v.is_object() && !v.is_tensor() && v.object()->type == interp.types.graph_function) return v.as<TracedGraph>();
  return fail(ErrorKind::TypeError, "a traced graph is needed, not '{}'", interp.type_name(v));
}

Result<ir::Datum> datum_of(Interp& interp, const Value& v) {
  ir::Datum d;
  switch (v.kind()) {
    case Kind::Tensor: d.tensor = v.tensor(); return d;
    case Kind::Variable: d.resource = variable_resource(interp, variable_storage(v.as<VariableObject>())); return d;
    case Kind::List: {
      // An array: its tensors, None where none was written.
      d.array = std::make_shared<ir::ArrayContent>();
      for (const Value& item : v.as<List>()->items) {
        if (item.is_tensor()) {
          d.array->element = TensorType{item.tensor_rep()->dtype, true, Dims(item.tensor().dims())};
          d.array->items.push_back(item.tensor());
        } else {
          d.array->items.emplace_back();
        }
      }
      d.array->grows = true;
      return d;
    }
    case Kind::Symbolic: return out_of_scope(interp, symbolic(v), current_scope(interp));
    default: break;
  }
  if (is_array_value(v)) {
    d.array = v.as<ArrayObject>()->content;
    return d;
  }
  if (v.is_object() && is_resource_value(interp, v)) {
    d.resource = callable_resource(interp, v);
    return d;
  }
  d.tensor = TFL_TRY(to_concrete(interp, v));
  return d;
}

Value value_of(Interp& interp, ir::Datum& d, bool gives_arrays) {
  if (d.array && gives_arrays) return array_value(interp, std::move(d.array));
  if (d.array) {
    std::vector<Value> items;
    for (const Tensor& t : d.array->items) items.push_back(t ? Value::of(t) : Value::none());
    return interp.list(std::move(items));
  }
  if (!d.tensor) return Value::none();
  return Value::of(std::move(d.tensor));
}

namespace {

/// A graph that is one call of machine code is called here, without a frame around it. False: it has not run.
bool run_direct(Interp& interp, const ir::Program::Direct& direct, std::span<const Value> operands, SmallVec<Value, 2>& results) {
  SmallVec<Tensor, 6> inputs;
  for (uint32_t i : direct.arguments) {
    const Value& v = operands[i & ~ir::Program::Direct::kRead];
    if (i & ir::Program::Direct::kRead) {
      if (!v.is(Kind::Variable)) return false;
      const Tensor& value = variable_storage(v.as<VariableObject>())->value;
      if (!value) return false;
      inputs.push_back(value);
    } else {
      if (!v.is_tensor()) return false;
      inputs.push_back(v.tensor());
    }
  }
  SmallVec<Tensor, 4> given(direct.given);
  if (!direct.native->run(interp.context, inputs, given)) return false;
  for (uint32_t i : direct.results) results.push_back(Value::of(given[i]));
  return true;
}

/// The same for a graph of a few operations.
bool run_plain(Interp& interp, const ir::Program& program, std::span<const Value> operands, SmallVec<Value, 2>& results) {
  SmallVec<TensorRep*, 6> inputs;
  for (const Value& v : operands) {
    if (!v.is_tensor()) return false;
    inputs.push_back(v.tensor_rep());
  }
  SmallVec<Tensor, 4> given(static_cast<size_t>(program.plain_results()));
  if (!program.run_plain(interp.context, inputs, given)) return false;
  for (Tensor& t : given) results.push_back(Value::of(std::move(t)));
  return true;
}

}  // namespace

Result<void> run_graph(Interp& interp, const ir::Program& program, std::span<const Value> operands, SmallVec<Value, 2>& results,
                       bool gives_arrays) {
  if (const ir::Program::Direct* direct = program.direct()) {
    if (run_direct(interp, *direct, operands, results)) return {};
  }
  if (program.plain_results() >= 0 && run_plain(interp, program, operands, results)) return {};
  SmallVec<ir::Datum, 8> inputs;
  for (const Value& v : operands)
    inputs.push_back(v.is_tensor() ? ir::Datum{v.tensor(), nullptr, nullptr} : TFL_TRY(datum_of(interp, v)));
  std::vector<ir::Datum> outputs;
  InterpHost host(interp);
  std::vector<ir::Program::Place> failed;
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" while calling a traced function");
  Undivided step(interp, program.changes_state());
  auto done = program.run(interp.context, host, {inputs.data(), inputs.size()}, outputs, &failed);
  if (!done) {
    step.failed(done.error());
    // Tracebacks are made from the inside.
    for (size_t i = failed.size(); i-- > 0;) add_location_trace(interp, done.error(), *failed[i].locations, failed[i].location);
    return done.failure();
  }
  for (ir::Datum& d : outputs) results.push_back(value_of(interp, d, gives_arrays));
  return {};
}

Result<void> run_call(Interp& interp, const FunctionCall& call, std::span<const Value> operands, SmallVec<Value, 2>& results) {
  if (call.device < gpu::kCpu) [[unlikely]]
    return fail(ErrorKind::InvalidArgumentError, "Unable to find any devices for spec /device:GPU:{} [Op:{}]",
                refused_index(call.device), call.function->name);
  int device = call.device >= 0 ? call.device : where_operands_are(interp, operands);
  if (device >= 0 && interp.context.devices().placement() != device) [[unlikely]] {
    PlacedOn there(interp, device);
    return run_call(interp, call, operands, results);
  }
  if (!call.program) [[unlikely]]
    TFL_TRY(program_of(interp, call));
  return run_graph(interp, *call.program, operands, results, call.gives_arrays);
}

bool run_small(Interp& interp, const FunctionCall& call, std::span<TensorRep* const> operands, Value& result) {
  const ir::Program* program = call.program.get();
  if (!program || program->plain_results() != 1 || !call.captures.empty() || call.device != gpu::kCpu || interp.sink)
    return false;
  for (const TensorRep* t : operands) {
    if (t->flags & kElsewhere) return false;
  }
  Tensor given;
  if (!program->run_plain(interp.context, operands, {&given, 1})) return false;
  result = Value::of(std::move(given));
  return true;
}

Result<void> call_function(Interp& interp, const FunctionCall& call, std::span<const Value> operands,
                           SmallVec<Value, 2>& results) {
  if (interp.sink) return interp.sink->call(interp, call, operands, results);
  return run_call(interp, call, operands, results);
}

Value traced_graph(Interp& interp, std::shared_ptr<ir::Function> function, size_t arguments, std::vector<Value> captures) {
  TracedGraph* g = interp.allocate<TracedGraph>(interp.types.graph_function);
  g->call.function = std::move(function);
  g->call.arguments = arguments;
  g->call.captures = std::move(captures);
  return Value::adopt(g);
}

extern const Slots graph_array_slots;
const Slots graph_array_slots = {.kind = Kind::Native, .destroy = destroy_object<ArrayObject>};

Value array_value(Interp& interp, std::shared_ptr<ir::ArrayContent> content) {
  ArrayObject* o = interp.allocate<ArrayObject>(interp.types.graph_array);
  o->content = std::move(content);
  return Value::adopt(o);
}

bool is_array_value(const Value& v) { return v.is(Kind::Native) && v.object()->type->slots == &graph_array_slots; }

extern const Slots traced_graph_slots;
const Slots traced_graph_slots = {.kind = Kind::Native, .destroy = destroy_graph};

}  // namespace tfl
