#include "ir/gradient/presence.h"

#include "ir/gradient/block_adjoint.h"

namespace tfl::gradient {

namespace {

constexpr int kDeepestProof = 4;

bool holds(const Adjoint& adjoint, V a, V b, int depth) {
  if (a == b) return true;
  if (depth == 0) return false;
  for (bool assumed : {true, false}) {
    auto found = adjoint.made_of.find(assumed ? a : b);
    if (found == adjoint.made_of.end()) continue;
    const Adjoint::Condition& c = found->second;
    auto side = [&](V v) { return assumed ? holds(adjoint, v, b, depth - 1) : holds(adjoint, a, v, depth - 1); };
    // Of what is assumed a conjunction needs one side to prove it, of what is proved a disjunction.
    bool one_side = assumed == (c.op == Op::logical_and);
    if (one_side ? side(c.x) || side(c.y) : side(c.x) && side(c.y)) return true;
  }
  return false;
}

Presence combined(Op op, const X& x, const X& y) {
  if (!x || !y) return Presence::always();  // after a failure
  Adjoint& a = *x.adjoint();
  Adjoint::Condition c = {op, std::min(x.id(), y.id()), std::max(x.id(), y.id())};
  auto known = a.conditions.find(c);
  if (known != a.conditions.end()) return Presence::when(X(&a, known->second));
  X made = emit(op, {x, y});
  if (made) a.made_of.emplace(a.conditions[c] = made.id(), c);
  return Presence::when(made);
}

bool is_tensor(const X& x) { return x.adjoint()->type(x.id()).is_tensor(); }

double number(Fill fill) { return fill == Fill::Zero ? 0.0 : kEmptySum; }

}  // namespace

Presence both(const Presence& a, const Presence& b) {
  if (implies(a, b)) return a;
  return implies(b, a) ? b : combined(Op::logical_and, a.condition(), b.condition());
}

Presence either(const Presence& a, const Presence& b) {
  if (implies(a, b)) return b;
  return implies(b, a) ? a : combined(Op::logical_or, a.condition(), b.condition());
}

bool implies(const Presence& a, const Presence& b) {
  if (a.is_never() || b.is_always()) return true;
  if (a.is_always() || b.is_never()) return false;
  return holds(*a.condition().adjoint(), a.condition().id(), b.condition().id(), kDeepestProof);
}

X scalar(Adjoint& a, const Presence& p) {
  if (!p.is_always() && !p.is_never()) return p.condition();
  Result<Tensor> t = tfl::scalar<uint8_t>(a.context(), DType::Bool, p.is_always());
  if (t) return X(&a, a.constant(t.take()));
  a.fail_with(t.failure());
  return {};
}

X choose(const Presence& p, const X& here, const X& other) {
  if (p.is_always()) return here;
  X condition = here ? scalar(*here.adjoint(), p) : X();
  return emit(Op::where, {condition, here, other}, Attrs().set_bool(Attr::exclusive, true));
}

bool chooses(Op op, const Attrs& attrs) { return op == Op::where && attrs.get_bool(Attr::exclusive); }

X filled(const Sum& sum, const Presence& wanted, Fill other) {
  if (!sum.value || sum.fill == other || implies(wanted, sum.present) || !is_tensor(sum.value)) return sum.value;
  return choose(sum.present, sum.value, X(number(other)));
}

Sum only(const Sum& sum, const Presence& p) {
  Presence present = both(sum.present, p);
  return {choose(present, sum.value, X(kEmptySum)), present, Fill::EmptySum};
}

Sum merged(const Sum& a, const Sum& b) {
  if (!a.value) return b;
  if (!b.value) return a;
  if (!is_tensor(b.value)) {
    X elements;
    if (a.elements && b.elements) {
      elements = emit(Op::array_from,
                      {emit(Op::logical_or, {emit(Op::array_stack, {a.elements}), emit(Op::array_stack, {b.elements})})});
    }
    return {sum_of(a.value, b.value), Presence::always(), Fill::Unknown, elements};
  }
  Presence present = either(a.present, b.present);
  X first = filled(a, present, Fill::EmptySum), second = filled(b, present, Fill::EmptySum);
  auto empty_elsewhere = [&](const Sum& s, const X& value) { return s.fill == Fill::EmptySum || value.id() != s.value.id(); };
  bool both_empty = first && second && empty_elsewhere(a, first) && empty_elsewhere(b, second);
  return {sum_of(first, second), present, both_empty ? Fill::EmptySum : Fill::Unknown};
}

X presences(const X& size, const Presence& p) {
  if (p.is_never()) return zero_array({DType::Bool, true, {}}, size);
  if (!size) return {};
  int64_t one = 1;
  X shape = emit(Op::reshape, {size, int_vector(*size.adjoint(), {&one, 1})});
  return emit(Op::array_from, {emit(Op::fill, {shape, scalar(*size.adjoint(), p)})});
}

X elements_of(const Sum& array) {
  if (array.elements) return array.elements;
  return presences(emit(Op::array_size, {array.value}), array.present.is_never() ? array.present : Presence::always());
}

Sum told(const X& value, const X& present, Fill fill) {
  if (!present) return {value, Presence::always(), fill};
  if (is_tensor(present)) return {value, Presence::when(present), fill};
  return {value, Presence::always(), fill, present};
}

X telling(const Sum& sum, const Presence& wanted) {
  if (!sum.value) return {};
  if (!is_tensor(sum.value)) return elements_of(sum);
  return scalar(*sum.value.adjoint(), implies(wanted, sum.present) ? Presence::always() : sum.present);
}

Sum replaced(const Sum& before, const Sum& after, const Presence& own) {
  if (!after.value || own.is_always() || !is_tensor(after.value)) return after;
  Presence present = both(own, after.present);
  if (!before.value) return {after.value, present, Fill::Unknown};
  X value = implies(before.present, own) ? after.value : choose(own, after.value, before.value);
  return {value, either(present, before.present), Fill::Unknown};
}

}  // namespace tfl::gradient
