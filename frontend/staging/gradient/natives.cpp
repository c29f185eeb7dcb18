// The module `_gradient`: the tape as an object of the library. tf.GradientTape and what is built on it are TFL source
// (stdlib/tensorflow/autodiff/_tape.tfl).
//
//   Tape(persistent, watch_variables)       .push() .pop() .stop() .go_on() .reset() .watch(value) .watched() .tracks(value) .recording
//   tape.gradient(targets, sources, seeds, make_slices)   lists; seeds: None, or one a target, None for ones; make_slices(values,
//                                           indices, shape) makes the object for a gradient that is rows; None: always a tensor
//   tape.record(operands, results, backward)    a step whose gradients are backward(list of gradients) -> list
//   of_graph(ys, xs, seeds, make_slices, stops)    gradients in the graph under construction, whose nodes stand for a tape's records
//   mark_custom(results, outputs)           the node of these results, a cond, is a custom gradient (ir/gradient/custom.h)
//   mark_decision(owner)                    a tensor decides what runs now, for `owner`; False: no tape records (frontend/interpreter/vm/renewal.h)
//   renewed_since(owner, value)             another tensor with the same elements if the value was there before that; else itself
//   end_decision(owner)
//   tracked(values)                         whether a tape that records follows one of them
#include <algorithm>

#include "frontend/core/native_module.h"
#include "frontend/core/scope.h"
#include "frontend/staging/gradient/tape.h"
#include "ir/custom_gradient.h"
#include "ir/gradient/rules.h"

