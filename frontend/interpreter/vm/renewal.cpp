#include "frontend/interpreter/vm/renewal.h"

#include <algorithm>

#include "frontend/core/tensor_api.h"
#include "frontend/interpreter/object/containers/list.h"

namespace tfl {

namespace {

// Numbers of marks besides those of statements.
constexpr uint32_t kReturns = UINT32_MAX;  // a function's result
constexpr uint32_t kNow = UINT32_MAX - 1;

// The innermost condition around the instruction.
const Decision* decision_at(const Code& code, uint32_t at) {
  const Decision* found = nullptr;
  for (const Decision& d : code.decisions) {
    if (d.first <= at && at < d.last && (!found || d.last - d.first < found->last - found->first)) found = &d;
  }
  return found;
}

Value& value_at(Frame* frame, int32_t place) {
  return place < 0 ? frame->registers[-1 - place].as<Cell>()->value : frame->registers[place];
}

std::vector<Value> values_at(Frame* frame, const std::vector<int32_t>& places) {
  std::vector<Value> out;
  for (int32_t place : places) out.push_back(value_at(frame, place));
  return out;
}

bool is_same(const Value& a, const Value& b) { return a.is_tensor() && b.is_tensor() && a.counted() == b.counted(); }
std::ptrdiff_t count_of(const std::vector<Value>& values, const Value& v) {
  return std::count_if(values.begin(), values.end(), [&](const Value& other) { return is_same(v, other); });
}

// Also within tuples.
Result<Value> renewed_if_older(Interp& interp, const Value& v, const void* owner, uint32_t number) {
  if (v.is_tensor()) return interp.sink->older(v, owner, number) ? apply_op(interp, Op::identity, {v}) : v;
  if (!v.is(Kind::Tuple)) return v;
  std::vector<Value> items(v.as<Tuple>()->span().begin(), v.as<Tuple>()->span().end());
  bool changed = false;
  for (size_t i = items.size(); i-- > 0;) {
    Value made = TFL_TRY(renewed_if_older(interp, items[i], owner, number));
    changed = changed || !made.identical(items[i]);
    items[i] = std::move(made);
  }
  return changed ? interp.tuple(items) : v;
}

}  // namespace

Result<void> renew_decided(Interp& interp, Frame* frame, const Decision& decision) {
  if (!interp.sink->marked(frame, decision.statement)) return {};
  interp.sink->mark(frame, kNow);
  std::vector<Value> values = values_at(frame, decision.places);
  for (size_t i = 0; i < values.size(); ++i) {
    // Two results that are one value are two values, as well.
    uint32_t since = count_of(values, values[i]) > 1 ? kNow : decision.statement;
    Value made = TFL_TRY(renewed_if_older(interp, values[i], frame, since));
    value_at(frame, decision.places[i]) = std::move(made);
  }
  interp.sink->forget(frame, kNow);
  interp.sink->forget(frame, decision.statement);
  return {};
}

Result<Value> renewed_result(Interp& interp, Frame* frame, const Value& v) {
  Value out = TFL_TRY(renewed_if_older(interp, v, frame, kReturns));
  interp.sink->forget(frame, kReturns);
  return out;
}

namespace {

// A variable shares its value with another one of the loop, or has it from another one's last iteration.
Result<void> renew_iteration(Interp& interp, Frame* frame, const Decision& decision, const std::vector<Value>& last) {
  interp.sink->mark(frame, kNow);
  std::vector<Value> values = values_at(frame, decision.places), reads = values_at(frame, decision.reads);
  for (size_t i = 0; i < values.size(); ++i) {
    bool shared = count_of(values, values[i]) > 1 || count_of(reads, values[i]) > 0;
    for (size_t k = 0; k < last.size(); ++k) shared = shared || (k != i && is_same(last[k], values[i]));
    if (!shared) continue;
    Value made = TFL_TRY(renewed_if_older(interp, values[i], frame, kNow));
    value_at(frame, decision.places[i]) = std::move(made);
  }
  interp.sink->forget(frame, kNow);
  return {};
}

}  // namespace

Result<void> tensor_decided(Interp& interp, Frame* frame, const Value& v) {
  if (!v.is_tensor() && !v.is(Kind::Variable)) return {};
  const Decision* decision = decision_at(*frame->code, static_cast<uint32_t>(frame->ip - frame->code->instructions.data()));
  if (!decision) return {};
  std::vector<Value>* noted = interp.sink->marked(frame, decision->statement);
  if (decision->loop) TFL_TRY(renew_iteration(interp, frame, *decision, noted ? *noted : std::vector<Value>()));
  if (!decision->loop || !noted) interp.sink->mark(frame, decision->statement);
  if ((noted = decision->loop ? interp.sink->marked(frame, decision->statement) : nullptr))
    *noted = values_at(frame, decision->places);
  if (decision->returns && !interp.sink->marked(frame, kReturns)) interp.sink->mark(frame, kReturns);
  return {};
}

}  // namespace tfl
