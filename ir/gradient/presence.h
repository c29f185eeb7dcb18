// Gradients that are there in some runs only. A branch that overwrites a value, a loop that runs no iteration or whose variable the last
// iteration sets anew: written out eagerly, such values have no gradient. The staged gradient is one for all runs, and a zero in the place
// of none is zero no longer once it meets an infinity. So each sum of gradients says when it is there (Presence), and sums leave out what is
// not. Where it is not there, its value means nothing and nobody reads it: in sums a choice stands before it, which sends gradients of the
// gradient to what was chosen alone.
#pragma once

#include "ir/gradient/adjoint.h"

namespace tfl::gradient {

Presence both(const Presence& a, const Presence& b);
Presence either(const Presence& a, const Presence& b);
/// Whether `b` holds wherever `a` does, as far as it is easily seen.
bool implies(const Presence& a, const Presence& b);
/// As a boolean scalar.
X scalar(Adjoint& a, const Presence& p);

/// `here` where `p` holds, else `other`.
X choose(const Presence& p, const X& here, const X& other);
/// Whether a node is such a choice, of which only what was chosen has a gradient.
bool chooses(Op op, const Attrs& attrs);

/// The value of a sum that is read where `wanted` holds: `other` where there is none.
X filled(const Sum& sum, const Presence& wanted, Fill other);
/// Tensors: the sum as it is, elsewhere kEmptySum, where `p` holds; nothing where it does not.
Sum only(const Sum& sum, const Presence& p);
/// The sum of two, `a` first.
Sum merged(const Sum& a, const Sum& b);
/// An array of `size` elements that are all there where `p` holds, as an array of booleans.
X presences(const X& size, const Presence& p);
/// Which elements of an array are there, as an array of booleans.
X elements_of(const Sum& array);
/// `value`, of which `present`, a boolean or an array of them, says whether it is there; empty: it always is.
Sum told(const X& value, const X& present, Fill fill);
/// What says that of a sum which is read where `wanted` holds.
X telling(const Sum& sum, const Presence& wanted);
/// What was `before` becomes `after` where `own` holds.
Sum replaced(const Sum& before, const Sum& after, const Presence& own);

}  // namespace tfl::gradient
