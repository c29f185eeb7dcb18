#include "ir/gradient/phases.h"

namespace tfl::gradient {

namespace {

// Arrays are added up as they are: what is not written in them is not there.
bool can_choose(const X& g) { return g && g.adjoint()->type(g.id()).is_tensor(); }

}  // namespace

Phases::Mask Phases::of_variable(size_t k) const {
  Mask out = 0;
  for (size_t j = 0; j < has_.size(); ++j) out |= Mask{has_[j][k]} << j;
  return out;
}

X Phases::when(Mask mask) {
  if (mask == all()) return within_;
  for (const auto& [known, condition] : conditions_) {
    if (known == mask) return condition;
  }
  // One comparison where it is the first iterations or all others, which it nearly always is.
  X done = total_ - left_;
  size_t first = 0;
  while (first < has_.size() && ((mask ^ (mask << 1)) >> (first + 1) & 1) == 0) ++first;
  Mask below = (Mask{2} << first) - 1;
  X condition;
  if (mask == below) {
    condition = emit(Op::less_equal, {done, X(static_cast<double>(first))});
  } else if (mask == (all() & ~below)) {
    condition = emit(Op::greater, {done, X(static_cast<double>(first))});
  } else {
    X place = emit(Op::minimum, {done, X(static_cast<double>(has_.size() - 1))});
    X bits = emit(Op::right_shift, {literal_like(done, static_cast<double>(mask)), place});
    condition = emit(Op::equal, {emit(Op::bitwise_and, {bits, X(1.0)}), X(1.0)});
  }
  if (within_) condition = emit(Op::logical_and, {within_, condition});
  conditions_.push_back({mask, condition});
  return condition;
}

Phases::Mask Phases::mask(ir::Ref value) const {
  auto found = known_.find(value);
  return found == known_.end() ? all() : found->second.mask;
}

X Phases::chosen(Mask mask, X here, X elsewhere) {
  X condition = when(mask);
  return condition ? emit(Op::where, {condition, here, elsewhere}) : here;
}

X Phases::filled(ir::Ref value, X g, Mask wanted, double other) {
  auto found = known_.find(value);
  if (!can_choose(g) || found == known_.end() || (wanted & ~found->second.mask) == 0 || found->second.zero_elsewhere) return g;
  return chosen(found->second.mask, g, X(other));
}

X Phases::sum(ir::Ref value, X before, X g, Mask own) {
  if (!g) return g;
  Mask either = before ? mask(value) | own : own;
  X out = g;
  if (before && can_choose(g)) {
    before = filled(value, before, either, kEmptySum);
    if (own != either) g = chosen(own, g, X(kEmptySum));
  }
  out = before ? sum_of(before, g) : first_of_sum(g);
  set(value, can_choose(g) ? either : all());
  return out;
}

X Phases::replaced(ir::Ref value, X before, X after, Mask own) {
  Mask either = before ? mask(value) | own : own;
  if (before && can_choose(after) && own != either) after = chosen(own, after, before);
  set(value, can_choose(after) ? either : all());
  return after;
}

}  // namespace tfl::gradient
