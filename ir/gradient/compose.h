// Pieces that rules of several families are made of: attributes, reshaping, and the way back for operations that move elements.
#pragma once

#include "ir/gradient/adjoint.h"

namespace tfl::gradient {

inline Attrs with_axis(int64_t axis) { return Attrs().set_int(Attr::axis, axis); }
/// x with its sizes in one.
X flatten(X x);
/// An integer operand as int32.
X as_index(X x);
/// The conjugate; real numbers are their own.
X conjugate(X x);
/// The product of the last two axes.
X product(X a, X b, bool transpose_a = false, bool transpose_b = false);
/// The flat indices of operand 0, in its shape: run through an operation that moves elements, they tell where each one came from.
X flat_indices(RuleCall& c);
/// Operand 0 gets the sum of `g` at `from`, flat indices into it.
void give_from(RuleCall& c, X from, X g);

}  // namespace tfl::gradient
