// NumPy's functions while a graph is built: the VM runs them outside of it, since the library of arrays is written with the operations of
// tensors, which would become nodes. This header must not know what they compute.
#pragma once

#include "frontend/vm/interp.h"

namespace tfl {

struct Code;

/// Is it one of NumPy's functions, and a graph being built? It computes arrays, at once, as natives of the host do. `interp.sink` is set.
bool computes_arrays(Interp& interp, Function* f);
/// NumPy cannot take tensors of the graph; the error in its words.
Result<void> refuse_symbolic(Interp& interp, const Code& code, const CallArgs& args);

}  // namespace tfl
