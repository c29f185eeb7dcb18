// Where a tensor decides what runs, a graph has a branch or a loop, whose results are values of their own: if `x` passes through as it is,
// what flows into the result is added up before it reaches `x`. Eagerly such a result would be `x` itself, and gradients would add up in
// another order. So while a tape records, what such a statement only hands on becomes a value of its own, the same elements in another tensor:
// what a variable that it assigns was given from outside; what a function returns and did not make after a tensor decided which
// `return` it is; and, when an iteration begins, a variable of a loop that shares its value with another one there.
#pragma once

#include "frontend/core/frame.h"

namespace tfl {

/// The instruction frame->ip asked `v` what to do (a condition's value, or what a ForIter goes through).
Result<void> tensor_decided(Interp&, Frame* frame, const Value& v);
/// The statement of a decision has ended.
Result<void> renew_decided(Interp&, Frame* frame, const Decision& decision);
/// What the function returns.
Result<Value> renewed_result(Interp&, Frame* frame, const Value& v);

}  // namespace tfl
