// NumPy's functions in a function being traced: the VM runs them outside of the graph (computes_arrays() in frontend/vm/operations.h); here they
// refuse tensors that have no elements yet, in NumPy's words. This header must not know what they compute.
#pragma once

#include "frontend/vm/interp.h"

namespace tfl {

/// Whether `callee` is one of NumPy's functions, ufuncs, generators of random numbers, or a method of an array.
bool is_numpys(Interp& interp, const Value& callee);
/// call(callee, ...). NumPy cannot take tensors of the graph.
Result<Value> call_numpys(Interp& interp, CallArgs& args);

}  // namespace tfl
