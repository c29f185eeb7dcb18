// NumPy's functions in a function being traced: they compute at once, with arrays, whatever graph is being built around them.
// This header must not know what they compute.
#pragma once

#include "frontend/vm/interp.h"

namespace tfl {

/// Whether `callee` is one of NumPy's functions, ufuncs, generators of random numbers, or a method of an array.
bool is_numpys(Interp& interp, const Value& callee);
/// call(callee, ...): outside of the graph. NumPy cannot take tensors of the graph.
Result<Value> call_numpys(Interp& interp, CallArgs& args);

}  // namespace tfl