namespace tfl {

namespace {

struct TapeObject : Object {
  Tape tape;
};
Tape& tape_of(const Value& v) { return v.as<TapeObject>()->tape; }

void leave_chain(Interp& interp, Tape& tape) {
  for (Sink** at = &interp.sink; *at; at = &(*at)->next) {
    if (*at != &tape) continue;
    *at = tape.next;
    break;
  }
  tape.next = nullptr;
  tape.in_chain = tape.recording = false;
}

Result<Value> construct(Interp& interp, Type* type, CallArgs& args) {
  Value given[2];
  TFL_TRY(take_arguments(interp, "Tape", args, {"persistent", "watch_variables"}, 2, 2, given));
  TapeObject* o = interp.allocate<TapeObject>(type);
  o->tape.persistent = given[0].as_bool();
  o->tape.watch_variables = given[1].as_bool();
  return Value::adopt(o);
}

void destroy_tape(Object* o) {
  Tape& tape = static_cast<TapeObject*>(o)->tape;
  if (tape.in_chain) leave_chain(Interp::of(o), tape);
  destroy_object<TapeObject>(o);
}

Result<Value> push(Interp& interp, Value* args) {
  Tape& tape = tape_of(args[0]);
  if (tape.in_chain)
    return fail(ErrorKind::ValueError, "Tape is still recording, This can happen if you try to re-enter an already-active tape.");
  tape.next = interp.sink;
  interp.sink = &tape;
  tape.in_chain = tape.recording = true;
  return Value::none();
}

Result<Value> pop(Interp& interp, Value* args) {
  leave_chain(interp, tape_of(args[0]));
  return Value::none();
}

Result<Value> stop(Interp&, Value* args) {
  tape_of(args[0]).recording = false;
  return Value::none();
}
Result<Value> go_on(Interp&, Value* args) {
  tape_of(args[0]).recording = tape_of(args[0]).in_chain;
  return Value::none();
}
Result<Value> reset(Interp&, Value* args) {
  tape_of(args[0]).reset();
  return Value::none();
}
Result<Value> recording(Interp&, Value* args) { return Value::boolean(tape_of(args[0]).in_chain); }

Result<Value> watch(Interp&, Value* args) {
  tape_of(args[0]).watch(args[1]);
  return Value::none();
}

Result<Value> tracks(Interp&, Value* args) { return Value::boolean(tape_of(args[0]).is_tracked(args[1])); }

Result<Value> watched(Interp& interp, Value* args) {
  // In the order in which they were made, as TensorFlow has them.
  std::vector<Value> found = tape_of(args[0]).watched_variables;
  std::stable_sort(found.begin(), found.end(),
                   [](const Value& x, const Value& y) { return x.as<VariableObject>()->id < y.as<VariableObject>()->id; });
  return interp.list(std::move(found));
}

Result<std::vector<Value>> items_of(Interp& interp, const Value& v) {
  if (v.is(Kind::List)) return v.as<List>()->items;
  return fail(ErrorKind::TypeError, "a list was expected and not {}", interp.type_name(v));
}

Result<Value> tape_gradient_of(Interp& interp, Value* args) {
  Tape& tape = tape_of(args[0]);
  GradientQuery query;
  query.only_watched = true;
  query.targets = TFL_TRY(items_of(interp, args[1]));
  query.sources = TFL_TRY(items_of(interp, args[2]));
  if (!args[3].is_none()) query.seeds = TFL_TRY(items_of(interp, args[3]));
  Value keep = args[0];  // a script may drop the tape while its gradient runs custom gradients
  Result<std::vector<Value>> out = tape_gradient(interp, tape, query, args[4]);
  if (!out) return out.failure();
  return interp.list(out.take());
}

Result<Value> record(Interp& interp, Value* args) {
  Tape& tape = tape_of(args[0]);
  std::vector<Value> operands = TFL_TRY(items_of(interp, args[1])), results = TFL_TRY(items_of(interp, args[2]));
  for (const Value& v : operands) {
    if (v.is(Kind::Variable)) tape.meet_variable(v.as<VariableObject>());
  }
  if (!tape.any_tracked(operands)) return Value::none();
  TapeRecord r;
  r.kind = TapeRecord::Kind::Custom;
  r.backward = args[3];
  r.operands = std::move(operands);
  r.results = std::move(results);
  tape.record(std::move(r));
  return Value::none();
}

/// record() on every tape that records, the innermost first.
Result<Value> record_all(Interp& interp, Value* args) {
  std::vector<Value> operands = TFL_TRY(items_of(interp, args[0])), results = TFL_TRY(items_of(interp, args[1]));
  for (Tape* tape = recording_tape(interp.sink); tape; tape = recording_tape(tape->next)) {
    for (const Value& v : operands) {
      if (v.is(Kind::Variable)) tape->meet_variable(v.as<VariableObject>());
    }
    if (!tape->any_tracked(operands)) continue;
    TapeRecord r;
    r.kind = TapeRecord::Kind::Custom;
    r.backward = args[2];
    r.operands = operands;
    r.results = results;
    tape->record(std::move(r));
  }
  return Value::none();
}

/// Stops every tape of the chain; gives what `resume_all` takes.
Result<Value> stop_all(Interp& interp, Value*) {
  std::vector<Value> stopped;
  int64_t i = 0;
  for (Sink* s = interp.sink; s; s = s->next, ++i) {
    auto* tape = dynamic_cast<Tape*>(s);
    if (!tape || !tape->recording) continue;
    tape->recording = false;
    stopped.push_back(Value::integer(i));
  }
  return interp.list(std::move(stopped));
}

Result<Value> resume_all(Interp& interp, Value* args) {
  std::vector<Value> places = TFL_TRY(items_of(interp, args[0]));
  int64_t i = 0;
  for (Sink* s = interp.sink; s; s = s->next, ++i) {
    auto* tape = dynamic_cast<Tape*>(s);
    for (const Value& p : places) {
      if (tape && p.as_int() == i) tape->recording = tape->in_chain;
    }
  }
  return Value::none();
}

Result<Value> tracked(Interp& interp, Value* args) {
  std::vector<Value> values = TFL_TRY(items_of(interp, args[0]));
  for (Tape* tape = recording_tape(interp.sink); tape; tape = recording_tape(tape->next)) {
    if (tape->any_tracked(values)) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Result<Value> mark_decision(Interp& interp, Value* args) {
  if (!recording_tape(interp.sink)) return Value::boolean(false);
  interp.sink->mark(args[0].counted(), 0);
  return Value::boolean(true);
}
Result<Value> renewed_since(Interp& interp, Value* args) {
  if (!interp.sink || !interp.sink->older(args[1], args[0].counted(), 0)) return args[1];
  return apply_op(interp, Op::identity, {args[1]});
}
Result<Value> end_decision(Interp& interp, Value* args) {
  if (interp.sink) interp.sink->forget(args[0].counted(), 0);
  return Value::none();
}

/// tf.gradients: what the current scope's nodes would have left on a tape that watches everything.
Result<Value> of_graph(Interp& interp, Value* args) {
  std::shared_ptr<Scope> scope = tracer_of(interp).scope;
  if (!current_scope(interp) || !scope) return fail(ErrorKind::RuntimeError, "no graph is being built");
  GradientQuery query;
  query.targets = TFL_TRY(items_of(interp, args[0]));
  query.sources = TFL_TRY(items_of(interp, args[1]));
  if (!args[2].is_none()) query.seeds = TFL_TRY(items_of(interp, args[2]));
  std::unordered_set<TapeKey, TapeKeyHash> stops;
  for (const Value& v : TFL_TRY(items_of(interp, args[4]))) stops.insert(tape_key(v));
  auto value_of_ref = [&](ir::Ref r) {
    for (size_t i = 0; i < scope->capture_params.size(); ++i) {
      if (scope->capture_params[i] == r && (scope->captures[i].is(Kind::Variable) || scope->captures[i].is_tensor()))
        return scope->captures[i];
    }
    return symbolic_value(interp, scope, r);
  };
  Tape tape;
  tape.persistent = true;
  for (const auto& node : scope->block->nodes) {
    TapeRecord r;
    bool control = is_control(node->op);
    r.kind = node->op == Op::read_variable ? TapeRecord::Kind::Read
             : control                     ? TapeRecord::Kind::Node
                                           : TapeRecord::Kind::Operation;
    r.op = node->op;
    r.attrs = node->attrs;
    r.node = control && node->op != Op::read_variable ? node.get() : nullptr;
    for (ir::Ref operand : node->operands) r.operands.push_back(value_of_ref(operand));
    bool stopped = false;
    for (uint32_t k = 0; k < node->types.size(); ++k) {
      r.results.push_back(symbolic_value(interp, scope, {node.get(), k}));
      stopped |= stops.count({node.get(), k}) > 0;
    }
    if (stopped || r.results.empty() || !gradient::rule_of(node->op)) continue;
    tape.record(std::move(r));
  }
  return interp.list(TFL_TRY(tape_gradient(interp, tape, query, args[3])));
}

Result<Value> mark_custom(Interp& interp, Value* args) {
  std::vector<Value> results = TFL_TRY(items_of(interp, args[0]));
  if (results.empty() || !results[0].is(Kind::Symbolic))
    return fail(ErrorKind::TypeError, "results of a graph's node were expected");
  ir::mark_custom(*symbolic(results[0])->node, static_cast<size_t>(args[1].as_int()));
  return Value::none();
}

/// A tensor of its own with the same elements: results of custom gradients must be none of their operands.
Result<Value> alias(Interp& interp, Value* args) {
  if (!args[0].is_tensor()) return apply_op(interp, Op::identity, {args[0]});
  Tensor t = args[0].tensor();
  return Value::of(Tensor::view(interp.context, t, t.dims(), t.strides(), 0));
}

constexpr NativeDef kMethods[] = {
    method("push", "self, /", push),
    method("pop", "self, /", pop),
    method("stop", "self, /", stop),
    method("go_on", "self, /", go_on),
    method("reset", "self, /", reset),
    method("watch", "self, value, /", watch),
    method("watched", "self, /", watched),
    method("tracks", "self, value, /", tracks),
    method("gradient", "self, targets: list, sources: list, seeds: list|None, make_slices, /", tape_gradient_of),
    method("record", "self, operands: list, results: list, backward, /", record),
    getter("recording", recording),
};

constexpr NativeDef kDefs[] = {
    function("record_all", "operands: list, results: list, backward, /", record_all),
    function("stop_all", "", stop_all),
    function("resume_all", "places: list, /", resume_all),
    function("of_graph", "ys: list, xs: list, seeds: list|None, make_slices, stops: list, /", of_graph),
    function("mark_custom", "results: list, outputs: int, /", mark_custom),
    function("tracked", "values: list, /", tracked),
    function("mark_decision", "owner: object, /", mark_decision),
    function("renewed_since", "owner: object, value, /", renewed_since),
    function("end_decision", "owner: object, /", end_decision),
    function("alias", "value, /", alias),
};

}  // namespace

extern const Slots gradient_tape_slots;
const Slots gradient_tape_slots = {.kind = Kind::Native, .destroy = destroy_tape, .construct = construct};
std::span<const NativeDef> gradient_tape_methods() { return kMethods; }

Result<void> init_gradient(Interp& interp, Module& module) {
  define_all(interp, module, kDefs);
  define(interp, module, "Tape", Value::share(interp.types.gradient_tape));
  return {};
}

}  // namespace tfl
