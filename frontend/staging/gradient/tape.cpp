// Recording.
#include "frontend/staging/gradient/tape.h"

#include <algorithm>

#include "frontend/core/scope.h"
#include "ir/gradient/rules.h"

namespace tfl {

namespace {

constexpr uint32_t kTensor = ~uint32_t{0};
constexpr uint32_t kVariable = ~uint32_t{1};

bool is_differentiable(const Value& v) {
  if (v.is_tensor()) return gradient::differentiable(v.tensor_rep()->dtype);
  if (v.is(Kind::Symbolic)) return gradient::differentiable(symbolic_type(v).dtype);
  if (v.is(Kind::Variable)) return gradient::differentiable(v.as<VariableObject>()->dtype);
  if (is_array_value(v)) return gradient::differentiable(v.as<ArrayObject>()->content->element.dtype);
  return false;
}

// A value from outside that a graph captured is the same value inside, whichever of the two an operation is given.
TapeKey symbolic_key(const Value& v) {
  const auto* s = symbolic(v);
  if (s->node->op == Op::parameter && s->scope) {
    const Scope& scope = *s->scope;
    for (size_t i = 0; i < scope.capture_params.size(); ++i) {
      if (scope.capture_params[i].node == s->node && !scope.captures[i].is(Kind::Variable)) return tape_key(scope.captures[i]);
    }
  }
  return {s->node, s->index};
}

}  // namespace

TapeKey tape_key(const Value& v) {
  switch (v.kind()) {
    case Kind::Tensor: return {v.counted(), kTensor};
    case Kind::Symbolic: return symbolic_key(v);
    case Kind::Variable: return {variable_storage(v.as<VariableObject>()), kVariable};
    default: return is_array_value(v) ? TapeKey{v.counted(), kTensor} : TapeKey{};
  }
}

Tape* recording_tape(Sink* sink) {
  for (; sink; sink = sink->next) {
    auto* tape = dynamic_cast<Tape*>(sink);
    if (tape && tape->recording) return tape;
  }
  return nullptr;
}

bool Tape::is_tracked(const Value& v) const {
  TapeKey key = tape_key(v);
  return tracked.count(key) > 0 || (v.is(Kind::Symbolic) && nodes.count(key.object) > 0 && is_differentiable(v));
}

void Tape::forget(const void* owner, uint32_t number) {
  std::erase_if(marks, [&](const Mark& m) { return m.owner == owner && m.number == number; });
  Sink::forget(owner, number);
}

std::vector<Value>* Tape::marked(const void* owner, uint32_t number) {
  auto found = std::find_if(marks.begin(), marks.end(), [&](const Mark& m) { return m.owner == owner && m.number == number; });
  return found == marks.end() ? Sink::marked(owner, number) : &found->values;
}

void Tape::mark(const void* owner, uint32_t number) {
  std::erase_if(marks, [&](const Mark& m) { return m.owner == owner && m.number == number; });
  if (recording) marks.push_back({owner, number, records.size(), {}});
  if (next) next->mark(owner, number);
}

bool Tape::older(const Value& v, const void* owner, uint32_t number) const {
  if (!recording || !is_tracked(v)) return Sink::older(v, owner, number);
  auto mark = std::find_if(marks.begin(), marks.end(), [&](const Mark& m) { return m.owner == owner && m.number == number; });
  if (mark == marks.end()) return false;
  TapeKey key = tape_key(v);
  for (size_t i = mark->place; i < records.size(); ++i) {
    for (const Value& made : records[i].results) {
      if (tape_key(made) == key) return false;
    }
  }
  return true;
}

bool Tape::any_tracked(std::span<const Value> values) const {
  if (tracked.empty()) return false;
  for (const Value& v : values) {
    if (is_tracked(v)) return true;
  }
  return false;
}

void Tape::watch(const Value& v) {
  if (v.is(Kind::Variable)) {
    if (!tracked.insert(tape_key(v)).second) return;
    watched_variables.push_back(Value::share(variable_storage(v.as<VariableObject>())));
  } else if (tracked.insert(tape_key(v)).second) {
    watched.push_back(v);
  }
}

void Tape::meet_variable(VariableObject* v) {
  VariableObject* storage = variable_storage(v);
  if (watch_variables && storage->trainable) watch(Value::share(storage));
}

void Tape::record(TapeRecord record) {
  // set_shape makes a symbolic value stand for another node: a record keeps what it stood for when the step was taken.
  for (std::vector<Value>* values : {&record.operands, &record.results}) {
    for (Value& v : *values) {
      if (v.is(Kind::Symbolic)) v = symbolic_value(Interp::of(v.object()), symbolic(v)->scope, ref_of(v));
    }
  }
  if (record.node) nodes.insert(record.node);
  if (record.node) record.refs.assign(record.node->operands.begin(), record.node->operands.end());
  for (const Value& v : record.results) {
    if (is_differentiable(v)) tracked.insert(tape_key(v));
  }
  records.push_back(std::move(record));
}

void Tape::reset() {
  records.clear();
  tracked.clear();
  nodes.clear();
  watched.clear();
  watched_variables.clear();
}

Result<void> Tape::apply(Interp& interp, Op op, std::span<const Value> operands, const Attrs& attrs,
                         SmallVec<Value, 2>& results) {
  size_t first = results.size();
  if (next) {
    TFL_TRY(next->apply(interp, op, operands, attrs, results));
  } else {
    Eagerly eagerly(interp);
    TFL_TRY(apply_op(interp, op, operands, attrs, results));
  }
  if (!recording || !any_tracked(operands)) return {};
  // An operation that changes nothing may give its operand back; as a step of a derivation its result is a value of its own.
  for (size_t i = first; i < results.size(); ++i) {
    if (!results[i].is_tensor()) continue;
    for (const Value& v : operands) {
      if (!v.identical(results[i])) continue;
      Tensor t = results[i].tensor();
      results[i] = Value::of(Tensor::view(interp.context, t, t.dims(), t.strides(), 0));
      break;
    }
  }
  // What stands behind stop_gradient is unknown to the tape: no custom gradient there is ever asked.
  if (!gradient::rule_of(op) || op == Op::stop_gradient) return {};
  TapeRecord r{.kind = TapeRecord::Kind::Operation,
               .op = op,
               .attrs = attrs,
               .node = nullptr,
               .derived = nullptr,
               .backward = {},
               .operands = {},
               .results = {}};
  r.operands.assign(operands.begin(), operands.end());
  r.results.assign(results.begin() + first, results.end());
  record(std::move(r));
  return {};
}

Result<Value> Tape::read_variable(Interp& interp, VariableObject* v) {
  Value value;
  if (next) {
    value = TFL_TRY(next->read_variable(interp, v));
  } else {
    Tensor t = variable_storage(v)->value;
    if (!t)
      return fail(ErrorKind::FailedPreconditionError,
                  "Could not find variable {}. This could mean that the variable has been deleted.", v->name);
    value = Value::of(std::move(t));
  }
  if (!recording) return value;
  meet_variable(v);
  Value variable = Value::share(variable_storage(v));
  if (!is_tracked(variable) || !is_differentiable(variable)) return value;
  if (value.is_tensor() && value.counted() == variable_storage(v)->value.rep()) {
    // Each reading is a value of its own: the same elements may be those of another tensor, or of the variable at another time.
    Tensor t = value.tensor();
    value = Value::of(Tensor::view(interp.context, t, t.dims(), t.strides(), 0));
  }
  TapeRecord r{.kind = TapeRecord::Kind::Read,
               .op = Op::read_variable,
               .attrs = {},
               .node = nullptr,
               .derived = nullptr,
               .backward = {},
               .operands = {},
               .results = {}};
  r.operands.push_back(std::move(variable));
  r.results.push_back(value);
  record(std::move(r));
  return value;
}

Result<void> Tape::assign_variable(Interp& interp, VariableObject* v, Assignment how, const Value& value) {
  if (next) return next->assign_variable(interp, v, how, value);
  return fail(ErrorKind::InternalError, "an eager assignment went through a tape");
}

void Tape::node_made(Interp& interp, std::span<const Value> operands, ir::Node* node, std::span<const Value> results) {
  if (next) next->node_made(interp, operands, node, results);
  if (!recording) return;
  for (const Value& v : operands) {
    if (v.is(Kind::Variable)) meet_variable(v.as<VariableObject>());
  }
  if (!any_tracked(operands) || !gradient::rule_of(node->op)) return;
  TapeRecord r{.kind = TapeRecord::Kind::Node,
               .op = node->op,
               .attrs = {},
               .node = node,
               .derived = nullptr,
               .backward = {},
               .operands = {},
               .results = {}};
  r.operands.assign(operands.begin(), operands.end());
  r.results.assign(results.begin(), results.end());
  record(std::move(r));
}

namespace {

// The traced function with its gradient, for these operands.
Result<std::shared_ptr<const DerivedCall>> derive(Interp& interp, const FunctionCall& call, const std::vector<bool>& wanted,
                                                  const std::vector<size_t>& first_of, bool closed = false) {
  auto* known = static_cast<std::vector<std::shared_ptr<const DerivedCall>>*>(call.derived.get());
  if (!known) {
    auto made = std::make_shared<std::vector<std::shared_ptr<const DerivedCall>>>();
    known = made.get();
    call.derived = made;
  }
  for (const auto& d : *known) {
    if (d->wanted == wanted && d->first_of == first_of && d->closed == closed) return d;
  }
  auto d = std::make_shared<DerivedCall>();
  d->wanted = wanted;
  d->first_of = first_of;
  d->closed = closed;
  d->results = call.function->body.results.size();
  // Zeros for what no gradient flows into would not be the same: they may meet an infinity.
  std::vector<gradient::Reach> seeded = call.may_have_gradient;
  if (seeded.empty()) seeded.assign(call.function->body.results.size(), gradient::Reach::Always);
  d->derivative = TFL_TRY(gradient::differentiate(interp.context, *call.function, wanted, seeded, first_of));
  if (closed) d->derivative = gradient::without_repeats(*d->derivative, d->results);
  d->forward.function = d->derivative->forward;
  d->forward.arguments = call.arguments;
  d->forward.captures = call.captures;
  d->forward.may_have_gradient = gradient::may_have_gradient(*d->derivative, d->results);
  d->forward.device = d->backward.device = call.device;
  d->forward.compiled = d->backward.compiled = call.compiled;
  d->forward.gives_arrays = d->backward.gives_arrays = true;
  d->backward.function = d->derivative->backward;
  d->backward.arguments = d->derivative->backward->body.params.size();
  known->push_back(d);
  return std::shared_ptr<const DerivedCall>(d);
}

// A persistent tape may be asked for the gradient of a gradient that it recorded itself. Then something flows into what the function
// kept, too: the derivative is that of the function which gives what it keeps, again and again until nothing more is kept. Loops and
// branches on tensors never come to that; they have the plain derivative.
Result<std::shared_ptr<const DerivedCall>> derive_closed(Interp& interp, const FunctionCall& call,
                                                         const std::vector<bool>& wanted, const std::vector<size_t>& first_of) {
  constexpr int kLevels = 4;
  size_t given = call.function->body.results.size();
  std::shared_ptr<const DerivedCall> d = TFL_TRY(derive(interp, call, wanted, first_of, true));
  for (int level = 0; level < kLevels; ++level) {
    const std::vector<ir::Ref>& results = d->forward.function->body.results;
    if (results.size() == given) return d;
    if (std::any_of(results.begin(), results.end(), [](ir::Ref r) { return r.type().kind == ir::TypeKind::Array; })) break;
    given = results.size();
    d = TFL_TRY(derive(interp, d->forward, wanted, first_of, true));
  }
  return derive(interp, call, wanted, first_of);
}

}  // namespace

Result<void> Tape::call(Interp& interp, const FunctionCall& call, std::span<const Value> operands, SmallVec<Value, 2>& results) {
  size_t first = results.size();
  auto plain = [&](const FunctionCall& c) -> Result<void> {
    return next ? next->call(interp, c, operands, results) : run_call(interp, c, operands, results);
  };
  if (recording) {
    for (const Value& v : operands) {
      if (v.is(Kind::Variable)) meet_variable(v.as<VariableObject>());
    }
  }
  if (!recording || !any_tracked(operands)) return plain(call);
  if (building()) {
    TFL_TRY(plain(call));
    ir::Node* node = nullptr;
    for (size_t i = first; i < results.size() && !node; ++i) {
      if (results[i].is(Kind::Symbolic)) node = results[i].as<SymbolicObject>()->node;
    }
    if (!node || node->op != Op::call) return {};
    TapeRecord r{.kind = TapeRecord::Kind::Node,
                 .op = Op::call,
                 .attrs = {},
                 .node = node,
                 .derived = nullptr,
                 .backward = {},
                 .operands = {},
                 .results = {}};
    r.operands.assign(operands.begin(), operands.end());
    r.results.assign(results.begin() + first, results.end());
    record(std::move(r));
    return {};
  }
  std::vector<bool> wanted;
  std::vector<size_t> first_of;
  for (const Value& v : operands) {
    wanted.push_back(is_tracked(v) && is_differentiable(v));
    size_t first = 0;
    while (!operands[first].identical(v)) ++first;
    first_of.push_back(first);
  }
  std::shared_ptr<const DerivedCall> derived =
      TFL_TRY(persistent ? derive_closed(interp, call, wanted, first_of) : derive(interp, call, wanted, first_of));
  TFL_TRY(plain(derived->forward));
  TapeRecord r{.kind = TapeRecord::Kind::Call,
               .op = Op::call,
               .attrs = {},
               .node = nullptr,
               .derived = derived,
               .backward = {},
               .operands = {},
               .results = {}};
  r.operands.assign(operands.begin(), operands.end());
  // A result that is an operand, or another result (a branch hands on what it was given), is a value of its own.
  for (size_t i = first; i < results.size(); ++i) {
    if (!results[i].is_tensor()) continue;
    bool shared = is_tracked(results[i]);
    for (size_t k = first; !shared && k < i; ++k) shared = results[k].identical(results[i]);
    if (!shared) continue;
    Tensor t = results[i].tensor();
    results[i] = Value::of(Tensor::view(interp.context, t, t.dims(), t.strides(), 0));
  }
  r.results.assign(results.begin() + first, results.end());
  record(std::move(r));
  while (results.size() > first + call.function->body.results.size()) results.pop_back();
  return {};
}

}  // namespace tfl
