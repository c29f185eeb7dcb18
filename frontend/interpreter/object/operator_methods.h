// Which method of a script's class an operator means, for who runs it itself. This header must not know about frames.
#pragma once

#include "frontend/core/object.h"

namespace tfl {

/// The function that a op b calls and whose answer is final: a and b are of one class, which defines the operation as a plain function (and,
/// in place, nothing in front of it). Null: ask binary() or inplace().
Function* final_operator(Interp& interp, BinaryOp op, const Value& a, const Value& b, bool inplace);

}  // namespace tfl
